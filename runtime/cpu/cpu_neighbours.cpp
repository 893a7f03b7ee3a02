// Runs with a proved cutoff on the CPU: estimates of the search, and sums over the j that the search gathers for groups
// of i. Interface: CpuSummation::estimate_search(), survey_search(), sum_neighbours(), find_pairs(), statistics().
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "fmt/format.h"
#include "runtime/cpu/cpu_sum.h"
#include "runtime/cpu/stopwatch.h"
#include "runtime/error.h"

namespace nbcc {

std::optional<Estimate> CpuSummation::estimate_search(const SumRequest& request) {
  if (source_.search.axes == 0) return {};
  Estimate found{.cost = least_cost_of_search(request.i_count, request.nj)};
  constexpr std::int64_t kMaxParticles = std::numeric_limits<int>::max();
  if (std::max(request.i_count, request.nj) > kMaxParticles) {
    found.of_size = true;
    found.obstacle = fmt::format("a search takes at most {} i- and j-particles, got {} and {}", kMaxParticles,
                                 request.i_count, request.nj);
  }
  return found;
}

// Packs and locates the particles. If all pairs are chosen instead, that method reuses the packed j.
Estimate CpuSummation::survey_search(SumRequest& request) {
  Stopwatch watch;
  begin_run(request);
  pack_j(request);
  const bool is_located = locate(request);
  seconds_of_locate_ = 0;
  watch.add_to(seconds_of_locate_);
  request.reuse = JReuse::Prepared;
  if (!is_located)
    return {
        "no particle has a finite position, the reach or a length of the box is not finite, or a chosen i is beyond "
        "int",
        0, true};
  if (source_.first_reaction > 0 && !search_.is_one_set())
    return {"i and j have different positions or reaches", 0, true};
  if (request.pairs == PairChoice::Cutoff) return {};
  // Do not search if the cost reaches that of all pairs.
  const double cost = search_.cost();
  return {.cost = cost < pairs_of(request) ? cost : std::numeric_limits<double>::infinity()};
}

// Sorts the particles, unless kept lists hold, and puts all chosen i into the order of their groups.
void CpuSummation::sort_particles(const SumRequest& request, SumStatistics::Seconds& seconds) {
  seconds.locate = std::exchange(seconds_of_locate_, 0);
  Stopwatch watch;
  begin_run(request);
  if (request.exclusions == nullptr) interact_now_ = code_.interact_numbered;
  if (!search_.holds(request.skin)) {
    search_.sort(request.skin, on_threads());
    ++statistics_.searches;
  }
  search_.arrange(j_);
  for (const int k : search_.order_of_i()) {
    chosen_i_.push_back(request.i_list ? request.i_list[k] : request.i_begin + k);
    i_numbers_.push_back(int(chosen_i_.back()));
  }
  const std::int64_t padded = search_.groups() * ParticleTree::kLeaf;
  i_numbers_.resize(std::size_t(padded), i_numbers_.back());
  if (request.exclusions) exclusions_.resize(std::size_t(padded));
  i_.reserve(padded);
  totals_.reserve(source_, padded);
  watch.add_to(seconds.sort);
}

void CpuSummation::sum_neighbours(const SumRequest& request) {
  SumStatistics::Seconds seconds;
  sort_particles(request, seconds);
  Stopwatch watch;
  WorkDone worked;
  std::mutex worked_mutex;
  // Groups of i per work item.
  constexpr std::int64_t kGroups = 32;
  const std::int64_t pieces = ceil_div(search_.groups(), kGroups);
  const auto block_of = [&](std::int64_t piece) {
    return block_of_groups(piece * kGroups, std::min((piece + 1) * kGroups, search_.groups()));
  };
  begin(double(search_.groups()));
  on_threads()(pieces, [&](std::int64_t piece) {
    const Block block = block_of(piece);
    begin_block(request, block);
    std::unique_ptr<CpuSearch::Gathered> gathered = take_gathered();
    WorkDone here;
    std::vector<ParticleTree::Leaves> summed(static_cast<std::size_t>(kGroups));
    if (finds_bounds()) summed = lower_bounds(request, block, *gathered, here);
    for (std::int64_t group = piece * kGroups; group * ParticleTree::kLeaf < block.end; ++group) {
      sum_group(request, group, summed[std::size_t(group - piece * kGroups)], *gathered, here);
      step(1);
    }
    give_back(std::move(gathered));
    if (accumulate_block(request, block, search_.order_of_i().data() + block.begin)) finish_block(request, block);
    const std::lock_guard lock(worked_mutex);
    worked += here;
  });
  double groups = 0;
  watch.add_to(groups);
  worked.divide(groups, seconds);
  // Gathering allocates memory and may fail, so outputs are stored only after all groups.
  if (ends(request.j_part))
    pool_.parallel_for(pieces, [&](std::int64_t piece) { store_block(request, block_of(piece)); });
  watch.add_to(seconds.sums);
  note(worked, seconds);
}

FoundPairs CpuSummation::find_pairs(const SumRequest& request) {
  begin_run(request);
  pack_j(request);
  if (!locate(request)) {
    if (request.i_count > 0 && request.nj > 0)
      throw UsageError(
          "neighbours: a length of the box or the reach is no number or 0, or no particle has a finite position");
    return {source_.search.axes, std::vector<std::int64_t>(std::size_t(request.i_count) + 1, 0), {}, {}};
  }
  search_.sort(0, on_threads());
  search_.arrange(j_);
  i_.pad(0, request.i_count, round_up(request.i_count, source_.lanes));
  i_numbers_.resize(std::size_t(round_up(request.i_count, source_.lanes)));
  std::iota(i_numbers_.begin(), i_numbers_.end(), 0);
  const nbcc_kernel_arguments given = arguments(request, {}, totals_);
  code_now_->prepare_i(&given, 0, request.i_count);
  begin(double(search_.groups()));
  const ForEach by_group = [this](std::int64_t count, const ThreadPool::Body& body) {
    pool_.parallel_for(count, [&](std::int64_t item) {
      body(item);
      step(1);
    });
  };
  return search_.find_pairs(given, request.exclusions, request.i_count, by_group);
}

void CpuSummation::note(const WorkDone& worked, const SumStatistics::Seconds& seconds) {
  searched_ = true;
  ++statistics_.runs;
  statistics_.pairs_tested += worked.pairs_tested;
  statistics_.seconds.locate += seconds.locate;
  statistics_.seconds.sort += seconds.sort;
  statistics_.seconds.lists += seconds.lists;
  statistics_.seconds.sums += seconds.sums;
}

SumStatistics CpuSummation::statistics() const {
  SumStatistics known = statistics_;
  if (!searched_) return known;
  std::atomic<std::int64_t> within = 0;
  // Does not use progress_, whose object belonged to the last run and no longer exists.
  pool_.parallel_for(search_.groups(), [&](std::int64_t group) { within += search_.pairs_within(group); });
  known.pairs_within = within;
  return known;
}

std::unique_ptr<CpuSearch::Gathered> CpuSummation::take_gathered() {
  const std::lock_guard lock(idle_mutex_);
  if (idle_.empty()) return std::make_unique<CpuSearch::Gathered>(source_);
  std::unique_ptr<CpuSearch::Gathered> one = std::move(idle_.back());
  idle_.pop_back();
  return one;
}

void CpuSummation::give_back(std::unique_ptr<CpuSearch::Gathered> one) {
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(std::move(one));
}

// The block of groups [first, last).
Block CpuSummation::block_of_groups(std::int64_t first, std::int64_t last) const {
  const std::int64_t begin = first * ParticleTree::kLeaf,
                     end = std::min(last * ParticleTree::kLeaf, std::int64_t(chosen_i_.size()));
  return {begin, end, last * ParticleTree::kLeaf, 0, {0, chosen_i_.data() + begin, end - begin}};
}

bool CpuSummation::finds_bounds() const { return bounds_field() < source_.fields.size(); }

// False: a search is not possible, and the run must sum over all pairs.
bool CpuSummation::locate(const SumRequest& request) {
  // The search stores particle indices as int.
  const auto is_far = [](std::int64_t i) { return i > std::numeric_limits<int>::max(); };
  if (request.i_list ? std::any_of(request.i_list, request.i_list + request.i_count, is_far)
                     : is_far(request.i_begin + request.i_count))
    return false;
  i_.reserve(round_up(request.i_count, source_.lanes));
  on_threads()(ceil_div(request.i_count, kPackChunk), [&](std::int64_t k) {
    const std::int64_t begin = k * kPackChunk, count = std::min(kPackChunk, request.i_count - begin);
    const std::int64_t* const list = request.i_list ? request.i_list + begin : nullptr;
    i_.pack(request.views, {list ? 0 : request.i_begin + begin, list, count}, begin);
  });
  return search_.locate(arguments(request, {}, totals_), request.i_count, request.nj, on_threads());
}

// Sums over the j near one group, except those in the leaves `without`.
void CpuSummation::sum_group(const SumRequest& request, std::int64_t group, ParticleTree::Leaves without,
                             CpuSearch::Gathered& gathered, WorkDone& worked) {
  Stopwatch watch;
  search_.gather(group, without, gathered);
  watch.add_to(worked.lists);
  sum_gathered(request, group, gathered, worked);
}

void CpuSummation::sum_gathered(const SumRequest& request, std::int64_t group, const CpuSearch::Gathered& gathered,
                                WorkDone& worked) {
  Stopwatch watch;
  const Block block = block_of_groups(group, group + 1);
  nbcc_kernel_arguments given = arguments(request, block, totals_);
  given.j = gathered.columns.columns();
  given.j_number = gathered.numbers.data();
  interact_now_(&given, block.begin, block.end, 0, std::int64_t(gathered.positions.size()));
  worked.pairs_tested += (block.end - block.begin) * std::int64_t(gathered.positions.size());
  watch.add_to(worked.sums);
}

}  // namespace nbcc
