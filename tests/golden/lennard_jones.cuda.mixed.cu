constexpr int kSliceThreads = NBCC_THREADS / NBCC_J_SLICES;  // threads of a j-slice; their i-particles differ
constexpr int kBlockI = kSliceThreads * NBCC_I_PER_THREAD;   // i-particles of a block
static_assert(kSliceThreads * NBCC_J_SLICES == NBCC_THREADS, "j-slices divide the threads of a block");
// NVCC 13 drops the remainder iterations of a loop that is unrolled 3 or 5 times.
static_assert((NBCC_UNROLL & (NBCC_UNROLL - 1)) == 0, "the pair loop is unrolled a power of two times");
constexpr bool kCutoff = true;  // most pairs fail a cutoff
// j of a group. A slice of a tile consists of full groups, so that the loop over a group needs no bounds test.
constexpr int kGroup = !kCutoff                            ? 1
                       : NBCC_J_TILE >= 32 * NBCC_J_SLICES ? 32
                                                           : (NBCC_J_TILE + NBCC_J_SLICES - 1) / NBCC_J_SLICES;
// Launch bounds with one resident block per multiprocessor do not limit the registers of a thread.
constexpr int kResidentThreads = NBCC_RESIDENT - NBCC_FEWER_RESIDENT;
constexpr int kResidentBlocks = kResidentThreads > NBCC_THREADS ? kResidentThreads / NBCC_THREADS : 1;

struct Arguments {
  View i[3];
  View j[3];
  Output out[5];
  double param[7];
  double* running;    // [double of a Partial][i of this launch] sums carried from launch to launch
  index running_stride;
  double* partial;    // [j-split][double of a Partial][i of this launch]
  unsigned* arrived;  // [block of i][j-split] blocks that have arrived; 0 before and after the launch
  const index* i_list;
  index i_begin, ni;  // the i of this launch: i_list[0 .. ni), or if null [i_begin, i_begin + ni); ni > 0
  index nj, j_begin;  // the j of this launch: [j_begin, j_begin + nj)
  index i_offset, j_offset;  // i_index and j_index: a particle's index in its array plus this offset
  index first;  // zero: continue the sums in `running`
  index last;   // nonzero: apply finish() and store the results; zero: store the sums in `running`
};

NBCC_DEVICE index i_particle(const Arguments& a, index at) { return a.i_list ? a.i_list[at] : a.i_begin + at; }

// Values of an i-particle and of a j-particle that the pair loop reads.
struct IParticle {
  float c0;  // xi.x, upper part
  float c1;  // xi.x, lower part
  float c2;  // xi.y, upper part
  float c3;  // xi.y, lower part
  float c4;  // xi.z, upper part
  float c5;  // xi.z, lower part
};
struct __align__(16) JParticle {
  float c0;  // xj.x, upper part
  float c1;  // xj.x, lower part
  float c2;  // xj.y, upper part
  float c3;  // xj.y, lower part
  float c4;  // xj.z, upper part
  float c5;  // xj.z, lower part
  __align__(16) int padding[4];  // against bank conflicts
};
// Accumulators of one i-particle for the terms of one tile, in working precision.
struct TileSums {
  float s0 = 0;
  float s1 = 0;
  float s2 = 0;
  float s3 = 0;
  float s4 = 0;
};
// Accumulators of one i-particle for all tiles of a thread.
struct Sums {
  TwoFloat s0 = {};
  TwoFloat s1 = {};
  TwoFloat s2 = {};
  TwoFloat s3 = {};
  TwoFloat s4 = {};
};

// Partial result of one i-particle in double, to be combined over j-slices, j-splits and launches.
struct Partial {
  double acc0 = 0.0;
  double acc1 = 0.0;
  double acc2 = 0.0;
  double acc3 = 0.0;
  double acc4 = 0.0;
};
constexpr int kPartialSize = 5;  // doubles
NBCC_DEVICE Partial partial_of(const Sums& sum) {
  Partial part;
  part.acc0 = total(sum.s0);
  part.acc1 = total(sum.s1);
  part.acc2 = total(sum.s2);
  part.acc3 = total(sum.s3);
  part.acc4 = total(sum.s4);
  return part;
}
// `part` covers later j than `all`.
NBCC_DEVICE void combine(Partial& all, const Partial& part) {
  all.acc0 += part.acc0;
  all.acc1 += part.acc1;
  all.acc2 += part.acc2;
  all.acc3 += part.acc3;
  all.acc4 += part.acc4;
}
NBCC_DEVICE void store_partial(const Partial& all, double* at, index stride) {
  at[0 * stride] = double_of_bits(all.acc0);
  at[1 * stride] = double_of_bits(all.acc1);
  at[2 * stride] = double_of_bits(all.acc2);
  at[3 * stride] = double_of_bits(all.acc3);
  at[4 * stride] = double_of_bits(all.acc4);
}
NBCC_DEVICE Partial load_partial(const double* at, index stride) {
  Partial all;
  set_bits(all.acc0, at[0 * stride]);
  set_bits(all.acc1, at[1 * stride]);
  set_bits(all.acc2, at[2 * stride]);
  set_bits(all.acc3, at[3 * stride]);
  set_bits(all.acc4, at[4 * stride]);
  return all;
}
// Combines `all` with the sums of earlier launches; `at`: index among the i of the launch. True if results are to be
// stored; otherwise `running` keeps the sums for later launches.
NBCC_DEVICE bool carry(const Arguments& a, index at, Partial& all) {
  if (!a.first) {
    const Partial part = all;
    all = load_partial(a.running + at, a.running_stride);
    combine(all, part);
  }
  if (!a.last) store_partial(all, a.running + at, a.running_stride);
  return a.last != 0;
}
// NaN if a result depends on the position of i and the position is non-finite; else 0.
NBCC_DEVICE double nan_if_non_finite(const Arguments& a, index i) {
  const double p4 = component<double>(a.i[0], i);
  const double p5 = component<double>(a.i[1], i);
  const double p6 = component<double>(a.i[2], i);
  const double nan_or_zero = (p4 - p4) + (p5 - p5) + (p6 - p6);
  return nan_or_zero;
}
// Applies common factors and finish(), and stores the results in the caller's arrays at index `row`. The store is short
// if is_plain() holds for all outputs: with few particles, the time of this epilogue matters.
NBCC_DEVICE void finish(const Arguments& a, index i, index row, Partial all, double nan_or_zero) {
  if (nan_or_zero != 0) { all.acc0 = nan_or_zero; all.acc1 = nan_or_zero; all.acc2 = nan_or_zero; all.acc3 = nan_or_zero; all.acc4 = nan_or_zero; }
  const double s13 = -1.0;
  const double s29 = 2.0;
  const double s49 = a.param[1];
  const double s67 = s49 * s29;
  const double s68 = 0.5;
  all.acc0 = scaled(all.acc0, s13);
  all.acc1 = scaled(all.acc1, s13);
  all.acc2 = scaled(all.acc2, s13);
  all.acc3 = scaled(all.acc3, s67);
  all.acc4 = scaled(all.acc4, s68);
  if (is_plain(a.out[0]) & is_plain(a.out[1]) & is_plain(a.out[2]) & is_plain(a.out[3]) & is_plain(a.out[4])) {
    store_plain(a.out[0], row, all.acc0);
    store_plain(a.out[1], row, all.acc1);
    store_plain(a.out[2], row, all.acc2);
    store_plain(a.out[3], row, all.acc3);
    store_plain(a.out[4], row, all.acc4);
  } else {
    store(a.out[0], row, all.acc0, kSum);
    store(a.out[1], row, all.acc1, kSum);
    store(a.out[2], row, all.acc2, kSum);
    store(a.out[3], row, all.acc3, kSum);
    store(a.out[4], row, all.acc4, kSum);
  }
}
#ifdef NBCC_EXCLUSIONS
#ifdef NBCC_EXCLUSIONS
// The j excluded from one i, by index: first + k for each set bit k of `near`, first + 32 + k for each set bit k of
// `next`, and far[far_begin .. far_begin + far_count) of ExclusionTable.
struct Exclusions {
  int first;
  unsigned near, next;
  int far_begin, far_count;
};
NBCC_DEVICE bool is_near(const Exclusions& out, int number) {
  const unsigned from = (unsigned)(number - out.first);
  // A shift by 32 or more gives 0.
  return ((__funnelshift_rc(out.near, 0, from) | __funnelshift_rc(out.next, 0, from - 32)) & 1) != 0;
}
NBCC_DEVICE bool is_far(const Exclusions& out, const int* far, int number) {
  bool is = false;
#pragma unroll 1
  for (int k = 0; k < out.far_count; ++k) is |= far[out.far_begin + k] == number;
  return is;
}
NBCC_DEVICE bool is_excluded(const Exclusions& out, const int* far, int number) {
  return is_near(out, number) || is_far(out, far, number);
}
#else
struct Exclusions;
#endif
struct ExclusionTable {
  const Exclusions* of;  // [i]; null in a source without exclusions
  const int* far;
};
// The exclusions of a thread's r-th i; `first_i`: the thread's first i.
NBCC_DEVICE const Exclusions& exclusions_of(const Arguments& a, const ExclusionTable& table, index first_i, int r) {
  return table.of[i_particle(a, lesser(first_i + r * kSliceThreads, a.ni - 1))];
}
// True if some j of [first_j, end_j) may be excluded from an i of the warp.
NBCC_DEVICE bool excludes_any(const Arguments& a, const ExclusionTable& table, index first_i, index first_j,
                                index end_j) {
  bool any = false;
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    const Exclusions& out = exclusions_of(a, table, first_i, r);
    const int highest = out.first + (out.next != 0 ? 63 - __clz((int)out.next) : 31 - __clz((int)out.near));
    any |= out.first < end_j && highest >= first_j;
    if (any) break;
#pragma unroll 1
    for (int k = 0; k < out.far_count; ++k) {
      const int number = table.far[out.far_begin + k];
      any |= number >= first_j && number < end_j;
    }
  }
  return __any_sync(~0u, any);
}
#endif
// The j-split of the block. With a cutoff, blocks with many hits should begin first and blocks with few hits last, when
// there are no longer blocks for all multiprocessors. Neighbours usually lie near each other in memory, so the splits
// are taken in the order of their distance from the position of the block's i.
NBCC_DEVICE unsigned split_of_block() {
  if (!kCutoff) return blockIdx.y;
  const unsigned centre = (unsigned)((index)blockIdx.x * gridDim.y / gridDim.x), step = (blockIdx.y + 1) / 2;
  const unsigned split = centre + (blockIdx.y % 2 ? gridDim.y - step : step);
  return split < gridDim.y ? split : split - gridDim.y;
}
// The first tile of a j-split. The tiles are distributed evenly; the result depends only on nj, NBCC_J_TILE and the
// number of splits.
NBCC_DEVICE index first_tile_of(unsigned split, const Arguments& a) {
  const index tiles = (a.nj + NBCC_J_TILE - 1) / NBCC_J_TILE;
  return tiles * split / gridDim.y;
}

// self[r]: the index of the thread's r-th i in the tile that begins at `first_j`, or -1. True if any i is in the tile.
NBCC_DEVICE bool find_self(const Arguments& a, index first_i, index first_j, int* self) {
  bool any = false;
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    const index i = i_particle(a, lesser(first_i + r * kSliceThreads, a.ni - 1));
    const index at = i + a.i_offset - (first_j + a.j_offset);
    self[r] = at >= 0 && at < NBCC_J_TILE ? (int)at : -1;
    any |= self[r] >= 0;
  }
  return any;
}

using SlicePartials = double[kPartialSize][kBlockI];

// Sum over the j-slices of i-particle `at` of the block.
NBCC_DEVICE Partial combine_slices(const SlicePartials* partial, int at) {
  Partial all = load_partial(&partial[0][0][at], kBlockI);
#pragma unroll
  for (int slice = 1; slice < NBCC_J_SLICES; ++slice) combine(all, load_partial(&partial[slice][0][at], kBlockI));
  return all;
}

// kAhead: j-splits whose partials are loaded at a time, limited by registers (two for each double).
constexpr int kRegisters = 65536 / (NBCC_RESIDENT > 512 ? NBCC_RESIDENT : 512);
constexpr int kAhead = 16 * kPartialSize + 38 <= kRegisters ? 8 : kPartialSize <= 8 ? 4 : kPartialSize <= 16 ? 2 : 1;
constexpr unsigned kSplitGroup = 16 * NBCC_J_SLICES;

// Combines the sums of all blocks with the same i-particles; the last of these blocks to arrive stores the results.
// With a cutoff there are many j-splits, which are combined in groups of kSplitGroup, level by level, so that a block
// waits for few loads. Without a cutoff all splits are one group: the loop over levels would take registers from the
// pair loop.
NBCC_DEVICE void reduce(const Arguments& a, const Sums* sum, SlicePartials* partial, int slice, int row,
                        unsigned split) {
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    store_partial(partial_of(sum[r]), &partial[slice][0][row + r * kSliceThreads], kBlockI);
  }
  __syncthreads();
  const index first_i = (index)blockIdx.x * kBlockI + row;
  unsigned splits = gridDim.y;
  unsigned* arrived = a.arrived + (index)blockIdx.x * gridDim.y;
  // The partial of a group of splits is stored at the address of the group's first split.
  for (index stride = kPartialSize * a.ni; splits > 1; stride *= kSplitGroup) {
    for (int r = slice; r < NBCC_I_PER_THREAD; r += NBCC_J_SLICES) {
      const index at = first_i + r * kSliceThreads;
      if (at < a.ni)
        store_partial(combine_slices(partial, row + r * kSliceThreads), a.partial + split * stride + at, a.ni);
    }
    split = kCutoff ? split / kSplitGroup : 0;
    const unsigned first = split * kSplitGroup, count = kCutoff ? lesser(kSplitGroup, splits - first) : splits;
    if (!last_to_arrive(arrived + split, count)) return;
    splits = kCutoff ? (splits + kSplitGroup - 1) / kSplitGroup : 1;
    arrived += splits;
    // Each j-slice of the block's threads combines its range of the splits.
    const unsigned begin = first + count * slice / NBCC_J_SLICES, end = first + count * (slice + 1) / NBCC_J_SLICES;
#pragma unroll 1
    for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
      const index at = first_i + r * kSliceThreads;
      if (at >= a.ni) break;
      Partial all;
      unsigned s = begin;
      if constexpr (kAhead > 4) {
#pragma unroll 1
        for (; s + kAhead <= end; s += kAhead) {
#pragma unroll
          for (int k = 0; k < kAhead; ++k) combine(all, load_partial(a.partial + (s + k) * stride + at, a.ni));
        }
      }
#pragma unroll(kAhead < 4 ? kAhead : 4)
      for (; s < end; ++s) combine(all, load_partial(a.partial + s * stride + at, a.ni));
      store_partial(all, &partial[slice][0][row + r * kSliceThreads], kBlockI);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int r = slice; r < NBCC_I_PER_THREAD; r += NBCC_J_SLICES) {
    const index at = first_i + r * kSliceThreads;
    if (at >= a.ni) return;
    Partial all;
    combine(all, combine_slices(partial, row + r * kSliceThreads));
    if (!carry(a, at, all)) continue;
    const index i = i_particle(a, at);
    finish(a, i, i, all, nan_if_non_finite(a, i));
  }
}

// Sums over all pairs. Grid: blocks of kBlockI i-particles, j-splits.
extern "C" __global__ void __launch_bounds__(NBCC_THREADS, kResidentBlocks)
    nbcc_interact(const __grid_constant__ Arguments a
#ifdef NBCC_EXCLUSIONS
                  , const __grid_constant__ ExclusionTable exclusions
#endif
    ) {
  __shared__ union {
    JParticle staged[(NBCC_J_TILE + kGroup - 1) / kGroup * kGroup];
    SlicePartials partial[NBCC_J_SLICES];  // after the last tile
  } shared;
  JParticle* const staged = shared.staged;
  pdl_wait();
  const float t0 = 1.0f;
  const float t10 = (float)a.param[4];
  const float t11 = (float)a.param[5];
  const float t12 = (float)a.param[6];
  const float t14 = reciprocal(t10);
  const float t17 = -t10;
  const float t17l = -lower_part(a.param[4]);
  const float t19 = reciprocal(t11);
  const float t22 = -t11;
  const float t22l = -lower_part(a.param[5]);
  const float t24 = reciprocal(t12);
  const float t27 = -t12;
  const float t27l = -lower_part(a.param[6]);
  const float t29 = 2.0f;
  const float t36 = (float)a.param[2];
  const float t37 = t36 * t36;
  const float t38 = (float)a.param[0];
  const float t39 = t38 * t38;
  const float t40 = reciprocal(t36);
  const float t41 = t40 * t40;
  const float t42 = t39 * t41;
  const float t43 = t42 * t42;
  const float t44 = t42 * t43;
  const float t49 = (float)a.param[1];
  const float t50 = -t0;
  const float t52 = 24.0f;
  const float t53 = t49 * t52;
  const float t61 = (float)a.param[3];
  const float t62 = t44 - t0;
  const float t63 = t44 * t61;
  const float t64 = -t63;
  const float t65 = t62 * t64;
  // Without j-slices `slice` is the constant 0, which the compiler cannot prove of threadIdx.x / kSliceThreads.
  const int slice = NBCC_J_SLICES == 1 ? 0 : threadIdx.x / kSliceThreads, row = threadIdx.x - slice * kSliceThreads;
  const index first_i = (index)blockIdx.x * kBlockI + row;
  IParticle own[NBCC_I_PER_THREAD];
  Sums sum[NBCC_I_PER_THREAD];
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    // Threads beyond the last i repeat the last i and store nothing, so that all threads reach every barrier.
    const index i = i_particle(a, lesser(first_i + r * kSliceThreads, a.ni - 1));
    const double w0 = component<double>(a.i[0], i);
    own[r].c0 = (float)w0;
    own[r].c1 = lower_part(w0);
    const double w2 = component<double>(a.i[1], i);
    own[r].c2 = (float)w2;
    own[r].c3 = lower_part(w2);
    const double w4 = component<double>(a.i[2], i);
    own[r].c4 = (float)w4;
    own[r].c5 = lower_part(w4);
  }
  const unsigned split = split_of_block();
  const index tile_end = first_tile_of(split + 1, a);
  for (index tile = first_tile_of(split, a); tile < tile_end; ++tile) {
    const index first_j = a.j_begin + tile * NBCC_J_TILE;
    const int count = (int)lesser(a.nj - tile * NBCC_J_TILE, (index)NBCC_J_TILE);
    for (int k = threadIdx.x; k < count; k += NBCC_THREADS) {
      const index j = first_j + k;
      JParticle other;
      const double w0 = component<double>(a.j[0], j);
      other.c0 = (float)w0;
      other.c1 = lower_part(w0);
      const double w2 = component<double>(a.j[1], j);
      other.c2 = (float)w2;
      other.c3 = lower_part(w2);
      const double w4 = component<double>(a.j[2], j);
      other.c4 = (float)w4;
      other.c5 = lower_part(w4);
      staged[k] = other;
    }
    int self[NBCC_I_PER_THREAD];
    find_self(a, first_i, first_j, self);
    __syncthreads();
    TileSums part[NBCC_I_PER_THREAD];
    const int length = (count + NBCC_J_SLICES * kGroup - 1) / (NBCC_J_SLICES * kGroup) * kGroup;
    const int begin = slice * length, end = lesser(begin + length, count);
    // Two passes over each group of kGroup j. The first tests the cutoff and collects a bit for each pair in a reject mask;
    // the second computes the terms of the hits. So the threads of a warp are active together although their hits differ.
#pragma unroll 1
    for (int group = begin; group < end; group += kGroup) {
      unsigned reject_mask[NBCC_I_PER_THREAD];
#pragma unroll
      for (int r = 0; r < NBCC_I_PER_THREAD; ++r) reject_mask[r] = 0;
#pragma unroll NBCC_UNROLL
      for (int member = 0; member < kGroup; ++member) {
        const int k = group + member;
        const JParticle other = staged[k];
        const float t1 = other.c0;
        const float t1l = other.c1;
        const float t2 = other.c2;
        const float t2l = other.c3;
        const float t3 = other.c4;
        const float t3l = other.c5;
#pragma unroll
        for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
          const float t4 = own[r].c0;
          const float t4l = own[r].c1;
          const float t5 = own[r].c2;
          const float t5l = own[r].c3;
          const float t6 = own[r].c4;
          const float t6l = own[r].c5;
          const float t7s = t1 - t4, t7e = lost(t1, t4, t7s) + (t1l - t4l);
          const float t7 = t7s + t7e;
          const float t8s = t2 - t5, t8e = lost(t2, t5, t8s) + (t2l - t5l);
          const float t8 = t8s + t8e;
          const float t9s = t3 - t6, t9e = lost(t3, t6, t9s) + (t3l - t6l);
          const float t9 = t9s + t9e;
          const float t16 = nearest_integer_product(t7, t14);
          const float t18 = fmaf(t16, t17, t7s) + fmaf(t16, t17l, t7e);
          const float t21 = nearest_integer_product(t8, t19);
          const float t23 = fmaf(t21, t22, t8s) + fmaf(t21, t22l, t8e);
          const float t26 = nearest_integer_product(t9, t24);
          const float t28 = fmaf(t26, t27, t9s) + fmaf(t26, t27l, t9e);
          reject_mask[r] = __funnelshift_l(sign(fmaf(-t18, t18, fmaf(-t23, t23, fmaf(-t28, t28, t37)))), reject_mask[r], 1);
        }
      }
      // The highest bit belongs to the first j of the group. Entries behind `end` are stale and are masked out.
      const unsigned in_range = ~0u << (32 - lesser(end - group, kGroup));
#pragma unroll
      for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
        unsigned hits = ~(reject_mask[r] << (32 - kGroup)) & in_range;
#ifdef NBCC_EXCLUSIONS
        const Exclusions& out = exclusions_of(a, exclusions, first_i, r);
#endif
        while (hits != 0) {
          const int member = __clz(hits), k = group + member;
          hits ^= 0x80000000u >> member;
#ifdef NBCC_EXCLUSIONS
          if (is_excluded(out, exclusions.far, (int)(first_j + k))) continue;
#endif
          const JParticle other = staged[k];
          const float t1 = other.c0;
          const float t1l = other.c1;
          const float t2 = other.c2;
          const float t2l = other.c3;
          const float t3 = other.c4;
          const float t3l = other.c5;
          const float t4 = own[r].c0;
          const float t4l = own[r].c1;
          const float t5 = own[r].c2;
          const float t5l = own[r].c3;
          const float t6 = own[r].c4;
          const float t6l = own[r].c5;
          const float t7s = t1 - t4, t7e = lost(t1, t4, t7s) + (t1l - t4l);
          const float t7 = t7s + t7e;
          const float t8s = t2 - t5, t8e = lost(t2, t5, t8s) + (t2l - t5l);
          const float t8 = t8s + t8e;
          const float t9s = t3 - t6, t9e = lost(t3, t6, t9s) + (t3l - t6l);
          const float t9 = t9s + t9e;
          const float t16 = nearest_integer_product(t7, t14);
          const float t18 = fmaf(t16, t17, t7s) + fmaf(t16, t17l, t7e);
          const float t21 = nearest_integer_product(t8, t19);
          const float t23 = fmaf(t21, t22, t8s) + fmaf(t21, t22l, t8e);
          const float t26 = nearest_integer_product(t9, t24);
          const float t28 = fmaf(t26, t27, t9s) + fmaf(t26, t27l, t9e);
          const float t30 = t28 * t28;
          const float t31 = fmaf(t23, t23, t30);
          const float t32 = fmaf(t18, t18, t31);
          const bool t35 = k == self[r];
          const float t45 = reciprocal(t32);
          const float t46 = t39 * t45;
          const float t47 = t46 * t46;
          const float t48 = t46 * t47;
          const float t51 = fmaf(t48, t29, t50);
          const float t54 = t48 * t53;
          const float t55 = t51 * t54;
          const float t56 = t45 * t55;
          const float t60 = t48 - t0;
          const float t66 = fmaf(t48, t60, t65);
          const bool t69 = !t35;
          const bool t70 = t32 < t37;
          const bool t71 = t69 && t70;
          add_product_if(t71, t18, t56, part[r].s0);
          add_product_if(t71, t23, t56, part[r].s1);
          add_product_if(t71, t28, t56, part[r].s2);
          add_if(t71, t66, part[r].s3);
          add_product_if(t71, t51, t54, part[r].s4);
        }
      }
    }
    // The next tile must not overwrite what a slower thread still reads.
    __syncthreads();
#pragma unroll
    for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
      add(sum[r].s0, part[r].s0);
      add(sum[r].s1, part[r].s1);
      add(sum[r].s2, part[r].s2);
      add(sum[r].s3, part[r].s3);
      add(sum[r].s4, part[r].s4);
    }
  }
  reduce(a, sum, shared.partial, slice, row, split);
}
