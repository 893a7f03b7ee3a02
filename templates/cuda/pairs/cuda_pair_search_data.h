// A search for all pairs within a cutoff, of many systems at once: data and functions that the host
// (runtime/pairs/host_pair_search.cpp) and the kernels (cuda_pair_search.cu.in) share. Both sides round alike, without
// fused multiply-adds, so both find the same pairs. The file is plain C++; NVRTC has no headers of the standard
// library.
//
//   positions --wrap()--> position in the first cell, number of cells that it was moved by
//   systems   --choose_bins()--> bins: parallelepipeds of half a cutoff to a cutoff, [axis 0][axis 1][axis 2]
//   a bin     --slot_at()--> slot of a table that has at most as many slots as there are j
//   an i      --for_each_run()--> runs of sorted j, each with the image of its cell
//
//        axis 1
//          ^   +---+---+---+---+---+
//          |   |   | = | = | = |   |     = a run: bins along axis 2 that follow each other in memory
//          |   +---+---+---+---+---+
//          |   |   | = | i | = |   |     bins beyond the last one of a periodic axis belong to the next image
//          |   +---+---+---+---+---+     of the cell, so a cutoff may span any number of cells
//          +-----------------------> axis 2
//
// If a system has more bins than j, as a cluster in a large cell, bins share slots, each bin is a run of its own, and
// the slot is a hash of the bin, which differs for the bins around one i. So the work depends on the particles and not
// on the space between them.
//
// A pair is within the cutoff if the square of (position of j - position of i) + image is less than the squared cutoff
// (or, if asked for, equal to it), with both positions in the first cell, in the precision of the positions.
#pragma once
#ifdef NBCC_DEVICE
#define NBCC_PAIR_FUNCTION NBCC_DEVICE
#else
#include <cmath>
#include <cstring>
#define NBCC_PAIR_FUNCTION inline
#endif

namespace nbcc::pair_search {

using Index = long long;
constexpr int kThreads = 256;             // of a block of every kernel
constexpr int kRowLanes = 4;              // threads that look for the pairs of one i
constexpr int kScanItems = 8 * kThreads;  // numbers that a block of a scan adds up
constexpr int kMaxImage = 1000;           // above the number of cells along an axis that a cutoff may span
constexpr int kImageBits = 11;            // bits of a component of an image in a key
constexpr double kMaxBins = 1 << 30;      // along an axis
constexpr double kMaxWraps = 1 << 29;     // cells between a particle and the first cell; differences are ints
constexpr double kMaxOpen = 1e90;         // a coordinate along an open axis
constexpr double kLeastShared = 256;      // j of a system whose bins share slots
constexpr Index kMaxTypes = 65535;        // pairs of types are 32-bit numbers
constexpr Index kMaxRow = 1 << 30;        // pairs of one i on a GPU

struct System {
  double vectors[3][3];  // [vector][component]; of an open axis a unit vector perpendicular to the periodic ones
  double normals[3][3];  // the inverse: fraction k of a position x is normals[k] . x
  double norms[3];       // |normals[k]|
  double low[3];         // of the fractions
  double scale[3];       // bins per fraction
  double reach[3];       // of the cutoff, in bins
  int bins[3], periodic[3];
  unsigned count;    // of j
  int shares_slots;  // bins have slots in common
  unsigned step;     // of the hash, from a bin to the next one along axis 2
  Index slots, first_slot;
  unsigned long long extent[3][2];  // open axes: ordered_bits() of the largest -fraction and fraction of the j
};

// A position in the first cell.
template <typename T>
struct alignas(4 * sizeof(T)) Record {
  T at[3];
  int number;  // of the particle
};
struct alignas(16) Wraps {
  int of[3];  // the position is that of the Record plus so many of the vectors
  int unused;
};

// Flags that a search raises. Particles and systems: the complement of the lowest index, 0 if there is none.
struct Report {
  unsigned non_finite[2];  // [side] a position is not finite, or too many cells away
  unsigned bad_system[2];  // [side] the index of a particle's system is out of range
  unsigned bad_type[2];    // [side] the type of a particle is out of range
  unsigned bad_cutoff;     // an i whose cutoff is not between 0 and the largest one
  unsigned bad_table;      // an entry of the table of cutoffs, likewise
  unsigned flat_cell;      // a system whose vectors are not independent, or not finite
  unsigned small_cell;     // a system with kMaxImage - 1 cells or more in a cutoff
  unsigned long_row;       // an i with more than kMaxRow pairs
  unsigned wrapped;        // 1: a particle is outside of the first cell
};

struct Side {
  const char* x;
  Index stride, component_stride, count;  // strides in bytes
  const Index* system;                    // [particle]; null: all are of system 0
  const Index* type;                      // [particle]; null without cutoffs by type
  void* records;                          // Record<T> [particle]
  Wraps* wraps;                           // [particle]
};

struct Search {
  Side side[2];   // 0: j, 1: i
  int one_set;    // i and j are the same particles
  int half;       // each pair once: j > i, or j = i and the image is positive
  int self;       // with pairs of a particle and itself
  int inclusive;  // distance <= cutoff is within; otherwise distance < cutoff
  Index systems;
  const double* cells;            // [system][vector][component]; null: no system is periodic
  const int* periodic;            // [system][axis]; null: all axes with cells
  double cutoff;                  // the largest one
  double least_cutoff;            // the lowest one but 0: its square is a normal number of the positions' precision
  const double* cutoff_of_i;      // [i]; null: one cutoff
  const double* cutoff_of_types;  // [type of i][type of j]; null: one cutoff
  Index types;
  const Index *excluded_first, *excluded_j;  // CSR; null: none
  System* system;                            // [system]
  Report* report;
  unsigned* slot_of;     // [j]
  unsigned* rank_of;     // [j] among the particles of its slot
  unsigned* slot_count;  // [slot]
  unsigned* slot_first;  // [slot + 1]
  Index slots;           // capacity of the two
  void* sorted;          // Record<T> [sorted j]
  unsigned* counts;      // [i] pairs
  Index* first;          // [i + 1]
};

struct PairOutput {
  Index capacity;
  Index *i, *j;  // [pair]
  int* shifts;   // [pair][axis]; null: none
  Index* first;  // [i + 1]; null: none
  Index* count;  // the number of pairs found, -1 after an error; null: none
};

NBCC_PAIR_FUNCTION double product(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
NBCC_PAIR_FUNCTION void cross(const double* a, const double* b, double* to) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}
NBCC_PAIR_FUNCTION void normalize(double* a) {
  const double norm = sqrt(product(a, a));
  for (int c = 0; c < 3; ++c) a[c] /= norm;
}
// Rises with x; 0 for no double.
NBCC_PAIR_FUNCTION unsigned long long ordered_bits(double x) {
  unsigned long long bits;
  memcpy(&bits, &x, sizeof bits);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}
NBCC_PAIR_FUNCTION double from_ordered_bits(unsigned long long ordered) {
  const unsigned long long bits = ordered >> 63 ? ordered & ~(1ull << 63) : ~ordered;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Replaces the vectors of open axes by unit vectors at right angles to the periodic vectors and to each other.
NBCC_PAIR_FUNCTION void complete_vectors(System& s) {
  int open[3] = {0, 0, 0}, given[3] = {0, 0, 0}, opens = 0, givens = 0;
  for (int k = 0; k < 3; ++k)
    if (s.periodic[k])
      given[givens++] = k;
    else
      open[opens++] = k;
  if (opens == 0) return;
  for (int m = 0; m < opens; ++m)
    for (int c = 0; c < 3; ++c) s.vectors[open[m]][c] = c == open[m] ? 1 : 0;
  if (givens == 2) cross(s.vectors[given[0]], s.vectors[given[1]], s.vectors[open[0]]);
  if (givens == 1) {
    const double* const v = s.vectors[given[0]];
    const int least = fabs(v[0]) <= fabs(v[1]) && fabs(v[0]) <= fabs(v[2]) ? 0 : fabs(v[1]) <= fabs(v[2]) ? 1 : 2;
    const double axis[3] = {least == 0 ? 1.0 : 0.0, least == 1 ? 1.0 : 0.0, least == 2 ? 1.0 : 0.0};
    cross(v, axis, s.vectors[open[0]]);
    cross(v, s.vectors[open[0]], s.vectors[open[1]]);
  }
  for (int m = 0; m < opens; ++m) normalize(s.vectors[open[m]]);
}

// False: the vectors of the cell are not independent.
NBCC_PAIR_FUNCTION bool prepare_system(System& s, const double* cell, const int* periodic) {
  for (int k = 0; k < 3; ++k) {
    s.periodic[k] = cell ? (periodic ? periodic[k] != 0 : 1) : 0;
    for (int c = 0; c < 3; ++c) s.vectors[k][c] = cell ? cell[3 * k + c] : 0;
    s.extent[k][0] = s.extent[k][1] = 0;
  }
  s.count = 0;
  complete_vectors(s);
  double squares = 1;
  for (int k = 0; k < 3; ++k) {
    cross(s.vectors[(k + 1) % 3], s.vectors[(k + 2) % 3], s.normals[k]);
    squares *= product(s.vectors[k], s.vectors[k]);
  }
  const double volume = product(s.vectors[0], s.normals[0]);
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < 3; ++c) s.normals[k][c] /= volume;
    s.norms[k] = sqrt(product(s.normals[k], s.normals[k]));
  }
  return volume * volume > 0x1p-80 * squares && volume - volume == 0 &&
         s.norms[0] + s.norms[1] + s.norms[2] - (s.norms[0] + s.norms[1] + s.norms[2]) == 0;
}

template <typename T>
NBCC_PAIR_FUNCTION void fractions_of(const System& s, const T* x, double* fractions) {
  const double at[3] = {(double)x[0], (double)x[1], (double)x[2]};
  for (int k = 0; k < 3; ++k) fractions[k] = product(s.normals[k], at);
}
// Moves a position into the first cell, which is the one around the origin, so that positions in a very long cell keep
// their digits. In two steps: the first one rounds a position that is far away to a place that
// may be outside. False: the position is not finite, or too far away.
template <typename T>
NBCC_PAIR_FUNCTION bool wrap(const System& s, const T* x, T* inside, int* wraps) {
  double at[3] = {(double)x[0], (double)x[1], (double)x[2]};
  wraps[0] = wraps[1] = wraps[2] = 0;
  bool is_good = true;
  for (int step = 0; step < 2; ++step) {
    double fractions[3], cells[3];
    fractions_of(s, at, fractions);
    for (int k = 0; k < 3; ++k) {
      cells[k] = s.periodic[k] ? rint(fractions[k]) : 0;
      is_good = is_good && fabs(fractions[k]) < (s.periodic[k] ? kMaxWraps : kMaxOpen);
    }
    if (!is_good || (cells[0] == 0 && cells[1] == 0 && cells[2] == 0)) break;
    for (int k = 0; k < 3; ++k) wraps[k] += (int)cells[k];
    for (int c = 0; c < 3; ++c)
      at[c] -= cells[0] * s.vectors[0][c] + cells[1] * s.vectors[1][c] + cells[2] * s.vectors[2][c];
  }
  for (int c = 0; c < 3; ++c) inside[c] = (T)at[c];
  return is_good;
}
// The displacement of an image of the cell.
template <typename T>
NBCC_PAIR_FUNCTION void image_vector(const System& s, int m0, int m1, int m2, T* to) {
  for (int c = 0; c < 3; ++c) to[c] = 0;
  if ((m0 | m1 | m2) == 0) return;
  for (int c = 0; c < 3; ++c) to[c] = (T)(m0 * s.vectors[0][c] + m1 * s.vectors[1][c] + m2 * s.vectors[2][c]);
}

NBCC_PAIR_FUNCTION double within(double x, double low, double high) { return x > low ? (x < high ? x : high) : low; }
// Sets the bins, from the number and the extent of the j. `epsilon`: of the positions' precision. False: the cutoff
// spans too many cells.
NBCC_PAIR_FUNCTION bool choose_bins(System& s, double cutoff, double epsilon) {
  double size = 0, period = 0, length[3];
  for (int k = 0; k < 3; ++k) {
    s.low[k] = -0.5;
    length[k] = 1;
    if (s.periodic[k]) {
      period += sqrt(product(s.vectors[k], s.vectors[k]));
      continue;
    }
    const bool any = s.extent[k][0] != 0;
    s.low[k] = any ? -from_ordered_bits(s.extent[k][0]) : 0;
    const double high = any ? from_ordered_bits(s.extent[k][1]) : 0;
    length[k] = high - s.low[k];
    size += fabs(s.low[k]) + fabs(high);
  }
  // Decisions are made with rounded differences and images.
  const double radius = cutoff + epsilon * (4 * cutoff + 2 * period) + 0x1p-48 * (size + period);
  double bins[3], least[3];  // of half a cutoff; of a cutoff
  for (int k = 0; k < 3; ++k) {
    const double fitting = length[k] / (radius * s.norms[k]);
    bins[k] = within(floor(2 * fitting), 1, kMaxBins);
    least[k] = s.count < kLeastShared ? 1 : within(floor(fitting), 1, kMaxBins);
  }
  const double most = s.count > 1 ? s.count : 1;
  while (bins[0] * bins[1] * bins[2] > most) {
    int longest = -1;
    for (int k = 0; k < 3; ++k)
      if (bins[k] > least[k] && (longest < 0 || bins[k] > bins[longest])) longest = k;
    if (longest < 0) break;
    bins[longest] = within(floor((bins[longest] + 1) / 2), least[longest], kMaxBins);
  }
  s.shares_slots = bins[0] * bins[1] * bins[2] > most;
  s.slots = (Index)(s.shares_slots ? most : bins[0] * bins[1] * bins[2]);
  s.step = s.shares_slots ? (unsigned)(0x1p32 / most) + 1 : 0;
  bool is_good = true;
  for (int k = 0; k < 3; ++k) {
    s.bins[k] = (int)bins[k];
    s.scale[k] = length[k] > 0x1p-500 ? bins[k] / length[k] : 0;  // not infinite
    s.reach[k] = radius * s.norms[k] * s.scale[k] * (1 + 1e-9) + 1e-9;
    if (s.periodic[k] && !(s.reach[k] / bins[k] < kMaxImage - 1)) is_good = false;
  }
  return is_good;
}

NBCC_PAIR_FUNCTION int bin_along(const System& s, int axis, double fraction) {
  const double u = floor((fraction - s.low[axis]) * s.scale[axis]), last = s.bins[axis] - 1;
  return (int)(u < 0 ? 0 : u > last ? last : u);
}
NBCC_PAIR_FUNCTION Index slot_in_order(const System& s, int b0, int b1, int b2) {
  return ((Index)b0 * s.bins[1] + b1) * s.bins[2] + b2;
}
// The slot of a bin that shares it. The hash is a number of the sequence R2 (Roberts 2018): its factors are powers of
// the inverse of the plastic number, times 2^32. So it spreads the bins of clusters, sheets and lines of any direction
// evenly, the next bin along axis 2 is in the next slot, and of kLeastShared or more slots no two are the same for bins
// that are up to three apart along each axis, which are all that are within reach of one i.
NBCC_PAIR_FUNCTION Index shared_slot(const System& s, int b0, int b1, int b2) {
  const unsigned hash = b0 * 0xc13fa9a9u + b1 * 0x91e10da5u + b2 * s.step;
  return (Index)((unsigned long long)hash * (unsigned long long)s.slots >> 32);
}
// The slot of a position, counted through all systems.
NBCC_PAIR_FUNCTION Index slot_at(const System& s, const double* fractions) {
  const int b0 = bin_along(s, 0, fractions[0]), b1 = bin_along(s, 1, fractions[1]), b2 = bin_along(s, 2, fractions[2]);
  return s.first_slot + (s.shares_slots ? shared_slot(s, b0, b1, b2) : slot_in_order(s, b0, b1, b2));
}
// The bins along an axis within reach, counted on beyond the first cell.
NBCC_PAIR_FUNCTION void bins_within(const System& s, int axis, double fraction, int* begin, int* end) {
  const double u = (fraction - s.low[axis]) * s.scale[axis], count = s.bins[axis];
  double low = floor(u - s.reach[axis]), high = floor(u + s.reach[axis]) + 1;
  if (!s.periodic[axis]) {
    low = low < 0 ? 0 : low < count ? low : count;
    high = high < count ? (high > low ? high : low) : count;
  }
  *begin = (int)low;
  *end = (int)high;
}
// The image of the cell that has a bin. Most bins are in the first cell, and a division takes long.
NBCC_PAIR_FUNCTION int image_of_bin(int bin, int bins) {
  if (bin >= 0 && bin < bins) return 0;
  return bin >= 0 ? bin / bins : -((bins - 1 - bin) / bins);
}

template <bool kShares, typename Body>
NBCC_PAIR_FUNCTION void for_each_run(const System& s, const unsigned* slot_first, const double* fractions, Body body) {
  int begin[3], end[3];
  for (int k = 0; k < 3; ++k) bins_within(s, k, fractions[k], &begin[k], &end[k]);
  const int first_image = image_of_bin(begin[2], s.bins[2]), last_image = image_of_bin(end[2] - 1, s.bins[2]);
  for (int b0 = begin[0]; b0 < end[0]; ++b0) {
    const int m0 = image_of_bin(b0, s.bins[0]);
    for (int b1 = begin[1]; b1 < end[1]; ++b1) {
      const int m1 = image_of_bin(b1, s.bins[1]), in0 = b0 - m0 * s.bins[0], in1 = b1 - m1 * s.bins[1];
      const unsigned* const column = slot_first + s.first_slot + (kShares ? 0 : slot_in_order(s, in0, in1, 0));
      for (int m2 = first_image; m2 <= last_image; ++m2) {
        const int from = begin[2] - m2 * s.bins[2], to = end[2] - m2 * s.bins[2];
        const int low = from > 0 ? from : 0, high = to < s.bins[2] ? to : s.bins[2];
        if (!kShares) body(column[low], column[high], m0, m1, m2);
        for (int b2 = low; kShares && b2 < high; ++b2) {
          const Index slot = shared_slot(s, in0, in1, b2);
          body(column[slot], column[slot + 1], m0, m1, m2);
        }
      }
    }
  }
}
// Calls body(begin, end, image) for runs of sorted j that have all j within reach of a position in the first cell.
template <typename Body>
NBCC_PAIR_FUNCTION void for_each_run(const System& s, const unsigned* slot_first, const double* fractions, Body body) {
  s.shares_slots ? for_each_run<true>(s, slot_first, fractions, body)
                 : for_each_run<false>(s, slot_first, fractions, body);
}

// The square of the distance of two positions in the first cell and an image.
template <typename T>
NBCC_PAIR_FUNCTION T squared_distance(const T* xi, const T* xj, const T* image) {
  const T x = (xj[0] - xi[0]) + image[0], y = (xj[1] - xi[1]) + image[1], z = (xj[2] - xi[2]) + image[2];
  return x * x + y * y + z * z;
}

// Whether a number is the cutoff of an i, or of types.
NBCC_PAIR_FUNCTION bool is_cutoff(const Search& s, double cutoff) {
  return cutoff == 0 || (cutoff >= s.least_cutoff && cutoff <= s.cutoff);
}
// The square of the lowest distance that is beyond a cutoff.
template <typename T>
NBCC_PAIR_FUNCTION T squared_limit(const Search& s, double cutoff) {
  T square = (T)(cutoff * cutoff);
  if (!s.inclusive) return square;
  unsigned long long bits = 0;
  memcpy(&bits, &square, sizeof square);  // little-endian
  ++bits;
  memcpy(&square, &bits, sizeof square);
  return square;
}
// Whether the type of a particle is in the table; whether its cutoff can be used.
NBCC_PAIR_FUNCTION bool has_type(const Search& s, int side, Index particle) {
  const Index* const type = s.side[side].type;
  return !s.cutoff_of_types || (type[particle] >= 0 && type[particle] < s.types);
}
NBCC_PAIR_FUNCTION bool has_cutoff(const Search& s, int side, Index particle) {
  return !s.cutoff_of_i || (side == 0 && !s.one_set) || is_cutoff(s, s.cutoff_of_i[particle]);
}

// Whether all pairs within the largest cutoff are listed, but for those of a particle and itself.
NBCC_PAIR_FUNCTION bool lists_all(const Search& s) {
  return !s.cutoff_of_i && !s.cutoff_of_types && !s.excluded_first && !s.half;
}
// Whether a pair within the largest cutoff is listed.
template <typename T>
NBCC_PAIR_FUNCTION bool is_listed(const Search& s, T square, int i, int j, int m0, int m1, int m2) {
  if (s.cutoff_of_i && !(square < squared_limit<T>(s, s.cutoff_of_i[i]))) return false;
  if (s.cutoff_of_types) {
    const double cutoff = s.cutoff_of_types[s.side[1].type[i] * s.types + s.side[0].type[j]];
    if (!(square < squared_limit<T>(s, cutoff))) return false;
  }
  if (s.one_set) {
    const int sign = m0 != 0 ? m0 : m1 != 0 ? m1 : m2;
    if (i == j && sign == 0) {
      if (!s.self) return false;
    } else if (s.half && (j < i || (j == i && sign < 0))) {
      return false;
    }
  }
  if (s.excluded_first)
    for (Index k = s.excluded_first[i]; k < s.excluded_first[i + 1]; ++k)
      if (s.excluded_j[k] == j) return false;
  return true;
}

// A pair of one i as a number: pairs rise with j, then with the image.
NBCC_PAIR_FUNCTION unsigned long long key_of(int j, int m0, int m1, int m2) {
  constexpr int kZero = 1 << (kImageBits - 1);
  return (unsigned long long)j << 3 * kImageBits | (unsigned long long)(m0 + kZero) << 2 * kImageBits |
         (unsigned long long)(m1 + kZero) << kImageBits | (unsigned long long)(m2 + kZero);
}
NBCC_PAIR_FUNCTION int j_of(unsigned long long key) { return (int)(key >> 3 * kImageBits); }
NBCC_PAIR_FUNCTION int image_of(unsigned long long key, int axis) {
  return (int)(key >> (2 - axis) * kImageBits & ((1 << kImageBits) - 1)) - (1 << (kImageBits - 1));
}

}  // namespace nbcc::pair_search
#undef NBCC_PAIR_FUNCTION
