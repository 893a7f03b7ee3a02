// Entry points: centre_of(), vector_norms().
#include "runtime/tolerance/vector_norms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>

#include "runtime/round_up.h"
#include "runtime/sum/request/pack.h"

namespace nbcc {
namespace {

constexpr std::int64_t kVectorsOfCentre = 8;
constexpr std::int64_t kParticles = 256;  // of a thread at once: their elements stay in a cache
// Norms that grow by a smaller factor raise the errors by about that factor: small steps of the vectors, as of an
// optimizer, need no measurement each.
constexpr double kGrowth = 1.25;

const ArrayView& view_of(const std::string& field, const KernelSource& source, const SumRequest& request) {
  const auto found = std::ranges::find(source.fields, field, &FieldLayout::name);
  return request.views[std::size_t(found - source.fields.begin())];
}

// |x - c|^2 of the picked vectors, whose first component is `first`.
std::vector<double> norms_of(const ArrayView& view, int first, const std::vector<double>& centre, const Picked& picked,
                             const Summation& summation) {
  std::vector<double> norms(std::size_t(picked.count), 0.0);
  const Column column{.element = Element::Double};
  summation.on_host_threads(ceil_div(picked.count, kParticles), [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * kParticles, count = std::min(kParticles, picked.count - begin);
    const Picked some =
        picked.list ? Picked{0, picked.list + begin, count} : Picked{picked.first + begin, nullptr, count};
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < centre.size(); ++k) {
      pack(view, first + int(k), some, column, values.data());
      for (std::size_t n = 0; n < values.size(); ++n) {
        const double difference = values[n] - centre[k];
        norms[std::size_t(begin) + n] += difference * difference;
      }
    }
  });
  return norms;
}

// The largest; NaN if one is.
double largest_of(const std::vector<double>& norms) {
  double largest = 0;
  for (const double norm : norms)
    if (!(norm <= largest)) largest = std::isnan(largest) ? largest : norm;
  return largest;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

bool VectorNorms::are_finite(double largest_number) const {
  // Twice a product, and sums of norms, are up to four times as large.
  return std::ranges::all_of(largest, [&](double norm) { return norm < largest_number / 4; });
}

bool VectorNorms::exceed(const VectorNorms& measured) const {
  const auto is_within = [](double now, double then) { return now <= kGrowth * then; };
  return !std::ranges::equal(largest, measured.largest, is_within) ||
         !std::ranges::equal(mean, measured.mean, is_within);
}

std::vector<double> centre_of(const Centre& centre, const KernelSource& source, const SumRequest& request) {
  const ArrayView& view = view_of(centre.of_j, source, request);
  std::vector<std::int64_t> chosen(std::size_t(std::min(kVectorsOfCentre, request.nj)));
  const auto count = std::int64_t(chosen.size());
  for (std::int64_t k = 0; k < count; ++k) chosen[std::size_t(k)] = k * request.nj / count;
  std::vector<double> values(chosen.size()), means;
  for (int k = 0; k < centre.count; ++k) {
    pack(view, centre.first + k, {0, chosen.data(), count}, {.element = Element::Double}, values.data());
    const double mean = mean_of(values);
    means.push_back(std::isfinite(mean) ? mean : 0);
  }
  return means;
}

VectorNorms vector_norms(std::span<const Centre> centres, const KernelSource& source, const SumRequest& request,
                         const Summation& summation, std::size_t wanted) {
  VectorNorms found;
  const Picked chosen{request.i_begin, request.i_list, request.i_count};
  for (const Centre& centre : centres) {
    const std::vector<double> c = centre_of(centre, source, request);
    const std::vector<double> of_i =
        norms_of(view_of(centre.of_i, source, request), centre.first_of_i, c, chosen, summation);
    const std::vector<double> of_j =
        norms_of(view_of(centre.of_j, source, request), centre.first, c, {0, nullptr, request.nj}, summation);
    found.largest.push_back(largest_of(of_i) + largest_of(of_j));
    found.mean.push_back(mean_of(of_i) + mean_of(of_j));
    std::vector<std::int64_t> order(of_i.size());
    std::iota(order.begin(), order.end(), std::int64_t(0));
    const auto norm = [&](std::int64_t k) {  // NaN comes last
      const double value = of_i[std::size_t(k)];
      return std::isnan(value) ? -1 : value;
    };
    const auto end = order.begin() + std::ptrdiff_t(std::min(wanted, order.size()));
    std::ranges::partial_sort(order, end, std::greater(), norm);
    for (auto k = order.begin(); k != end; ++k)
      found.farthest.push_back(request.i_list ? request.i_list[*k] : request.i_begin + *k);
  }
  std::ranges::sort(found.farthest);
  const auto repeated = std::ranges::unique(found.farthest);
  found.farthest.erase(repeated.begin(), repeated.end());
  return found;
}

}  // namespace nbcc
