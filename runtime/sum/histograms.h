// The histograms of a run: sums into elements that pairs name. Kernels add to words of 64 bits (KernelSource::
// histograms), whose sums do not depend on the order of the pairs; each thread and each GPU has words of its own, which
// are added at the end of a run. Tested by tests/numeric/histogram_test.cpp.
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

// The words of all histograms of a kernel.
class HistogramWords {
 public:
  // `source` must outlive this object.
  explicit HistogramWords(const KernelSource& source);
  void clear();
  // Adds the words of all histograms, in the order of words().
  void add(const HistogramWords& other);
  void add(std::span<const std::int64_t> words);
  // To be called before more than `limit()` terms have been added since the last call: words then are digits again.
  void normalize();
  static constexpr double limit() { return 0x1p34; }
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
    double terms = 0;
  };
  const KernelSource& source_;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<OfThread>> of_threads_;
};

// Stores the histograms in the caller's arrays of a request; `accumulate`: adds to what they hold.
void store_histograms(const HistogramWords& words, const KernelSource& source, std::span<const ArrayView> views,
                      bool accumulate, Summation& sum);

}  // namespace nbcc
