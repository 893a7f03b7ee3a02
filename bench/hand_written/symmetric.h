// The frame of a sum over all pairs of one set that computes each pair once, around the body of one interaction:
// vectors of j meet kBlock single i. The reactions of a block of j are summed in working precision, over 128 i, and
// added in double. Blocks of i and j are as long as kTermsPerTile vectors at most.
#pragma once
#include "bench/hand_written/sum.h"

namespace hand_written::NBCC_BENCH_ISA {

// Body: as in sum.h; j_numbers() gives the numbers of every particle, i or j; and
//   add_both<diagonal>(i, j, sums, reactions, weight): weight(r) is 1 or 0 for each lane, for `diagonal` alone.
template <typename Body, int kBlock>
struct SymmetricSum {
  using V = typename Body::Vector;
  using Element = typename Lanes<V>::Element;
  static constexpr int kLanes = Lanes<V>::kCount;
  static constexpr std::int64_t kRange = kTermsPerTile * 8;

  static void pack(const Problem& p, void*, void* packed) {
    const Body body(p.param);
    double numbers[Body::kJ];
    for (std::int64_t k = 0; k < p.nj; ++k) {
      body.j_numbers(p, k, numbers);
      for (int f = 0; f < Body::kJ; ++f) static_cast<Element*>(packed)[f * p.nj + k] = Element(numbers[f]);
    }
  }

  NBCC_ALIGNED_FRAME static void run(const Problem& p, const void*, const void* packed) {
    const Body body(p.param);
    const auto* x = static_cast<const Element*>(packed);
    for (int s = 0; s < Body::kSums; ++s)
      for (std::int64_t k = 0; k < p.nj; ++k) p.sum[s][k] = 0;
    for (std::int64_t i = 0; i < p.nj; i += kRange)
      for (std::int64_t j = i; j < p.nj; j += kRange) {
        if (i == j)
          pairs_of_blocks<true>(p, body, x, i, j);
        else
          pairs_of_blocks<false>(p, body, x, i, j);
      }
    for (int s = 0; s < Body::kSums; ++s)
      for (std::int64_t k = 0; k < p.nj; ++k) p.sum[s][k] *= body.scale(s);
  }

 private:
  template <bool kDiagonal>
  NBCC_INLINE void pairs_of_blocks(const Problem& p, const Body& body, const Element* x, std::int64_t i_begin,
                                   std::int64_t j_begin) {
    const std::int64_t n = p.nj, i_end = i_begin + kRange < n ? i_begin + kRange : n;
    const std::int64_t j_end = j_begin + kRange < n ? j_begin + kRange : n;
    alignas(64) Element back[Body::kSums][kRange];
    for (std::int64_t tile = i_begin; tile < i_end; tile += kTermsPerTile) {
      for (int s = 0; s < Body::kSums; ++s)
        for (std::int64_t k = 0; k < kRange; ++k) back[s][k] = 0;
      const std::int64_t tile_end = tile + kTermsPerTile < i_end ? tile + kTermsPerTile : i_end;
      for (std::int64_t i = tile; i < tile_end; i += kBlock) {
        V own[Body::kJ][kBlock], sum[Body::kSums][kBlock];
        for (int r = 0; r < kBlock; ++r) {
          for (int f = 0; f < Body::kJ; ++f) own[f][r] = all(x[f * n + i + r]);
          for (int s = 0; s < Body::kSums; ++s) sum[s][r] = all(Element(0));
        }
        for (std::int64_t j = kDiagonal ? i / kLanes * kLanes : j_begin; j < j_end; j += kLanes) {
          V other[Body::kJ], reaction[Body::kSums];
          for (int f = 0; f < Body::kJ; ++f) other[f] = *(const V*)(x + f * n + j);
          for (int s = 0; s < Body::kSums; ++s) reaction[s] = *(V*)(back[s] + j - j_begin);
          // Lanes of j up to i, which have met this i before, have no weight.
          body.template add_both<kDiagonal>(own, other, sum, reaction, [&](int r) __attribute__((always_inline)) {
            V weight = all(Element(0));
            for (int l = 0; l < kLanes; ++l) weight[l] = j + l > i + r ? Element(1) : Element(0);
            return weight;
          });
          for (int s = 0; s < Body::kSums; ++s) *(V*)(back[s] + j - j_begin) = reaction[s];
        }
        for (int s = 0; s < Body::kSums; ++s)
          for (int r = 0; r < kBlock; ++r) {
            Double total[2] = {};
            Lanes<V>::add(total, sum[s][r]);
            for (int l = 0; l < kBytes / 8; ++l) p.sum[s][i + r] += total[0][l] + total[1][l];
          }
      }
      for (int s = 0; s < Body::kSums; ++s)
        for (std::int64_t j = j_begin; j < j_end; ++j) p.sum[s][j] += double(back[s][j - j_begin]);
    }
  }
};

template <typename Body, int kBlock>
constexpr Kernel symmetric_kernel(const char* pipeline, const char* shape) {
  using S = SymmetricSum<Body, kBlock>;
  return {pipeline, shape, sizeof(typename S::Element) == 8, 0, Body::kJ, S::pack, S::run, true};
}

}  // namespace hand_written::NBCC_BENCH_ISA
