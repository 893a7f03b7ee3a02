// Words of histograms -> numbers. Entry points: HistogramWords, HistogramsOfThreads, store_histograms_of_run(),
// store_histograms_of_i(). Kernels add the terms.
#include "runtime/sum/run/histograms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/pack.h"

namespace nbcc {
namespace {

// Moves the part of each digit beyond its bits to the next digit, so that all digits but the last are in [0, 2^bits).
void carry(std::span<std::int64_t> digits, int bits) {
  std::int64_t over = 0;
  for (std::size_t k = 0; k + 1 < digits.size(); ++k) {
    const std::int64_t digit = digits[k] + over;
    over = digit >> bits;
    digits[k] = digit & ((std::int64_t(1) << bits) - 1);
  }
  digits.back() += over;
}

// The sum of digits[k] 2^(bits k + exponent), rounded once, to the nearest double.
double value_of(std::span<const std::int64_t> of, int bits, int exponent) {
  std::array<std::int64_t, kDoubleWords> copied;
  const std::span<std::int64_t> digits(copied.data(), of.size());
  std::ranges::copy(of, digits.begin());
  carry(digits, bits);
  const bool negative = digits.back() < 0;
  if (negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    carry(digits, bits);
  }
  // The highest bits of the number, at least 64 if it has so many. The last one says whether any lower bit is set.
  unsigned __int128 highest = 0;
  std::size_t k = digits.size();
  while (k > 0 && highest >> 64 == 0) highest = highest << bits | static_cast<std::uint64_t>(digits[--k]);
  if (std::any_of(digits.begin(), digits.begin() + std::ptrdiff_t(k), [](std::int64_t digit) { return digit != 0; }))
    highest |= 1;
  // Numbers below the normal ones have fewer than 53 bits here, and ldexp() does not round them.
  const double value = std::ldexp(double(highest), int(k) * bits + exponent);
  return negative ? -value : value;
}

// The words of a row of all histograms of each i.
std::int64_t row_words_of(const KernelSource& source) {
  std::int64_t words = 0;
  for (const HistogramLayout& layout : source.histograms) words += layout.of_i ? layout.row_words() : 0;
  return words;
}

// The numbers of a row in the caller's type, the steps between them in bytes; `how`: combined with those that are
// there.
void unpack_row(const HistogramWords& words, std::size_t histogram, std::int64_t row, std::byte* to, Element type,
                std::int64_t step, std::optional<Reduction> how) {
  const HistogramLayout& layout = words.source().histograms[histogram];
  const ArrayView view{to, type, layout.elements, step, 0};
  const Picked all{0, nullptr, layout.elements};
  if (layout.element == Element::Int64) return unpack(words.integers(histogram, row), view, 0, all, how);
  std::vector<double> values;
  for (int e = 0; e < layout.elements; ++e) values.push_back(words.real(histogram, row, e));
  unpack(values.data(), view, 0, all, how);
}

// Stores `rows` rows of a histogram, from its row `first` on, in the array of consecutive i that begins at view.data.
void store(const HistogramWords& words, std::size_t histogram, std::int64_t first, std::int64_t rows,
           const ArrayView& view, bool accumulate, Summation& sum) {
  const HistogramLayout& layout = words.source().histograms[histogram];
  const std::int64_t size = size_of(view.element), elements = layout.elements;
  // The array may be in a device's memory: numbers side by side are copied as a whole, those of rows or of columns. Of
  // numbers that are apart, those between them are not ours, and another thread may write them.
  const bool by_columns = rows > 1 && view.stride == size && view.component_stride != size;
  const std::int64_t lines = by_columns ? elements : rows, of_line = by_columns ? rows : elements;
  const std::int64_t line_step = by_columns ? view.component_stride : view.stride;
  const std::int64_t step = by_columns ? view.stride : view.component_stride;
  const bool side_by_side = step == size || of_line == 1;
  const bool all_side_by_side = side_by_side && (lines == 1 || line_step == of_line * size);
  std::vector<std::byte> bytes(std::size_t(lines * of_line * size));
  const auto copy = [&](auto one) {
    auto* const there = static_cast<std::byte*>(view.data);
    if (all_side_by_side) return one(bytes.data(), there, bytes.size());
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < (side_by_side ? 1 : of_line); ++k)
        one(bytes.data() + (line * of_line + k) * size, there + line * line_step + k * step,
            std::size_t(side_by_side ? of_line * size : size));
  };
  if (accumulate) copy([&](void* here, const void* there, std::size_t count) { sum.fetch(here, there, count); });
  sum.on_host_threads(rows, [&](std::int64_t row) {
    unpack_row(words, histogram, first + row, bytes.data() + row * (by_columns ? 1 : elements) * size, view.element,
               by_columns ? rows * size : size, accumulate ? std::optional(Reduction::Sum) : std::nullopt);
  });
  copy([&](const void* here, void* there, std::size_t count) { sum.put(there, here, count); });
}

}  // namespace

double most_pairs(const KernelSource& source) {
  double most = HUGE_VAL;
  for (const HistogramLayout& layout : source.histograms)
    if (layout.element != Element::Int64 && !layout.of_i)  // a row takes the terms of one i
      most = std::min(most, layout.most_terms / source.fields[std::size_t(layout.field)].components());
  return most;
}

std::int64_t most_rows(const KernelSource& source) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const HistogramLayout& layout : source.histograms)
    if (layout.of_i) most = std::min(most, layout.most_words);
  const std::int64_t of_row = row_words_of(source);
  return of_row == 0 ? 0 : i_within(most, of_row);
}

HistogramWords::HistogramWords(const KernelSource& source) : source_(source), pointers_(source.histograms.size()) {
  for (const HistogramLayout& layout : source.histograms) words_of_totals_ += layout.of_i ? 0 : layout.row_words();
  words_.resize(std::size_t(words_of_totals_));
  set_rows(0, 0);
}

void HistogramWords::clear() {
  set_rows(0, 0);
  std::ranges::fill(words_, 0);
  outside_ = 0;
  are_stored_ = false;
}

void HistogramWords::set_arrays(std::span<const ArrayView> views) {
  arrays_.clear();
  for (const HistogramLayout& layout : source_.histograms) arrays_.push_back(views[std::size_t(layout.field)]);
}

void HistogramWords::set_rows(std::int64_t first_index, std::int64_t count) {
  outside_ += outside_in_words(true);
  words_.resize(std::size_t(words_of_totals_));
  first_index_ = first_index;
  rows_ = count;
  have_rows_memory_ = are_rows_stored_ = false;
  set_pointers();
}

void HistogramWords::make_rows() {
  if (std::exchange(have_rows_memory_, true)) return;
  words_.resize(std::size_t(count()));
  set_pointers();
}

void HistogramWords::set_pointers() {
  for (std::size_t h = 0; h < pointers_.size(); ++h) pointers_[h] = words_.data() + first_word(h);
}

std::int64_t HistogramWords::count() const { return words_of_totals_ + rows_ * row_words_of(source_); }

std::int64_t HistogramWords::first_word(std::size_t histogram) const {
  const bool of_i = source_.histograms[histogram].of_i;
  std::int64_t first = of_i ? words_of_totals_ : 0;
  for (std::size_t h = 0; h < histogram; ++h)
    if (const HistogramLayout& layout = source_.histograms[h]; layout.of_i == of_i)
      first += rows_of(layout) * layout.row_words();
  return first;
}

void HistogramWords::add(std::span<const std::int64_t> words) {
  if (std::int64_t(words.size()) > words_of_totals_) make_rows();
  for (std::size_t k = 0; k < words.size(); ++k) words_[k] += words[k];
  normalize(std::int64_t(words.size()) > words_of_totals_);
}

void HistogramWords::add(const HistogramWords& other) { add(other.words_); }

void HistogramWords::normalize() { normalize(true); }

void HistogramWords::normalize(bool rows_too) {
  for (std::size_t h = 0; h < pointers_.size(); ++h) {
    const HistogramLayout& layout = source_.histograms[h];
    if (layout.element == Element::Int64 || (layout.of_i && !(rows_too && have_rows_memory_))) continue;
    for (std::int64_t row = 0; row < rows_of(layout); ++row)
      for (int e = 0; e < layout.elements; ++e)
        carry({pointers_[h] + row * layout.row_words() + std::int64_t(e + 1) * layout.words,
               std::size_t(layout.words - kSpecialWords)},
              layout.digit);
  }
}

std::int64_t HistogramWords::outside() const { return outside_ + outside_in_words(true) + outside_in_words(false); }

std::int64_t HistogramWords::outside_in_words(bool of_i) const {
  std::int64_t count = 0;
  if (of_i && !have_rows_memory_) return 0;
  for (std::size_t h = 0; h < pointers_.size(); ++h)
    for (std::int64_t row = 0; source_.histograms[h].of_i == of_i && row < rows_of(source_.histograms[h]); ++row)
      count += element(h, row, -1)[0];
  return count;
}

std::span<const std::int64_t> HistogramWords::element(std::size_t histogram, std::int64_t row, int element) const {
  const HistogramLayout& layout = source_.histograms[histogram];
  return {pointers_[histogram] + row * layout.row_words() + std::int64_t(element + 1) * layout.words,
          std::size_t(layout.words)};
}

const std::int64_t* HistogramWords::integers(std::size_t histogram, std::int64_t row) const {
  return element(histogram, row, 0).data();
}

double HistogramWords::real(std::size_t histogram, std::int64_t row, int element) const {
  const HistogramLayout& layout = source_.histograms[histogram];
  const std::span<const std::int64_t> words = this->element(histogram, row, element);
  const std::span<const std::int64_t> special = words.last(kSpecialWords);
  if (special[2] > 0 || (special[0] > 0 && special[1] > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (special[0] > 0 || special[1] > 0) return special[0] > 0 ? HUGE_VAL : -HUGE_VAL;
  // The lowest digit is the least number of the type.
  const std::span<const std::int64_t> digits = words.first(words.size() - kSpecialWords);
  if (std::ranges::all_of(digits, [](std::int64_t digit) { return digit == 0; })) return 0;
  return value_of(digits, layout.digit, layout.element == Element::Float ? -149 : -1074);
}

// Other threads may call the next run, and a run over batches has a device's sum for each: no memory is kept.
void HistogramsOfThreads::begin(HistogramWords* sum) {
  of_threads_.clear();  // a run that failed may have left some
  sum_ = sum;
  if (sum_) sum_->pointers();  // makes the rows, before threads add to them
  shares_rows_ = false;
}

std::int64_t* const* HistogramsOfThreads::here(double pairs) {
  if (source_.histograms.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<OfThread>& own = of_threads_[std::this_thread::get_id()];
  if (!own) {
    own = std::make_unique<OfThread>(source_);
    if (sum_ && shares_rows_) own->words.set_rows(sum_->first_index(), sum_->rows());
    const std::span<std::int64_t* const> pointers = own->words.pointers();
    own->pointers.assign(pointers.begin(), pointers.end());
    for (std::size_t h = 0; sum_ && !shares_rows_ && h < source_.histograms.size(); ++h)
      if (source_.histograms[h].of_i) own->pointers[h] = sum_->pointers()[h];
  }
  if (own->pairs + pairs > most_pairs(source_)) {
    own->words.normalize();
    own->pairs = 0;
  }
  own->pairs += pairs;
  return own->pointers.data();
}

void HistogramsOfThreads::end() {
  for (const auto& [thread, own] : of_threads_) {
    if (own->pairs == 0) continue;
    own->words.normalize();
    sum_->add(own->words);
  }
  if (sum_) sum_->normalize();
  begin(nullptr);
}

SumRequest RunHistograms::begin(const SumRequest& request) {
  SumRequest with_words = request;
  with_words.histograms = &words_;
  return with_words;
}

void RunHistograms::store(const SumRequest& request, std::span<const ArrayView> callers) {
  const KernelSource& source = words_.source();
  if (words_.are_stored()) return;
  for (std::size_t h = 0; h < source.histograms.size(); ++h)
    if (const ArrayView& view = callers[std::size_t(source.histograms[h].field)];
        !source.histograms[h].of_i && view.data)
      nbcc::store(words_, h, 0, 1, view, request.accumulate, summation_);
}

void store_histograms_of_i(HistogramWords& words, const SumRequest& request, std::span<const ArrayView> views,
                           Summation& sum) {
  if (words.are_stored() || words.are_rows_stored()) return;
  words.pointers();  // rows to which no pair has added are zeros
  const KernelSource& source = words.source();
  const auto i_at = [&](std::int64_t k) { return request.i_list ? request.i_list[k] : request.i_begin + k; };
  for (std::size_t h = 0; h < source.histograms.size(); ++h) {
    ArrayView view = views[std::size_t(source.histograms[h].field)];
    if (!source.histograms[h].of_i || !view.data) continue;
    for (std::int64_t begin = 0, end = 0; begin < request.i_count; begin = end) {
      const std::int64_t i = i_at(begin);
      do {
        ++end;
      } while (end < request.i_count && i_at(end) == i + end - begin);
      ArrayView part = view;
      part.data = static_cast<std::byte*>(view.data) + i * view.stride;
      store(words, h, i + request.i_offset - words.first_index(), end - begin, part, request.accumulate, sum);
    }
  }
}

}  // namespace nbcc
