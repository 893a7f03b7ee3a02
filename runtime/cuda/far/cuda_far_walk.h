// Trees on a GPU -> the lists of a far field there. The same as walk() of runtime/far/far_walk.h, and the lists that
// HostFarBackend makes of it. Tested by tests/numeric/cuda_far_field_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_program.h"
#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/cuda/far/cuda_radix_sort.h"
#include "runtime/far/far_backend.h"
#include "runtime/sum/request/lists.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {

class CudaFarWalk {
 public:
  // `sort` must outlive this object; calls of one stream may share it.
  CudaFarWalk(const CudaKernel& kernel, CudaRadixSort& sort);

  // Sets the trees, which must stay as they are, and the limits of later walks. of_i and of_j may be the same. `grid`:
  // points of a grid.
  void set_trees(const CudaFarTree& of_i, const CudaFarTree& of_j, bool both_sides, int grid, const FarLimits& limits,
                 CudaStream* stream);
  // Sets the shifts of a periodic sum: each cell of j is at one place for each shift. Waits.
  void set_images(std::span<const std::array<double, 3>> shifts, int axes, CudaStream* stream);
  // Later walks skip pairs whose cell of i has none of these particles.
  void set_positions(const far_data::FarPositions& positions) { walk_.positions = positions; }
  // The most i of an item of near and of distant pairs.
  void set_items(int near_i, int distant_i) {
    walk_.near_i = near_i;
    walk_.distant_i = distant_i;
  }
  // Waits for the result. Infinite: the lists would be too long.
  FarCounts count(CudaStream* stream);

  // Waits.
  FarCounts make_lists(CudaStream* stream);
  // The lists of near pairs, or of distant pairs. Each slot (particles of i in the order of the tree, then points of
  // grids) has a row of results. Additional rows follow, which combine() adds to the rows of the slots.
  enum Kind : std::uint8_t { Near, Distant, kKinds };
  struct Part {
    DeviceLists lists;
    std::int64_t rows = 0;
  };
  const Part& part(Kind kind) const { return parts_[kind]; }
  // FarBackend::find_corrections() of the last make_lists(). The positions of a periodic sum are those in its cell.
  // Waits.
  struct Corrections {
    DeviceLists lists;
    std::int64_t count = 0;  // rows of results
  };
  const Corrections& find_corrections(const PairRows* excluded, const double* positions_of_i,
                                      const double* positions_of_j, CudaStream* stream);
  const Corrections& corrections() const { return corrections_; }
  // terms[output][correction] -> totals[output][i], or totals[output][position in the tree of i] if `in_order`
  void add_corrections(const far_data::FarColumns& terms, const far_data::FarColumns& totals, int outputs,
                       bool in_order, CudaStream* stream);
  void combine(Kind kind, const far_data::FarColumns& sums, int columns, CudaStream* stream);
  std::int64_t bytes() const;

 private:
  std::optional<far_data::FarWalkState> walk(bool counts_only, CudaStream* stream);
  void send_excluded(const PairRows& excluded, CudaStream* stream);
  void make_items(CudaStream* stream);
  std::int64_t resident_blocks() const { return std::int64_t(program_.gpu().multiprocessors()) * 6; }

  CudaFarProgram program_;
  CudaRadixSort& sort_;
  const CudaFarTree *of_i_ = nullptr, *of_j_ = nullptr;
  far_data::FarWalkArgument walk_{};
  far_data::FarListsArgument lists_{};
  CudaBuffer walk_cells_i_, walk_cells_j_, most_, state_, frontier_, entries_, first_, ranges_;
  CudaBuffer images_, range_shifts_;  // shifts as doubles, then as floats; of each entry
  std::array<CudaBuffer, kKinds> items_, blocks_;
  std::array<far_data::FarListsArgument, kKinds> of_parts_{};
  std::array<Part, kKinds> parts_;
  CudaBuffer ranks_, excluded_, found_, corrected_;
  std::int64_t excluded_number_ = 0;        // PairRows::number of the contents of excluded_; 0: none
  std::int64_t excluded_count_ = 0;         // pairs of excluded_, without those that are named again
  far_data::FarCorrectArgument correct_{};  // keys, slots and count of the corrections
  Corrections corrections_;
  CudaPinned pinned_;
};

}  // namespace nbcc
