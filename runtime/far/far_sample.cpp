// Draws particles and compares sums. Entry points: the header.
#include "runtime/far/far_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace nbcc {

FarSample::FarSample(const KernelSource& source) : source_(source) {
  for (const FieldLayout& field : source.fields)
    if (is_compared(field)) ++fields_, components_ += field.components();
}

bool FarSample::draw(std::int64_t count, std::int64_t wanted, std::span<const std::int64_t> chosen) {
  std::mt19937_64 random(20101);
  wanted = std::min(count, wanted);
  std::set<std::int64_t> numbers;
  if (wanted == count) {
    for (std::int64_t k = 0; k < count; ++k) numbers.insert(k);
  } else {
    std::uniform_int_distribution<std::int64_t> number(0, count - 1);
    while (std::int64_t(numbers.size()) < wanted) numbers.insert(number(random));
  }
  std::vector<std::int64_t> drawn;
  for (const std::int64_t k : numbers) drawn.push_back(chosen.empty() ? k : chosen[std::size_t(k)]);
  std::ranges::sort(drawn);
  set_some({});
  is_complete_ = std::int64_t(drawn.size()) == count;
  if (drawn == particles_) return false;
  particles_ = std::move(drawn);
  return true;
}

void FarSample::set_some(std::vector<std::int64_t> some) {
  some_ = std::move(some);
  rows_of_some_.clear();
  for (const std::int64_t i : some_)
    rows_of_some_.push_back(std::size_t(std::ranges::lower_bound(particles_, i) - particles_.begin()));
}

void FarSample::add(std::span<const std::int64_t> chosen) {
  std::set<std::int64_t> all(particles_.begin(), particles_.end());
  all.insert(chosen.begin(), chosen.end());
  particles_.assign(all.begin(), all.end());
}

bool FarSample::set_exact(std::vector<double> rows) {
  exact_ = std::move(rows);
  typical_sizes_.clear();
  for (int field = 0; field < fields_; ++field) {
    std::vector<double> sizes;
    for (std::size_t k = 0; k < row_count(); ++k)
      if (const double size = size_of_terms(k, field); std::isfinite(size)) sizes.push_back(size);
    if (sizes.empty()) return false;
    const auto tenth = sizes.begin() + std::ptrdiff_t(sizes.size() / 10);
    std::ranges::nth_element(sizes, tenth);
    typical_sizes_.push_back(*tenth);
  }
  return true;
}

double FarSample::error(std::span<const double> totals, FarStatistics& statistics) const {
  std::vector<std::size_t> rows(row_count());
  std::iota(rows.begin(), rows.end(), std::size_t(0));
  return error_of_rows(rows, totals, statistics);
}

double FarSample::error_of_some(std::span<const double> totals, FarStatistics& statistics) const {
  return some_.empty() ? error(totals, statistics) : error_of_rows(rows_of_some_, totals, statistics);
}

// totals[k * outputs + c]: of rows[k].
double FarSample::error_of_rows(std::span<const std::size_t> rows, std::span<const double> totals,
                                FarStatistics& statistics) const {
  statistics.error = statistics.largest = statistics.error_of_sum = 0;
  double bound = 0;
  statistics.sampled = std::int64_t(rows.size());
  const auto rms = [&](double squares) {
    const double value = std::sqrt(squares / double(rows.size()));
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  };
  int number = 0, first = 0;  // of the field, and of its components
  for (const FieldLayout& field : source_.fields) {
    if (!is_compared(field)) continue;
    double of_terms = 0, of_sum = 0, fourth_powers = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double* const exact = exact_.data() + rows[k] * std::size_t(columns());
      double error = 0, sum = 0;
      for (int c = first; c < first + field.components(); ++c) {
        const double total = totals[k * std::size_t(components_) + std::size_t(c)];
        // Both may be infinite; values of places that no pair fills are NaN.
        const bool is_same = total == exact[c] || (std::isnan(total) && std::isnan(exact[c]));
        const double difference = is_same ? 0 : total - exact[c];
        error += difference * difference;
        sum += std::isnan(exact[c]) ? 0 : exact[c] * exact[c];
      }
      const double size = size_of_terms(rows[k], number);
      if (error == 0 || !std::isfinite(size)) continue;
      const double relative = std::sqrt(error) / size;
      of_terms += relative * relative;
      fourth_powers += std::pow(relative, 4);
      of_sum += error / sum;
      statistics.largest = std::max(statistics.largest, relative);
    }
    statistics.error = std::max(statistics.error, rms(of_terms));
    statistics.error_of_sum = std::max(statistics.error_of_sum, rms(of_sum));
    // Twice the standard error of the mean square, which a few large errors dominate. Of some rows once, because all
    // rows are measured afterwards.
    const auto count = double(rows.size()), deviations = rows.size() < row_count() ? 1.0 : 2.0;
    const double variance = std::max(0.0, fourth_powers / count - std::pow(of_terms / count, 2));
    bound = std::max(bound, rms(of_terms + deviations * std::sqrt(variance * count)));
    ++number;
    first += field.components();
  }
  return is_complete() && rows.size() == row_count() ? statistics.error : bound;
}

}  // namespace nbcc
