// A measuring function -> the best cut. One door: search_tuning(). Compiles and measures nothing itself.
//
// First the shape, while the model gives each shape its parts: from the best start along one number after the other, as
// long as that does not get slower, then along two numbers at once which undo each other's effect on the size of a
// block; again until nothing is gained. Then, for the best few shapes, parts: they need no other kernel, so that all
// are tried. Of a thousand shapes fewer than fifty are measured.
#include "cli/tune_search.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace nbcc {
namespace {

// A shape must be so much faster to be gone on from: noise must not lead the search.
constexpr double kFaster = 1.005;
// While going along a number, this much slower is no reason to turn back yet.
constexpr double kSlower = 0.97;
// The share of the time that shapes may take.
constexpr double kForShapes = 0.75;
constexpr std::size_t kShapesForParts = 3;

using Member = int CudaShape::*;

struct Axis {
  Member member;
  std::vector<int> values;  // ascending
};

const std::array<Axis, 5>& axes() {
  static const std::array<Axis, 5> all{{{&CudaShape::i_per_thread, {1, 2, 4, 8}},
                                        {&CudaShape::threads, {64, 128, 256, 512}},
                                        {&CudaShape::lanes, {1, 2, 4, 8, 16, 32}},
                                        {&CudaShape::unroll, {4, 8, 16, 32}},
                                        {&CudaShape::j_tile, {64, 128, 256, 512}}}};
  return all;
}

// Steps along two numbers, by how many places each.
struct Pair {
  Member first;
  int step_first;
  Member second;
  int step_second;
};
constexpr Pair kPairs[] = {
    {&CudaShape::i_per_thread, 1, &CudaShape::threads, -1}, {&CudaShape::i_per_thread, -1, &CudaShape::threads, 1},
    {&CudaShape::i_per_thread, 1, &CudaShape::lanes, 1},    {&CudaShape::i_per_thread, -1, &CudaShape::lanes, -1},
    {&CudaShape::threads, 1, &CudaShape::lanes, 1},         {&CudaShape::threads, -1, &CudaShape::lanes, -1},
    {&CudaShape::j_tile, 1, &CudaShape::lanes, 1},          {&CudaShape::j_tile, -1, &CudaShape::lanes, -1},
    {&CudaShape::i_per_thread, 1, &CudaShape::unroll, -1},  {&CudaShape::i_per_thread, -1, &CudaShape::unroll, 1},
};

constexpr int kParts[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256};

class Search {
 public:
  explicit Search(const TuneSearch& search) : search_(search) {}

  TuneFound run() {
    for (const CudaTuning& start : search_.starts) consider(start, 1);
    if (best_) {
      while (!is_over(kForShapes) && improve_shape()) {
      }
      try_parts();
    }
    TuneFound found;
    if (best_) found.best = *best_, found.rate = rate_;
    found.measured = int(rates_.size());
    found.out_of_time = out_of_time_;
    return found;
  }

 private:
  bool is_over(double share) {
    if (search_.spent() < share) return false;
    out_of_time_ = true;
    return true;
  }

  // Nothing: not possible.
  std::optional<double> rate_of(const CudaTuning& tuning) {
    const auto [at, added] = rates_.try_emplace(tuning);
    if (added) at->second = search_.rate(tuning);
    return at->second;
  }

  // Measures, and goes over to it if it is faster by the factor. The rate, or nothing if it is not possible.
  std::optional<double> consider(const CudaTuning& tuning, double faster = kFaster) {
    const std::optional<double> rate = rate_of(tuning);
    if (rate && (!best_ || *rate > rate_ * faster)) {
      best_ = tuning;
      rate_ = *rate;
    }
    return rate;
  }

  bool allowed(const CudaShape& shape) const {
    return shape.lanes <= shape.threads && shape.lanes <= shape.j_tile &&
           shape.j_tile <= shape.lanes * search_.most_terms;
  }

  // The shape with `member` moved by so many places; nothing beyond the ends.
  static std::optional<CudaShape> moved(CudaShape shape, Member member, int step) {
    const auto axis = std::find_if(axes().begin(), axes().end(), [&](const Axis& a) { return a.member == member; });
    const auto here = std::lower_bound(axis->values.begin(), axis->values.end(), shape.*member);
    // From a number between two places, as a text may have it, the first step leads to its neighbour.
    if (step > 0 && here != axis->values.end() && *here != shape.*member) --step;
    const std::ptrdiff_t place = here - axis->values.begin() + step;
    if (place < 0 || place >= std::ssize(axis->values)) return {};
    shape.*member = axis->values[std::size_t(place)];
    return shape;
  }

  bool improve_shape() {
    const CudaTuning before = *best_;
    for (const Axis& axis : axes()) {
      const CudaShape from = best_->shape;
      for (const int direction : {1, -1}) walk(from, axis.member, direction);
    }
    const CudaShape from = best_->shape;
    for (const Pair& pair : kPairs) {
      const std::optional<CudaShape> half = moved(from, pair.first, pair.step_first);
      const std::optional<CudaShape> whole = half ? moved(*half, pair.second, pair.step_second) : std::nullopt;
      if (!whole || !allowed(*whole)) continue;
      if (is_over(kForShapes)) return false;
      consider({*whole, 0});
    }
    return *best_ != before;
  }

  void walk(const CudaShape& from, Member member, int direction) {
    for (int step = direction;; step += direction) {
      const std::optional<CudaShape> next = moved(from, member, step);
      if (!next || is_over(kForShapes)) return;
      if (!allowed(*next)) continue;
      const std::optional<double> rate = consider({*next, 0});
      if (rate && *rate < kSlower * rate_) return;
    }
  }

  void try_parts() {
    std::vector<std::pair<double, CudaTuning>> shapes;
    for (const auto& [tuning, rate] : rates_) {
      if (rate) shapes.emplace_back(*rate, tuning);
    }
    std::sort(shapes.begin(), shapes.end(), std::greater<>());
    shapes.resize(std::min(shapes.size(), kShapesForParts));
    for (const auto& [ignored, tuning] : shapes) {
      const std::int64_t tiles = (search_.nj + tuning.shape.j_tile - 1) / tuning.shape.j_tile;
      for (const int parts : kParts) {
        if (parts > tiles) break;
        if (is_over(1)) return;
        consider({tuning.shape, parts});
      }
    }
  }

  const TuneSearch& search_;
  std::map<CudaTuning, std::optional<double>> rates_;
  std::optional<CudaTuning> best_;
  double rate_ = 0;
  bool out_of_time_ = false;
};

}  // namespace

TuneFound search_tuning(const TuneSearch& search) { return Search(search).run(); }

}  // namespace nbcc
