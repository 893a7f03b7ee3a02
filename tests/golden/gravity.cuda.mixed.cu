constexpr int kSliceThreads = NBCC_THREADS / NBCC_J_SLICES;  // threads of a j-slice, each with i-particles of its own
constexpr int kBlockI = kSliceThreads * NBCC_I_PER_THREAD;   // i-particles of a block
static_assert(kSliceThreads * NBCC_J_SLICES == NBCC_THREADS, "j-slices divide the threads of a block");
// Of a loop written out 3 or 5 times, NVCC 13 forgets what is left over at the end.
static_assert((NBCC_UNROLL & (NBCC_UNROLL - 1)) == 0, "the pair loop is written out a power of two times");
constexpr bool kCutoff = false;  // most pairs are beyond it
// Slices of a tile are made of whole groups, within which no thread asks where its slice ends.
constexpr int kGroup = !kCutoff                            ? 1
                       : NBCC_J_TILE >= 32 * NBCC_J_SLICES ? 32
                                                           : (NBCC_J_TILE + NBCC_J_SLICES - 1) / NBCC_J_SLICES;
// A minimum of one block per multiprocessor frees the compiler to use as many registers as it likes.
constexpr int kResidentThreads = NBCC_RESIDENT - NBCC_FEWER_RESIDENT;
constexpr int kResidentBlocks = kResidentThreads > NBCC_THREADS ? kResidentThreads / NBCC_THREADS : 1;

struct Arguments {
  View i[3];
  View j[4];
  Output out[4];
  double param[1];
  double* running;    // [double of a Partial][i of this launch]: from earlier launches, for later ones
  index running_stride;
  double* partial;    // [j-split][double of a Partial][i of this launch]
  unsigned* arrived;  // [block of i][j-split]: how many blocks have ended; 0 before and after the launch
  const index* i_list;
  index i_begin, ni;  // the i of this launch: i_list[0 .. ni), or without a list those from i_begin on; ni > 0
  index nj, j_begin;  // the j of this launch
  index i_offset, j_offset;  // what i_index and j_index add to a particle's position in its array
  index first;  // zero: goes on with `running`
  index last;   // nonzero: applies what follows a sum and stores the results; zero: leaves them in `running`
};

NBCC_DEVICE index i_particle(const Arguments& a, index at) { return a.i_list ? a.i_list[at] : a.i_begin + at; }

// What the pair loop reads of one i-particle and of one j-particle.
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
  float c6;  // mj
};
// Accumulators of one i-particle: for the terms of one tile, in working precision ...
struct TileSums {
  float s0 = 0;
  float s1 = 0;
  float s2 = 0;
  float s3 = 0;
};
// ... and for all tiles of a j-split.
struct Sums {
  TwoFloat s0 = {};
  TwoFloat s1 = {};
  TwoFloat s2 = {};
  TwoFloat s3 = {};
};

// The same in double precision, as it is combined with that of other slices, splits and launches.
struct Partial {
  double acc0 = 0.0;
  double acc1 = 0.0;
  double acc2 = 0.0;
  double acc3 = 0.0;
};
constexpr int kPartialSize = 4;  // doubles
NBCC_DEVICE Partial partial_of(const Sums& sum) {
  Partial part;
  part.acc0 = total(sum.s0);
  part.acc1 = total(sum.s1);
  part.acc2 = total(sum.s2);
  part.acc3 = total(sum.s3);
  return part;
}
// `part` is of later j.
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
// Adds what earlier launches have accumulated for the launch's i at `at`. True if results are to be stored; else the
// accumulators have them, for later launches.
NBCC_DEVICE bool carry(const Arguments& a, index at, Partial& all) {
  if (!a.first) {
    const Partial part = all;
    all = load_partial(a.running + at, a.running_stride);
    combine(all, part);
  }
  if (!a.last) store_partial(all, a.running + at, a.running_stride);
  return a.last != 0;
}
// NaN for an i that is nowhere, where a result depends on that; else 0.
NBCC_DEVICE double nowhere_of(const Arguments& a, index i) {
  return 0;
}
// Factors common to a whole sum, finish(), and the way to the caller's arrays. It is short where all outputs are
// wanted, overwritten and of the usual element: with few particles, what a block does once is no small part of the whole.
// `row`: where results go in these.
NBCC_DEVICE void finish(const Arguments& a, index i, index row, Partial all, double nowhere) {
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
// The numbers of the j that do not act on an i: `first` + k where bit k of `near` is set, from 32 on of `next`, and a few
// far from these.
struct Exclusions {
  int first;
  unsigned near, next;
  int far_begin, far_count;
};
NBCC_DEVICE bool is_near(const Exclusions& out, int number) {
  const unsigned from = (unsigned)(number - out.first);
  // A shift by 32 or more leaves nothing.
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
  const Exclusions* of;  // by i; null in a text that leaves nothing out
  const int* far;
};
// Of the r-th i of the thread whose first is `first_i`.
NBCC_DEVICE const Exclusions& exclusions_of(const Arguments& a, const ExclusionTable& table, index first_i, int r) {
  return table.of[i_particle(a, lesser(first_i + r * kSliceThreads, a.ni - 1))];
}
// Whether a j from `first_j` to before `end_j` may be left out of the i of the warp.
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
// Behind a cutoff, neighbours stand near each other in memory, as a rule. So the j-split at the position of the block's
// own i comes first, then those around it, farther and farther: blocks with many hits begin early, and at the end, when
// there are blocks for some multiprocessors only, come those that have the least to do.
NBCC_DEVICE unsigned split_of_block() {
  if (!kCutoff) return blockIdx.y;
  const unsigned home = (unsigned)((index)blockIdx.x * gridDim.y / gridDim.x), step = (blockIdx.y + 1) / 2;
  const unsigned split = home + (blockIdx.y % 2 ? gridDim.y - step : step);
  return split < gridDim.y ? split : split - gridDim.y;
}
// j-splits share the tiles evenly. Depends on nothing but nj, the tile and the number of splits.
NBCC_DEVICE index first_tile_of(unsigned split, const Arguments& a) {
  const index tiles = (a.nj + NBCC_J_TILE - 1) / NBCC_J_TILE;
  return tiles * split / gridDim.y;
}

// Where in the tile that begins with `first_j` each i of the thread itself stands, or -1. Whether any does.
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

// Of i-particle `at` of the block.
NBCC_DEVICE Partial combine_slices(const SlicePartials* partial, int at) {
  Partial all = load_partial(&partial[0][0][at], kBlockI);
#pragma unroll
  for (int slice = 1; slice < NBCC_J_SLICES; ++slice) combine(all, load_partial(&partial[slice][0][at], kBlockI));
  return all;
}

// j-splits whose partials are loaded at a time, as far as there are registers for them: two for a double.
constexpr int kRegisters = 65536 / (NBCC_RESIDENT > 512 ? NBCC_RESIDENT : 512);
constexpr int kAhead = 16 * kPartialSize + 38 <= kRegisters ? 8 : kPartialSize <= 8 ? 4 : kPartialSize <= 16 ? 2 : 1;
constexpr unsigned kSplitGroup = 16 * NBCC_J_SLICES;

// The block's sums -> results of its i-particles, by the last of the blocks that share them. Behind a
// cutoff splits are many and combined group by group, so that the last block waits for the loads of few. Else all are
// one group: the registers that the loop over groups takes would be missed in the pair loop.
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
  // What a group has is stored where its first split's was.
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
    // As with j, each slice of the threads takes its share of the splits.
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
    finish(a, i, i, all, nowhere_of(a, i));
  }
}

// All pairs. Grid: blocks of i, j-splits.
extern "C" __global__ void __launch_bounds__(NBCC_THREADS, kResidentBlocks)
    nbcc_interact(const __grid_constant__ Arguments a
#ifdef NBCC_EXCLUSIONS
                  , const __grid_constant__ ExclusionTable exclusions
#endif
    ) {
  __shared__ union {
    JParticle staged[(NBCC_J_TILE + kGroup - 1) / kGroup * kGroup];
    SlicePartials partial[NBCC_J_SLICES];  // when all tiles are done
  } shared;
  JParticle* const staged = shared.staged;
  wait_for_earlier_launches();
  const float t9 = (float)a.param[0];
  // The compiler does not know that threadIdx.x is small.
  const int slice = NBCC_J_SLICES == 1 ? 0 : threadIdx.x / kSliceThreads, row = threadIdx.x - slice * kSliceThreads;
  const index first_i = (index)blockIdx.x * kBlockI + row;
  IParticle own[NBCC_I_PER_THREAD];
  Sums sum[NBCC_I_PER_THREAD];
#pragma unroll
  for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
    // Beyond the last i stands the last one again, which is not stored: so no thread misses a barrier.
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
      other.c6 = component<float>(a.j[3], j);
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
        const float t0l = other.c1;
        const float t1 = other.c2;
        const float t1l = other.c3;
        const float t2 = other.c4;
        const float t2l = other.c5;
        const float t13 = other.c6;
#pragma unroll
        for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
          if (is_excluded(out[r], exclusions.far, (int)(first_j + k))) continue;
          const float t3 = own[r].c0;
          const float t3l = own[r].c1;
          const float t4 = own[r].c2;
          const float t4l = own[r].c3;
          const float t5 = own[r].c4;
          const float t5l = own[r].c5;
          const float t6 = (t0 - t3) + (t0l - t3l);
          const float t7 = (t1 - t4) + (t1l - t4l);
          const float t8 = (t2 - t5) + (t2l - t5l);
          const float t10 = fmaf(t8, t8, t9);
          const float t11 = fmaf(t7, t7, t10);
          const float t12 = fmaf(t6, t6, t11);
          const float t14 = rsqrt_estimate(t12);
          const float t15 = t13 * t14;
          const float t16 = t14 * t14;
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
      // So many pairs are written out that the next begins while the last waits for its root.
#pragma unroll NBCC_UNROLL
      for (int k = begin; k < end; ++k) {
        const JParticle other = staged[k];
        const float t0 = other.c0;
        const float t0l = other.c1;
        const float t1 = other.c2;
        const float t1l = other.c3;
        const float t2 = other.c4;
        const float t2l = other.c5;
        const float t13 = other.c6;
#pragma unroll
        for (int r = 0; r < NBCC_I_PER_THREAD; ++r) {
          const float t3 = own[r].c0;
          const float t3l = own[r].c1;
          const float t4 = own[r].c2;
          const float t4l = own[r].c3;
          const float t5 = own[r].c4;
          const float t5l = own[r].c5;
          const float t6 = (t0 - t3) + (t0l - t3l);
          const float t7 = (t1 - t4) + (t1l - t4l);
          const float t8 = (t2 - t5) + (t2l - t5l);
          const float t10 = fmaf(t8, t8, t9);
          const float t11 = fmaf(t7, t7, t10);
          const float t12 = fmaf(t6, t6, t11);
          const float t14 = rsqrt_estimate(t12);
          const float t15 = t13 * t14;
          const float t16 = t14 * t14;
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
