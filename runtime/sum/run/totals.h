// Totals: outputs with one value for the run. A kernel computes the value of each chosen i as for any other output;
// here these values are reduced over i:
//
//   SumRequest --begin()--> a request whose totals are arrays [i] --pair method--> values --store()--> the caller's
//   numbers
//
// The values are combined in the order of the chosen i by a tree whose shape depends on their number alone, so that a
// total has the same bits for any number of threads and GPUs. Totals of many components, such as derivatives by a long
// param, are summed for some i at a time, so that the values take at most 128 MB:
//
//   request --piece()--> some i --pair method--> values [component][i of the piece] --reduce_piece()--> partials
//   [component][group of i] --store()--> the caller's numbers
//
// Tested by tests/numeric/totals_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/sum/plan/device.h"
#include "runtime/sum/run/run_result.h"

namespace nbcc {

// Each node of the tree combines this many consecutive values, by halving: value k with value k + half.
// templates/cuda/frames/cuda_totals.cu.in has the same number.
constexpr std::int64_t kTotalGroup = 512;

// One component of a total. Values are doubles, or 64-bit integers in their place where KernelSource::accumulators
// says so.
struct TotalComponent {
  Reduction reduction = Reduction::Sum;
  Element element = Element::Double;
  double* values = nullptr;  // [i of the caller]
  ArrayView to;              // the caller's array of the total, which has one row
  int component = 0;         // in `to`
};

// What a device does for totals in its memory. The default is the host's, for devices that store results there.
class TotalSteps {
 public:
  TotalSteps() = default;
  TotalSteps(const TotalSteps&) = delete;
  TotalSteps& operator=(const TotalSteps&) = delete;
  virtual ~TotalSteps() = default;
  // Memory for `count` values, where the other arrays of the request are. It is kept for the next runs; if it grows,
  // its contents are lost. Throws std::bad_alloc or DeviceError.
  virtual double* reserve(const SumRequest& request, std::int64_t count) = 0;
  // Sets `count` values to the identity of the reduction.
  virtual void fill(const TotalComponent& total, const SumRequest& request, std::int64_t count) = 0;
  // Reduces the values of the chosen i and stores the results, combined with the stored ones if the request
  // accumulates.
  virtual void reduce(std::span<const TotalComponent> totals, const SumRequest& request) = 0;
};

// Stores the result of a total: 8 bytes, a double or a 64-bit integer. `accumulate`: combined with the stored one.
void store_total(const TotalComponent& total, const void* result, bool accumulate);

// The steps on the host, with the threads of `sum`, which must outlive this object.
class HostTotals final : public TotalSteps {
 public:
  explicit HostTotals(const Summation& sum) : summation_(sum) {}
  double* reserve(const SumRequest& request, std::int64_t count) override;
  void fill(const TotalComponent& total, const SumRequest& request, std::int64_t count) override;
  void reduce(std::span<const TotalComponent> totals, const SumRequest& request) override;

 private:
  template <typename T>
  T reduced(const TotalComponent& total, const SumRequest& request);

  const Summation& summation_;
  AlignedBuffer values_, partials_;
};

// The totals of one sum.
class Totals final : public RunResult {
 public:
  // Both must outlive this object.
  Totals(const KernelSource& source, Summation& sum) : source_(source), steps_(sum.total_steps()) {}
  // The request with arrays of values of i in place of the totals that are bound. It is valid until the next call.
  // Totals of many components make it valid for piece() alone.
  SumRequest begin(const SumRequest& request) override;
  // The number of i that are summed at a time; 0: all.
  std::int64_t i_at_a_time() const { return i_at_a_time_; }
  // The request for `count` of the chosen i, from number `done` on, as a run of its own. It is valid until the next
  // call.
  SumRequest piece(const SumRequest& request, std::int64_t done, std::int64_t count);
  void reduce_piece(const SumRequest& piece, std::int64_t done);
  // Reduces the values.
  void store(const SumRequest& request, std::span<const ArrayView> callers) override;

 private:
  std::int64_t choose_i_at_a_time(const SumRequest& request, std::int64_t components) const;

  const KernelSource& source_;
  std::unique_ptr<TotalSteps> steps_;
  std::vector<TotalComponent> totals_;
  std::vector<ArrayView> views_, views_of_piece_;
  std::uint64_t callers_binding_ = 0, binding_ = 0;
  std::int64_t i_at_a_time_ = 0, groups_ = 0;  // groups_: of all i, if these are summed for some at a time
  double* partials_ = nullptr;                 // [component][group]
};

}  // namespace nbcc
