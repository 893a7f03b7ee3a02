// Excluded pairs of a far field on the host: lists of near pairs -> corrections of the sums. Entry points:
// HostFarBackend::find_corrections(), add_corrections().
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/far/host_far_backend.h"
#include "runtime/far/periodic/nearest_image.h"

namespace nbcc {

// The last group of near_lists_, of i without sums, has no part here.
void HostFarBackend::find_corrections(const PairRows* excluded) {
  corrections_.clear();
  if (!excluded) return;
  const ListStore& near = near_lists_;
  std::vector<std::int64_t> position_of_j(near.j_order.size());  // in the order of the tree
  for (std::size_t p = 0; p < near.j_order.size(); ++p) position_of_j[std::size_t(near.j_order[p])] = std::int64_t(p);
  std::optional<NearestImage> nearest;
  if (cell_) nearest.emplace(*cell_, images_);
  std::vector<std::vector<CorrectedPair>> of_groups(near.groups);
  for_each_(std::int64_t(near.groups), [&](std::int64_t g) {
    const auto group = std::size_t(g);
    std::vector<int> of_i;
    for (auto slot = std::size_t(near.i_first[group]); slot < std::size_t(near.i_first[group + 1]); ++slot) {
      const auto i = int(near.i_order[slot]);
      of_i.assign(excluded->of(i).begin(), excluded->of(i).end());
      std::ranges::sort(of_i);
      of_i.erase(std::ranges::unique(of_i).begin(), of_i.end());
      for (const int j : of_i) {
        const std::int64_t position = position_of_j[std::size_t(j)];
        const int excluded_image = nearest ? nearest->number(position_of_i_.data() + std::int64_t(i) * kernels().axes,
                                                             position_of_j_.data() + std::int64_t(j) * kernels().axes)
                                           : 0;
        bool is_near = false;
        for (auto range = std::size_t(near.range_first[group]); range < std::size_t(near.range_first[group + 1]);
             ++range) {
          if (position < near.j_begin[range] || position >= near.j_end[range]) continue;
          if (near.images[range] == excluded_image)
            is_near = true;
          else
            of_groups[group].push_back({FarSums::Sign::Plus, near.images[range], i, j});
        }
        if (!is_near) of_groups[group].push_back({FarSums::Sign::Minus, excluded_image, i, j});
      }
    }
  });
  std::vector<CorrectedPair> all;
  for (const std::vector<CorrectedPair>& of_group : of_groups) all.insert(all.end(), of_group.begin(), of_group.end());
  std::ranges::sort(all);
  for (auto begin = all.begin(); begin != all.end();) {
    const CorrectedPair& first = *begin;
    Correction one{first.sign, images_.empty() ? CellVector{} : images_[std::size_t(first.image)], {}, {}};
    std::vector<std::pair<int, int>> pairs;
    for (; begin != all.end() && begin->sign == first.sign && begin->image == first.image; ++begin) {
      pairs.emplace_back(begin->i, begin->j);
      if (one.i.empty() || one.i.back() != begin->i) one.i.push_back(begin->i);
    }
    one.pairs = rows_of_pairs("exclusions", particles_.ni, pairs);
    corrections_.push_back(std::move(one));
  }
}

void HostFarBackend::add_corrections(const SumRequest& request, const FarArray& totals) {
  for (const Correction& one : corrections_) sums_.add_pairs(one.sign, request, one.pairs, one.i, totals, one.shift);
}

}  // namespace nbcc
