// Exchanges trees, then grids and particles, and makes a forest of them. Entry points: the header.
#include "runtime/far/ranks/ranks_far_backend.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/ranks/far_domains.h"
#include "runtime/far/ranks/messages.h"

namespace nbcc {
namespace {

using Bytes = FarPeers::Bytes;

// Boxes by which a process describes where its i are. More boxes need fewer particles of others, and more comparisons:
// with 16 ranks of a Plummer sphere of 10^6 bodies 512 boxes need a third of the particles that 64 need. All ranks know
// the boxes of all.
constexpr std::size_t kMostBoxes = 512, kLeastBoxes = 16, kMostBoxesOfAll = 1 << 15;

// True if a particle of one set is at the position of a particle of the other set; positions [particle][axis]. Hashes
// are compared, so that the result may be true for other sets, but hardly ever is.
bool share_position(std::span<const double> some, std::span<const double> others, int axes) {
  const auto hashes = [axes](std::span<const double> positions) {
    std::vector<std::uint64_t> all;
    for (std::size_t k = 0; k < positions.size(); k += std::size_t(axes)) {
      std::uint64_t hash = 0xcbf29ce484222325;
      for (std::size_t c = k; c < k + std::size_t(axes); ++c) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(positions[c] + 0.0)) * 0x100000001b3;  // -0.0 is 0.0
        hash ^= hash >> 29;
      }
      all.push_back(hash);
    }
    return all;
  };
  std::vector<std::uint64_t> sorted = hashes(others);
  std::ranges::sort(sorted);
  return std::ranges::any_of(hashes(some),
                             [&](std::uint64_t hash) { return std::ranges::binary_search(sorted, hash); });
}

}  // namespace

// ---- particles ------------------------------------------------------------------------------------------------------

void RanksFarBackend::reserve_particles(const SumRequest& request) {
  HostFarBackend::reserve_particles(request);
  request_ = request;
  views_.assign(request.views.begin(), request.views.end());
  request_.views = views_;
}

const double* RanksFarBackend::send_centres(std::span<const double> centres) {
  centres_.assign(centres.size(), 0.0);
  if (centres.empty()) return centres_.data();
  std::vector<double> mine(centres.begin(), centres.end());
  mine.push_back(double(particles_.nj));
  const std::vector<double> all = domains_.gather(mine);
  double count = 0;
  for (std::size_t first = 0; first < all.size(); first += mine.size()) {
    const double nj = all[first + centres.size()];
    count += nj;
    for (std::size_t k = 0; k < centres.size() && nj > 0; ++k) centres_[k] += nj * all[first + k];
  }
  for (double& centre : centres_) centre /= std::max(count, 1.0);
  domains_.set_centres(centres_);
  return centres_.data();
}

std::vector<OpenExtent> RanksFarBackend::extents(std::span<const CellVector> directions) {
  std::vector<double> mine;
  for (const OpenExtent& extent : finite_extents(directions)) mine.insert(mine.end(), {extent.low, extent.high});
  const std::vector<double> all = domains_.gather(mine);
  std::vector<OpenExtent> found;
  for (std::size_t k = 0; k < mine.size(); k += 2) {
    OpenExtent extent{all[k], all[k + 1]};
    for (std::size_t of_peer = k; of_peer < all.size(); of_peer += mine.size()) {
      extent.low = std::min(extent.low, all[of_peer]);
      extent.high = std::max(extent.high, all[of_peer + 1]);
    }
    found.push_back(extent.low > extent.high ? OpenExtent{} : extent);
  }
  return found;
}

// All processes add up the same numbers in the same order.
std::vector<double> RanksFarBackend::weights_of_points(const FarOperator& through) {
  const std::vector<double> mine = HostFarBackend::weights_of_points(through);
  const std::vector<double> all = domains_.gather(mine);
  std::vector<double> sums(mine.size(), 0.0);
  for (std::size_t k = 0; k < all.size(); ++k) sums[k % sums.size()] += all[k];
  return sums;
}

std::string RanksFarBackend::check_particles() {
  const std::string mine = HostFarBackend::check_particles();
  const bool is_bad = !mine.empty() && mine != kNoFiniteI;
  // self_pair of a periodic sum compares positions, too: it is false for all pairs if no i and j are at one position.
  const bool is_misaligned = !domains_.is_aligned() && (kernels().needs_one_set ||
                                                        share_position(position_of_i_, position_of_j_, kernels().axes));
  particles_.indices_agree = kernels().needs_one_set;
  bool has_i = false, any_bad = false, any_misaligned = false;
  for (const auto& one : domains_.exchange({double(particles_.chosen), double(is_bad), double(is_misaligned)})) {
    has_i = has_i || one[0] > 0;
    any_bad = any_bad || one[1] != 0;
    any_misaligned = any_misaligned || one[2] != 0;
  }
  if (any_bad) return "a j has a position or weight that is not finite";
  if (any_misaligned) return "the text compares i_index and j_index, and i and j are not one set on the ranks";
  return has_i ? "" : std::string(kNoFiniteI);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

bool RanksFarBackend::build_trees(bool one_tree, int leaf) {
  HostFarBackend::build_trees(one_tree, leaf);
  MessageWriter writer;
  const std::size_t most = std::clamp(kMostBoxesOfAll / domains_.count(), kLeastBoxes, kMostBoxes);
  writer.add(std::span<const FarBox>(boxes_of(tree_of_i().cells(), most)));
  boxes_.clear();
  for (const Bytes& block : domains_.send_to_all(writer.take())) {
    std::vector<FarBox>& boxes = boxes_.emplace_back(block.size() / sizeof(FarBox));
    MessageReader(block).read(std::span(boxes));
  }
  return true;
}

std::vector<int> RanksFarBackend::cell_sizes(bool of_i) const {
  const std::vector<int> mine = HostFarBackend::cell_sizes(of_i);
  std::vector<int> sizes;
  for (const double size : domains_.gather(std::vector<double>(mine.begin(), mine.end()))) sizes.push_back(int(size));
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

// A message: number of cells, cells.
void RanksFarBackend::exchange_trees(const FarLimits& limits) {
  sent_.assign(domains_.count(), {});
  std::vector<Bytes> to(domains_.count());
  for (std::size_t peer = 0; peer < domains_.count(); ++peer) {
    if (peer == domains_.own()) continue;
    sent_[peer] = essential_tree(tree_of_j_.cells(), kernels().axes, boxes_[peer], limits, images_);
    MessageWriter writer;
    writer.add(std::span<const FarCell>(sent_[peer].cells));
    to[peer] = writer.take();
    sent_[peer].cells = {};
  }
  std::vector<std::vector<FarCell>> others;
  received_.clear();
  particles_received_.clear();
  for (const Bytes& block : domains_.send(std::move(to))) {
    std::vector<FarCell>& cells = others.emplace_back(block.size() / sizeof(FarCell));
    MessageReader(block).read(std::span(cells));
    std::vector<std::int32_t>& grids = received_.emplace_back();
    for (std::size_t k = 0; k < cells.size(); ++k)
      if (cells[k].has_grid_alone()) grids.push_back(std::int32_t(k));
    particles_received_.push_back(cells.empty() ? 0 : cells[0].end);
  }
  require_indexable(others);
  forest_.merge(tree_of_j_, others);
}

// Collective. Forests and lists index particles and cells with 32 bits.
void RanksFarBackend::require_indexable(const std::vector<std::vector<FarCell>>& others) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  double particles = double(particles_.nj), cells = double(tree_of_j_.cells().size());
  for (const std::int64_t received : particles_received_) particles += double(received);
  for (const std::vector<FarCell>& other : others) cells += double(other.size());
  const std::vector<std::vector<double>> all = domains_.exchange({particles, cells});
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank][0] > kMost || all[rank][1] > kMost)
      throw DeviceError(
          fmt::format("tolerance: rank {} would have {:.0f} j, its own and received ones, in {:.0f} cells: "
                      "expected at most {:.0f} of each; more ranks have fewer of them",
                      rank, all[rank][0], all[rank][1], kMost));
}

FarCounts RanksFarBackend::count_pairs(int order, const FarLimits& limits) {
  exchange_trees(limits);
  return HostFarBackend::count_pairs(order, limits);
}

FarCounts RanksFarBackend::make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) {
  exchange_trees(limits);
  return HostFarBackend::make_lists(order, limits, sampled);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

// Own weights go up; grids and rows of particles are exchanged; then weights of received particles and grids go up.
void RanksFarBackend::go_up(int order) {
  const auto axes = std::size_t(kernels().axes);
  const FarGrids grids(forest_, order);
  const auto of_grid = [&](std::span<double> of_weight, std::size_t tree, std::int32_t cell) {
    const std::int32_t of_forest = forest_.numbers(tree)[std::size_t(cell)];
    return of_weight.subspan(std::size_t(grids.first_point(of_forest)), std::size_t(grids.points_of(of_forest)));
  };
  points_of_j_.resize(int(axes) + kernels().weights, grids.points());
  std::vector<std::span<double>> columns = points_of_j_.all();
  const std::span<std::span<double>> weights = std::span(columns).subspan(axes);
  for (int k = 0; k < kernels().weights; ++k) in_order(tree_of_j_, weights_[k], weights[std::size_t(k)]);
  std::vector<char> is_own(forest_.cells().size(), 0);
  for (const std::int32_t cell : forest_.numbers(0)) is_own[std::size_t(cell)] = 1;
  grids.go_up(weights, for_each_, is_own);

  std::vector<Bytes> to(domains_.count());
  for (std::size_t peer = 0; peer < domains_.count(); ++peer) {
    const EssentialTree& tree = sent_[peer];
    MessageWriter writer;
    std::vector<std::int64_t> j;
    for (const std::int32_t position : tree.order) j.push_back(tree_of_j_.order()[std::size_t(position)]);
    domains_.write_j(j, writer.more(j.size() * domains_.bytes_of_j()));
    // Another process might move a particle at the border of the cell to the other side.
    for (const std::int64_t one : j)
      if (cell_) writer.add(std::span<const double>(position_of_j_).subspan(std::size_t(one) * axes, axes));
    for (const std::span<double>& of_weight : weights)
      for (const std::int32_t cell : tree.grids) writer.add(std::span<const double>(of_grid(of_weight, 0, cell)));
    to[peer] = writer.take();
  }
  const std::vector<Bytes> from = domains_.send(std::move(to));
  domains_.forget_received();
  place_of_all_j_.clear();
  if (cell_) place_of_all_j_ = position_of_j_;
  for (std::size_t peer = 0; peer < from.size(); ++peer) {
    MessageReader reader(from[peer]);
    const std::int64_t count = particles_received_[peer];
    domains_.append_j(reader.skip(std::size_t(count) * domains_.bytes_of_j()), count);
    if (cell_) {
      place_of_all_j_.resize(place_of_all_j_.size() + std::size_t(count) * axes);
      reader.read(std::span(place_of_all_j_).last(std::size_t(count) * axes));
    }
    for (const std::span<double>& of_weight : weights)
      for (const std::int32_t cell : received_[peer]) reader.read(of_grid(of_weight, peer + 1, cell));
  }
  find_received(weights);
  grids.locate(std::span(columns).first(axes), for_each_);
  for (char& of_cell : is_own) of_cell = of_cell == 0 ? 1 : 0;
  grids.go_up(weights, for_each_, is_own);
  make_points_of_i(order);
}

// Positions and weights of the received j.
void RanksFarBackend::find_received(std::span<const std::span<double>> weights) {
  const std::int64_t count = domains_.received();
  if (count == 0) return;
  std::vector<ArrayView> views;
  const SumRequest of_received = domains_.with_j(request_, particles_.nj, views);
  std::vector<double> positions(std::size_t(count * kernels().axes));
  FarColumns of_weights;
  of_weights.resize(kernels().weights, count);
  sums_.find_sources(of_received, positions.data(), of_weights.array(), centres_.data());
  const std::span<const double> places(place_of_all_j_);
  forest_.place(particles_.nj, cell_ ? places.subspan(position_of_j_.size()) : positions);
  for (int k = 0; k < kernels().weights; ++k)
    std::ranges::copy(of_weights[k], weights[std::size_t(k)].begin() + particles_.nj);
}

void RanksFarBackend::sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) {
  std::vector<ArrayView> views;
  const SumRequest of_all = domains_.with_j(request, 0, views);
  std::optional<FarSums::Images> of_forest = sums_.images();
  if (of_forest) of_forest->place_of_j = places(place_of_all_j_.data(), of_all.nj);
  const FarSums::OtherImages others(sums_, std::move(of_forest));
  HostFarBackend::sum_near(of_all, totals, lists_are_new);
}

}  // namespace nbcc
