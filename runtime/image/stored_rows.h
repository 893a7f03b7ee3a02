// Derived kernels (compiler/derived_kernels.h) in compiled libraries: the rows that the library was compiled with.
//
//   KernelSource::derivations --store_rows()--> StoredRow --PipelineImage--> stored_derivations()
//
// Tested by tests/unit/jit/build_library_test.cpp and tests/library.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/derived_kernels.h"
#include "compiler/far_kernels.h"

namespace nbcc {

struct StoredKernel {
  std::string name;
  KernelSource source;
  std::vector<FieldBinding> bind;
};

// The members of NearestFacts, SymmetricFacts, FarKernels or MatrixFacts, without their sources.
struct StoredFacts {
  int axes = 0;
  // Members of SymmetricFacts, which also a row with an obstacle may have.
  bool has_symmetric = false;
  double cost = 1;
  std::vector<std::pair<std::string, std::string>> partners;
  std::string text, precision;
  bool raised = false;
  int weights = 0;
  std::vector<std::string> weight_names;
  int factors = 0, sums = 0;
  bool both_sides = true, needs_one_set = false;
  std::vector<FarPart> parts;
  std::optional<std::array<std::vector<Formula>, 3>> periods;
  int centres = 0;
  // Members of MatrixFacts, which a pipeline without wide loops lacks.
  bool has_wide_loops = false, two_passes = false;
  std::string no_matrix_kernels;        // MatrixFacts::obstacle
  std::vector<Centre> product_centres;  // MatrixFacts::centres
};

struct StoredRow {
  std::string target;  // KernelSource::target of its kernels
  std::string of;      // the row from whose kernel it is derived; "": from the pipeline's own kernel
  std::string name;
  Precision precision = Precision::Single;  // as asked for by Derivations::row()
  std::string obstacle;
  std::vector<StoredKernel> kernels;
  StoredFacts facts;
};

// What a library may be compiled with besides the kernels of its pipelines.
struct StorableRow {
  std::string_view choice;  // of `nbcc compile --with`
  std::string_view row;     // of derived kernels
  std::string_view for_what;
};
inline constexpr std::array kStorableRows = {
    StorableRow{"tolerance", "far", "sums to a tolerance"},
    StorableRow{"tolerance", "matrix units", "sums to a tolerance"},
    StorableRow{"symmetric", "symmetric", "each pair computed once"},
    StorableRow{"nearest", "nearest", "a search for nearest neighbours"},
};

// The row of the kernel of results per pair (CallersView::values), which every library has that needs it.
inline constexpr std::string_view kPairValuesRow = "pair values";

// The rows `choices` of a kernel that was built in `precision`, kPairValuesRow, and for CPUs kNearestImagesRow
// (derived_kernels.h), whose kernel has a row "symmetric", like a pipeline.
std::vector<StoredRow> store_rows(const KernelSource& kernel, std::span<const std::string> choices,
                                  Precision precision);
// The kernel with its CallersView::values, which write_image() does not store with it.
KernelSource with_stored_values(KernelSource kernel, std::span<const StoredRow> rows);
// The derived kernels of one target. Other rows have the obstacle that the library was compiled without them.
std::shared_ptr<const Derivations> stored_derivations(std::span<const StoredRow> rows, std::string_view target);

}  // namespace nbcc
