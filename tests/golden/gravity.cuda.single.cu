constexpr int kSliceThreads = NBCC_THREADS / NBCC_J_SLICES;  // threads of a j-slice; their i-particles differ
constexpr int kBlockI = kSliceThreads * NBCC_I_PER_THREAD;   // i-particles of a block
static_assert(kSliceThreads * NBCC_J_SLICES == NBCC_THREADS, "j-slices divide the threads of a block");
// NVCC 13 drops the remainder iterations of a loop that is unrolled 3 or 5 times.
static_assert((NBCC_UNROLL & (NBCC_UNROLL - 1)) == 0, "the pair loop is unrolled a power of two times");
constexpr bool kCutoff = false;  // most pairs fail a cutoff
// j of a group. A slice of a tile consists of full groups, so that the loop over a group needs no bounds test.
constexpr int kGroup = !kCutoff                            ? 1
                       : NBCC_J_TILE >= 32 * NBCC_J_SLICES ? 32
                                                           : (NBCC_J_TILE + NBCC_J_SLICES - 1) / NBCC_J_SLICES;
// Launch bounds with one resident block per multiprocessor do not limit the registers of a thread.
constexpr int kResidentThreads = NBCC_RESIDENT - NBCC_FEWER_RESIDENT;
constexpr int kResidentBlocks = kResidentThreads > NBCC_THREADS ? kResidentThreads / NBCC_THREADS : 1;

struct Arguments {
  View i[3];
  View j[4];
  Output out[4];
  double param[1];
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
  float c0;  // xi.x
  float c1;  // xi.y
  float c2;  // xi.z
};
struct __align__(16) JParticle {
  float c0;  // xj.x
  float c1;  // xj.y
  float c2;  // xj.z
  float c3;  // mj
};
// Accumulators of one i-particle for the terms of one tile, in working precision.
struct TileSums {
  float s0 = 0;
  float s1 = 0;
  float s2 = 0;
  float s3 = 0;
};
// Accumulators of one i-particle for all tiles of a thread.
struct Sums {
  TwoFloat s0 = {};
  TwoFloat s1 = {};
  TwoFloat s2 = {};
  TwoFloat s3 = {};
};
// `counts`: false for a lane that repeats an i.
NBCC_DEVICE void mark(Sums& sum, bool counts) {  }

// Partial result of one i-particle in double, to be combined over j-slices, j-splits and launches.
struct Partial {
  double acc0 = 0.0;
  double acc1 = 0.0;
  double acc2 = 0.0;
  double acc3 = 0.0;
};
constexpr int kPartialSize = 4;  // doubles
constexpr int kPlaces = 4;  // doubles of an i in global memory, with output arrays
NBCC_DEVICE Partial partial_of(const Sums& sum) {
  Partial part;
  part.acc0 = total(sum.s0);
  part.acc1 = total(sum.s1);
  part.acc2 = total(sum.s2);
  part.acc3 = total(sum.s3);
  return part;
}
// `part` covers later j than `all`.
NBCC_DEVICE void combine(Partial& all, const Partial& part) {
  all.acc0 += part.acc0;
  all.acc1 += part.acc1;
  all.acc2 += part.acc2;
  all.acc3 += part.acc3;
}
NBCC_DEVICE void store_partial(const Partial& all, double* at, index stride) {
  at[0 * stride] = double_of_bits(all.acc0);
  at[1 * stride] = double_of_bits(all.acc1);
  at[2 * stride] = double_of_bits(all.acc2);
  at[3 * stride] = double_of_bits(all.acc3);
}
NBCC_DEVICE Partial load_partial(const double* at, index stride) {
  Partial all;
  set_bits(all.acc0, at[0 * stride]);
  set_bits(all.acc1, at[1 * stride]);
  set_bits(all.acc2, at[2 * stride]);
  set_bits(all.acc3, at[3 * stride]);
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
  return 0;
}
// Applies common factors and finish(), and stores the results in the caller's arrays at index `row`. The store is short
// if is_plain() holds for all outputs: with few particles, the time of this epilogue matters.
NBCC_DEVICE void finish(const Arguments& a, index i, index row, Partial all, double nan_or_zero) {
  const double s21 = -1.0;
  all.acc3 = scaled(all.acc3, s21);
  if (is_plain(a.out[0]) & is_plain(a.out[1]) & is_plain(a.out[2]) & is_plain(a.out[3])) {
    store_plain(a.out[0], row, all.acc0);
    store_plain(a.out[1], row, all.acc1);
    store_plain(a.out[2], row, all.acc2);
    store_plain(a.out[3], row, all.acc3);
  } else {
    store(a.out[0], row, all.acc0, kSum);
    store(a.out[1], row, all.acc1, kSum);
    store(a.out[2], row, all.acc2, kSum);
    store(a.out[3], row, all.acc3, kSum);
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

// Combines the sums of all blocks with the same i-particles. With a cutoff there are many j-splits, which are combined in
// groups of kSplitGroup, level by level, so that a block waits for few loads. Without a cutoff all splits are one group:
// the loop over levels would take registers from the pair loop. True in the last of these blocks to arrive, in whose
// `partial` the j-slices then are.
NBCC_DEVICE bool combine_splits(const Arguments& a, const Sums* sum, SlicePartials* partial, int slice, int row,
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
  for (index stride = kPlaces * a.ni; splits > 1; stride *= kSplitGroup) {
    for (int r = slice; r < NBCC_I_PER_THREAD; r += NBCC_J_SLICES) {
      const index at = first_i + r * kSliceThreads;
      if (at < a.ni)
        store_partial(combine_slices(partial, row + r * kSliceThreads), a.partial + split * stride + at, a.ni);
    }
    split = kCutoff ? split / kSplitGroup : 0;
    const unsigned first = split * kSplitGroup, count = kCutoff ? lesser(kSplitGroup, splits - first) : splits;
    if (!last_to_arrive(arrived + split, count)) return false;
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
  return true;
}

// Stores the results of the block's i; sums_of(number): the sums of an i of the block.
template <typename SumsOf>
NBCC_DEVICE void store_results(const Arguments& a, int slice, int row, const SumsOf& sums_of) {
  const index first_i = (index)blockIdx.x * kBlockI + row;
#pragma unroll 1
  for (int r = slice; r < NBCC_I_PER_THREAD; r += NBCC_J_SLICES) {
    const index at = first_i + r * kSliceThreads;
    if (at >= a.ni) break;
    Partial all;
    combine(all, sums_of(row + r * kSliceThreads));
    if (!carry(a, at, all)) continue;
    const index i = i_particle(a, at);
    finish(a, i, i, all, nan_if_non_finite(a, i));
  }
}

// True in the blocks that store results.
NBCC_DEVICE bool reduce(const Arguments& a, const Sums* sum, SlicePartials* partial, int slice, int row,
                        unsigned split) {
  if (!combine_splits(a, sum, partial, slice, row, split)) return false;
  store_results(a, slice, row, [&](int number) { return combine_slices(partial, number); });
  return true;
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
  const float t9 = (float)a.param[0];
  // Without j-slices `slice` is the constant 0, which the compiler cannot prove of threadIdx.x / kSliceThreads.
  const int slice = NBCC_J_SLICES == 1 ? 0 : threadIdx.x / kSliceThreads, row = threadIdx.x - slice * kSliceThreads;
  const index first_i = (index)blockIdx.x * kBlockI + row;
  IParticle own[NBCC_I_PER_THREAD];
  Sums sum[NBCC_I_PER_THREAD];
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    // Threads beyond the last i repeat the last i and store nothing, so that all threads reach every barrier.
    const index i = i_particle(a, lesser(first_i + r * kSliceThreads, a.ni - 1));
    own[r].c0 = component<float>(a.i[0], i);
    own[r].c1 = component<float>(a.i[1], i);
    own[r].c2 = component<float>(a.i[2], i);
    mark(sum[r], first_i + r * kSliceThreads < a.ni);
  }
  const unsigned split = split_of_block();
  const index tile_end = first_tile_of(split + 1, a);
  for (index tile = first_tile_of(split, a); tile < tile_end; ++tile) {
    const index first_j = a.j_begin + tile * NBCC_J_TILE;
    const int count = (int)lesser(a.nj - tile * NBCC_J_TILE, (index)NBCC_J_TILE);
    for (int k = threadIdx.x; k < count; k += NBCC_THREADS) {
      const index j = first_j + k;
      JParticle other;
      other.c0 = component<float>(a.j[0], j);
      other.c1 = component<float>(a.j[1], j);
      other.c2 = component<float>(a.j[2], j);
      other.c3 = component<float>(a.j[3], j);
      staged[k] = other;
    }
    __syncthreads();
    TileSums part[NBCC_I_PER_THREAD];
    const int length = (count + NBCC_J_SLICES * kGroup - 1) / (NBCC_J_SLICES * kGroup) * kGroup;
    const int begin = slice * length, end = lesser(begin + length, count);
    #ifdef NBCC_EXCLUSIONS
    if (excludes_any(a, exclusions, first_i, first_j + begin, first_j + end)) {
      Exclusions out[NBCC_I_PER_THREAD];
#pragma unroll
      for (int r = 0; r < NBCC_I_PER_THREAD; ++r) out[r] = exclusions_of(a, exclusions, first_i, r);
#pragma unroll 1
      for (int k = begin; k < end; ++k) {
        const JParticle other = staged[k];
        const float t0 = other.c0;
        const float t1 = other.c1;
        const float t2 = other.c2;
        const float t13 = other.c3;
#pragma unroll
        for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
          if (is_excluded(out[r], exclusions.far, (int)(first_j + k))) continue;
          const float t3 = own[r].c0;
          const float t4 = own[r].c1;
          const float t5 = own[r].c2;
          const float t6 = t0 - t3;
          const float t7 = t1 - t4;
          const float t8 = t2 - t5;
          const float t10 = fmaf(t8, t8, t9);
          const float t11 = fmaf(t7, t7, t10);
          const float t12 = fmaf(t6, t6, t11);
          const float t14 = rsqrt_estimate(t12);
          const float t15 = t14 * t14;
          const float t16 = t13 * t14;
          const float t17 = t15 * t16;
          part[r].s0 = fmaf(t6, t17, part[r].s0);
          part[r].s1 = fmaf(t7, t17, part[r].s1);
          part[r].s2 = fmaf(t8, t17, part[r].s2);
          part[r].s3 = fmaf(t13, t14, part[r].s3);
        }
      }
    } else
#endif
    {
      // Unrolled, so that a pair begins while the previous pair waits for its square root.
#pragma unroll NBCC_UNROLL
      for (int k = begin; k < end; ++k) {
        const JParticle other = staged[k];
        const float t0 = other.c0;
        const float t1 = other.c1;
        const float t2 = other.c2;
        const float t13 = other.c3;
#pragma unroll
        for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
          const float t3 = own[r].c0;
          const float t4 = own[r].c1;
          const float t5 = own[r].c2;
          const float t6 = t0 - t3;
          const float t7 = t1 - t4;
          const float t8 = t2 - t5;
          const float t10 = fmaf(t8, t8, t9);
          const float t11 = fmaf(t7, t7, t10);
          const float t12 = fmaf(t6, t6, t11);
          const float t14 = rsqrt_estimate(t12);
          const float t15 = t14 * t14;
          const float t16 = t13 * t14;
          const float t17 = t15 * t16;
          part[r].s0 = fmaf(t6, t17, part[r].s0);
          part[r].s1 = fmaf(t7, t17, part[r].s1);
          part[r].s2 = fmaf(t8, t17, part[r].s2);
          part[r].s3 = fmaf(t13, t14, part[r].s3);
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
    }
  }
  reduce(a, sum, shared.partial, slice, row, split);
}
