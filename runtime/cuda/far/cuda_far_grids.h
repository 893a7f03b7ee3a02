// The grids of a tree (runtime/far/far_grids.h) on a GPU. All columns are in GPU memory; all functions but the
// constructor add launches to a stream, and only set_tree() waits, when a tree needs more memory.
// templates/cuda/far/cuda_far_grids.cu.in has the kernels. Tested by
// tests/unit/runtime/cuda/far/cuda_far_grids_test.cpp and, on a GPU, tests/numeric/cuda_far_grids_test.cpp.
#pragma once
#include <cstdint>
#include <span>

#include "compiler/far_kernels.h"
#include "runtime/cuda/far/cuda_far_program.h"
#include "templates/cuda/far/cuda_far_data.h"

namespace nbcc {

// All launches of an object are to be in one stream; they cannot be captured in a graph, because each run of go_down()
// has another number.
class CudaFarGrids {
 public:
  // A tree in GPU memory, which must stay there as long as this object uses it. Children come after their parents.
  struct Tree {
    const far_data::FarCell* cells = nullptr;
    std::int64_t cell_count = 0, particles = 0;
    const long long* order = nullptr;    // [position in the tree]: particle
    far_data::FarColumns coordinates{};  // [axis][position in the tree]
  };

  // Compiles the kernels for grids with `order` points along each of `axes` axes; `any` is any kernel of the GPU.
  CudaFarGrids(const CudaKernel& any, int axes, int order);

  // To be called again when the cells have changed. Throws DeviceError if the GPU's memory does not suffice.
  void set_tree(const Tree& tree, CudaStream* stream);

  int order() const { return order_; }
  int points_per_cell() const { return points_per_cell_; }
  far_data::FarPositions all_positions() const { return {0, tree_.particles}; }
  std::int64_t points() const { return tree_.particles + tree_.cell_count * points_per_cell_; }
  std::int64_t first_point(std::int64_t cell) const { return tree_.particles + cell * points_per_cell_; }

  // coordinates[axis][point] of all points: the particles in the order of the tree, then the grids, cell by cell.
  void locate(far_data::FarColumns coordinates, CudaStream* stream) const;
  // to[column][position in the tree] = from[column][particle]
  void collect(far_data::FarColumns from, int columns, far_data::FarColumns to, CudaStream* stream) const;
  // values[k][point]: from the values at particles, the weights that particles and children have at each grid of the
  // cells within `own`.
  void go_up(far_data::FarColumns values, int columns, const far_data::FarPositions& own, CudaStream* stream) const;
  // The particles are divided into `ranges` ranges as FarShare does. When the grids of all cells within each of them
  // are in `values`: the weights at the grids of the other cells.
  void go_up_across(far_data::FarColumns values, int columns, int ranges, CudaStream* stream) const;
  // Copies the values at the grids of the cells within `range` from the memory of another GPU.
  void copy_grids(far_data::FarColumns from, int columns, const far_data::FarPositions& range,
                  far_data::FarColumns values, CudaStream* stream) const;
  // sums[k][point]: adds to the sums at particles those at grids, interpolated. The sums at grids change.
  // Sums at particles outside of `positions` may lack some grids.
  void go_down(far_data::FarColumns sums, int columns, const far_data::FarPositions& positions, CudaStream* stream);

  // totals[output][particle] += factor * sum for each part, or with `near` (data not null), for all outputs,
  // totals = near + factor * sum + ...; for the particles of `positions`.
  struct Addition {
    far_data::FarColumns totals{};   // [output][particle], or [output][position in the tree] if in_order; may be `near`
    far_data::FarColumns factors{};  // [factor][particle]; data null: all factors are 1
    far_data::FarColumns near{};     // [output][position in the tree]
    far_data::FarColumns sums{};     // [sum][position in the tree]
    int outputs = 0;
    far_data::FarPositions positions{};
    bool in_order = false;
    // Room for rows_of() doubles, or null: the totals of a particle are stored one by one.
    double* rows = nullptr;
  };
  // The number of doubles of the rows that hold `outputs` totals of each particle.
  static std::int64_t rows_of(int outputs, std::int64_t particles);
  // True if add_up() makes use of rows for so many outputs and parts: one launch adds all.
  static bool adds_rows(int outputs, std::size_t parts);
  void add_up(std::span<const FarPart> parts, const Addition& addition, CudaStream* stream) const;

 private:
  far_data::FarGridTree argument() const;

  CudaFarProgram program_;
  const CudaGpu& gpu_;
  int order_, points_per_cell_ = 1;
  far_data::FarChebyshev chebyshev_{};
  Tree tree_;
  CudaBuffer memory_;               // parents, counters and marks of cells, and the ticket
  std::int64_t cell_capacity_ = 0;  // of memory_
  unsigned epoch_ = 0;              // of the last go_down
};

}  // namespace nbcc
