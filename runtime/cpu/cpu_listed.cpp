// Runs over lists of the caller: groups of i with ranges of j, and pairs one by one. A thread takes some i at a time,
// puts the j that act on them side by side, a piece of the list after the other, and calls the kernel. Results are
// stored when all are there, since the j of a list may be anybody's outputs.
// Tested by tests/numeric/lists_test.cpp.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "runtime/cpu/cpu_sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kShare = 128;    // i of a group that a thread takes at a time
constexpr std::int64_t kRowBlock = 64;  // ... of those that have rows of pairs
constexpr std::int64_t kPiece = 4096;   // j that are put side by side at a time

}  // namespace

struct CpuSummation::Piece {
  explicit Piece(const KernelSource& source)
      : j(source, Role::InputJ),
        pairs(source, Role::InputPair),
        lanes(source.lanes),
        lowest_first(std::ranges::any_of(source.reductions, keeps_index)) {
    j.reserve(capacity());
    pairs.reserve(capacity());
  }
  // PairRows of a few pairs each fill whole vectors.
  std::int64_t capacity() const { return kPiece + kRowBlock * lanes; }
  bool is_empty() const { return numbers.empty(); }
  void clear() {
    numbers.clear();
    entries.clear();
    spans.clear();
  }
  // The last one again, so that vectors hold ordinary numbers.
  void pad() {
    const auto padded = std::size_t(round_up(std::int64_t(numbers.size()), lanes));
    if (numbers.empty()) return;
    numbers.resize(padded, numbers.back());
    entries.resize(padded, entries.back());
  }
  // Of equal values the lowest j is chosen, which kernels take to be the first.
  void sort_from(std::size_t begin) {
    if (!lowest_first) return;
    std::vector<std::pair<int, std::int64_t>> both;
    for (std::size_t k = begin; k < numbers.size(); ++k) both.emplace_back(numbers[k], entries[k]);
    std::ranges::sort(both);
    for (std::size_t k = begin; k < numbers.size(); ++k) std::tie(numbers[k], entries[k]) = both[k - begin];
  }

  struct Span {
    std::int64_t i, begin, end;  // the i at this position, and its j in the piece
  };
  PackedSide j, pairs;
  const std::int64_t lanes;
  const bool lowest_first;
  std::vector<int> numbers;           // of the j, in the caller's array
  std::vector<std::int64_t> entries;  // which range, or which listed pair, they are of
  std::vector<Span> spans;
  Accumulators partial;  // where one piece's must be told from another's
};

template <typename Body>
void CpuSummation::on_pieces(std::int64_t count, const Body& body) {
  std::vector<std::unique_ptr<Piece>> idle;
  std::mutex mutex;
  on_threads()(count, [&](std::int64_t item) {
    std::unique_ptr<Piece> piece;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        piece = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!piece) {
      piece = std::make_unique<Piece>(source_);
      if (piece->lowest_first) piece->partial.reserve(source_, std::int64_t(i_numbers_.size()));
    }
    body(item, *piece);
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(piece));
  });
}

// Every share begins with a vector of its own.
std::vector<CpuSummation::Share> CpuSummation::share_out(const Lists& lists) {
  std::vector<Share> shares;
  for (std::int64_t group = 0; group < lists.groups(); ++group) {
    const std::int64_t end = lists.i_first[std::size_t(group) + 1];
    for (std::int64_t first = lists.i_first[std::size_t(group)]; first < end; first += kShare) {
      const std::int64_t count = std::min(kShare, end - first), begin = std::int64_t(chosen_i_.size());
      for (std::int64_t at = first; at < first + count; ++at)
        chosen_i_.push_back(lists.i_order.empty() ? at : lists.i_order[std::size_t(at)]);
      chosen_i_.resize(std::size_t(round_up(begin + count, source_.lanes)), chosen_i_.back());
      shares.push_back({group, {begin, begin + count, std::int64_t(chosen_i_.size()), 0, {0, nullptr, count}}});
    }
  }
  for (Share& share : shares) share.block.picked.list = chosen_i_.data() + share.block.begin;
  return shares;
}

void CpuSummation::sum_lists(const SumRequest& request) {
  begin_run(request);
  code_now_ = &list_code_();
  interact_now_ = request.left_out ? code_now_->interact_but : code_now_->interact_numbered;
  const Lists& lists = *request.lists;
  pack_j(request);
  const std::vector<Share> shares = share_out(lists);
  i_numbers_.assign(chosen_i_.begin(), chosen_i_.end());
  if (request.left_out) left_out_.resize(chosen_i_.size());
  i_.reserve(std::int64_t(chosen_i_.size()));
  totals_.reserve(source_, std::int64_t(chosen_i_.size()));
  begin(double(lists.pairs));
  on_pieces(std::int64_t(shares.size()), [&](std::int64_t k, Piece& piece) {
    SumRequest mine = request;
    if (!request.params_of_groups.empty())
      mine.params = request.params_of_groups.subspan(std::size_t(shares[std::size_t(k)].group * source_.params),
                                                     std::size_t(source_.params));
    sum_share(mine, lists, shares[std::size_t(k)], piece);
  });
  if (!ends(request.j_part)) return;
  pool_.parallel_for(std::int64_t(shares.size()),
                     [&](std::int64_t k) { store_block(request, shares[std::size_t(k)].block); });
}

void CpuSummation::sum_share(const SumRequest& request, const Lists& lists, const Share& share, Piece& piece) {
  begin_block(request, share.block);
  piece.clear();
  for (std::int64_t range = lists.range_first[std::size_t(share.group)];
       range < lists.range_first[std::size_t(share.group) + 1]; ++range) {
    for (std::int64_t at = lists.j_begin[std::size_t(range)]; at < lists.j_end[std::size_t(range)]; ++at) {
      piece.numbers.push_back(lists.j_order.empty() ? int(at) : int(lists.j_order[std::size_t(at)]));
      piece.entries.push_back(range);
      if (std::int64_t(piece.numbers.size()) == kPiece) sum_piece(request, lists, share, piece);
    }
  }
  sum_piece(request, lists, share, piece);
  if (carry_block(request, share.block, i_numbers_.data() + share.block.begin)) finish_block(request, share.block);
}

void CpuSummation::sum_piece(const SumRequest& request, const Lists& lists, const Share& share, Piece& piece) {
  if (piece.is_empty()) return;
  piece.sort_from(0);
  const std::int64_t count = std::int64_t(piece.numbers.size());
  piece.pad();
  piece.j.gather(j_, piece.numbers);
  nbcc_kernel_arguments given = arguments(request, share.block, piece.lowest_first ? piece.partial : totals_);
  given.j = piece.j.columns();
  given.j_number = piece.numbers.data();
  const std::int64_t padded = std::int64_t(piece.numbers.size());
  for (std::int64_t begin = 0, end = 0; begin < padded && !lists.shifts.empty(); begin = end) {
    const std::int64_t range = piece.entries[std::size_t(begin)];
    while (end < padded && piece.entries[std::size_t(end)] == range) ++end;
    for (int axis = 0; axis < lists.axes; ++axis)
      piece.j.shift(source_.search.j_positions[std::size_t(axis)], lists.shifts[std::size_t(range * lists.axes + axis)],
                    begin, end);
  }
  // What is derived of particles may be another thing here.
  if (!lists.shifts.empty() || !request.params_of_groups.empty()) code_now_->prepare_j(&given, 0, count);
  const Block& block = share.block;
  if (piece.lowest_first) piece.partial.reset(block.begin, block.padded);
  interact_now_(&given, block.begin, block.end, 0, count);
  if (piece.lowest_first) {
    number_chosen(piece.partial, block, piece.numbers.data(), request.j_offset);
    totals_.combine(piece.partial, block.begin, block.end);
  }
  step(double(block.end - block.begin) * double(count));
  piece.clear();
}

void CpuSummation::sum_listed_pairs(const SumRequest& request) {
  begin_run(request);
  code_now_ = &list_code_();
  interact_now_ = code_now_->interact_numbered;
  const PairRows& rows = *request.listed_pairs;
  pack_j(request);
  const std::int64_t block_size = round_up(kRowBlock, source_.lanes), blocks = ceil_div(request.i_count, block_size);
  const std::int64_t padded = blocks * block_size;
  for (std::int64_t k = 0; k < request.i_count; ++k)
    chosen_i_.push_back(request.i_list ? request.i_list[k] : request.i_begin + k);
  chosen_i_.resize(std::size_t(padded), chosen_i_.back());
  i_numbers_.assign(chosen_i_.begin(), chosen_i_.end());
  i_.reserve(padded);
  totals_.reserve(source_, padded);
  const auto block_of = [&](std::int64_t k) {
    const std::int64_t begin = k * block_size, end = std::min(begin + block_size, request.i_count);
    return Block{begin, end, begin + block_size, 0, {0, chosen_i_.data() + begin, end - begin}, begin};
  };
  begin(double(rows.j.size()));
  on_pieces(blocks, [&](std::int64_t k, Piece& piece) { sum_rows(request, rows, block_of(k), piece); });
  if (ends(request.j_part)) pool_.parallel_for(blocks, [&](std::int64_t k) { store_block(request, block_of(k)); });
}

void CpuSummation::sum_rows(const SumRequest& request, const PairRows& rows, const Block& block, Piece& piece) {
  begin_block(request, block);
  Accumulators& sums = piece.lowest_first ? piece.partial : totals_;
  const auto sum_all = [&] {
    if (piece.is_empty()) return;
    step(double(piece.numbers.size()));
    piece.j.gather(j_, piece.numbers);
    piece.pairs.pack(request.views, {0, piece.entries.data(), std::int64_t(piece.entries.size())}, 0);
    nbcc_kernel_arguments given = arguments(request, block, sums);
    given.j = piece.j.columns();
    given.j_number = piece.numbers.data();
    given.pair = piece.pairs.columns();
    for (const Piece::Span& span : piece.spans) {
      const Block one{span.i, span.i + 1, span.i + 1, 0, {}};
      if (piece.lowest_first) piece.partial.reset(one.begin, one.end);
      interact_now_(&given, one.begin, one.end, span.begin, span.end);
      if (!piece.lowest_first) continue;
      number_chosen(piece.partial, one, piece.numbers.data(), request.j_offset);
      totals_.combine(piece.partial, one.begin, one.end);
    }
    piece.clear();
  };
  piece.clear();
  for (std::int64_t at = block.begin; at < block.end; ++at) {
    const std::int64_t i = chosen_i_[std::size_t(at)];
    std::int64_t entry = rows.first[std::size_t(i)];
    while (entry < rows.first[std::size_t(i) + 1]) {
      const std::size_t begin = piece.numbers.size();
      // As a whole: one by one they take as long as a short formula.
      const std::int64_t taken = std::min(rows.first[std::size_t(i) + 1] - entry, kPiece - std::int64_t(begin));
      piece.numbers.insert(piece.numbers.end(), rows.j.begin() + entry, rows.j.begin() + entry + taken);
      piece.entries.resize(begin + std::size_t(taken));
      std::iota(piece.entries.begin() + std::ptrdiff_t(begin), piece.entries.end(), entry);
      entry += taken;
      piece.sort_from(begin);
      piece.spans.push_back({at, std::int64_t(begin), std::int64_t(piece.numbers.size())});
      piece.pad();
      if (std::int64_t(piece.numbers.size()) >= kPiece) sum_all();
    }
  }
  sum_all();
  if (carry_block(request, block, nullptr)) finish_block(request, block);
}

}  // namespace nbcc
