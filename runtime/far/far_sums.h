// The sums of a far field, one for each of its kernels, and the arrays between them. Used by FarRun and its backends.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/far_kernels.h"
#include "runtime/far/periodic/periodic_cell.h"
#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

// Values of particles or points in the memory of the device: component c of element k is at data[c * stride + k].
struct FarArray {
  double* data = nullptr;
  std::int64_t stride = 0, count = 0;
  ArrayView view(int first = 0) const { return {data + first * stride, Element::Double, count, 8, 8 * stride}; }
};

class FarSums {
 public:
  // Throws UsageError if the pipeline has no far field.
  // may_be_relative: relative_inputs() need not be 0.
  FarSums(const Kernel& kernel, Precision at_least, bool waits = true, bool may_be_relative = false);
  const FarKernels& kernels() const { return kernels_; }
  std::unique_ptr<DerivedSum> measured() const { return derived_sum(kernel_, "far", "measured", at_least_); }
  std::vector<double> params(const SumRequest& request) const { return {request.params.begin(), request.params.end()}; }

  // The caller gives these two their lists, on the host here, or on a GPU with the run.
  DerivedSum& near() { return *near_; }
  DerivedSum& distant() { return *distant_; }
  // Of Lists, for the lists of distant(). Distant pairs of a far field in mixed precision take single precision and
  // coordinates relative to the first i of their group.
  int relative_inputs() const { return distant_is_relative_ ? kernels_.axes : 0; }

  // On the host each function returns when its results are there; on a GPU they are there in the order of the stream.
  // Means over all j of the values that are centred. Waits.
  void find_centres(const SumRequest& request, std::span<double> centres);
  // position[particle][axis]; weights of j, factors of i; centres in the memory of the device.
  void find_sources(const SumRequest& request, double* position, const FarArray& weights, const double* centres);
  void find_targets(const SumRequest& request, double* position, const FarArray& factors, const double* centres);
  // Positions in the cell of a periodic sum, and the shifts of the near images. Without lists all j act with each
  // shift.
  struct Images {
    std::function<ArrayView(const CellVector& shift)> place_of_i;  // less the shift; valid until the next call
    ArrayView place_of_j;
    std::vector<CellVector> shifts;
  };
  void set_images(Images images) { images_ = std::move(images); }
  const std::optional<Images>& images() const { return images_; }  // nothing: the sum is not periodic
  // Has other images for as long as this object lives.
  class OtherImages {
   public:
    OtherImages(FarSums& sums, std::optional<Images> images)
        : sums_(sums), before_(std::exchange(sums.images_, std::move(images))) {}
    ~OtherImages() { sums_.images_ = std::move(before_); }
    OtherImages(const OtherImages&) = delete;
    OtherImages& operator=(const OtherImages&) = delete;

   private:
    FarSums& sums_;
    std::optional<Images> before_;
  };
  // The pairs that are excluded with one image, by the number of its shift.
  struct ExcludedOfImage {
    PairRows rows;
    std::unique_ptr<const Exclusions> exclusions;
  };
  using ExcludedOfImages = std::map<int, ExcludedOfImage>;
  // In place of the caller's exclusions, where all j act with each shift.
  void set_excluded(std::shared_ptr<const ExcludedOfImages> excluded) { excluded_of_images_ = std::move(excluded); }
  // near[output][i], or [row] if the lists say so. Without lists all pairs act on the chosen i. Excluded pairs do not
  // act.
  void sum_near(const SumRequest& request, const FarArray& near, const DeviceLists* new_lists = nullptr);
  // The same of lists in which excluded pairs act.
  void sum_corrections(const SumRequest& request, const FarArray& rows, const DeviceLists* new_lists);
  // totals[output][i] += or -= the terms of these pairs; `shift`: of the image of j, in a periodic sum.
  enum class Sign : bool { Plus, Minus };
  void add_pairs(Sign sign, const SumRequest& request, const PairRows& pairs, std::span<const std::int64_t> i,
                 const FarArray& totals, const CellVector& shift = {});
  // i and j: coordinates, then factors or weights, of all points.
  void sum_distant(const SumRequest& request, const FarArray& i, const FarArray& j, const FarArray& sums,
                   const DeviceLists* new_lists = nullptr);
  // exact[output][i], then sizes[output field][i]; only chosen i are written. `chosen`: on the host or
  // the device. takes[image]: the images that act; empty: all.
  void sum_sample(const SumRequest& request, std::span<const std::int64_t> chosen, const FarArray& exact,
                  std::span<const char> takes = {});
  // The same of the given j alone, by one run over lists; for other i all are 0. Both rise.
  void sum_sample_of_some(const SumRequest& request, std::span<const std::int64_t> chosen,
                          std::span<const std::int64_t> of_j, const FarArray& exact, std::span<const char> takes);
  void finish(const SumRequest& request, const FarArray& totals);

 private:
  // Runs over the given numbers of particles: over all i, or the chosen i of the request.
  enum class I : bool { All, Chosen };
  bool sums_callers_pairs(const DerivedSum& sum) const { return &sum == near_.get() || &sum == sample_.get(); }
  void run_with_images(DerivedSum& sum, const SumRequest& request, std::vector<MadeArray> made, std::int64_t ni,
                       std::int64_t nj, I which, std::span<const char> takes = {});
  std::vector<MadeArray> outputs_and_sizes_at(const FarArray& exact);
  std::vector<MadeArray> outputs_at(const FarArray& columns) const;
  void run(DerivedSum& sum, const SumRequest& request, std::span<const MadeArray> made, std::int64_t ni,
           std::int64_t nj, I which, bool accumulates = false);
  void find(const SumRequest& request, DerivedSum& sum, Role side, double* position, const FarArray& values,
            const double* centres);

  const Kernel& kernel_;
  const Precision at_least_;
  const FarKernels& kernels_;
  const bool waits_, distant_is_relative_;
  std::unique_ptr<DerivedSum> sources_, targets_, means_, distant_, near_, sample_, finish_;
  std::optional<Images> images_;
  std::shared_ptr<const ExcludedOfImages> excluded_of_images_;  // null: none
  std::unique_ptr<DerivedSum> sample_of_some_;                  // null: not used yet
  std::vector<std::string> sizes_;                              // names of outputs of `sample`
  std::unique_ptr<DerivedSum> listed_[2];                       // by Sign; null: not used yet
  std::unique_ptr<DerivedSum> corrections_;                     // null: not used yet
};

}  // namespace nbcc
