// Sums over pairs of vectors with many elements, to a tolerance: all pairs, whose products of vectors are computed by
// the matrix instructions of a GPU in the lowest precision that keeps the tolerance, or on a CPU in place of squared
// differences (MatrixFacts in compiler/derived_kernels.h). The error is measured: the sums of some i drawn at random
// are compared with sums in double precision. Used by set_tolerance(). Tested by tests/numeric/matrix_units_test.cpp,
// matrix_choices_test.cpp, matrix_softmax_test.cpp and centred_products_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/far/far_sample.h"
#include "runtime/sum/plan/derived_sum.h"
#include "runtime/tolerance/vector_norms.h"

namespace nbcc {

class MatrixSums {
 public:
  // Both must outlive this object; the kernel must have the row "matrix units" without an obstacle.
  MatrixSums(const Kernel& kernel, const Summation& summation, double tolerance);
  // The pair method "matrix units", which keeps `sums` alive.
  static PairMethod method(std::shared_ptr<MatrixSums> sums);

 private:
  // What a choice depends on, besides the values of arrays.
  struct Case {
    std::int64_t ni = 0, nj = 0, i_begin = 0, i_count = 0;
    std::int64_t exclusions = 0;  // PairRows::number
    std::vector<double> params;
    bool operator==(const Case&) const = default;
  };
  // A precision of the products.
  struct Candidate {
    const char *kernel, *sums;  // derived kernels: that of runs, and that of the sums that are compared
    std::string_view name;      // in statistics, as "precision"
    std::string_view products;  // in messages, the subject of "have an error of"
    double cost;                // of a pair, relative to all pairs in working precision
  };
  static const Candidate kCandidates[3];
  // What a kernel computes of the sampled i.
  struct Rows {
    std::vector<double> values;      // [i][output component]
    std::vector<double> logarithms;  // [i] of a first pass
  };

  std::int64_t longest_exclusions(const SumRequest& request) const;
  std::optional<Estimate> estimate(const SumRequest& request) const;
  Estimate measure(const SumRequest& request);
  std::pair<Estimate, double> expected(const SumRequest& request) const;
  void run(const SumRequest& request);
  SumStatistics statistics() const;
  Estimate answer(const SumRequest& request) const;
  bool is_due(const SumRequest& request) const;
  std::vector<ArrayView> vectors_of(const SumRequest& request) const;
  bool draw(const SumRequest& request);
  void choose(const SumRequest& request);
  Rows rows(const SumRequest& request, const char* kernel);
  void run(DerivedSum& sum, const SumRequest& chosen, const SumRequest& request, std::span<const MadeArray> made);
  MadeArray first_pass(const SumRequest& chosen, const SumRequest& request, std::string_view kernel, double* to,
                       const DeviceCopies* device);
  DerivedSum& sum(std::string_view kernel);
  DeviceCopies* copies_of(DerivedSum& sum, const SumRequest& request) const;
  const MatrixFacts& facts() const;
  const Candidate* first_candidate() const;
  std::vector<MadeParam> centres_of(const DerivedSum& sum, const SumRequest& request) const;
  VectorNorms norms_of(const SumRequest& request) const;
  bool has_grown(const SumRequest& request) const;
  double error_of(const SumRequest& request, const char* kernel);

  const Kernel& kernel_;
  const Summation& summation_;
  const double tolerance_;
  FarSample sample_;
  FarStatistics statistics_;
  std::vector<std::pair<std::string, std::unique_ptr<DerivedSum>>> sums_;
  VectorNorms norms_;                  // when the error was measured; of kernels that have centres
  Rows exact_;                         // of the kernel "sample"
  std::vector<double> logarithms_;     // of the first pass of a softmax, unless they are on a device
  std::optional<Case> case_;           // of the choice; nothing: none is made
  const Candidate* chosen_ = nullptr;  // null: all pairs in working precision
  std::string refusal_;                // why no candidate was chosen
  bool is_usable_ = false;             // the device has kernels of candidates
  std::int64_t runs_ = 0, runs_since_error_ = 0;
  double pairs_since_error_ = 0;
  mutable std::int64_t exclusions_ = -1, longest_ = 0;  // of longest_exclusions(): PairRows::number, the result
  std::vector<ArrayView> vectors_;                      // the arrays of the loops, when the error was measured
};

}  // namespace nbcc
