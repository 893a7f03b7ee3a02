// Data that the host and the kernels of a far field share. cuda_far_*.h of the runtime include this file,
// cuda_far_*.cu.in embed it. It is plain C++ without headers of the standard library, which NVRTC does not have. All
// pointers are addresses of GPU memory.
#pragma once

namespace nbcc::far_data {

constexpr int kMaxLevels = 128;  // of a tree; keys have 63 bits, so that no tree is deeper

// As runtime/far/far_tree.h has it: cells of a level are consecutive, the children of a cell are adjacent.
struct FarCell {
  int begin, end;    // its particles, in the order of the tree
  int child;         // the first of its two children; -1: a leaf
  int level;         // 0: the root
  double centre[3];  // of the box of its particles
  double half[3];    // never 0 along an axis of the positions
  double radius;     // half of the box's diagonal
};
static_assert(sizeof(FarCell) == 72, "the same layout on the host and in the kernels");

// Columns of doubles: component c of element k is at data[c * stride + k].
struct FarColumns {
  double* data;
  long long stride;
};

// Positions in the order of a tree: [first, end).
struct FarPositions {
  long long first, end;
};

// ---- the walk (cuda_far_walk.cu.in) ---------------------------------------------------------------------------------

constexpr int kRatios = 40, kFirstRatio = 2;  // of FarLimits (runtime/far/far_walk.h)
constexpr int kRangesPerPart = 48;            // a longer list of ranges is shared out to several items

// What the walk reads of a cell. Aligned so that it is three loads.
struct alignas(16) WalkCell {
  float centre[3], half[3];
  float radius;
  int row;  // of FarWalkArgument::most; -1: its grid never serves
  int begin, count, child, unused;
};
struct FarCellsArgument {
  const FarCell* cells;
  int count, axes;
  int first_size, sizes;  // of the rows
  WalkCell* walk_cells;
};
struct alignas(16) FarCellPair {
  int of_i, of_j;
  int acting;  // the number of j of the cell of j with which the cell of i was first paired
  int image;   // of the cell of j
};
constexpr int kMaxRounds = 2 * kMaxLevels;  // a round splits a cell of each pair
enum FarCount { kPairs = 0, kNearLanes = 4, kDistantLanes, kSettled, kFarCounts };
struct FarWalkState {
  // Pairs by FarKind; pairs with the lanes of items that have no particle, near and distant; pairs of cells.
  unsigned long long counts[kFarCounts];
  unsigned long long entries;  // also those beyond the capacity
  unsigned overflow;           // nonzero: the frontier was too small
  unsigned unused;
  unsigned frontier[kMaxRounds];  // [round] pairs that are still to be settled
};
struct FarWalkArgument {
  const WalkCell *of_i, *of_j;
  const float* most;       // [row][ratio]: the most j that may act through a grid
  FarPositions positions;  // of i; pairs whose cell of i has none of these particles are skipped
  int axes, both_sides, counts_only;
  int grid;               // points of a grid
  int near_i, distant_i;  // the most i of an item
  int cells_i, cells_j;   // numbers of cells
  int images;             // each cell of j is at so many places
  const float* shifts;    // [image][3] from the cell to its image; null: there is one, where the cell is
  int source_bits;        // of a key
  FarCellPair* frontier[2];
  unsigned frontier_capacity;
  unsigned long long* entries;  // keys: group << source_bits | source
  unsigned long long entry_capacity;
  FarWalkState* state;
};
struct FarRoundArgument {
  FarWalkArgument walk;
  int round;  // 0: a pair of roots for each image
};
// Groups: cells of i whose particles see particles; cells of i whose particles see grids; grids of cells of i.
// Sources: 2 * (image * cells of j + cell of j), plus 1 for its grid.

struct FarItem {  // Item of cuda_lists.cu.in
  int first, count, range_begin, range_end, row;
};
struct FarRange {  // Range there
  int begin, count;
};
struct FarListsArgument {
  const WalkCell *of_i, *of_j;
  int cells_i, cells_j, grid, source_bits;
  int axes;
  const double* shifts;                // [image][axis]; null: there are no images
  long long particles_i, particles_j;  // points of the first grid
  const unsigned long long* entries;   // sorted
  unsigned long long entry_count;
  unsigned* first;       // [group + 1]: its first entry
  FarRange* ranges;      // [entry]
  double* range_shifts;  // [entry][axis], if there are images
  // The lists of groups [group_begin, group_end), with at most item_i particles of i in an item.
  int group_begin, group_end, item_i;
  unsigned (*of_blocks)[2];  // [block of groups]: items and additional rows of the blocks before it; then all
  FarItem* items;
  int first_additional_row;
};
constexpr int kGroupsPerBlock = 256;  // of lists
struct FarCombineArgument {
  FarListsArgument lists;
  FarColumns sums;
  int columns;
};

// Corrections for excluded pairs.
struct FarRankArgument {
  const long long* order;  // [position in the tree] particle
  unsigned* ranks;         // [particle] position in the tree
  long long count;
};
struct FarExcludedArgument {
  FarListsArgument lists;  // of near pairs
  FarPositions positions;  // of i, of the walk
  const long long* order;  // [position in the tree of i] particle
  const unsigned* ranks;   // [j] position in the tree of j
  const long long* first;  // [i + 1] the excluded j of i are j[first[i]], ..., j[first[i + 1] - 1], which rise
  const int* j;
  int axes;
  int images;                                     // 0: the sum is not periodic
  const double* shifts;                           // [image][axis]
  const double *positions_of_i, *positions_of_j;  // [particle][axis], of periodic sums
  int image_bits;
  // Corrections, in any order: key = ((k << image_bits) | image) << 1 | is_added, with j[k]; slot: of i in the tree.
  unsigned long long* keys;
  unsigned* slots;
  unsigned* count;    // 0 before
  unsigned capacity;  // what was found beyond it is counted alone
};
// Sorted corrections, each an item of one pair.
struct FarCorrectionsArgument {
  FarExcludedArgument excluded;
  long long count;
  FarItem* items;
  FarRange* ranges;
  double* range_shifts;  // [correction][axis], if there are images
};
struct FarCorrectArgument {
  const unsigned long long* keys;
  const unsigned* slots;
  const long long* order;  // [slot] i; null: totals are in the order of slots
  long long count;
  FarColumns terms;   // [output][correction]
  FarColumns totals;  // [output][i or slot]
  int outputs;
};

// ---- checks and samples of particles (cuda_far_particles.cu.in) -----------------------------------------------------

constexpr int kParticleThreads = 256;  // of a block
struct FarCheckArgument {
  const double *values, *others;  // [particle][component]; others may be null
  const long long* chosen;        // [k] particle; null: all
  int components;
  long long count;                     // of values
  long long first_other, other_count;  // value k is compared with others[k + first_other], if there is one
  unsigned* flags;                     // [2], 0 before
};
struct FarCompareArgument {
  const double* positions;  // [particle][axis]
  const long long* chosen;  // [k] particle; null: all
  // The tree's arrays (FarTreeArgument).
  const unsigned* numbers;
  const long long* order;
  FarColumns sorted;
  long long count;
  int axes;
  unsigned* flag;  // 0 before
};
// Blocks of particles in the order of a tree, as FarBlocks (runtime/far/far_norms.h) has them; a warp handles one.
struct FarNormsArgument {
  FarColumns values;       // [component][particle]
  const long long* order;  // [position in a tree] particle
  long long count, blocks;
  int components;
  double* norms;  // [component][block][sum |w|, sum w^2, sum w]
};
struct FarAddArgument {
  double* to;
  const double* from;
  long long count;
};
struct FarPickArgument {
  FarColumns from;
  int columns;
  const long long* picked;
  long long count;
  double* rows;  // [k][column]
};

// ---- the images of a periodic sum (cuda_far_images.cu.in) -----------------------------------------------------------

constexpr int kImageThreads = 128, kMaxCellOrder = 40, kMaxImageSums = 48;
// PeriodicCell (runtime/far/periodic/periodic_cell.h).
struct ImageCell {
  double rows[3][3];     // [row][axis]
  double inverse[3][3];  // [axis][row]
  double origin[3];
  int axes, periodic;
};
// CellGrid: the coefficient of Chebyshev polynomial m in the polynomial of point k is at
// coefficients[first[row] + m * orders[row] + k].
struct ImageGrid {
  ImageCell cell;
  int orders[3], first[3];
  int points;
  const double* coefficients;
};
struct FarPlaceArgument {
  ImageCell cell;
  double* positions;  // [particle][axis]
  long long count;
  unsigned* too_far;  // set to 1 if a particle is more than 2^29 periods away, and not moved; 0 before
};
struct FarShiftArgument {
  const double* positions;  // [particle][axis]
  double* shifted;          // positions - shift
  long long count;
  int axes;
  double shift[3];
};
struct FarExtentArgument {
  const double* positions;  // [particle][axis]
  long long count;
  int axes;
  double direction[3];
  double* extents;  // [block][least, most]
};
struct FarGatherArgument {
  ImageGrid grid;
  const double* positions;  // [j][axis]
  FarColumns weights;
  long long count;
  int weight_count, blocks;
  double* parts;  // [block][weight][point, then the sum of weights and the sum of their magnitudes]
  double* all;    // [weight][the same]
};
struct FarOperateArgument {
  const double* matrix;          // [component][point a][point b]
  const double* all;             // of FarGatherArgument
  const int *first, *weight_of;  // [sum + 1] the first component of a sum, [component] its weight
  int sums, points;
  double* at_points;  // [sum][point a]
};
struct ImagePart {
  int output, factor, sum;
};
struct FarSpreadArgument {
  ImageGrid grid;
  const double* positions;  // [i][axis]
  const long long* chosen;  // [k] particle; null: all
  long long count;
  const double* at_points;
  double constant[kMaxImageSums];
  FarColumns factors, totals;  // [factor or output][i]
  const ImagePart* parts;
  int sums, part_count;
};

// ---- the radix sort (cuda_radix_sort.cu.in) -------------------------------------------------------------------------

constexpr int kRadixThreads = 256, kRadixDigits = 256;  // a thread handles a digit
constexpr int kRadixPasses = 8;                         // 8-bit digits of a 64-bit key
constexpr int kRadixItems = 12, kRadixTile = kRadixItems * kRadixThreads;
// [pass][digit] histograms; [pass] number of sorted tiles; number of tiles that blocks have taken; arrivals of blocks.
constexpr int kRadixCounters = kRadixPasses * kRadixDigits + kRadixPasses + 3;

struct RadixSortArgument {
  unsigned long long* keys[2];  // passes alternate between the two; the first has the keys to be sorted
  unsigned* payloads[2];        // of the keys; null: none
  long long count;
  int first_bit, last_bit;  // keys are sorted by bits [first_bit, last_bit)
  int passes, tiles;
  unsigned* counters;  // [kRadixCounters], 0 before and after a sort
  unsigned* words;     // [2][tile][digit] look-back words; passes alternate between the two
};

// ---- the tree (cuda_far_tree.cu.in) ---------------------------------------------------------------------------------

constexpr int kTreeThreads = 256;
constexpr int kTreeWords = 64, kTreeTile = 32 * kTreeWords;  // positions in the tree that one block tests for splits
constexpr int kTreeExtentBlocks = 512;                       // maximum number of blocks of nbcc_far_extent
constexpr int kTreeSplitLevels = 64;                         // levels that can have cells with children
constexpr int kTreeExponentWords = 64;                       // a bit for each of 2048 binary exponents
constexpr int kTreeExponentBias = 1023;                      // bit k: exponent k - kTreeExponentBias

// A cell with children, known by its split position: its left child is [begin, middle), its right child [middle, end).
struct FarSplit {
  int begin, middle, end, level;
};
struct FarSplitLink {
  int parent;  // split position of the parent; 0: the root has no parent
  int index;   // of the FarSplit
};
// The host reads it after a build.
struct FarTreeState {
  double low[3], scale;  // of the keys
  int finite;            // 1: all positions are finite
  int splits;            // number of cells with children; beyond the capacity, no cell is written
  int levels, unused;
  int level_first[kMaxLevels + 1];         // [level] first cell; then the number of cells
  unsigned exponents[kTreeExponentWords];  // bits of the binary exponents of radii that occur
};
struct FarTreeArgument {
  const double* positions;  // [particle][axis]
  const long long* chosen;  // [k] particle; null: all
  int count, leaf;
  int capacity;  // maximum number of FarSplit
  int unused;
  double* extents;           // [block of nbcc_far_extent][least, most, is finite]
  unsigned long long* keys;  // [k], then [position in the tree]
  unsigned* numbers;         // [position in the tree] k
  long long* order;          // [position in the tree] particle
  FarColumns sorted;         // [axis][position in the tree]
  unsigned* split_mask;      // a bit for each position in the tree
  int* tile_splits;          // [tile] number of splits of the tile, then of all tiles before it
  FarSplit* splits;          // [split] by ascending split position
  FarSplitLink* links;       // [position in the tree], of split positions only
  int* level_splits;         // [level][block] number of splits, then of all earlier levels and blocks
  int* ranks;                // [split] rank by (level, position)
  int* parents;              // [rank] number of the cell
  unsigned* arrived;         // [rank] children with boxes
  FarCell* cells;
  FarTreeState* state;
  unsigned* arrivals;  // [3] of blocks, 0 before and after a kernel
};
static_assert(sizeof(RadixSortArgument) == 72 && sizeof(FarTreeArgument) == 168 && sizeof(FarTreeState) == 824,
              "the same layout on the host and in the kernels");

// The points and polynomials of runtime/far/chebyshev.h for q points.
constexpr int kMaxOrder = 13;
struct FarChebyshev {
  double point[kMaxOrder];
  double coefficient[kMaxOrder * kMaxOrder];  // [Chebyshev polynomial * q + point]
};
// The arguments of the kernels of grids (cuda_far_grids.cu.in).
constexpr int kGridThreads = 128;  // of a block
// Threads of a block that handles a cell with so many points. Small blocks wait less at barriers, and more of them are
// resident, so that more cells are handled at once.
constexpr int threads_of_grid(int points) { return points <= 32 ? 32 : points <= 64 ? 64 : kGridThreads; }
struct FarGridTree {
  const FarCell* cells;
  long long cell_count, particles;
  FarColumns coordinates;  // [axis][particle in the order of the tree]
  int* parents;            // [cell]; -1: the root
  unsigned* arrived;       // [cell] children whose weights are complete; 0 between launches
  unsigned* done;          // [cell] the last launch of nbcc_far_go_down that has completed the sums of its grid
  unsigned* ticket;        // 0 between launches
};
// Some outputs, and their parts: total[output] += factor * sum for each part.
constexpr int kMaxAddedOutputs = 32, kMaxAddedParts = 128;  // of a launch
constexpr int kTotalsAtOnce = 4;                            // the totals of a particle in 32 bytes
struct FarAddition {
  FarColumns totals, factors;  // [output or factor][particle]
  FarColumns near, sums;       // [output or sum][particle in the order of the tree]; near.data may be null
  int first_output, outputs;
  int continues;                   // nonzero: the totals contain `near` already
  int in_order;                    // nonzero: totals are [output][particle in the order of the tree]
  int part_end[kMaxAddedOutputs];  // parts of an output follow those of the output before
  int factor[kMaxAddedParts];      // -1: the factor is 1
  int sum[kMaxAddedParts];
  double* rows;   // [particle][row], of nbcc_far_add_rows
  long long row;  // a multiple of kTotalsAtOnce
};

}  // namespace nbcc::far_data
