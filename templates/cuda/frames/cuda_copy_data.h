// Data that the host and the kernels of copies of particles (cuda_copies.cu.in) share. The file is plain C++ without
// headers of the standard library, which NVRTC does not have. Pointers are addresses of GPU memory.
#pragma once

namespace nbcc::copy_data {

constexpr int kThreads = 256;        // of a block; for one launch, of the entire grid
constexpr int kMaxBlocks = 1024;     // of a launch whose threads loop
constexpr int kRangeBlocks = 128;    // of nbcc_move
constexpr int kRanges = 13;          // maxima over the i: see Ranges
constexpr int kCopiesOfChunk = 256;  // j whose copies are counted together

// One component of an array: the value of particle k is at data + k * stride (bytes). `element`: kFloat, ...
struct Component {
  const char* data;
  long long stride, element;
  long long type;  // the kernel's type of the component: 0 real, 1 int, 2 index
};

// ---- nbcc_gather: to[row][component] = from[rows[row]][component] ---------------------------------------------------
struct Gather {
  const char* from;
  long long stride, component_stride, size;  // bytes; size of an element: 4 or 8
  int components;
  const long long* rows;  // null: row k is particle k
  long long count;
  char* to;
};

// ---- nbcc_widen, nbcc_narrow: an array of 16-bit numbers and one of floats or doubles
// ----------------------------------
struct Convert {
  char* small;
  long long stride, component_stride;  // bytes
  int is_half;                         // 0: bfloat16
  char* wide;                          // [particle][component]
  int is_double;                       // 0: float
  int components;
  long long count;  // of particles
};

// ---- nbcc_evaluate: formulas (KernelSource's Formula) of one side's inputs ------------------------------------------
struct Step {
  int op;  // Formula::Op
  int component, args[3], count, stride, unused;
  double constant;
};
constexpr int kMaxFormulas = 4;
struct Evaluate {
  const Step* steps;
  const Component* inputs;  // [component]
  const double* params;
  double* values;  // [step][thread], scratch
  int formulas;
  int first[kMaxFormulas], steps_of[kMaxFormulas];
  double* results[kMaxFormulas];  // [particle]
  long long particles;
  struct Summary* summary;  // cleared; null: not
};

// ---- the copies of every_image() ------------------------------------------------------------------------------------
// PeriodicVectors (runtime/sum/derived/image_copies.h), with what belongs to it.
struct Cell {
  int axes;
  int given[3];
  double reduced[3][3], reciprocal[3][3], slope[3];  // [vector][axis], in the units of the reach
  double periods[3][3];                              // the reduced basis in the units of positions
  double unit[3];                                    // of each axis: from positions to units of the reach
  long long steps[3][3];
  int is_reduced;   // nonzero: the reduced basis is the given one
  int reach_kind;   // SearchLayout::Reach
  double uniform;   // the reach, if it is uniform
  double skin;      // the copies serve until a particle has moved by half of it
  double rounding;  // as copies_of() has it
};
struct Moves {
  int of[3];  // multiples of the vectors
};
struct Summary {
  long long copies;
  unsigned is_irregular;  // nonzero: something that the host must report
  unsigned has_changed;   // nonzero: a particle has moved too far for kept copies
};
// Maxima over the i with finite positions: along each vector, then minus the coordinate; the coordinate along each
// axis, then minus it; the reach.
using Ranges = double[kRanges];

struct Side {
  const double* at[3];  // [axis][particle] positions
  const double* reach;  // [particle]; null: the side has none
  double* moved[3];     // [axis][particle] positions in the first cell, in units of the reach
  Moves* moves;         // [particle] to the first cell
  Moves* moves_given;   // [particle] the same in given vectors; null: not needed
  long long count;
};
struct Move {
  Cell cell;
  Side side;
  Ranges* ranges;     // [block]; null: not needed
  long long* chunks;  // [chunk] set to 0; null: not needed
  Summary* summary;
};
struct Copies {
  Cell cell;
  Side j;
  Ranges* ranges;  // [block] of nbcc_move; after nbcc_join_ranges ranges[0] is of all i
  int range_blocks;
  long long* counts;  // [j]
  long long* chunks;  // [chunk] copies of kCopiesOfChunk j; after nbcc_scan the copies before them
  long long chunk_count;
  Summary* summary;
  long long* of;  // [copy] its particle
  Moves *moved, *moved_given;
};
struct Place {
  Cell cell;
  Side i, j;
  const long long* of;
  const Moves* moved;
  long long copies, j_offset;
  double *place_i, *place_j, *shift_j;  // [particle or copy][axis]
  long long* copied;                    // [copy] its j_index
};
struct Compare {
  Cell cell;
  const double *now[3], *then[3];  // [axis][particle]
  const double *reach_now, *reach_then;
  long long count;
  double most;  // distance
  Summary* summary;
};

}  // namespace nbcc::copy_data
