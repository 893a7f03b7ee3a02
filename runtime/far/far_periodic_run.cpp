// What a FarRun does for periodic sums alone: particles to their cell, far images, excluded pairs with their nearest
// image, and exact sums of a sample by an operator of their own; and the exact sums of several processes.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "runtime/far/far_run.h"
#include "runtime/far/host_far_backend.h"
#include "runtime/far/periodic/nearest_image.h"

namespace nbcc {

using Seconds = FarStatistics::Seconds;

namespace {

// True if all processes have this operator with the same near images and the same points of the cell: each cuts its
// tree for the near images of the others, and adds up the weights of all at the points. Kernels of different
// instruction sets, which round differently, may lead to different orders. Null: false.
bool is_one_operator(FarRanks& ranks, const FarOperator* through) {
  std::vector<double> numbers;
  if (through) {
    const PeriodicCell& cell = through->tables.cell;
    for (std::size_t row = 0; row < 3; ++row) {
      numbers.insert(numbers.end(), {double(through->tables.grid.orders()[row]), double(cell.near_reach[row])});
      numbers.insert(numbers.end(), cell.rows[row].begin(), cell.rows[row].end());
    }
    numbers.insert(numbers.end(), cell.origin.begin(), cell.origin.end());
    for (const FarOperator::Component& one : through->components)
      numbers.insert(numbers.end(), {double(one.sum), double(one.weight)});
  }
  const double mine = hash_of(numbers);
  const std::vector<std::vector<double>> all = ranks.exchange({mine});
  return through && std::ranges::all_of(all, [&](const std::vector<double>& one) { return one.front() == mine; });
}

}  // namespace

// False: the processes have different operators.
bool FarRun::move_to_cell(Member& member, const SumRequest& request) {
  const std::lock_guard lock(images_mutex_);  // the first of several GPUs makes the cell and the operator for all
  const std::vector<CellVector>& open = images_->read_vectors(request.params);
  const std::shared_ptr<const FarOperator>& through =
      images_->far_operator(request.params, open.empty() ? std::vector<OpenExtent>() : member.backend->extents(open));
  const PeriodicCell& cell = through->tables.cell;
  // Particles may stay where they are in a cell that changes: lists have its shifts, exclusions its nearest images.
  if (member.through != through) {
    member.lists.reset();
    if (&member == &first()) exclusions_of_images_ = 0;
  }
  member.through = through;
  member.backend->move_to_cell(cell, FarImages::shifts(cell));
  if (ranks_ && !is_one_operator(*ranks_, through.get())) return false;
  member.backend->collect_far_images(through);
  return true;
}

void FarRun::add_far_images(const FarArray& totals, Of of) {
  if (!images_) return;
  FarBackend& backend = *first().backend;
  const auto sampled = of == Of::Sampled ? sample_.particles() : std::span<const std::int64_t>();
  backend.timed(&Seconds::down, [&] { backend.add_far_images(totals, sampled); });
}

// ---- exclusions -----------------------------------------------------------------------------------------------------

// Finds with which images sums over all pairs exclude pairs of all i, or of the sampled i: the nearest ones.
void FarRun::exclude_nearest_images(const SumRequest& request, Of of) {
  if (!images_) return;
  const auto set = [&](const std::shared_ptr<const FarSums::ExcludedOfImages>& images, std::int64_t number) {
    for (const Member& member : members_) member.backend->sums().set_excluded(images);
    exclusions_of_images_ = number;
    excluded_images_ = images ? std::int64_t(images->size()) : 0;
  };
  if (!request.excluded_rows) return set(nullptr, 0);
  const PairRows& excluded = *request.excluded_rows;
  if (exclusions_of_images_ == excluded.number) return;
  std::vector<std::int64_t> of_i, of_j;
  const auto add = [&](std::int64_t i) {
    of_i.insert(of_i.end(), excluded.of(i).size(), i);
    of_j.insert(of_j.end(), excluded.of(i).begin(), excluded.of(i).end());
  };
  if (of == Of::All)
    for (std::int64_t i = 0; i < request.ni; ++i) add(i);
  else
    for (const std::int64_t i : sample_.particles()) add(i);
  FarBackend& backend = *first().backend;
  const auto axes = std::size_t(kernels().axes);
  const auto positions = [&](double* of_all, std::int64_t count, std::vector<std::int64_t> particles) {
    for (std::int64_t& particle : particles) particle *= std::int64_t(axes);
    return backend.rows({of_all, 1, count}, int(axes), particles);
  };
  const FarParticles& particles = backend.particles();
  const std::vector<double> position_i = positions(particles.position_of_i, particles.ni, of_i),
                            position_j = positions(particles.position_of_j, particles.nj, of_j);
  const PeriodicCell& cell = images_->last()->tables.cell;
  const NearestImage nearest(cell, FarImages::shifts(cell));
  std::map<int, std::vector<std::pair<int, int>>> of_images;
  for (std::size_t k = 0; k < of_i.size(); ++k)
    of_images[nearest.number(&position_i[k * axes], &position_j[k * axes])].emplace_back(int(of_i[k]), int(of_j[k]));
  FarSums::ExcludedOfImages made;
  for (auto& [image, pairs] : of_images) {
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
    FarSums::ExcludedOfImage& one = made[image];
    one.rows = rows_of_pairs("exclusions", particles.ni, pairs);
    one.exclusions = std::make_unique<const Exclusions>(one.rows);
  }
  set(std::make_shared<const FarSums::ExcludedOfImages>(std::move(made)), of == Of::All ? excluded.number : 0);
}

// ---- the sample -----------------------------------------------------------------------------------------------------

double FarRun::images_of_sample(std::int64_t nj) const {
  const bool may_be_large = double(least_sampled() * nj) * images() > kFewExactPairs;
  const bool has_reference = images_ && may_be_large && members_.front().backend->sums_sample_alone();
  return has_reference ? images_->reference_count() : images();
}

std::vector<double> FarRun::exact_sums(const SumRequest& request, const std::shared_ptr<const FarOperator>& reference) {
  FarBackend& backend = *first().backend;
  const SumRequest here = backend.with_inputs(of_member(first(), request));
  const std::span<const std::int64_t> sampled = sample_.particles();
  const int columns = sample_.columns();
  std::vector<char> takes = FarImages::are_near(images_->last()->tables.cell, reference->tables.cell);
  const FarArray both = backend.reserve_sums(FarBackend::Sums::OfSample, 2 * columns);
  const FarArray of_outer{both.data + columns * both.stride, both.stride, both.count};
  if (request.excluded_rows) {
    backend.sums().sum_sample(here, sampled, both, takes);
  } else {
    std::vector<std::int64_t> all(std::size_t(request.nj));
    std::iota(all.begin(), all.end(), 0);
    backend.sums().sum_sample_of_some(here, sampled, all, both, takes);
  }
  backend.timed(&Seconds::down, [&] {
    backend.collect_far_images(reference);
    backend.add_far_images(both, sampled);
    backend.collect_far_images(images_->shared());
  });
  for (char& one : takes) one = one == 0;
  const std::vector<std::int64_t> of_j = draw_j();
  backend.sums().sum_sample_of_some(here, sampled, of_j, of_outer, takes);
  std::vector<double> rows = backend.rows(both, 2 * columns, sampled), exact;
  const double scale = double(request.nj) / double(of_j.size());
  for (auto row = rows.begin(); row != rows.end(); row += 2 * columns) {
    for (int c = source_.outputs; c < columns; ++c) row[c] += scale * row[columns + c];
    exact.insert(exact.end(), row, row + columns);
  }
  return exact;
}

// Each process sums over its j for the sampled i of all, and adds the far images for its own i. In large sums as in
// the function above, with j that each process draws of its own.
std::vector<double> FarRun::exact_sums_of_ranks(const SumRequest& request) {
  FarBackend& backend = *first().backend;
  const std::span<const std::int64_t> sampled = sample_.particles();
  const int columns = sample_.columns(), outputs = source_.outputs;
  std::shared_ptr<const FarOperator> reference;
  if (images_) {
    const double sampled_of_all = ranks_->sum(double(sampled.size())), j_of_all = ranks_->sum(double(request.nj));
    if (sampled_of_all * j_of_all * images() > kFewExactPairs) reference = images_->reference_operator();
    if (!is_one_operator(*ranks_, reference.get())) reference.reset();
  }
  std::vector<char> inner, outer;
  std::vector<std::int64_t> all, drawn;
  if (reference && request.nj > 0) {
    inner = FarImages::are_near(images_->last()->tables.cell, reference->tables.cell);
    for (const char one : inner) outer.push_back(one == 0);
    all.resize(std::size_t(request.nj));
    std::iota(all.begin(), all.end(), 0);
    drawn = draw_j();
  }
  const auto sums = [&](const SumRequest& of, std::span<const std::int64_t> chosen, const FarArray& exact) {
    if (!reference) return backend.sums().sum_sample(of, chosen, exact);
    backend.sums().sum_sample_of_some(of, chosen, all, exact, inner);
    FarColumns of_outer;
    of_outer.resize(columns, of.ni);
    backend.sums().sum_sample_of_some(of, chosen, drawn, of_outer.array(), outer);
    const double scale = double(request.nj) / double(drawn.size());
    for (const std::int64_t i : chosen)
      for (int c = outputs; c < columns; ++c) exact.data[c * exact.stride + i] += scale * of_outer[c][std::size_t(i)];
  };
  std::vector<double> exact = ranks_->exact_sums(request, sampled, columns, backend, sums);
  if (!images_) return exact;
  if (reference) backend.collect_far_images(reference);
  const FarArray far = backend.reserve_sums(FarBackend::Sums::OfSample, outputs);
  for (const std::int64_t i : sampled)
    for (int c = 0; c < outputs; ++c) far.data[c * far.stride + i] = 0;
  if (!sampled.empty()) backend.add_far_images(far, sampled);
  if (reference) backend.collect_far_images(images_->shared());
  const std::vector<double> of_all = ranks_->gather(backend.rows(far, outputs, sampled));
  for (std::size_t k = 0; k < of_all.size(); ++k)
    exact[k / std::size_t(outputs) * std::size_t(columns) + k % std::size_t(outputs)] += of_all[k];
  return exact;
}

// Draws j until their weights are as even as those of a thousand equal weights at least; returns all j otherwise.
std::vector<std::int64_t> FarRun::draw_j() {
  constexpr std::int64_t kDrawn = 4096;
  constexpr double kEqualWeights = 1000;
  FarBackend& backend = *first().backend;
  const FarParticles& particles = backend.particles();
  std::mt19937_64 random(11);
  std::uniform_int_distribution<std::int64_t> any_j(0, particles.nj - 1);
  for (std::int64_t wanted = kDrawn; 2 * wanted < particles.nj; wanted *= 4) {
    std::set<std::int64_t> drawn;
    while (std::int64_t(drawn.size()) < wanted) drawn.insert(any_j(random));
    const std::vector<std::int64_t> of_j(drawn.begin(), drawn.end());
    const std::vector<double> weights = backend.rows(particles.weights, kernels().weights, of_j);
    double sum = 0, squares = 0;
    for (std::size_t first = 0; first < weights.size(); first += std::size_t(kernels().weights)) {
      double of_one = 0;
      for (std::size_t k = first; k < first + std::size_t(kernels().weights); ++k) of_one += weights[k] * weights[k];
      sum += std::sqrt(of_one);
      squares += of_one;
    }
    if (sum * sum > kEqualWeights * squares) return of_j;
  }
  std::vector<std::int64_t> all(std::size_t(particles.nj));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace nbcc
