// Words of histograms -> numbers. Entry points: HistogramWords, store_histograms(). Kernels add the terms.
#include "runtime/sum/histograms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "runtime/sum/pack.h"

namespace nbcc {
namespace {

std::int64_t words_of(const HistogramLayout& layout) { return std::int64_t(layout.elements + 1) * layout.words; }

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
double value_of(std::vector<std::int64_t> digits, int bits, int exponent) {
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

}  // namespace

double most_pairs(const KernelSource& source) {
  double most = HUGE_VAL;
  for (const HistogramLayout& layout : source.histograms)
    if (layout.element != Element::Int64)
      most = std::min(most, layout.most_terms / source.fields[std::size_t(layout.field)].components());
  return most;
}

HistogramWords::HistogramWords(const KernelSource& source) : source_(source) {
  std::int64_t count = 0;
  for (const HistogramLayout& layout : source.histograms) count += words_of(layout);
  words_.resize(std::size_t(count));
  std::int64_t* at = words_.data();
  for (const HistogramLayout& layout : source.histograms) {
    pointers_.push_back(at);
    at += words_of(layout);
  }
}

void HistogramWords::clear() { std::ranges::fill(words_, 0); }

void HistogramWords::add(std::span<const std::int64_t> words) {
  for (std::size_t k = 0; k < words_.size(); ++k) words_[k] += words[k];
  normalize();
}

void HistogramWords::add(const HistogramWords& other) { add(other.words_); }

void HistogramWords::normalize() {
  for (std::size_t h = 0; h < pointers_.size(); ++h) {
    const HistogramLayout& layout = source_.histograms[h];
    if (layout.element == Element::Int64) continue;
    for (int e = 0; e < layout.elements; ++e)
      carry({pointers_[h] + std::int64_t(e + 1) * layout.words, std::size_t(layout.words - kSpecialWords)},
            layout.digit);
  }
}

std::int64_t HistogramWords::outside() const {
  std::int64_t count = 0;
  for (const std::int64_t* words : pointers_) count += words[0];
  return count;
}

std::int64_t HistogramWords::integer(std::size_t histogram, int element) const {
  return pointers_[histogram][element + 1];
}

double HistogramWords::real(std::size_t histogram, int element) const {
  const HistogramLayout& layout = source_.histograms[histogram];
  const std::int64_t* const words = pointers_[histogram] + std::int64_t(element + 1) * layout.words;
  const std::int64_t* const special = words + layout.words - kSpecialWords;
  if (special[2] > 0 || (special[0] > 0 && special[1] > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (special[0] > 0 || special[1] > 0) return special[0] > 0 ? HUGE_VAL : -HUGE_VAL;
  // The lowest digit is the least number of the type.
  const bool is_float = layout.element == Element::Float;
  return value_of({words, special}, layout.digit, is_float ? -149 : -1074);
}

std::int64_t* const* HistogramsOfThreads::here(double pairs) {
  if (source_.histograms.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<OfThread>& own = of_threads_[std::this_thread::get_id()];
  if (!own) own = std::make_unique<OfThread>(source_);
  if (own->pairs + pairs > most_pairs(source_)) {
    own->words.normalize();
    own->pairs = 0;
  }
  own->pairs += pairs;
  return own->words.pointers();
}

// Other threads may call the next run, and a run over batches has a device's sum for each: no memory is kept.
void HistogramsOfThreads::clear() { of_threads_.clear(); }

void HistogramsOfThreads::move_to(HistogramWords& sum) {
  for (const auto& [thread, own] : of_threads_) {
    if (own->pairs == 0) continue;
    own->words.normalize();
    sum.add(own->words);
  }
  clear();
}

void store_histograms(const HistogramWords& words, const KernelSource& source, std::span<const ArrayView> views,
                      bool accumulate, Summation& sum) {
  for (std::size_t h = 0; h < source.histograms.size(); ++h) {
    const HistogramLayout& layout = source.histograms[h];
    const ArrayView& view = views[std::size_t(layout.field)];
    if (!view.data) continue;
    // The array may be in a device's memory: numbers side by side are copied as a whole. Of numbers that are apart,
    // those between them are not ours, and another thread may write them.
    const std::int64_t size = size_of(view.element), all = layout.elements;
    std::vector<std::byte> bytes(std::size_t(all * size));
    const bool together = view.component_stride == size;
    const auto copy = [&](auto one) {
      for (std::int64_t e = 0; e < (together ? 1 : all); ++e)
        one(bytes.data() + e * size, static_cast<std::byte*>(view.data) + e * view.component_stride,
            together ? bytes.size() : std::size_t(size));
    };
    if (accumulate) copy([&](void* here, const void* there, std::size_t count) { sum.fetch(here, there, count); });
    const ArrayView copied{bytes.data(), view.element, 1, 0, size};
    const std::optional<Reduction> how = accumulate ? std::optional(Reduction::Sum) : std::nullopt;
    for (int e = 0; e < layout.elements; ++e) {
      const std::int64_t integer = layout.element == Element::Int64 ? words.integer(h, e) : 0;
      const double real = layout.element == Element::Int64 ? 0 : words.real(h, e);
      if (layout.element == Element::Int64)
        unpack(&integer, copied, e, {0, nullptr, 1}, how);
      else
        unpack(&real, copied, e, {0, nullptr, 1}, how);
    }
    copy([&](const void* here, void* there, std::size_t count) { sum.put(there, here, count); });
  }
}

}  // namespace nbcc
