// The histograms of a run: sums into elements that pairs name. Kernels add to words of 64 bits (KernelSource::
// histograms), whose sums do not depend on the order of the pairs. Each thread and each GPU adds to a separate copy of
// the words; the copies are added at the end of a run. Tested by tests/numeric/histogram_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

// The number of pairs whose terms the words of a kernel can take: no word overflows, even if every statement of every
// pair adds to the same element. Infinite if all histograms are of integers, which are sums modulo 2^64.
double most_pairs(const KernelSource& source);

// The words of all histograms of a kernel.
class HistogramWords {
 public:
  // `source` must outlive this object.
  explicit HistogramWords(const KernelSource& source);
  void clear();
  // Adds the words of all histograms, in the order of words().
  void add(const HistogramWords& other);
  void add(std::span<const std::int64_t> words);
  // Makes the words digits again. To be called before the terms of more than most_pairs() pairs have been added since
  // the last call.
  void normalize();
  std::int64_t* const* pointers() { return pointers_.data(); }
  std::span<const std::int64_t> words() const { return words_; }
  std::int64_t outside() const;  // pairs that named no element
  // The value of an element: an integer, or the exact sum rounded to double.
  std::int64_t integer(std::size_t histogram, int element) const;
  double real(std::size_t histogram, int element) const;

 private:
  const KernelSource& source_;
  std::vector<std::int64_t> words_;
  std::vector<std::int64_t*> pointers_;
};

// Words for each thread of a device.
class HistogramsOfThreads {
 public:
  explicit HistogramsOfThreads(const KernelSource& source) : source_(source) {}
  // The words of this thread, to which the terms of up to `pairs` pairs will be added. Null if the kernel has no
  // histograms.
  std::int64_t* const* here(double pairs);
  void clear();
  // Adds the words of all threads to `sum`, and clears them. Called when no thread adds.
  void move_to(HistogramWords& sum);

 private:
  struct OfThread {
    explicit OfThread(const KernelSource& source) : words(source) {}
    HistogramWords words;
    double pairs = 0;  // since their digits were carried
  };
  const KernelSource& source_;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<OfThread>> of_threads_;
};

// Stores the histograms in the caller's arrays of a request; `accumulate`: adds to the numbers in these arrays.
void store_histograms(const HistogramWords& words, const KernelSource& source, std::span<const ArrayView> views,
                      bool accumulate, Summation& sum);

}  // namespace nbcc
