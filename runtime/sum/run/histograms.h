// The histograms of a run: sums into elements that pairs name. Kernels add to words of 64 bits (KernelSource::
// histograms), whose sums do not depend on the order of the pairs. Each thread and each GPU adds to a separate copy of
// the words of totals; the copies are added at the end of a run. A histogram of each i has a row for each i, for so
// many i at a time as fit into memory (SumState::sum). Tested by tests/numeric/histogram_test.cpp and
// histogram_of_i_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/sum/plan/device.h"
#include "runtime/sum/run/run_result.h"

namespace nbcc {

// The number of pairs whose terms the words of a kernel can take: no word overflows, even if every statement of every
// pair adds to the same element. Infinite if all histograms are of integers, which are sums modulo 2^64.
double most_pairs(const KernelSource& source);

// The number of i whose rows a run may have at a time, at least 1; 0: the kernel has no histograms of each i.
std::int64_t most_rows(const KernelSource& source);

// The words of all histograms of a kernel: those of totals, and rows of those of each i.
class HistogramWords {
 public:
  // `source` must outlive this object.
  explicit HistogramWords(const KernelSource& source);
  void clear();  // removes all rows
  // Makes rows of zeros for `count` i, of which the first has the i_index `first_index`, in place of the present rows.
  void set_rows(std::int64_t first_index, std::int64_t count);
  // Adds the words of all histograms, in the order of words(), or of totals only.
  void add(const HistogramWords& other);
  void add(std::span<const std::int64_t> words);
  // Makes the words digits again. To be called before the terms of more than most_pairs() pairs have been added since
  // the last call.
  void normalize();
  // By histogram. Other threads may add to the rows of other i. The first call after set_rows() makes their memory.
  std::span<std::int64_t* const> pointers() {
    make_rows();
    return pointers_;
  }
  // Without the rows while they have no memory.
  std::span<const std::int64_t> words() const { return words_; }
  // Of all histograms with the rows, of totals alone, and before the first of a histogram.
  std::int64_t count() const;
  std::int64_t count_of_totals() const { return words_of_totals_; }
  std::int64_t first_word(std::size_t histogram) const;
  std::int64_t first_index() const { return first_index_; }
  std::int64_t rows() const { return rows_; }
  const KernelSource& source() const { return source_; }
  // The caller's arrays, by histogram; one that is not wanted has no data.
  void set_arrays(std::span<const ArrayView> views);  // [field]
  std::span<const ArrayView> arrays() const { return arrays_; }
  // The device has stored the values of this run's elements in the caller's arrays, since clear().
  bool are_stored() const { return are_stored_; }
  void set_stored() { are_stored_ = true; }
  // The same of the present rows alone, or of some of them; `outside`: pairs of theirs that named no element.
  bool are_rows_stored() const { return are_rows_stored_; }
  void set_rows_stored(std::int64_t outside) {
    are_rows_stored_ = true;
    outside_ += outside;
  }
  std::int64_t outside() const;  // pairs that named no element, since clear()
  // The values of elements: integers, [element] of a row, or the exact sum rounded to double.
  const std::int64_t* integers(std::size_t histogram, std::int64_t row) const;
  double real(std::size_t histogram, std::int64_t row, int element) const;

 private:
  std::span<const std::int64_t> element(std::size_t histogram, std::int64_t row, int element) const;
  void make_rows();
  void set_pointers();
  void normalize(bool rows_too);
  std::int64_t outside_in_words(bool of_i) const;
  std::int64_t rows_of(const HistogramLayout& layout) const { return layout.of_i ? rows_ : 1; }

  const KernelSource& source_;
  std::int64_t words_of_totals_ = 0;
  std::vector<std::int64_t> words_;  // of totals, then the rows
  std::vector<std::int64_t*> pointers_;
  std::int64_t first_index_ = 0, rows_ = 0;
  bool have_rows_memory_ = false;
  bool are_rows_stored_ = false;
  std::int64_t outside_ = 0;  // of earlier rows, and of rows that the device has stored
  bool are_stored_ = false;
  std::vector<ArrayView> arrays_;
};

// Words for each thread of a device. Threads add to the rows of a run directly while each i is the work of one thread
// at a time.
class HistogramsOfThreads {
 public:
  explicit HistogramsOfThreads(const KernelSource& source) : source_(source) {}
  // Begins a run whose terms are added to `sum`; null: the kernel has no histograms.
  void begin(HistogramWords* sum);
  // Several threads will add to the rows of one i, so that each gets rows of its own.
  void share_rows() { shares_rows_ = true; }
  // The words of this thread, to which the terms of up to `pairs` pairs will be added. Null if the kernel has no
  // histograms.
  std::int64_t* const* here(double pairs);
  std::int64_t first_index() const { return sum_ ? sum_->first_index() : 0; }
  // Adds the words of all threads to the run's. Called when no thread adds.
  void end();

 private:
  struct OfThread {
    explicit OfThread(const KernelSource& source) : words(source) {}
    HistogramWords words;
    std::vector<std::int64_t*> pointers;
    double pairs = 0;  // since their digits were carried
  };
  const KernelSource& source_;
  HistogramWords* sum_ = nullptr;
  bool shares_rows_ = false;
  std::mutex mutex_;
  std::map<std::thread::id, std::unique_ptr<OfThread>> of_threads_;
};

// The histograms of a run that are totals.
class RunHistograms final : public RunResult {
 public:
  // All must outlive this object.
  RunHistograms(HistogramWords& words, Summation& sum) : words_(words), summation_(sum) {}
  SumRequest begin(const SumRequest& request) override;
  // Adds to the numbers in the arrays if the request accumulates.
  void store(const SumRequest& request, std::span<const ArrayView> callers) override;

 private:
  HistogramWords& words_;
  Summation& summation_;
};

// Stores the rows of the request's i, whose list the host can read, in the caller's arrays `views`.
void store_histograms_of_i(HistogramWords& words, const SumRequest& request, std::span<const ArrayView> views,
                           Summation& sum);

}  // namespace nbcc
