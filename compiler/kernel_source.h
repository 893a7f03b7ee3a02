// A kernel as the compiler hands it to a device: its text, and how the runtime must lay out the particles for it.
// Plain data, which the runtime includes (with options.h and isa.h).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/field.h"
#include "compiler/index_check.h"

namespace nbcc {

// Element types of packed columns and of callers' arrays.
enum class Element : std::uint8_t { Float, Double, Int32, Int64 };
constexpr std::int64_t size_of(Element e) { return e == Element::Float || e == Element::Int32 ? 4 : 8; }

// One packed column of a particle set: n elements, 64-byte aligned, padded to a multiple of KernelSource::lanes.
struct Column {
  enum class Part : std::uint8_t {
    Whole,    // the value, converted to `element`
    High,     // float(value)
    Low,      // float(value - float(value)): with High, a two-float value (mixed precision)
    Derived,  // written by the kernel's prepare_i / prepare_j, not by the runtime
  };
  int component = -1;  // among the components of the role (InputI or InputJ); -1 for Derived
  Element element = Element::Float;
  Part part = Part::Whole;
};

// What a caller must know of a field.
struct FieldLayout : FieldShape {
  std::string type;       // as declared: "real", "vec3", "int", "float[4]", ...
  bool integral = false;  // int, index or bool, or an argmin/argmax output
};

// How the work of a CUDA kernel is divided: a block holds i-particles in registers and passes over its j-particles tile
// by tile. In a request 0 leaves a number to whoever decides next: the program, then `nbcc tune`, then the runtime.
struct LaunchConfig {
  int threads = 0;       // of a block
  int i_per_thread = 0;  // i-particles that a thread holds in registers
  int j_tile = 0;        // j-particles staged in shared memory at a time
  int unroll = 0;        // passes of the pair loop written out, a power of two
  int j_slices = 0;      // of a tile: threads that share i-particles take one each
  int j_splits = 0;      // of all j: blocks that share i-particles take one each
  auto operator<=>(const LaunchConfig&) const = default;
  LaunchConfig compiled() const { return {threads, i_per_thread, j_tile, unroll, j_slices}; }  // what code depends on
  std::int64_t i_per_block() const { return std::int64_t(threads / j_slices) * i_per_thread; }
};

// The numbers of a launch configuration under their public names, in nbcc.h, the command and files of tunings.
struct LaunchNumber {
  const char* name;
  const char* earlier_name;  // which files of tunings may still have
  int LaunchConfig::* member;
  int most;  // largest value
};
constexpr LaunchNumber kLaunchNumbers[] = {
    {"threads", "threads", &LaunchConfig::threads, 1024},
    {"i_per_thread", "i_per_thread", &LaunchConfig::i_per_thread, 64},
    {"j_tile", "j_tile", &LaunchConfig::j_tile, 65536},
    {"unroll", "unroll", &LaunchConfig::unroll, 1024},
    {"j_slices", "lanes", &LaunchConfig::j_slices, 1024},
    {"j_splits", "parts", &LaunchConfig::j_splits, 65535},
};

// The loops around a pair body. A frame decides which pairs its nbcc_interact sums over.
enum class Frame : std::uint8_t {
  AllPairs,     // every j of the set acts on every i; on the CPU also the sums over the j that a search has gathered
  Search,       // CUDA: a search for neighbours, and the sums over the neighbours found
  Lists,        // ranges of j that the caller gives to groups of i; on the CPU also sums with exclusions
  ListedPairs,  // CUDA: pairs that the caller lists one by one
  IndexChecks,  // CUDA: no sums; a check of the indices of tables
};

// One source of a kernel: a frame around the kernel's pair body, as the backend's compiler sees it.
struct KernelVariant {
  Frame frame = Frame::AllPairs;
  std::string source;  // the cache key, with KernelSource::target
  // CUDA: the launch configurations that a device chooses from, without j_splits; first the source's own.
  std::vector<LaunchConfig> launches = {};
  int packed_bytes = 0;  // CUDA: size of the j-particle that the frame's kernels pack, at most
};

// A number that is computed from params and inputs of one particle, in double precision: for the runtime, which knows
// no graph. Arguments of a step are earlier steps; the last step is the number.
struct Formula {
  enum class Op : std::uint8_t { Constant, Param, Input, Neg, Abs, Sqrt, Add, Sub, Mul, Div, Fma, Min, Max, Pow };
  struct Step {
    Op op = Op::Constant;
    int component = 0;    // of the params, or of the side's inputs
    double constant = 0;  // the value of a Constant
    std::array<int, 3> args{-1, -1, -1};
  };
  std::vector<Step> steps;  // empty: not known
};

// What a search for neighbours must know of a kernel whose guards bound the distance of the pairs that act
// (passes/neighbourhood.h): the text then has the functions that locate particles.
struct SearchLayout {
  enum class Reach : std::uint8_t {
    Uniform,  // the same for all
    OfI,      // the i-particle's
    OfJ,      // the j-particle's
    Max,      // the larger one of both
    Min,      // the smaller one
    Sum,      // of both
  };
  int axes = 0;                // 1 to 3; 0: nothing is proved, and there is no such function
  std::vector<bool> periodic;  // by axis: it has a length
  bool triclinic = false;      // the three axes are of a cell of three lattice vectors, and none has a length
  Reach reach = Reach::Uniform;
  bool strict = true;  // distance < reach, else distance <= reach
  // Inputs of i and of j by which the same formulas place a particle, component by component; empty: the formulas
  // differ. Where these are the same arrays, so are the places and the reaches.
  std::vector<std::pair<int, int>> mirrored;
  Formula reach_uniform, reach_of_i, reach_of_j;  // as `reach` says which there are
  // Of the periodic box: by axis the length, which may be negative, of an axis that is periodic; or the nine numbers of
  // a triclinic cell, vector by vector.
  std::vector<Formula> lengths, cell;
  std::vector<int> j_positions;  // by axis the input of j that is its coordinate; empty: some formula is
  bool of_i() const { return reach != Reach::Uniform && reach != Reach::OfJ; }
  bool of_j() const { return reach != Reach::Uniform && reach != Reach::OfI; }
};

// Where a kernel finds the numbers of a table: the first `offset` bytes from the first one of all, as `element`, the
// next of its row `step` bytes behind it, and the next row's `row_step`.
struct PlacedTable : Table {
  Element element = Element::Float;
  std::int64_t offset = 0, step = 0, row_step = 0;
};
constexpr std::int64_t columns_of(const Table& table) { return table.columns > 0 ? table.columns : table.count; }
constexpr std::int64_t end_of(const PlacedTable& table) {
  const std::int64_t columns = columns_of(table), last_row = table.count / columns - 1;
  return table.offset + last_row * table.row_step + (columns - 1) * table.step + size_of(table.element);
}
// What may be read behind the last table: two vectors of any processor.
constexpr std::int64_t kTablePadding = 128;

struct KernelSource {
  std::string pipeline;  // its name
  // At most one for each frame. A device compiles the first one when it loads the kernel, the others when a run needs
  // them.
  std::vector<KernelVariant> variants;
  std::string target;  // "cpu-avx2", "cuda-sm_90", ...; with the compile options that are not in the source
  int lanes = 1;       // elements that one vector of the kernel holds; columns are padded to a multiple
  int tile = 1;        // j-particles whose terms are summed in working precision before they join the double sum
  int i_block = 1;     // i-particles that one pass of the kernel holds in registers
  std::vector<Column> i_columns, j_columns;  // packed columns, then derived ones
  std::vector<Column> pair_columns;          // of inputs that pairs have which the caller lists
  std::vector<FieldLayout> fields;           // in order of declaration
  int params = 0;                            // components of params that are handed over as doubles; the first ones
  int table_params = 0;                      // ... and of those that tables are made of
  std::vector<PlacedTable> tables;
  IndexChecks index_checks;           // of these
  int outputs = 0;                    // components of all outputs, and accumulators beside them
  std::vector<Reduction> reductions;  // per output component, and behind these of accumulators that are no outputs
  std::vector<int> references;        // of a Weighted one: where its Reference is; else -1
  // What `acc` holds of an output component: Double; Int64, bit by bit, of an extreme of whole numbers, an index chosen
  // by one, or a whole number that goes along with a choice.
  std::vector<Element> held_in;
  bool has_finish = false;
  bool uses_i_index = false, uses_j_index = false;
  bool may_take_images = false;  // differences of positions may be wrapped into a periodic box
  // What is proved of the pairs that act, in words (passes/neighbourhood.h): "|xj - xi| < rc in the periodic box
  // `box`"; empty where nothing is, and then the reason why, where a guard looks like a cutoff.
  std::string neighbours, no_neighbours;
  SearchLayout search;
  // Of a pipeline that looks for nearest neighbours: with a bound for each i (passes/nearest.h). Null for others.
  std::shared_ptr<const KernelSource> nearest;
  std::vector<int> lines;  // of the pipeline's text, where node 0, 1, ... comes from; 0: from none
  double operations = 0;   // per interaction: the stated convention, else the raw count
  // CUDA only:
  bool cutoff = false;      // the pair loop first tests which pairs are within the cutoff
  int pair_statements = 0;  // of the pair loop, for one i: about the instructions that an interaction takes
  const KernelVariant& first() const { return variants.front(); }
  KernelVariant& first() { return variants.front(); }
  const KernelVariant* find(Frame frame) const {  // null: the kernel has no such variant
    const auto found = std::ranges::find(variants, frame, &KernelVariant::frame);
    return found == variants.end() ? nullptr : &*found;
  }
  // It has inputs of pairs, and sums over listed pairs only.
  bool only_listed() const {
    return std::ranges::any_of(fields, [](const FieldLayout& field) { return field.role == Role::InputPair; });
  }
};

// Doubles that hold what one i has accumulated.
inline int accumulators_of(const KernelSource& source) {
  int count = 0;
  for (const Reduction reduction : source.reductions) count += keeps_index(reduction) ? 2 : 1;
  return count;
}

}  // namespace nbcc

// The C interface of a CPU kernel (the text declares the same struct). All functions may be called from any thread;
// ranges are half open. Sums live in acc: per output component c a double array acc[c] indexed like the i-particles
// (0..ni-1) of this call's columns, as KernelSource::held_in says; ArgMin/ArgMax have the index as a double in arg[c]
// as well. Components of a choice of several places (field.h) are in ascending order of value and index, of ArgMax in
// descending order of value.
extern "C" {
struct nbcc_kernel_arguments {
  const void* const* i;  // packed i columns
  const void* const* j;  // packed j columns
  const double* param;
  double* const* acc;               // [output component][i]
  double* const* arg;               // [output component][i]; null where the reduction keeps no index
  std::int64_t i_offset, j_offset;  // what i_index and j_index add to the position in the columns, or to
  const int* i_number;              // ... the particle's number in the caller's array, where that is not its position
  const int* j_number;
  const void* const* pair;               // packed columns of listed pairs, which stand at the positions of their j
  const struct nbcc_left_out* left_out;  // by i, of a kernel that leaves pairs out
  const void* tables;                    // as KernelSource::tables says
};
// The numbers of the j that do not act on an i: `first` + k where bit k is set, and a few far from these.
struct nbcc_left_out {
  std::int64_t first;
  std::uint64_t near;
  const int* far;
  std::int64_t far_count;
};
// Writes the derived columns of [begin, end); end is rounded up to whole vectors by the callee (columns are padded).
using nbcc_prepare_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end);
// Adds the terms of j in [j_begin, j_end) to the sums of i in [i_begin, i_end). j_begin is a multiple of `lanes`, j_end
// any position behind it. The terms of each `tile` j, counted from j_begin, are summed in working precision.
using nbcc_interact_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin, std::int64_t i_end,
                                        std::int64_t j_begin, std::int64_t j_end);
// Applies post-sum factors and finish() in double precision to acc, in place.
using nbcc_finish_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin, std::int64_t i_end);
// Of particles [begin, end): a row of coordinates for each axis of SearchLayout, and behind them, where the side has
// one, a row of reaches.
using nbcc_locate_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                      double* const* rows);
// The length of each axis that is periodic, and behind the axes the reach where it is the same for all; of a triclinic
// cell, behind the reach, a reduced basis of its lattice: nine numbers, the shortest vector's first. NaN are those of
// vectors that span no volume.
using nbcc_extent_function = void (*)(const nbcc_kernel_arguments*, double* extent);
// Of particles (or listed pairs) [begin, end): widens the ranges of the numbers that their side has among IndexChecks.
using nbcc_indices_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                       nbcc_index_range* ranges);
// Which j of [j_begin, j_end) pass the guards' comparisons of distances with one i, in the arithmetic of the sums:
// 1 or 0 for each. Both sides are prepared and have numbers; j_begin is a multiple of `lanes`.
using nbcc_within_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i, std::int64_t j_begin,
                                      std::int64_t j_end, char* within);
}
// Exported by the text: nbcc_prepare_i, nbcc_prepare_j, nbcc_interact, nbcc_finish (all four, always); with a
// SearchLayout nbcc_locate_i, nbcc_locate_j, nbcc_extent, nbcc_within and nbcc_interact_numbered, which is
// nbcc_interact for particles with numbers and leaves positions in `arg`; with IndexChecks nbcc_indices_i,
// nbcc_indices_j and nbcc_indices_pair. The text of lists has no nbcc_interact, but nbcc_interact_numbered and the same
// for sums that leave pairs out, nbcc_interact_but.
