// Data that the host and the kernels of a neighbour search share: constants, the arrays in GPU memory and the kernels'
// last argument. cuda_search.h of the runtime includes this file, cuda_search.cu.in embeds it. It is plain C++ without
// headers of the standard library, which NVRTC does not have. All pointers are addresses of GPU memory.
#pragma once

namespace nbcc::search_data {

constexpr int kBlock = 256;    // threads of a block of every kernel but nbcc_interact
constexpr int kWarps = 4;      // groups, a warp each, of a block of nbcc_interact: neighbouring groups read the same j
constexpr int kGroup = 32;     // consecutive i
constexpr int kCluster = 8;    // consecutive j
constexpr int kChildren = 32;  // boxes of a level that a box of the next level holds
constexpr int kMaxLevels = 8;
constexpr int kListCapacity = 256;                           // maximum number of entries of a group's list
constexpr int kListStride = kListCapacity + 32;              // entries, then padding with sentinel clusters
constexpr int kDigits = 256;                                 // digit values of a pass of the radix sort
constexpr int kPasses = 8, kLowPasses = 4;                   // 8-bit digits of a 64-bit key; of its low 32 bits
constexpr int kHistograms = kPasses + kPasses - kLowPasses;  // one for each digit of Morton keys and of column keys
constexpr int kSortItems = 16, kSortTile = kSortItems * kBlock;
constexpr int kSampledCells = 2048;  // counters of particles in hashed cells
// A wide group reaches across a quarter of the domain, by the reach of one of its i. The first kWideGroups of them, in
// the order of groups, are sums of kWideSlices warps each, because a warp looks at a million j in 44 ms (an H100).
constexpr int kWideGroups = 4, kWideSlices = 256, kWideBlocks = kWideGroups * kWideSlices / kWarps;
constexpr int kMinWideJ = 4096;  // of fewer j no group is wide
constexpr float kWideReach = 0.25f;
constexpr int kFewCounters = kSampledCells + 2 * kHistograms * kDigits + 2 * (kPasses + 1) + 4 + kWideGroups;
constexpr int kExclusionBytes = 16;  // added to a packed j for its index, in a kernel with exclusions
constexpr int kMaxExtent = 13;       // doubles that extent() writes: periodic lengths, the reach, the vectors of a cell

struct alignas(16) PositionRecord {
  float at[3];  // normalised domain; NaN: a non-finite position
  float reach;
};
// A bounding box (AABB). The centre of an empty box is NaN, so that every distance test fails.
struct alignas(16) Box {
  float centre[3], reach;  // reach: the largest one in the box
  float half[3], wide;     // nonzero: a wide group
};
// The normalised domain: a position x becomes (x - low) * scale. It is kept from run to run. Below, `units` are lengths
// times scale.
struct Domain {
  double low[3], length[3], per_length[3];  // of the caller's positions; length 0: an open axis
  double turn[3][3], tilt[3];               // cell: the turned axes, and components of its vectors along lower axes
  double scale;                             // a power of two
  double largest;                           // the largest |coordinate| of the known range, or length
  double known_low[3], known_high[3];       // the range of most particles' coordinates; infinite without far particles
  double moved_low[3],
      moved_high[3];        // particles between these and the known range are moved to its edge, others are unknown
  float first[3], last[3];  // the known range in units, from `low`
  int bounded;              // bit 2 d: known_low[d] is finite, bit 2 d + 1: known_high[d]
  double slack;             // added to every reach, in units
  float box[3], inverse[3], lean[3];  // periodic lengths in units and 1 / box, 0 on an open axis; tilt in units
  float half_length[3];               // in units, also where a cell counts as open; else infinite
  float uniform;                      // the reach that all particles have
  float skin;                         // in units, added to the reach when the lists are built
  int columns[2];                     // along the first axes; particles of a column are sorted along the last axis
  float column[2], height;            // columns per unit; steps along the last axis per unit
  unsigned steps;                     // along a column
  int column_pass;                    // the first pass of the sort that column keys need
  float cell;                         // cells per unit; a cell holds 32 particles on average
  unsigned skipped_cells;             // mask: a hashed cell is counted if its number has none of these bits
  int wraps;                          // coordinates along a periodic axis may differ by more than its length
  int images;                         // 1: the lists ignore the periodic images along some axis
  int curve;                          // 1: the particles are too uneven for columns and are sorted by Morton keys
  int search;                         // 1: the lists are rebuilt; 0: the lists of an earlier run still hold
  unsigned has_wide;                  // 1: a group was wide when the lists were built
  // What the lists were built for: extent(), and values of the host.
  double given[kMaxExtent], given_skin;
  long long counts[2], i_are_j, groups[2], has_inverse_order;
};
// All j, or the selected i.
struct SearchSet {
  long long count;
  PositionRecord* positions_at_rebuild;  // [particle] positions at the last rebuild of the lists; only with a skin
  PositionRecord* sorted;                // [sorted particle]
  unsigned *low, *high;                  // [particle] the halves of 64-bit keys
  unsigned* keys;   // [2][particle] 32 bits of the keys; passes of the sort alternate between the two
  unsigned* order;  // [2][sorted particle] particle; the first is the sorted order
  Box* groups;      // [group of 32 consecutive sorted particles]
};
// Device counters, which the kernels add up over all runs and the host reads.
struct SearchReport {
  unsigned long long tested[kBlock];   // pairs; the sum over the entries counts
  unsigned long long within[kBlock];   // pairs found to be within reach, of the last run
  unsigned long long searches;         // rebuilds of the lists
  unsigned long long steps[4];         // nanoseconds: to locate, to sort, to make lists, to sum
  unsigned long long begun[4], ended;  // time of the last run, nanoseconds
};
struct Search {
  SearchSet side[2];                // j, i
  char* packed;                     // [16 bytes of a packed j][sorted j]
  Box* boxes;                       // of the j, level by level
  long long first_box[kMaxLevels];  // [level] index of its first box; then the number of all boxes
  long long top;                    // the top level, which has at most kChildren boxes
  unsigned* lists;                  // [group][kListStride] clusters, or boxes of a higher level
  unsigned* list_sizes;             // [group] entries; from bit kLevelBits the level of the boxes; kCrosses
  double* extents;                  // [block of nbcc_find_extent][low, -high][axis]
  Domain* domain;
  SearchReport* report;
  unsigned* counters;                // 0 when a run begins
  long long i_are_j;                 // nonzero: i and j are one set, with the same positions and reaches
  double skin;                       // in the caller's units of length
  long long first_group, end_group;  // the groups of this GPU, full blocks of particles
  unsigned* needed;                  // [block of j] nonzero: a list of this GPU contains some of these j; null: one GPU
  // Group-ordered output buffer. The results of many i are stored there first and unpermuted by nbcc_unpermute, which
  // is faster than scattered stores in the caller's order.
  long long uses_output_buffer;
  char* output_buffer;                    // [sorted i][requested output]
  long long output_stride, output_bytes;  // bytes from one i to the next, and of one output value
  unsigned* inverse_order;                // [i] its index among the sorted i; null: there is no output buffer
  const void* exclusions;                 // [i] Exclusions; null in a kernel without exclusions
  const int* far_exclusions;
  long long wide_blocks;  // the first blocks of nbcc_interact sum slices of wide groups; 0: there are none
  double* wide_sums;      // [wide group][slice][kPlaces][i of the group]
};
static_assert(sizeof(long long) == 8 && sizeof(void*) == 8 && sizeof(Domain) == 592 && sizeof(Search) == 376 &&
                  sizeof(SearchReport) == 4176 && sizeof(PositionRecord) == 16 && sizeof(Box) == 32,
              "the same layout on the host and in the kernels");

}  // namespace nbcc::search_data
