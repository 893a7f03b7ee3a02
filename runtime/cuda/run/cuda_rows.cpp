// The pair methods of a GPU, with the cost of each and the obstacles to it. Interface: CudaSummation::methods(). Runs
// nothing.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/sum/request/formula.h"

namespace nbcc {
namespace {

// The minimum cost of a search, in pairs per multiprocessor: bench/RESULTS.md.
constexpr double kMinPairsOfSearch = 1e6;

// If more than this fraction of a periodic box is within reach, a search costs as much as all pairs.
constexpr double kMaxFractionWithin = 0.1;

// The fraction of the periodic box that is within reach of a particle; 0 if the params do not determine it.
double fraction_within(const SearchLayout& search, std::span<const double> params) {
  constexpr double kPi = std::numbers::pi;
  const auto value = [&](const Formula& formula) {
    return formula.steps.empty() ? 0 : std::abs(evaluate(formula, params));
  };
  const double reach = value(search.reach_uniform);
  double share = search.axes == 1   ? 2 * reach
                 : search.axes == 2 ? kPi * reach * reach
                                    : 4 * kPi / 3 * std::pow(reach, 3);
  for (std::size_t axis = 0; axis < std::size_t(search.axes); ++axis) {
    const double length = value(search.lengths[axis]);
    share = length > 0 ? share / length : 0;
  }
  return share;
}

}  // namespace

CudaSummation::CudaSummation(const CudaKernel& kernel) : kernel_(kernel), gpu_(kernel.gpu()) {
  if (is_symmetric()) {  // other methods skip reactions
    PairMethod symmetric = row("symmetric", &symmetric_);
    symmetric.estimate = [this](const SumRequest& request) {
      const bool always = request.symmetric == SymmetricChoice::Always;
      Estimate found{.obstacle = symmetric_.obstacle(request.ni, always),
                     .cost = pairs_of(request) / 2 * symmetric_.idling(request.ni)};
      if (found.obstacle.empty() && !leaves_memory(request, symmetric_))
        found.obstacle = "its working memory would take more than half of what is free on the GPU",
        found.of_size = true;
      if (request.exclusions) found.obstacle = "a GPU computes each pair once only if none is excluded";
      return found;
    };
    methods_.push_back(std::move(symmetric));
    return;
  }
  PairMethod search = row("search", &search_);
  search.searches = true;
  search.estimate = [this](const SumRequest& request) { return estimate_search(request); };
  PairMethod lists = row("lists", &lists_), listed_pairs = row("listed pairs", &lists_);
  lists.estimate = [this](const SumRequest& request) { return Estimate{.cost = lists_.units(request)}; };
  listed_pairs.estimate = [this](const SumRequest& request) { return Estimate{.cost = lists_.units(request)}; };
  PairMethod all_pairs = row("all pairs", nullptr);
  all_pairs.estimate = [](const SumRequest& request) { return Estimate{.cost = pairs_of(request)}; };
  methods_ = {std::move(search), std::move(lists), std::move(listed_pairs), std::move(all_pairs)};
}

PairMethod CudaSummation::row(std::string_view name, CudaMethod* method) {
  PairMethod row;
  row.name = name;
  row.keeps_j = true;
  row.work = [this, method](const SumRequest& request) { return std::vector{work(request, method)}; };
  row.enqueue = [this, method](const SumRequest& request) {
    if (request.histograms) return run_with_histograms(request, method);
    run(request, method);
  };
  return row;
}

// Depends only on counts, params and free memory, so that equal runs take the same method if memory suffices.
std::optional<Estimate> CudaSummation::estimate_search(const SumRequest& request) {
  if (kernel_.source.search.axes == 0) return {};
  const double pairs = pairs_of(request);
  Estimate found{
      .cost = std::max(least_cost_of_search(request.i_count, request.nj), kMinPairsOfSearch * gpu_.multiprocessors())};
  if (!kernel_.source.find(Frame::Search))
    found.obstacle =
        fmt::format("the code of pipeline '{}' for this GPU has no search for neighbours", kernel_.source.pipeline);
  else if (std::max(request.i_count, request.nj) > CudaSearch::kMaxParticles)
    found.of_size = true,
    found.obstacle = fmt::format("on a GPU a search takes at most {} i- and j-particles, got {} and {}",
                                 CudaSearch::kMaxParticles, request.i_count, request.nj);
  else if (request.nj == 0)
    found = {"there are no j", 0, true};
  if (request.pairs != PairChoice::Auto || !found.obstacle.empty()) return found;
  if (chosen_launch_) found.obstacle = "the caller has chosen a launch configuration of all pairs";
  if (found.cost > pairs) return found;
  const double share = fraction_within(kernel_.source.search, request.params);
  if (share > kMaxFractionWithin) found.cost = std::max(found.cost, pairs * share / kMaxFractionWithin);
  if (found.cost <= pairs && !leaves_memory(request, search_))
    found.obstacle = "its working memory would take more than half of what is free on the GPU", found.of_size = true;
  return found;
}

// True if the method leaves half of the free memory to other users.
bool CudaSummation::leaves_memory(const SumRequest& request, const CudaMethod& method) const {
  if (method.has_room(request)) return true;
  const CudaContextGuard guard(gpu_);
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return method.bytes_for(request) < (free + method.bytes()) / 2;
}

DeviceWork CudaSummation::work(const SumRequest& request, CudaMethod* method) {
  const CudaContextGuard guard(gpu_);
  if (request.binding != binding_) bind(request);
  if (!residency_.all_on_device) return staging_.work(request, method);
  DeviceWork found{fmt::format("cuda:{}", gpu_.ordinal())};
  if (method) {
    found.launches = method->launches(request);
    found.bytes = std::int64_t(method->bytes_for(request));
    return found;
  }
  launcher_.configure(request.i_of_run(), request.nj, request.exclusions, true);
  const std::int64_t piece = std::min(request.i_count, max_i_per_launch());
  found.launches = (request.i_count + piece - 1) / std::max<std::int64_t>(piece, 1);
  found.bytes = launcher_.bytes_for(piece) + std::int64_t(accumulator_bytes(request, false));
  return found;
}

}  // namespace nbcc
