// The compiler's output for a device: a kernel's source, and the memory layout of the particles that it expects.
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
#include "compiler/options.h"

namespace nbcc {

class Derivations;  // derived_kernels.h

// Element types of packed columns and of callers' arrays.
// Half and BFloat16: numbers of 16 bits, in callers' arrays alone, which the host reads as floats.
enum class Element : std::uint8_t { Float, Double, Int32, Int64, Half, BFloat16 };
constexpr bool is_small(Element e) { return e == Element::Half || e == Element::BFloat16; }
constexpr bool is_real(Element e) { return e == Element::Float || e == Element::Double || is_small(e); }
constexpr std::int64_t size_of(Element e) {
  return is_small(e) ? 2 : e == Element::Float || e == Element::Int32 ? 4 : 8;
}

// One packed column (SoA array) of a particle set: n elements, 64-byte aligned, padded to a multiple of
// KernelSource::lanes.
struct Column {
  enum class Part : std::uint8_t {
    Whole,    // the value, converted to `element`
    High,     // float(value)
    Low,      // float(value - float(value)): with High, a two-float value (mixed precision)
    Derived,  // written by the kernel's prepare_i / prepare_j, not by the runtime
  };
  int component = -1;  // index among the components of the role (InputI or InputJ); -1 for Derived
  Element element = Element::Float;
  Part part = Part::Whole;
};

// The launch configuration of a CUDA kernel: a block holds i-particles in registers and loops over its j-particles tile
// by tile. 0 in a request means "not chosen": the program chooses first, then `nbcc tune`, then the runtime.
struct LaunchConfig {
  int threads = 0;       // per block
  int i_per_thread = 0;  // i-particles that a thread holds in registers
  int j_tile = 0;        // j-particles staged in shared memory at a time
  int unroll = 0;        // unroll factor of the pair loop, a power of two
  int j_slices = 0;      // threads that share i-particles; each takes one slice of a tile
  int j_splits = 0;      // blocks that share i-particles; each takes one split of all j
  auto operator<=>(const LaunchConfig&) const = default;
  LaunchConfig compiled() const { return {threads, i_per_thread, j_tile, unroll, j_slices}; }  // compile-time numbers
  std::int64_t i_per_block() const { return std::int64_t(threads / j_slices) * i_per_thread; }
};

// The numbers of a launch configuration under their public names, in nbcc.h, the command and files of tunings.
struct LaunchNumber {
  const char* name;
  int LaunchConfig::* member;
  int most;  // largest value
};
constexpr LaunchNumber kLaunchNumbers[] = {
    {"threads", &LaunchConfig::threads, 1024},   {"i_per_thread", &LaunchConfig::i_per_thread, 64},
    {"j_tile", &LaunchConfig::j_tile, 65536},    {"unroll", &LaunchConfig::unroll, 1024},
    {"j_slices", &LaunchConfig::j_slices, 1024}, {"j_splits", &LaunchConfig::j_splits, 65535},
};

// The loop nest around a pair body. The frame determines which pairs nbcc_interact sums over.
enum class Frame : std::uint8_t {
  AllPairs,     // every j acts on every i; on the CPU also the sums over the j that a neighbour search gathered
  Search,       // CUDA: a neighbour search, and the sums over the neighbours
  Lists,        // ranges of j that the caller lists for groups of i; on the CPU also sums with exclusions
  ListedPairs,  // pairs that the caller lists one by one; on the CPU each once, of kernels with reactions
  IndexChecks,  // CUDA: no sums; computes the ranges of table indices
  Totals,       // CUDA: no sums; reduces the values of i to totals
  Symmetric,    // CUDA: each pair of one set once, for both of its particles; the CPU has it in AllPairs
};

// The source of a kernel with one frame around its pair body, for the backend's compiler.
struct KernelVariant {
  Frame frame = Frame::AllPairs;
  std::string source;  // with KernelSource::target the cache key
  // CUDA: the launch configurations among which a device chooses, without j_splits; the first is that in `source`.
  std::vector<LaunchConfig> launches = {};
  int packed_bytes = 0;  // CUDA: maximum bytes of a j-particle that the frame's kernels pack; Symmetric: of a slot
  std::int64_t most_bytes = std::int64_t(1) << 30;  // CUDA, Symmetric: maximum bytes of all slots
};

// A straight-line program that computes one number from params and inputs of one particle, in double precision. The
// runtime, which knows no graphs, interprets it. Arguments of a step are earlier steps; the last step is the result.
struct Formula {
  enum class Op : std::uint8_t {
    Constant,
    Param,
    Input,
    Neg,
    Abs,
    Sqrt,
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Min,
    Max,
    Pow,
    Element
  };
  struct Step {
    Op op = Op::Constant;
    int component = 0;    // component of the params (Param, Element), or of the side's inputs (Input)
    double constant = 0;  // the value of a Constant
    std::array<int, 3> args{-1, -1, -1};
    int count = 0,
        stride = 1;  // Element: number args[0] + args[1] of so many params, so far apart, from `component` on
  };
  std::vector<Step> steps;  // empty: there is no formula
};

// The data for a neighbour search, of a kernel whose guards bound the distance of interacting pairs
// (passes/prove/neighbourhood.h). Such a kernel has functions that compute positions and reaches of particles.
struct SearchLayout {
  enum class Reach : std::uint8_t {
    Uniform,  // one reach for all pairs
    OfI,      // the reach of the i-particle
    OfJ,      // the reach of the j-particle
    Max,      // the larger of the two reaches
    Min,      // the smaller of the two
    Sum,      // their sum
  };
  // The proved bound in words, such as "|xj - xi| < rc in the periodic box `box`"; empty without a proof. Then
  // `obstacle` says why, if a guard looks like a cutoff.
  std::string bound, obstacle;
  int axes = 0;                // 1 to 3; 0: no bound is proved, and the kernel lacks these functions
  std::vector<bool> periodic;  // [axis]; a periodic axis has a length
  bool triclinic = false;      // periodic in three lattice vectors instead; then no axis has a length
  Reach reach = Reach::Uniform;
  bool strict = true;  // true: distance < reach; false: distance <= reach
  // Pairs of components (input of i, input of j) from which the same formulas compute position and reach; empty: the
  // formulas differ. If these inputs are the same arrays, so are the positions and the reaches.
  std::vector<std::pair<int, int>> mirrored;
  Formula reach_uniform, reach_of_i, reach_of_j;  // those that `reach` needs
  // The reach that the text compares; between several sites of particles it is less than `reach`, which adds how far
  // the sites are from the positions.
  Reach written = Reach::Uniform;
  Formula written_uniform, written_of_i, written_of_j;
  // The periodic box: `lengths` by axis, of periodic axes only (a length may be negative), or `cell`, the nine numbers
  // of a triclinic cell, vector by vector.
  std::vector<Formula> lengths, cell;
  std::vector<int> j_positions;  // [axis] input of j that is the coordinate; empty: some coordinate is computed
  bool of_i() const { return reach != Reach::Uniform && reach != Reach::OfJ; }
  bool of_j() const { return reach != Reach::Uniform && reach != Reach::OfI; }
};

// The address of a table in the memory that holds all tables. Element [row][column], of type `element`, lies at byte
// offset + row * row_step + column * step.
struct PlacedTable : Table {
  Element element = Element::Float;
  std::int64_t offset = 0, step = 0, row_step = 0;
};
constexpr std::int64_t columns_of(const Table& table) { return table.columns > 0 ? table.columns : table.count; }
constexpr std::int64_t end_of(const PlacedTable& table) {
  const std::int64_t columns = columns_of(table), last_row = table.count / columns - 1;
  return table.offset + last_row * table.row_step + (columns - 1) * table.step + size_of(table.element);
}
// Bytes that may be read beyond the last table: two vector registers of any processor.
constexpr std::int64_t kTablePadding = 128;

// The memory of a histogram: words of 64 bits, [row][element + 1][word]; a total has one row, any other histogram has
// one for each i. The first word of element -1 counts the pairs outside. An element of integers (Int64) is one word. An
// element of real numbers (Float or Double, as kernels compute them) holds their exact sum: digits of `digit` bits, the
// lowest first, in words that may be negative, then the numbers of +infinity, -infinity and NaN among the terms.
struct HistogramLayout {
  int field = 0;  // index in KernelSource::fields
  int elements = 0;
  Element element = Element::Int64;
  int words = 1;      // of an element
  int digit = 64;     // bits
  bool of_i = false;  // each i has a row
  std::int64_t row_words() const { return std::int64_t(elements + 1) * words; }
  // Real numbers only: after this number of terms the digits must be carried, or a word could overflow.
  double most_terms = 0x1p34;
  // Histograms of each i: a run sums for so many i at a time that all rows together have at most so many words (512
  // MB).
  std::int64_t most_words = std::int64_t(1) << 26;
};
constexpr int kSpecialWords = 3;
// A float has 24 bits at 254 places, a double 53 at 2046. One word more takes what a number has beyond its last digit.
constexpr int kFloatDigit = 24, kFloatWords = (253 + 24) / kFloatDigit + 2 + kSpecialWords;
constexpr int kDoubleDigit = 28, kDoubleWords = (2045 + 53) / kDoubleDigit + 2 + kSpecialWords;

// How the runtime makes the arrays of a kernel for copies of particles (passes/derived/every_image.h).
struct CopiesLayout {
  std::string obstacle;             // why the runtime cannot make them; empty: it can
  std::vector<Formula> of_i, of_j;  // [axis] coordinates of a particle
  // [periodic vector][axis]: its component. A vector that is 0 or infinite is none.
  std::array<std::vector<Formula>, 3> periods;
  std::vector<Formula> units;  // [axis] what a coordinate is multiplied by where the search compares it with the reach
};

struct KernelSource;

// How callers see a kernel for which the runtime makes arrays: inputs `nbcc_...` (made_inputs.h).
struct CallersView {
  std::vector<FieldLayout> fields;     // the caller's, in order of declaration
  std::optional<CopiesLayout> copies;  // of a pipeline with every_image()
  // The kernel of the results per pair (passes/derived/pair_values.h); null: this kernel computes them, or there are
  // none.
  bool has_pair_values = false;
  std::shared_ptr<const KernelSource> values;
};

// What a sum over pairs is kept in until finish().
struct AccumulatorLayout {
  Reduction reduction = Reduction::Sum;
  int reference = -1;  // of Weighted: the index of its Reference
  // The type of the elements of `acc`: Int64 for min, max, argmin, argmax and payloads of integers, whose bits then are
  // in the doubles; else Double.
  Element type = Element::Double;
};

struct KernelSource {
  std::string pipeline;  // name of the pipeline
  // At most one per frame. A device compiles the first when it loads the kernel, any other when a run first needs it.
  std::vector<KernelVariant> variants;
  std::string target;  // "cpu-avx2", "cuda-sm_90", ..., and the compile options that are not in the source
  int lanes = 1;       // elements per vector of the kernel; columns are padded to a multiple
  int tile = 1;        // j-particles whose terms are summed in working precision before they join the double sum
  int i_block = 1;     // i-particles that one pass of the kernel holds in registers
  struct Columns {
    std::vector<Column> i, j;     // packed columns, then derived ones
    std::vector<Column> of_pair;  // packed inputs of listed pairs
  } columns;
  std::vector<FieldLayout> fields;  // in order of declaration
  int params = 0;                   // number of param components passed as doubles; these come first
  int table_params = 0;             // number of param components in tables; these come last
  std::vector<PlacedTable> tables;
  std::vector<HistogramLayout> histograms;
  IndexChecks index_checks;                     // of the indices into `tables`
  int outputs = 0;                              // number of output components and hidden accumulators
  std::vector<AccumulatorLayout> accumulators;  // per output component, then hidden ones
  bool has_finish = false;
  struct Uses {
    bool i_index = false, j_index = false;
    bool minimum_images = false;  // differences of positions may be reduced to minimum images
  } uses;
  SearchLayout search;
  std::shared_ptr<const Derivations> derivations;  // null in compiled libraries, which have no compiler
  std::shared_ptr<const CallersView> callers;      // null: callers see the fields of the kernel
  int first_reaction = 0;  // the terms of output components from here on are added to j; 0: to i, as all others
  std::vector<int> lines;  // [node] line of the pipeline's text that made the node; 0: none
  double operations = 0;   // per interaction: as stated by #pragma flops, else as counted
  // CUDA, a kernel that multiplies matrices (emit/cuda/frames/cuda_products.h): its nbcc_pack writes a row of halves
  // and facts of each particle before nbcc_interact, which has so many bytes of dynamic shared memory.
  struct PackedVectors {
    int per_block = 0;                   // particles that a block of nbcc_pack packs
    int value_bytes = 0;                 // of a particle, for an output array
    int row_bytes = 0, facts_bytes = 0;  // of a particle; 0: the kernel has no nbcc_pack
    int shared_bytes = 0;                // of a block
    int least_architecture = 0;          // compute capability, major * 10 + minor
  } packed_vectors;
  struct OnGpu {                      // CUDA only
    bool argument_in_memory = false;  // the first kernel of `variants` reads its argument from the GPU's memory
    bool cutoff = false;              // the pair loop first tests the cutoff of several pairs, then computes the hits
    bool shifts_packed = false;       // the kernel of lists adds shifts to packed j
    int statements = 0;               // of the pair loop for one i; estimates the instructions per interaction
    int doubles = 0;                  // those in double precision
  } on_gpu;
  // The fields that callers bind: without those that the runtime makes.
  const std::vector<FieldLayout>& caller_fields() const { return callers ? callers->fields : fields; }
  const CopiesLayout* copies() const { return callers && callers->copies ? &*callers->copies : nullptr; }  // null: none
  const KernelVariant& first() const { return variants.front(); }
  KernelVariant& first() { return variants.front(); }
  const KernelVariant* find(Frame frame) const {  // null: no variant with this frame
    const auto found = std::ranges::find(variants, frame, &KernelVariant::frame);
    return found == variants.end() ? nullptr : &*found;
  }
  // True if the pipeline has inputs or results of pairs, so that it can sum over listed pairs only.
  bool sums_listed_pairs_only() const { return std::ranges::any_of(fields, &FieldLayout::is_of_pair); }
};

// The number of doubles that hold the accumulators of one i.
inline int accumulators_of(const KernelSource& source) {
  int count = 0;
  for (const AccumulatorLayout& one : source.accumulators) count += keeps_index(one.reduction) ? 2 : 1;
  return count;
}

// Half lists: so many i share a list, and a list has so many vectors of j at most.
inline constexpr int kHalfListBlock = 2, kHalfListVectors = 128;
inline constexpr int kFloatsOfBox = 8;  // of a vector of j, see nbcc_boxes_function

}  // namespace nbcc

// The C interface of a CPU kernel (the kernel's source declares the same struct). All functions may be called from any
// thread; ranges are half open. The accumulators of output component c are an array acc[c], indexed like the
// i-particles (0..ni-1) of this call's columns, of elements KernelSource::accumulators[c].type; ArgMin and ArgMax also
// have the index, as a double, in arg[c]. Components of a choice (field.h) are sorted by ascending value, for ArgMax by
// descending value, and at equal values by ascending index.
extern "C" {
struct nbcc_kernel_arguments {
  const void* const* i;  // packed i columns
  const void* const* j;  // packed j columns
  const double* param;
  double* const* acc;               // [output component][i]; of results of pairs: [output component][j]
  double* const* arg;               // [output component][i]; null if the reduction keeps no index
  std::int64_t i_offset, j_offset;  // i_index is i_offset + index in the columns, or i_offset + i_number[that index]
  const int* i_number;              // indices in the caller's arrays, if the columns are in another order
  const int* j_number;
  const void* const* pair;                   // packed columns of listed pairs, at the indices of their j
  const struct nbcc_exclusions* exclusions;  // [i], exclusions; for nbcc_interact_excluding only
  std::int64_t* const* histograms;           // [histogram], laid out as in KernelSource::histograms
  std::int64_t histogram_row;                // i_index of the first row of the histograms of each i
  const void* tables;                        // laid out as in KernelSource::tables
};
// The exclusions of one i, as numbers of j: first + k for each set bit k of `near`, and the far_count numbers in `far`.
struct nbcc_exclusions {
  std::int64_t first;
  std::uint64_t near;
  const int* far;
  std::int64_t far_count;
};
struct nbcc_half_list {
  const std::uint16_t* first;
  const std::uint8_t* vectors;
  std::int64_t own;    // 1: the columns of j begin with the particle i_begin; 0: they do not
  const float* boxes;  // [vector of j][kFloatsOfBox], as nbcc_boxes_of_vectors writes them
};
// Writes the derived columns of [begin, end). The callee rounds `end` up to full vectors (columns are padded).
using nbcc_prepare_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end);
// Accumulates the terms of j in [j_begin, j_end) for i in [i_begin, i_end). j_begin is a multiple of `lanes`; j_end
// need not be. The terms of each `tile` j-particles, counted from j_begin, are summed in working precision.
using nbcc_interact_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin, std::int64_t i_end,
                                        std::int64_t j_begin, std::int64_t j_end);
// nbcc_interact_symmetric, of pipelines with reactions: accumulates the terms of i and the reactions for pairs of
// disjoint ranges; the rows of reactions are indexed like the j-particles. Other functions skip reactions.
// Applies post-sum factors and finish() in double precision to acc, in place.
using nbcc_finish_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin, std::int64_t i_end);
// nbcc_interact_half_list, of pipelines with reactions and a SearchLayout: see templates/cpu/cpu_half_lists.cpp.in.
// Both sides have i_number and j_number; there are at most kHalfListVectors vectors of j, and as many i.
using nbcc_half_list_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i_begin, std::int64_t i_end,
                                         std::int64_t j_end, const nbcc_half_list*);
// nbcc_boxes_of_vectors: writes boxes[v], for each vector v in [begin, end) of the columns of j: the low and the high
// bounds of up to four components of positions, or 0.
using nbcc_boxes_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end, float* boxes);
// Computes the positions of particles [begin, end): rows[axis] are coordinates, for each axis of SearchLayout; the next
// row are the reaches, if this side has reaches.
using nbcc_locate_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                      double* const* rows);
// extent[axis] is the length of a periodic axis, extent[axes] the reach if it is uniform. For a triclinic cell
// extent[4..12] are a reduced basis of its lattice, the shortest vector first (NaN if the vectors span no volume).
using nbcc_extent_function = void (*)(const nbcc_kernel_arguments*, double* extent);
// Widens `ranges`, the side's ranges of IndexChecks, by the index terms of particles (or listed pairs) [begin, end).
using nbcc_indices_function = void (*)(const nbcc_kernel_arguments*, std::int64_t begin, std::int64_t end,
                                       nbcc_index_range* ranges);
// within[j - j_begin] is 1 if j passes the guards' comparisons of its distance to i, else 0, in the arithmetic of the
// sums. Both sides are prepared and have i_number and j_number; j_begin is a multiple of `lanes`.
using nbcc_within_function = void (*)(const nbcc_kernel_arguments*, std::int64_t i, std::int64_t j_begin,
                                      std::int64_t j_end, char* within);
}
// A kernel's source always exports nbcc_prepare_i, nbcc_prepare_j, nbcc_interact and nbcc_finish. With a SearchLayout
// it also exports nbcc_locate_i, nbcc_locate_j, nbcc_extent, nbcc_within and nbcc_interact_numbered, which is
// nbcc_interact for particles with i_number and j_number; its `arg` are j_offset + j_number. With IndexChecks it
// exports nbcc_indices_i, nbcc_indices_j and nbcc_indices_pair. Instead of nbcc_interact, Frame::Lists has
// nbcc_interact_numbered and nbcc_interact_excluding, the same for sums with exclusions.
