// Kernels that are made of a pipeline besides its own: for nearest neighbours, for each pair once, for a far field. A
// row of kernels is made when a run first needs it (jit/derived_kernels.cpp has the table), and loaded once for each
// Kernel. Plain data.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Where a field of a derived kernel has its array or its values from.
struct FieldBinding {
  enum class From : std::uint8_t {
    Caller,   // the caller's field `caller`
    Made,     // an array that the runtime makes for the run
    Ignored,  // no array: an output whose values are not stored
  };
  From from = From::Made;
  std::string caller = {};
};

struct DerivedKernel {
  std::string name;
  std::shared_ptr<const KernelSource> source;
  std::vector<FieldBinding> bind;  // parallel to source->fields
};

// What a pair method has to know of its kernels besides their sources.
struct DerivedFacts {
  virtual ~DerivedFacts() = default;
};

// The kernels of one row.
struct DerivedKernels {
  std::string obstacle = {};  // why there are none; empty: there are some
  std::vector<DerivedKernel> kernels = {};
  std::shared_ptr<const DerivedFacts> facts = nullptr;
  const DerivedKernel* find(std::string_view name) const {  // null: the row has no kernel of this name
    const auto found = std::ranges::find(kernels, name, &DerivedKernel::name);
    return found == kernels.end() ? nullptr : &*found;
  }
  template <typename Facts>
  const Facts& as() const {
    return dynamic_cast<const Facts&>(*facts);
  }
};

// The kernels that can be derived from one pipeline. May be shared by threads.
class Derivations {
 public:
  virtual ~Derivations() = default;
  // Makes the kernels of a row when first asked for it; `at_least`: a precision below which their rounding errors would
  // be too large. A row that does not exist has an obstacle, too.
  virtual const DerivedKernels& row(std::string_view name, Precision at_least) const = 0;
};

// The row of one kernel of the same name, which sums over minimum images (nearest_images_pipeline() of
// passes/derived/every_image.h).
inline constexpr std::string_view kNearestImagesRow = "nearest images";

// The row "symmetric": one kernel, which computes each pair of one set once, for both of its particles
// (passes/derived/reactions.h). Its outputs are the pipeline's, then a reaction to each, which is not stored.
struct SymmetricFacts : DerivedFacts {
  double cost = 1;  // operations of a pair, divided by the operations of computing the pair twice
  std::vector<std::pair<std::string, std::string>> partners;  // fields that must be one array; (T, T): symmetric table
};

// A param that a derived kernel has: the mean of vectors of j, from which it computes distances to vectors of i. Both
// vectors are components of an input.
struct Centre {
  std::string param, of_j, of_i;
  int first = 0, count = 0;  // components of the field `of_j`
  int first_of_i = 0;        // and `count` components of the field `of_i`
  bool operator==(const Centre&) const = default;
};

// The row "matrix units": kernels that compute products of vectors by matrix instructions ("half", "two halves": the
// pipeline; "half sums", "two halves sums": without finish(), of choices the values alone), or on a CPU products in
// place of differences ("products", "products sums"; passes/outputs/centred_products.h), and those with which their
// errors are measured ("sums": the same in working precision; "sample": in double precision, with the outputs
// nbcc_size_NAME). Softmax takes two passes (passes/outputs/softmax_passes.h): all of these are the second, and for
// each of them a kernel "NAME, first" is the first. Pipelines without wide loops have no such row, and no MatrixFacts.
struct MatrixFacts : DerivedFacts {
  std::string obstacle;        // why there are no such kernels; "": there are some
  std::string_view precision;  // of the pipeline's own kernel
  bool two_passes = false;
  std::vector<Centre> centres;  // of "products"
};

}  // namespace nbcc
