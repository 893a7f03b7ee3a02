// Turns a checked request into sums: packs, calls the kernel block by block, combines, unpacks. One door:
// CpuSummation::run. Checks nothing, compiles nothing; how the work is divided is CpuPartition's to say.
#include "runtime/cpu/cpu_sum.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/overlap.h"
#include "runtime/sum/reduction.h"

namespace nbcc {
namespace {

// So many rows of the caller's stay in the L1 cache while one component after the other is packed (measured: 256 rows
// of three doubles take 20% less time than all three components row by row).
constexpr std::int64_t kPackChunk = 256;
// Partial sums of the segments in work stay inside the second-level caches' reach.
constexpr std::int64_t kPartialBytes = 16 << 20;

// Whether results of some i may be stored while others have not been packed. In a list one i may stand twice.
bool outputs_spare_inputs(const KernelSource& source, const SumRequest& request) {
  for (std::size_t in = 0; in < source.fields.size(); ++in) {
    for (std::size_t out = 0; out < source.fields.size(); ++out) {
      const FieldLayout &input = source.fields[in], &output = source.fields[out];
      if (input.role != Role::InputI || output.role != Role::Output || !request.views[out].data) continue;
      if (!(request.i_list ? disjoint : independent)(request.views[in], input.components(), request.views[out],
                                                     output.components()))
        return false;
    }
  }
  return true;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Adds the seconds that have passed since the last call.
class Stopwatch {
 public:
  void add_to(double& seconds) {
    const double then = std::exchange(last_, now());
    seconds += last_ - then;
  }

 private:
  double last_ = now();
};

}  // namespace

// What threads did with groups; the seconds are those of all of them together.
struct CpuSummation::Worked {
  std::int64_t pairs_tested = 0;
  double lists = 0, sums = 0;
  void operator+=(const Worked& other) {
    pairs_tested += other.pairs_tested;
    lists += other.lists;
    sums += other.sums;
  }
};

CpuSummation::CpuSummation(const KernelSource& source, const CpuCode& code, ListCode list_code, ThreadPool& pool)
    : source_(source),
      code_(code),
      list_code_(std::move(list_code)),
      pool_(pool),
      i_(source, Role::InputI),
      j_(source, Role::InputJ),
      search_(source, code) {}

// Kernels that leave pairs out have a text of their own, and go by the particles' numbers.
void CpuSummation::begin_run(const SumRequest& request) {
  progress_ = request.progress;
  searched_ = false;
  chosen_i_.clear();
  i_numbers_.clear();
  j_numbers_.clear();
  left_out_.clear();
  code_now_ = request.left_out ? &list_code_() : &code_;
  interact_now_ = request.left_out ? code_now_->interact_but : code_now_->interact;
}

void CpuSummation::begin_part(const SumRequest& request) {
  if (request.j_part != JPart::First) return;
  held_.reserve(source_, request.i_count);
  held_.reset(0, request.i_count);
}

void CpuSummation::run(const SumRequest& request, AllPairs) {
  begin_run(request);
  begin_part(request);
  const bool spares_inputs = outputs_spare_inputs(source_, request);
  CpuPartition partition(source_, request, pool_.threads(), !spares_inputs);
  // While the block is in the thread's caches.
  const bool store_at_once = spares_inputs && !partition.shares_segments();
  std::vector<Block> blocks;
  blocks.reserve(std::size_t(partition.most_blocks()));
  reserve(partition);
  if (request.left_out) {
    i_numbers_.resize(std::size_t(partition.capacity()));
    left_out_.resize(std::size_t(partition.capacity()));
    j_numbers_.resize(std::size_t(round_up(request.nj, source_.lanes)));
    std::iota(j_numbers_.begin(), j_numbers_.end(), 0);
  }
  pack_j(request);
  begin(double(request.i_count) * double(request.nj));
  // All memory is there, and kernels do not fail: from here on outputs may be written. Of a run that is interrupted
  // some i have their results then.
  for (partition.next_batch(blocks); !blocks.empty(); partition.next_batch(blocks)) {
    if (partition.shares_segments())
      sum_by_segments(request, partition, blocks);
    else
      sum_by_blocks(request, partition, blocks, store_at_once);
    if (!store_at_once && ends(request.j_part)) {
      share_items(std::int64_t(blocks.size()), double(blocks.back().end * accumulators_of(source_)),
                  [&](std::int64_t b) { store_block(request, blocks[std::size_t(b)]); });
    }
  }
}

void CpuSummation::run(const SumRequest& request, Neighbours neighbours) {
  if (const std::int64_t most = std::numeric_limits<int>::max();
      neighbours.must && std::max(request.i_count, request.nj) > most)
    throw UsageError(fmt::format("pairs = cutoff: a search takes at most {} i- and j-particles, got {} and {}", most,
                                 request.i_count, request.nj));
  SumStatistics::Seconds seconds;
  Stopwatch watch;
  begin_run(request);
  if (request.left_out == nullptr) interact_now_ = code_.interact_numbered;
  begin_part(request);
  pack_j(request);
  if (!locate(request) || !(neighbours.must || search_.pays())) {
    SumRequest packed = request;
    packed.reuse = JReuse::Prepared;
    return run(packed, AllPairs{});
  }
  watch.add_to(seconds.locate);
  if (!search_.holds(request.skin)) {
    search_.sort(request.skin, on_threads());
    ++statistics_.searches;
  }
  search_.arrange(j_);
  watch.add_to(seconds.sort);
  for (const int k : search_.order_of_i()) {
    chosen_i_.push_back(request.i_list ? request.i_list[k] : request.i_begin + k);
    i_numbers_.push_back(int(chosen_i_.back()));
  }
  const std::int64_t padded = search_.groups() * SiteTree::kLeaf;
  i_numbers_.resize(std::size_t(padded), i_numbers_.back());
  if (request.left_out) left_out_.resize(std::size_t(padded));
  i_.reserve(padded);
  totals_.reserve(source_, padded);
  Worked worked;
  std::mutex worked_mutex;
  // So many groups of i are a piece of work.
  constexpr std::int64_t kGroups = 32;
  const std::int64_t pieces = ceil_div(search_.groups(), kGroups);
  const auto block_of = [&](std::int64_t piece) {
    return block_of_groups(piece * kGroups, std::min((piece + 1) * kGroups, search_.groups()));
  };
  begin(double(search_.groups()));
  on_threads()(pieces, [&](std::int64_t piece) {
    const Block block = block_of(piece);
    begin_block(request, block);
    std::unique_ptr<CpuSearch::Gathered> gathered = take_idle();
    Worked here;
    for (std::int64_t group = piece * kGroups; group * SiteTree::kLeaf < block.end; ++group) {
      sum_group(request, group, *gathered, here);
      step(1);
    }
    give_back(std::move(gathered));
    if (carry_block(request, block, search_.order_of_i().data() + block.begin)) finish_block(request, block);
    const std::lock_guard lock(worked_mutex);
    worked += here;
  });
  double groups = 0;
  watch.add_to(groups);
  seconds.lists = worked.lists > 0 ? groups * worked.lists / (worked.lists + worked.sums) : 0;
  seconds.sums = groups - seconds.lists;
  // What was gathered took memory, so that until here something could fail. What is stored is stored in full.
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
      throw UsageError("neighbours: a length of the box or the reach is no number or 0, or nobody has a finite place");
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
  return search_.find_pairs(given, request.left_out, request.i_count, by_group);
}

void CpuSummation::note(const Worked& worked, const SumStatistics::Seconds& seconds) {
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
  // progress_ belongs to the last run, and no longer exists.
  pool_.parallel_for(search_.groups(), [&](std::int64_t group) { within += search_.pairs_within(group); });
  known.pairs_within = within;
  return known;
}

ForEach CpuSummation::on_threads() const {
  return [this](std::int64_t count, const ThreadPool::Body& body) {
    if (!progress_) return pool_.parallel_for(count, body);
    pool_.parallel_for(count, [&](std::int64_t item) {
      progress_->poll();
      body(item);
    });
  };
}

std::unique_ptr<CpuSearch::Gathered> CpuSummation::take_idle() {
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

// Of consecutive groups.
Block CpuSummation::block_of_groups(std::int64_t first, std::int64_t last) const {
  const std::int64_t begin = first * SiteTree::kLeaf,
                     end = std::min(last * SiteTree::kLeaf, std::int64_t(chosen_i_.size()));
  return {begin, end, last * SiteTree::kLeaf, 0, {0, chosen_i_.data() + begin, end - begin}};
}

// False: all pairs must be summed over.
bool CpuSummation::locate(const SumRequest& request) {
  // Numbers of particles are ints here.
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

// Results of one group, and of argmin and argmax the caller's numbers in place of positions among what was gathered.
void CpuSummation::sum_group(const SumRequest& request, std::int64_t group, CpuSearch::Gathered& gathered,
                             Worked& worked) {
  Stopwatch watch;
  search_.gather(group, gathered);
  watch.add_to(worked.lists);
  const Block block = block_of_groups(group, group + 1);
  nbcc_kernel_arguments given = arguments(request, block, totals_);
  given.j = gathered.columns.columns();
  given.j_number = gathered.numbers.data();
  interact_now_(&given, block.begin, block.end, 0, std::int64_t(gathered.positions.size()));
  number_chosen(totals_, block, gathered.numbers.data(), request.j_offset);
  worked.pairs_tested += (block.end - block.begin) * std::int64_t(gathered.positions.size());
  watch.add_to(worked.sums);
}

void CpuSummation::number_chosen(const Accumulators& sums, const Block& block, const int* numbers,
                                 std::int64_t j_offset) const {
  for (double* const row : std::span(sums.indices(), source_.reductions.size())) {
    if (!row) continue;
    for (std::int64_t i = block.begin; i < block.end; ++i)
      if (row[i] >= 0) row[i] = double(numbers[std::size_t(row[i])] + j_offset);
  }
}

void CpuSummation::reserve(const CpuPartition& partition) {
  i_.reserve(partition.capacity());
  totals_.reserve(source_, partition.capacity());
  const std::int64_t bytes = accumulators_of(source_) * partition.capacity() * std::int64_t(sizeof(double));
  const std::int64_t in_work =
      partition.shares_segments() ? std::clamp<std::int64_t>(kPartialBytes / bytes, 1, partition.segments()) : 1;
  partials_.resize(std::size_t(in_work));
  for (Accumulators& partial : partials_) partial.reserve(source_, partition.capacity());
}

void CpuSummation::pack_j(const SumRequest& request) {
  if (request.reuse == JReuse::Prepared || request.nj == 0) return;
  if (!request.check_indices) j_ranges_are_of_.reset();
  const bool packed = request.reuse == JReuse::Packed;
  const std::int64_t padded = round_up(request.nj, source_.lanes), chunk = round_up(kPackChunk, source_.lanes);
  if (!packed) j_.reserve(padded);
  const nbcc_kernel_arguments given = arguments(request, {}, totals_);
  const double work = double(request.nj) * double(source_.j_columns.size());
  for_each(ceil_div(request.nj, chunk), work, [&](std::int64_t k) {
    const std::int64_t begin = k * chunk, end = std::min(begin + chunk, request.nj);
    if (!packed) {
      j_.pack(request.views, {begin, nullptr, end - begin}, begin);
      j_.pad(begin, end - begin, std::min(begin + chunk, padded) - begin);
    }
    code_now_->prepare_j(&given, begin, end);
  });
}

void CpuSummation::sum_by_blocks(const SumRequest& request, const CpuPartition& partition,
                                 const std::vector<Block>& blocks, bool store) {
  for_each(std::int64_t(blocks.size()), partition.nanoseconds(), [&](std::int64_t b) {
    const Block& block = blocks[std::size_t(b)];
    begin_block(request, block);
    for (std::int64_t begin = 0; begin < request.nj; begin += partition.segment_size()) {
      sum_segment(request, block, begin, std::min(begin + partition.segment_size(), request.nj), partials_[0]);
      totals_.combine(partials_[0], block.begin, block.end);
    }
    if (!carry_block(request, block, nullptr)) return;
    finish_block(request, block);
    if (store) store_block(request, block);
  });
}

// As sum_by_blocks, with every (block, segment) apart: as many segments as there are partial sums are in work at once,
// and are combined in order.
void CpuSummation::sum_by_segments(const SumRequest& request, const CpuPartition& partition,
                                   const std::vector<Block>& blocks) {
  const std::int64_t count = std::int64_t(blocks.size()), size = partition.segment_size();
  const double one_pass = double(blocks.back().end * accumulators_of(source_));
  for_each(count, one_pass, [&](std::int64_t b) { begin_block(request, blocks[std::size_t(b)]); });
  for (std::int64_t first = 0; first < partition.segments(); first += std::int64_t(partials_.size())) {
    const std::int64_t segments = std::min(std::int64_t(partials_.size()), partition.segments() - first);
    // Neighbouring items share a segment, so that threads read the same j at about the same time.
    for_each(segments * count, partition.nanoseconds(), [&](std::int64_t item) {
      const std::int64_t begin = (first + item / count) * size;
      sum_segment(request, blocks[std::size_t(item % count)], begin, std::min(begin + size, request.nj),
                  partials_[std::size_t(item / count)]);
    });
    for_each(count, one_pass * double(segments), [&](std::int64_t b) {
      const Block& block = blocks[std::size_t(b)];
      for (std::int64_t k = 0; k < segments; ++k) totals_.combine(partials_[std::size_t(k)], block.begin, block.end);
    });
  }
  for_each(count, one_pass, [&](std::int64_t b) {
    const Block& block = blocks[std::size_t(b)];
    if (carry_block(request, block, nullptr)) finish_block(request, block);
  });
}

void CpuSummation::begin_block(const SumRequest& request, const Block& block) {
  i_.pack(request.views, block.picked, block.begin);
  i_.pad(block.begin, block.end - block.begin, block.padded - block.begin);
  totals_.reset(block.begin, block.padded);
  for (std::int64_t at = block.begin; at < block.end && request.left_out; ++at) {
    const std::int64_t k = at - block.begin;
    const std::int64_t i = block.picked.list ? block.picked.list[k] : block.picked.first + k;
    i_numbers_[std::size_t(at)] = int(i);
    left_out_[std::size_t(at)] = request.left_out->of[std::size_t(i)];
  }
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_now_->prepare_i(&given, block.begin, block.end);
}

// Whether a pair of the block and these j may be left out.
bool CpuSummation::leaves_out_any(const Block& block, std::int64_t begin, std::int64_t end) const {
  return std::any_of(left_out_.begin() + block.begin, left_out_.begin() + block.end, [&](const nbcc_left_out& out) {
    const auto is_among = [&](int j) { return j >= begin && j < end; };
    return (out.near != 0 && out.first < end && out.first + 64 > begin) ||
           std::any_of(out.far, out.far + out.far_count, is_among);
  });
}

void CpuSummation::sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                               Accumulators& partial) const {
  partial.reset(block.begin, block.padded);
  const nbcc_kernel_arguments given = arguments(request, block, partial);
  // Where nothing is left out the kernel need not ask; but it does not go by numbers.
  nbcc_kernel_arguments plain = given;
  plain.i_offset = block.i_offset;
  plain.i_number = plain.j_number = nullptr;
  const bool may_spare = request.left_out && std::ranges::none_of(source_.reductions, keeps_index);
  for (std::int64_t j = begin; j < end; j += source_.tile) {
    const std::int64_t tile_end = std::min(j + source_.tile, end);
    if (may_spare && !leaves_out_any(block, j, tile_end))
      code_.interact(&plain, block.begin, block.end, j, tile_end);
    else
      interact_now_(&given, block.begin, block.end, j, tile_end);
    step(double(block.end - block.begin) * double(tile_end - j));
  }
  if (!j_numbers_.empty()) number_chosen(partial, block, j_numbers_.data(), request.j_offset);
}

bool CpuSummation::carry_block(const SumRequest& request, const Block& block, const int* order) {
  if (request.j_part == JPart::Whole) return true;
  const auto carry = [&](std::int64_t chosen, std::int64_t begin, std::int64_t end) {
    held_.combine(totals_, begin, chosen, chosen + end - begin);
    if (request.j_part == JPart::Last) totals_.copy(held_, chosen, begin, end);
  };
  if (!order) carry(block.chosen, block.begin, block.end);
  for (std::int64_t at = block.begin; order && at < block.end; ++at) carry(order[at - block.begin], at, at + 1);
  return request.j_part == JPart::Last;
}

void CpuSummation::finish_block(const SumRequest& request, const Block& block) const {
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_now_->finish(&given, block.begin, block.end);
}

void CpuSummation::store_block(const SumRequest& request, const Block& block) const {
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (field.role != Role::Output || !request.views[f].data) continue;
    const std::optional reduction(field.reduction);
    double* const* const rows = (keeps_index(field.reduction) ? totals_.indices() : totals_.values()) + field.first;
    const auto store = [&]<typename Value>(Value) {
      const auto results = [&](int c) { return reinterpret_cast<const Value*>(rows[c]) + block.begin; };
      const auto put = [&](const auto& values, int c) {
        unpack(values, request.views[f], c, block.picked, request.accumulate ? reduction : std::nullopt);
      };
      if (field.components() == 3) return put(std::array{results(0), results(1), results(2)}, 0);
      for (int c = 0; c < field.components(); ++c) put(std::array{results(c)}, c);
    };
    if (results_are_whole(source_, std::size_t(field.first)))
      store(std::int64_t());
    else
      store(double());
  }
}

nbcc_kernel_arguments CpuSummation::arguments(const SumRequest& request, const Block& block,
                                              const Accumulators& accumulators) const {
  const bool numbered = !i_numbers_.empty();
  return {i_.columns(),
          j_.columns(),
          request.params.data(),
          accumulators.values(),
          accumulators.indices(),
          numbered ? request.i_offset : block.i_offset,
          request.j_offset,
          numbered ? i_numbers_.data() : nullptr,
          j_numbers_.empty() ? nullptr : j_numbers_.data(),
          nullptr,
          left_out_.empty() ? nullptr : left_out_.data(),
          request.tables ? request.tables->bytes.data() : nullptr};
}

void CpuSummation::for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body) {
  if (!progress_) return share_items(count, nanoseconds, body);
  share_items(count, nanoseconds, [&](std::int64_t item) {
    progress_->poll();
    body(item);
  });
}

void CpuSummation::share_items(std::int64_t count, double nanoseconds, const ThreadPool::Body& body) {
  if (nanoseconds >= CpuPartition::kWorthSharing) {
    pool_.parallel_for(count, body,
                       nanoseconds < CpuPartition::kWorthWaking ? ThreadPool::Size::Small : ThreadPool::Size::Large);
  } else {
    for (std::int64_t item = 0; item < count; ++item) body(item);
  }
}

}  // namespace nbcc
