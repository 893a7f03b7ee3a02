// Sums over lists of the caller: groups of i with ranges of j, and listed pairs. A thread takes a block of i, gathers
// the j that act on them, piece by piece, and calls the kernel for each piece. Where the j are packed in the order of
// the slots of the lists, ranges are copied as they are. Results are stored after all sums, since
// the j of a list may be outputs of any i. Tested by tests/numeric/lists_test.cpp.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "runtime/cpu/cpu_sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kIPerPart = 512;     // maximum i of a GroupPart
constexpr std::int64_t kIPerRowBlock = 64;  // i of a block with rows of listed pairs
constexpr std::int64_t kJPerPiece = 4096;   // gathered j per piece

}  // namespace

struct CpuSummation::Piece {
  explicit Piece(const KernelSource& source)
      : j(source, Role::InputJ), pairs(source, Role::InputPair), lanes(source.lanes) {
    j.reserve(capacity());
    pairs.reserve(capacity());
  }
  // Each row of pairs is padded to full vectors.
  std::int64_t capacity() const { return kJPerPiece + kIPerRowBlock * lanes; }
  bool is_empty() const { return numbers.empty(); }
  void clear() {
    numbers.clear();
    entries.clear();
    spans.clear();
    ranges.clear();
  }
  // Pads with copies of the last entry, so that full vectors hold ordinary numbers.
  void pad() {
    const auto padded = std::size_t(round_up(std::int64_t(numbers.size()), lanes));
    if (numbers.empty()) return;
    numbers.resize(padded, numbers.back());
    if (!entries.empty()) entries.resize(padded, entries.back());
  }

  struct Span {
    std::int64_t i, begin, end;  // position of the i; range of its j in the piece
  };
  // `count` slots from `first` on are the j of the piece from `begin` on.
  struct OfRange {
    std::int64_t first, begin, count;
  };
  PackedSide j, pairs;
  const std::int64_t lanes;
  std::vector<int> numbers;           // [j of the piece]: index in the caller's array
  std::vector<std::int64_t> entries;  // [j of the piece]: its listed pair, or its range if that matters
  std::vector<Span> spans;            // of listed pairs
  std::vector<OfRange> ranges;        // of groups
  std::vector<double> origins;        // of the relative inputs of the group
  std::vector<double*> rows;          // [output component]: nbcc_kernel_arguments::acc
};

// Calls body(first pair, count) for each run of consecutive pairs in the rows of some i.
template <typename Body>
void CpuSummation::on_pairs_of(const PairRows& rows, const Block& block, const Body& body) const {
  std::int64_t first = 0, end = 0;
  for (std::int64_t at = block.begin; at < block.end; ++at) {
    const auto i = std::size_t(chosen_i_[std::size_t(at)]);
    if (rows.first[i] != end && end > first) body(first, end - first);
    if (rows.first[i] != end) first = rows.first[i];
    end = rows.first[i + 1];
  }
  if (end > first) body(first, end - first);
}

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
    if (!piece) piece = std::make_unique<Piece>(source_);
    body(item, *piece);
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(piece));
  });
}

// Every part begins a new vector.
std::vector<CpuSummation::GroupPart> CpuSummation::divide_groups(const Lists& lists) {
  std::vector<GroupPart> parts;
  for (std::int64_t group = 0; group < lists.groups(); ++group) {
    const std::int64_t end = lists.i_first[std::size_t(group) + 1];
    for (std::int64_t first = lists.i_first[std::size_t(group)]; first < end; first += kIPerPart) {
      const std::int64_t count = std::min(kIPerPart, end - first), begin = std::int64_t(chosen_i_.size());
      for (std::int64_t at = first; at < first + count; ++at)
        chosen_i_.push_back(lists.i_order.empty() ? at : lists.i_order[std::size_t(at)]);
      chosen_i_.resize(std::size_t(round_up(begin + count, source_.lanes)), chosen_i_.back());
      parts.push_back({group, {begin, begin + count, std::int64_t(chosen_i_.size()), 0, {0, nullptr, count}}});
    }
  }
  for (GroupPart& part : parts) part.block.picked.list = chosen_i_.data() + part.block.begin;
  return parts;
}

void CpuSummation::sum_lists(const SumRequest& request) {
  begin_run(request);
  code_now_ = &list_code_(Frame::Lists);
  interact_now_ = request.exclusions ? code_now_->interact_excluding : code_now_->interact_numbered;
  const Lists& lists = *request.lists;
  const bool keeps_order =
      request.keep_j || request.reuse != JReuse::None || std::int64_t(lists.j_order.size()) > request.nj;
  if (!keeps_order) j_numbers_.assign(lists.j_order.begin(), lists.j_order.end());
  pack_j(request);
  const std::vector<GroupPart> parts = divide_groups(lists);
  i_numbers_.assign(chosen_i_.begin(), chosen_i_.end());
  if (request.exclusions) exclusions_.resize(chosen_i_.size());
  i_.reserve(std::int64_t(chosen_i_.size()));
  totals_.reserve(source_, std::int64_t(chosen_i_.size()));
  begin(double(lists.pairs));
  on_pieces(std::int64_t(parts.size()), [&](std::int64_t k, Piece& piece) {
    SumRequest group_request = request;
    if (!request.params_of_groups.empty())
      group_request.params = request.params_of_groups.subspan(std::size_t(parts[std::size_t(k)].group * source_.params),
                                                              std::size_t(source_.params));
    sum_group_part(group_request, lists, parts[std::size_t(k)], piece);
  });
  if (!ends(request.j_part)) return;
  pool_.parallel_for(std::int64_t(parts.size()),
                     [&](std::int64_t k) { store_block(request, parts[std::size_t(k)].block); });
}

void CpuSummation::sum_group_part(const SumRequest& request, const Lists& lists, const GroupPart& part, Piece& piece) {
  begin_block(request, part.block);
  if (lists.relative_inputs > 0) {
    const Block& block = part.block;
    piece.origins = i_.inputs_of(request.views, block.picked.list[0], lists.relative_inputs);
    i_.pack_relative(request.views, block.picked, block.begin, piece.origins);
    i_.pad(block.begin, block.end - block.begin, block.padded - block.begin);
    const nbcc_kernel_arguments given = arguments(request, block, totals_);
    code_now_->prepare_i(&given, block.begin, block.end);
  }
  piece.clear();
  const bool has_entries = !lists.shifts.empty();
  for (std::int64_t range = lists.range_first[std::size_t(part.group)];
       range < lists.range_first[std::size_t(part.group) + 1]; ++range) {
    const std::int64_t end = lists.j_end[std::size_t(range)];
    for (std::int64_t slot = lists.j_begin[std::size_t(range)], count = 0; slot < end; slot += count) {
      const std::size_t begin = piece.numbers.size();
      count = std::min(end - slot, kJPerPiece - std::int64_t(begin));
      piece.ranges.push_back({slot, std::int64_t(begin), count});
      piece.numbers.resize(begin + std::size_t(count));
      const auto numbers = piece.numbers.begin() + std::ptrdiff_t(begin);
      if (!j_numbers_.empty())
        std::copy_n(j_numbers_.begin() + slot, count, numbers);
      else if (!lists.j_order.empty())
        std::copy_n(lists.j_order.begin() + slot, count, numbers);
      else
        std::iota(numbers, piece.numbers.end(), int(slot));
      if (has_entries) piece.entries.resize(piece.numbers.size(), range);
      if (std::int64_t(piece.numbers.size()) == kJPerPiece) sum_piece(request, lists, part, piece);
    }
  }
  sum_piece(request, lists, part, piece);
  if (accumulate_block(request, part.block, i_numbers_.data() + part.block.begin)) finish_block(request, part.block);
}

void CpuSummation::sum_piece(const SumRequest& request, const Lists& lists, const GroupPart& part, Piece& piece) {
  if (piece.is_empty()) return;
  const std::int64_t count = std::int64_t(piece.numbers.size());
  piece.pad();
  if (j_numbers_.empty() && !lists.j_order.empty()) {
    piece.j.gather(j_, piece.numbers);
  } else {
    for (const Piece::OfRange& range : piece.ranges) {
      piece.j.copy(j_, range.first, range.count, range.begin);
      if (lists.relative_inputs > 0)
        piece.j.pack_relative(request.views, {range.first, nullptr, range.count}, range.begin, piece.origins);
    }
    const Piece::OfRange& last = piece.ranges.back();
    for (std::int64_t at = count; at < std::int64_t(piece.numbers.size()); ++at)
      piece.j.copy(j_, last.first + last.count - 1, 1, at);
    if (lists.relative_inputs > 0) piece.j.pad(0, count, std::int64_t(piece.numbers.size()));
  }
  nbcc_kernel_arguments given = arguments(request, part.block, totals_);
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
  // Derived columns depend on shifts, origins and params of groups, so compute them again.
  if (!lists.shifts.empty() || lists.relative_inputs > 0 || !request.params_of_groups.empty())
    code_now_->prepare_j(&given, 0, count);
  const Block& block = part.block;
  // Tile by tile, so that a tile stays in the L1 cache.
  for (std::int64_t j = 0; j < count; j += source_.tile)
    interact_now_(&given, block.begin, block.end, j, std::min(j + source_.tile, count));
  step(double(block.end - block.begin) * double(count));
  piece.clear();
}

void CpuSummation::sum_listed_pairs(const SumRequest& request) {
  begin_run(request);
  code_now_ = &list_code_(Frame::Lists);
  interact_now_ = code_now_->interact_numbered;
  const PairRows& rows = *request.listed_pairs;
  pack_j(request);
  const std::int64_t block_size = round_up(kIPerRowBlock, source_.lanes),
                     blocks = ceil_div(request.i_count, block_size);
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
  place_pair_results(rows, blocks, block_of);
  begin(double(rows.j.size()));
  on_pieces(blocks, [&](std::int64_t k, Piece& piece) {
    sum_rows(request, rows, block_of(k), first_result_[std::size_t(k)], piece);
  });
  if (!ends(request.j_part)) return;
  pool_.parallel_for(blocks, [&](std::int64_t k) {
    store_block(request, block_of(k));
    store_pair_results(request, rows, block_of(k), first_result_[std::size_t(k)]);
  });
}

// The results of the pairs of a block are consecutive in pair_results_. The kernel stores whole vectors, which extend
// beyond the last pair of a row, so that each block ends with unused elements:
//
//   pair_results_[component]:   | row | row | ... | row | lanes unused | row | row | ...
//                               first_result_[0]                       first_result_[1]
template <typename BlockOf>
void CpuSummation::place_pair_results(const PairRows& rows, std::int64_t blocks, const BlockOf& block_of) {
  std::int64_t position = 0, components = 0;
  for (const FieldLayout& field : source_.fields) components += field.is_pair_result() ? field.components() : 0;
  pair_results_.clear();
  first_result_.assign(std::size_t(blocks), 0);
  if (components == 0) return;
  for (std::int64_t k = 0; k < blocks; ++k) {
    first_result_[std::size_t(k)] = position;
    on_pairs_of(rows, block_of(k), [&](std::int64_t, std::int64_t count) { position += count; });
    position += source_.lanes;
  }
  memory_of_pair_results_.reserve(std::size_t(components * position) * sizeof(double));
  auto* row = reinterpret_cast<double*>(memory_of_pair_results_.data());
  for (const FieldLayout& field : source_.fields)
    for (int c = 0; c < field.components() && field.is_pair_result(); ++c, row += position)
      pair_results_.emplace_back(std::size_t(field.first + c), row);
}

void CpuSummation::store_pair_results(const SumRequest& request, const PairRows& rows, const Block& block,
                                      std::int64_t position) const {
  std::size_t row = 0;
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (!field.is_pair_result()) continue;
    const auto how = request.accumulate ? std::optional(field.reduction) : std::nullopt;
    std::int64_t from = position;
    on_pairs_of(rows, block, [&](std::int64_t first, std::int64_t count) {
      const auto values = [&](int c) -> const double* { return pair_results_[row + std::size_t(c)].second + from; };
      const Picked pairs{first, nullptr, count};
      if (field.components() == 3 && request.views[f].data)
        unpack(std::array{values(0), values(1), values(2)}, request.views[f], 0, pairs, how);
      else
        for (int c = 0; c < field.components() && request.views[f].data; ++c)
          unpack(values(c), request.views[f], c, pairs, how);
      from += count;
    });
    row += std::size_t(field.components());
  }
}

// `position`: of the block's first result of a pair in pair_results_.
void CpuSummation::sum_rows(const SumRequest& request, const PairRows& rows, const Block& block, std::int64_t position,
                            Piece& piece) {
  begin_block(request, block);
  piece.rows.assign(totals_.values(), totals_.values() + source_.accumulators.size());
  const auto sum_all = [&] {
    if (piece.is_empty()) return;
    step(double(piece.numbers.size()));
    piece.j.gather(j_, piece.numbers);
    piece.pairs.pack(request.views, {0, piece.entries.data(), std::int64_t(piece.entries.size())}, 0);
    nbcc_kernel_arguments given = arguments(request, block, totals_);
    given.j = piece.j.columns();
    given.j_number = piece.numbers.data();
    given.pair = piece.pairs.columns();
    given.acc = piece.rows.data();
    for (const Piece::Span& span : piece.spans) {
      for (const auto& [component, results] : pair_results_) piece.rows[component] = results + position - span.begin;
      position += span.end - span.begin;
      interact_now_(&given, span.i, span.i + 1, span.begin, span.end);
    }
    piece.clear();
  };
  piece.clear();
  for (std::int64_t at = block.begin; at < block.end; ++at) {
    const std::int64_t i = chosen_i_[std::size_t(at)];
    std::int64_t entry = rows.first[std::size_t(i)];
    while (entry < rows.first[std::size_t(i) + 1]) {
      const std::size_t begin = piece.numbers.size();
      // Append the row at once: appending entries one by one takes as long as a short pair formula.
      const std::int64_t taken = std::min(rows.first[std::size_t(i) + 1] - entry, kJPerPiece - std::int64_t(begin));
      piece.numbers.insert(piece.numbers.end(), rows.j.begin() + entry, rows.j.begin() + entry + taken);
      piece.entries.resize(begin + std::size_t(taken));
      std::iota(piece.entries.begin() + std::ptrdiff_t(begin), piece.entries.end(), entry);
      entry += taken;
      piece.spans.push_back({at, std::int64_t(begin), std::int64_t(piece.numbers.size())});
      piece.pad();
      if (std::int64_t(piece.numbers.size()) >= kJPerPiece) sum_all();
    }
  }
  sum_all();
  if (accumulate_block(request, block, nullptr)) finish_block(request, block);
}

}  // namespace nbcc
