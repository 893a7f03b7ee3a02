// The frame of a sum over all j for every i, around the body of one interaction. Two shapes: vectors of i that meet one
// broadcast j after the other, and single i that meet vectors of j. kBlock vectors (or numbers) of i are held at once;
// bodies are written breadth first over them, so that independent work stands side by side.
//
// Sums are formed in working precision over tiles of 128 terms a lane and added in double.
#pragma once
#include "bench/hand_written/vector.h"

namespace hand_written::NBCC_BENCH_ISA {

constexpr int kTermsPerTile = 128;

NBCC_INLINE std::int64_t padded(std::int64_t n) { return (n + kPadding - 1) / kPadding * kPadding; }

// Body: Vector, kI, kJ (numbers per particle), kSums, kMaximum (the sum that is a maximum, or -1);
//   Body(const double* param); scale(k): the factor of sum k that is applied at the end;
//   i_numbers(problem, particle, out), j_numbers(...): what the body wants to know of a particle;
//   add(i, j, sums, self): self(r) gives the lane in which i-particles r meet themselves.
template <typename Body, int kBlock, bool kLanesOverI>
struct Sum {
  using V = typename Body::Vector;
  using Element = typename Lanes<V>::Element;
  static constexpr int kLanes = Lanes<V>::kCount;
  static constexpr int kHalves = sizeof(double) / sizeof(Element);

  static void pack(const Problem& p, void* packed_i, void* packed_j) {
    const Body body(p.param);
    const std::int64_t rows = padded(p.ni);
    double numbers[Body::kI > Body::kJ ? Body::kI : Body::kJ];
    for (std::int64_t k = 0; k < rows; ++k) {
      body.i_numbers(p, k < p.ni ? k : p.ni - 1, numbers);
      for (int f = 0; f < Body::kI; ++f) static_cast<Element*>(packed_i)[f * rows + k] = Element(numbers[f]);
    }
    for (std::int64_t k = 0; k < p.nj; ++k) {
      body.j_numbers(p, k, numbers);
      for (int f = 0; f < Body::kJ; ++f) {
        const std::int64_t at = kLanesOverI ? k * Body::kJ + f : (k / kLanes * Body::kJ + f) * kLanes + k % kLanes;
        static_cast<Element*>(packed_j)[at] = Element(numbers[f]);
      }
    }
  }

  NBCC_ALIGNED_FRAME static void run(const Problem& p, const void* packed_i, const void* packed_j) {
    const Body body(p.param);
    const auto* i = static_cast<const Element*>(packed_i);
    const auto* j = static_cast<const Element*>(packed_j);
    constexpr int step = kLanesOverI ? kBlock * kLanes : kBlock;
    for (std::int64_t first = 0; first < p.ni; first += step) {
      if constexpr (kLanesOverI)
        broadcast_j(p, body, i, j, first);
      else
        broadcast_i(p, body, i, j, first);
    }
  }

 private:
  static constexpr double kLowest = -__builtin_inf();

  NBCC_INLINE void clear(V (&sum)[Body::kSums][kBlock]) {
    for (int k = 0; k < Body::kSums; ++k)
      for (int r = 0; r < kBlock; ++r) sum[k][r] = all(Element(k == Body::kMaximum ? kLowest : 0.0));
  }

  NBCC_INLINE void broadcast_j(const Problem& p, const Body& body, const Element* i, const Element* j,
                               std::int64_t first) {
    const std::int64_t rows = padded(p.ni);
    V x[Body::kI][kBlock], best[kBlock];
    Double total[Body::kSums][kBlock][kHalves] = {};
    for (int r = 0; r < kBlock; ++r) {
      for (int f = 0; f < Body::kI; ++f) x[f][r] = *(const V*)(i + f * rows + first + r * kLanes);
      best[r] = all(Element(kLowest));
    }
    for (std::int64_t tile = 0; tile < p.nj; tile += kTermsPerTile) {
      const std::int64_t end = tile + kTermsPerTile < p.nj ? tile + kTermsPerTile : p.nj;
      V sum[Body::kSums][kBlock];
      clear(sum);
      for (std::int64_t k = tile; k < end; ++k) {
        V y[Body::kJ];
        for (int f = 0; f < Body::kJ; ++f) y[f] = all(j[k * Body::kJ + f]);
        body.add(x, y, sum, [&](int r) __attribute__((always_inline)) { return lane(k - first - r * kLanes); });
      }
      for (int s = 0; s < Body::kSums; ++s)
        for (int r = 0; r < kBlock; ++r) {
          if constexpr (Body::kMaximum >= 0) {
            if (s == Body::kMaximum) {
              best[r] = maximum(best[r], sum[s][r]);
              continue;
            }
          }
          Lanes<V>::add(total[s][r], sum[s][r]);
        }
    }
    for (int s = 0; s < Body::kSums; ++s)
      for (int r = 0; r < kBlock; ++r)
        for (int l = 0; l < kLanes; ++l) {
          const std::int64_t at = first + r * kLanes + l;
          constexpr int half = kBytes / 8;
          p.sum[s][at] = s == Body::kMaximum ? double(best[r][l]) : body.scale(s) * total[s][r][l / half][l % half];
        }
  }

  NBCC_INLINE void broadcast_i(const Problem& p, const Body& body, const Element* i, const Element* j,
                               std::int64_t first) {
    const std::int64_t rows = padded(p.ni);
    V x[Body::kI][kBlock], best[kBlock];
    Double total[Body::kSums][kBlock][kHalves] = {};
    for (int r = 0; r < kBlock; ++r) {
      for (int f = 0; f < Body::kI; ++f) x[f][r] = all(i[f * rows + first + r]);
      best[r] = all(Element(kLowest));
    }
    constexpr std::int64_t step = kTermsPerTile * kLanes;
    for (std::int64_t tile = 0; tile < p.nj; tile += step) {
      const std::int64_t end = tile + step < p.nj ? tile + step : p.nj;
      V sum[Body::kSums][kBlock];
      clear(sum);
      for (std::int64_t k = tile; k < end; k += kLanes) {
        V y[Body::kJ];
        for (int f = 0; f < Body::kJ; ++f) y[f] = *(const V*)(j + k * Body::kJ + f * kLanes);
        body.add(x, y, sum, [&](int r) __attribute__((always_inline)) { return lane(first + r - k); });
      }
      for (int s = 0; s < Body::kSums; ++s)
        for (int r = 0; r < kBlock; ++r) {
          if constexpr (Body::kMaximum >= 0) {
            if (s == Body::kMaximum) {
              best[r] = maximum(best[r], sum[s][r]);
              continue;
            }
          }
          Lanes<V>::add(total[s][r], sum[s][r]);
        }
    }
    for (int s = 0; s < Body::kSums; ++s)
      for (int r = 0; r < kBlock; ++r) p.sum[s][first + r] = reduce(body, s, total[s][r], best[r]);
  }

  NBCC_INLINE double reduce(const Body& body, int s, const Double* total, V best) {
    double result = s == Body::kMaximum ? kLowest : 0;
    if (s == Body::kMaximum) {
      for (int l = 0; l < kLanes; ++l) result = double(best[l]) > result ? double(best[l]) : result;
      return result;
    }
    for (int h = 0; h < kHalves; ++h)
      for (int l = 0; l < kBytes / 8; ++l) result += total[h][l];
    return body.scale(s) * result;
  }
};

template <typename Body, int kBlock, bool kLanesOverI>
constexpr Kernel kernel(const char* pipeline, const char* shape) {
  using S = Sum<Body, kBlock, kLanesOverI>;
  return {pipeline, shape, sizeof(typename S::Element) == 8, Body::kI, Body::kJ, S::pack, S::run};
}

}  // namespace hand_written::NBCC_BENCH_ISA
