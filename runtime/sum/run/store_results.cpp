// Runs with totals and histograms: values of i and words of histograms -> the caller's arrays. Entry points:
// SumState::sum(), SumState::store_results().
#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/sum/plan/chosen_lists.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/run/histograms.h"
#include "runtime/sum/run/sum.h"
#include "runtime/sum/run/totals.h"

namespace nbcc {

void SumState::sum(const SumRequest& request) {
  if (totals_ && totals_->i_at_a_time() > 0) return sum_for_totals(request);
  const std::int64_t most = most_rows(source());
  if (most == 0) return sum_.run(request);
  std::vector<std::int64_t> list;
  if (request.i_list) list = chosen_i(request, sum_.summation());
  std::int64_t least = request.i_begin, greatest = request.i_begin + request.i_count - 1;
  if (!list.empty()) std::tie(least, greatest) = std::pair(std::ranges::min(list), std::ranges::max(list));
  SumRequest piece = request;
  // Makes rows for the i from `first` on, sums the piece, and stores its rows.
  const auto sum_piece = [&](std::int64_t first, std::int64_t rows) {
    if (begins(request.j_part)) histograms_->set_rows(first + request.i_offset, rows);
    sum_.run(piece);
    if (!ends(request.j_part)) return;
    if (piece.i_list == request.i_list && piece.i_list) piece.i_list = list.data();  // which the host can read
    store_histograms_of_i(*histograms_, piece, views_, sum_.summation());
  };
  // The parts of a sum continue each other's rows.
  if (request.j_part != JPart::Whole) return sum_piece(0, request.ni);
  if (greatest - least < most) return sum_piece(least, greatest - least + 1);
  if (find_overlap(fields(), views_, disjoint))
    throw UsageError("an output may not be an input where histograms are summed for some i at a time");
  std::ranges::sort(list);
  for (std::int64_t done = 0; done < request.i_count; done += piece.i_count) {
    piece.i_begin = request.i_begin + done;
    piece.i_count = std::min(most, request.i_count - done);
    std::int64_t first = piece.i_begin;
    if (request.i_list) {
      piece.i_list = list.data() + done;
      first = piece.i_list[0];
      piece.i_count = std::lower_bound(list.begin() + done, list.end(), first + most) - (list.begin() + done);
    }
    set_range_of_progress(request, done, piece.i_count);
    sum_piece(first, std::min(most, greatest - first + 1));
  }
}

// Totals of many components: the values of some i at a time.
void SumState::sum_for_totals(const SumRequest& request) {
  for_ranges_of_i(request.i_count, totals_->i_at_a_time(), [&](std::int64_t done, std::int64_t count) {
    const SumRequest piece = totals_->piece(request, done, count);
    set_range_of_progress(request, done, count);
    sum_.run(piece);
    totals_->reduce_piece(piece, done);
  });
}

// After the last part of a run.
void SumState::store_results(const SumRequest& request) {
  if (!ends(request.j_part)) return;
  // What a kind of result stores may be memory that an earlier one has put in place of the caller's.
  for (const auto& result : results_ | std::views::reverse) result->store(request, views_);
}

}  // namespace nbcc
