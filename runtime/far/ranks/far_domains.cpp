// Divides the particles of all processes, moves their rows, and moves totals back. Entry points: FarDomains::move(),
// FarDomains::totals_of_caller().
#include "runtime/far/ranks/far_domains.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/ranks/messages.h"

namespace nbcc {
namespace {

using Bytes = FarPeers::Bytes;

constexpr std::uint64_t kNoKey = std::numeric_limits<std::uint64_t>::max();  // keys have 63 bits
constexpr double kNoPosition = std::numeric_limits<double>::quiet_NaN();
// Keys from which splitters are found: domains differ by 2%, with 1000 processes by 6%.
constexpr double kKeysPerProcess = 4096, kMostKeys = 1 << 18;
constexpr double kUneven = 1.5;  // the largest domain in mean ones, from which on statistics say so

bool is_finite(const double* position, int axes) {
  return std::all_of(position, position + axes, [](double x) { return std::isfinite(x); });
}

std::int64_t chosen_i_at(const SumRequest& request, std::int64_t k) {
  return request.i_list ? request.i_list[k] : request.i_begin + k;
}

// At most some thousands, at equal distances.
std::vector<double> some_positions(std::span<const double> positions, int axes) {
  constexpr std::int64_t kMost = 1 << 12;
  const std::int64_t count = std::int64_t(positions.size()) / axes, stride = std::max<std::int64_t>(1, count / kMost);
  std::vector<double> some;
  for (std::int64_t k = 0; k < count; k += stride)
    some.insert(some.end(), positions.begin() + k * axes, positions.begin() + (k + 1) * axes);
  return some;
}

}  // namespace

// To which processes particles move.
struct FarDomains::Domains {
  std::vector<std::vector<std::int64_t>> i, j;  // [process]
  std::vector<char> is_wide;                    // [field]: in double precision
};

FarDomains::FarDomains(const KernelSource& source) : source_(source) {
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    const FieldLayout& field = source.fields[f];
    if (field.role == Role::InputI) i_.push_back({f, field.components(), Element::Double, {}});
    if (field.role == Role::InputJ) j_.push_back({f, field.components(), Element::Double, {}});
  }
}

void FarDomains::begin_run(FarPeers& peers) {
  peers_ = &peers;
  bytes_received_ = 0;
}

// ---- messages -------------------------------------------------------------------------------------------------------

std::vector<std::vector<double>> FarDomains::exchange(const std::vector<double>& mine) {
  std::vector<std::vector<double>> all = peers_->exchange(mine);
  for (const std::vector<double>& one : all)
    if (one.empty()) throw Interrupted("the run of another process has ended");
  return all;
}

std::vector<Bytes> FarDomains::send(std::vector<Bytes> to) {
  std::vector<Bytes> from = peers_->send(std::move(to));
  for (std::size_t peer = 0; peer < from.size(); ++peer)
    if (peer != own()) bytes_received_ += std::int64_t(from[peer].size());
  return from;
}

std::vector<Bytes> FarDomains::send_to_all(const Bytes& block) { return send(std::vector<Bytes>(count(), block)); }

std::vector<double> FarDomains::gather(std::span<const double> mine) {
  MessageWriter writer;
  writer.add(mine);
  std::vector<double> all;
  for (const Bytes& block : send_to_all(writer.take())) {
    const std::size_t first = all.size();
    all.resize(first + block.size() / sizeof(double));
    MessageReader(block).read(std::span(all).subspan(first));
  }
  return all;
}

// ---- particles move -------------------------------------------------------------------------------------------------

SumRequest FarDomains::move(const SumRequest& request, FarSums& sums, const PeriodicCell* cell) {
  axes_ = sums.kernels().axes;
  const KernelSource::Uses& uses = sums.kernels().near.uses;
  needs_indices_ = sums.kernels().needs_one_set || (cell && (uses.i_index || uses.j_index));
  send_rows(request, domains_of(request, sums, cell));
  SumRequest moved = request;
  views_.assign(source_.fields.size(), {});
  view_rows(i_, ni_);
  view_rows(j_, nj_);
  moved.views = views_;
  moved.binding = ++binding_;
  moved.ni = moved.i_count = ni_;
  moved.nj = nj_;
  moved.i_begin = 0;
  moved.i_list = nullptr;
  moved.i_offset = moved.j_offset = 0;
  moved.accumulate = false;
  moved.reuse = JReuse::None;
  moved.keep_j = false;
  moved.check_indices = false;  // they were checked where the particles are
  moved.peers = nullptr;
  return moved;
}

FarDomains::Domains FarDomains::domains_of(const SumRequest& request, FarSums& sums, const PeriodicCell* cell) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const FarKernels& kernels = sums.kernels();
  // Weights here are for have_values_changed() alone. The first run does not know the centres yet.
  std::vector<double> centres = centres_;
  centres.resize(std::size_t(kernels.centres), 0.0);
  std::vector<double> position_of_i(std::size_t(request.ni * axes_), kNoPosition),
      position_of_j(std::size_t(request.nj * axes_));
  weights_ = factors_ = {};  // i that are not chosen have factors of 0
  weights_.resize(kernels.weights, request.nj);
  factors_.resize(kernels.factors, request.ni);
  sums.find_sources(request, position_of_j.data(), weights_.array(), centres.data());
  sums.find_targets(request, position_of_i.data(), factors_.array(), centres.data());
  for (std::vector<double>* positions : {&position_of_i, &position_of_j})
    for (std::size_t k = 0; cell && k < positions->size(); k += std::size_t(axes_))
      cell->move_in(positions->data() + k);
  now_ = {0, some_positions(position_of_i, axes_), some_positions(position_of_j, axes_), request.ni, request.nj};

  // The box of all, and the element types of all.
  std::array<double, 3> low{kNone, kNone, kNone}, high{-kNone, -kNone, -kNone};
  for (const std::vector<double>* positions : {&position_of_i, &position_of_j})
    for (std::size_t k = 0; k < positions->size(); k += std::size_t(axes_)) {
      if (!is_finite(positions->data() + k, axes_)) continue;
      for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis) {
        low[axis] = std::min(low[axis], (*positions)[k + axis]);
        high[axis] = std::max(high[axis], (*positions)[k + axis]);
      }
    }
  std::vector<double> mine(low.begin(), low.end());
  mine.insert(mine.end(), high.begin(), high.end());
  mine.push_back(double(request.i_count + request.nj));
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const ArrayView& view = request.views[f];
    mine.push_back(view.count > 0 && view.element != Element::Float && !is_small(view.element) ? 1 : 0);
  }
  const std::vector<double> of_all = gather(mine);
  Domains found;
  found.is_wide.assign(source_.fields.size(), 0);
  double particles = 0;
  for (std::size_t peer = 0; peer < count(); ++peer) {
    const auto its = std::span(of_all).subspan(peer * mine.size(), mine.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], its[axis]);
      high[axis] = std::max(high[axis], its[3 + axis]);
    }
    particles += its[6];
    for (std::size_t f = 0; f < source_.fields.size(); ++f) found.is_wide[f] |= its[7 + f] != 0 ? 1 : 0;
  }
  for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis)
    if (high[axis] >= low[axis]) now_.radius = std::hypot(now_.radius, (high[axis] - low[axis]) / 2);

  const std::vector<std::uint64_t> splitters =
      splitters_of(request, position_of_i, position_of_j, low, high, particles);
  const FarKeys key_of(axes_, low, high);
  found.i.resize(count());
  found.j.resize(count());
  for (auto [positions, keys] : {std::pair(&position_of_i, &keys_of_i_), std::pair(&position_of_j, &keys_of_j_)}) {
    keys->clear();
    for (std::size_t k = 0; k < positions->size(); k += std::size_t(axes_)) {
      const double* const position = positions->data() + k;
      keys->push_back(is_finite(position, axes_) ? key_of(position) : kNoKey);
    }
  }
  const auto domain = [&](std::uint64_t key) {
    return key == kNoKey ? own() : std::size_t(std::ranges::upper_bound(splitters, key) - splitters.begin());
  };
  for (std::int64_t k = 0; k < request.i_count; ++k) {
    const std::int64_t i = chosen_i_at(request, k);
    found.i[domain(keys_of_i_[std::size_t(i)])].push_back(i);
  }
  for (std::int64_t j = 0; j < request.nj; ++j) found.j[domain(keys_of_j_[std::size_t(j)])].push_back(j);
  return found;
}

// Quantiles of keys drawn at random: the first keys of all domains but the first. `particles`: of all processes.
std::vector<std::uint64_t> FarDomains::splitters_of(const SumRequest& request, std::span<const double> position_of_i,
                                                    std::span<const double> position_of_j,
                                                    const std::array<double, 3>& low, const std::array<double, 3>& high,
                                                    double particles) {
  const FarKeys key_of(axes_, low, high);
  const double wanted = std::min(kKeysPerProcess * double(count()), kMostKeys);
  const std::int64_t own_particles = request.i_count + request.nj;
  const auto drawn = std::int64_t(std::ceil(wanted * double(own_particles) / std::max(1.0, particles)));
  std::mt19937_64 random(771 + own());
  std::uniform_int_distribution<std::int64_t> any(0, std::max<std::int64_t>(own_particles, 1) - 1);
  std::vector<std::uint64_t> keys;
  for (std::int64_t k = 0; k < drawn && own_particles > 0; ++k) {
    const std::int64_t particle = any(random);
    const double* const position = particle < request.i_count
                                       ? position_of_i.data() + chosen_i_at(request, particle) * axes_
                                       : position_of_j.data() + (particle - request.i_count) * axes_;
    if (is_finite(position, axes_)) keys.push_back(key_of(position));
  }
  MessageWriter writer;
  writer.add(std::span<const std::uint64_t>(keys));
  keys.clear();
  for (const Bytes& block : send_to_all(writer.take())) {
    const std::size_t first = keys.size();
    keys.resize(first + block.size() / sizeof(std::uint64_t));
    MessageReader(block).read(std::span(keys).subspan(first));
  }
  std::ranges::sort(keys);
  std::vector<std::uint64_t> splitters;
  for (std::size_t peer = 1; peer < count() && !keys.empty(); ++peer)
    splitters.push_back(keys[keys.size() * peer / count()]);
  return splitters;
}

// Counts the particles of each domain before its process allocates memory for their rows. Throws on all processes or on
// none.
void FarDomains::find_sizes(const Domains& domains) {
  std::vector<Bytes> to;
  for (std::size_t peer = 0; peer < count(); ++peer) {
    MessageWriter writer;
    writer.add_one(double(domains.i[peer].size()));
    writer.add_one(double(domains.j[peer].size()));
    to.push_back(writer.take());
  }
  double ni = 0, nj = 0;
  for (const Bytes& block : send(std::move(to))) {
    MessageReader reader(block);
    ni += reader.read_one<double>();
    nj += reader.read_one<double>();
  }
  const std::vector<std::vector<double>> all =
      exchange({ni, nj, double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE))});
  size_of_largest_ = size_of_all_ = 0;
  for (std::size_t peer = 0; peer < count(); ++peer) {
    const double i_of_peer = all[peer][0], j_of_peer = all[peer][1], memory = all[peer][2];
    // A row is in a message first.
    double bytes = 0;
    for (const Rows& rows : i_) bytes += 2 * i_of_peer * double(rows.row());
    for (const Rows& rows : j_) bytes += 2 * j_of_peer * double(rows.row());
    if (bytes > memory)
      throw DeviceError(fmt::format(
          "tolerance: the domain of rank {} would have {:.3g} i and {:.3g} j, whose rows take {:.3g} GB, but "
          "its host has {:.3g} GB: particles at one position are not divided",
          peer, i_of_peer, j_of_peer, 1e-9 * bytes, 1e-9 * memory));
    if (i_of_peer + j_of_peer > size_of_largest_) largest_ = peer, size_of_largest_ = i_of_peer + j_of_peer;
    size_of_all_ += i_of_peer + j_of_peer;
  }
}

// A message: numbers of i and of j, global indices if the text compares them, rows of i field by field, rows of j.
void FarDomains::send_rows(const SumRequest& request, Domains domains) {
  for (std::vector<Rows>* side : {&i_, &j_})
    for (Rows& rows : *side) {
      rows.element = domains.is_wide[rows.field] != 0 ? Element::Double : Element::Float;
      rows.memory.clear();
    }
  find_sizes(domains);
  AlignedBuffer column;
  std::vector<Bytes> to;
  for (std::size_t peer = 0; peer < count(); ++peer) {
    const auto add = [&](MessageWriter& writer, std::span<const Rows> side, std::span<const std::int64_t> picked) {
      for (const Rows& rows : side) {
        const auto size = std::size_t(size_of(rows.element));
        column.reserve(size * picked.size() + 64);
        std::byte* const at = writer.more(rows.row() * picked.size());
        for (int c = 0; c < rows.components && !picked.empty(); ++c) {
          pack(request.views[rows.field], c, {0, picked.data(), std::int64_t(picked.size())},
               {.component = c, .element = rows.element}, column.data());
          for (std::size_t k = 0; k < picked.size(); ++k)
            std::memcpy(at + k * rows.row() + std::size_t(c) * size, column.data() + k * size, size);
        }
      }
    };
    MessageWriter writer;
    const std::vector<std::int64_t>&i = domains.i[peer], &j = domains.j[peer];
    writer.add_one(std::int64_t(i.size()));
    writer.add_one(std::int64_t(j.size()));
    for (const std::int64_t one : i)
      if (needs_indices_) writer.add_one(one + request.i_offset);
    for (const std::int64_t one : j)
      if (needs_indices_) writer.add_one(one + request.j_offset);
    add(writer, i_, i);
    add(writer, j_, j);
    to.push_back(writer.take());
    domains.j[peer] = {};
  }
  const std::vector<Bytes> from = send(std::move(to));
  ni_ = nj_ = received_ = 0;
  received_i_.clear();
  std::vector<std::int64_t> index_of_i, index_of_j;
  for (const Bytes& block : from) {
    MessageReader reader(block);
    const auto ni = reader.read_one<std::int64_t>(), nj = reader.read_one<std::int64_t>();
    for (std::int64_t k = 0; k < ni && needs_indices_; ++k) index_of_i.push_back(reader.read_one<std::int64_t>());
    for (std::int64_t k = 0; k < nj && needs_indices_; ++k) index_of_j.push_back(reader.read_one<std::int64_t>());
    for (auto* side : {&i_, &j_})
      for (Rows& rows : *side) {
        const std::size_t bytes = rows.row() * std::size_t(side == &i_ ? ni : nj);
        const std::byte* const at = reader.skip(bytes);
        rows.memory.insert(rows.memory.end(), at, at + bytes);
      }
    received_i_.push_back(ni);
    ni_ += ni;
    nj_ += nj;
  }
  is_aligned_ = index_of_i == index_of_j;
  sent_i_ = std::move(domains.i);
  ni_of_caller_ = request.ni;
}

void FarDomains::view_rows(std::vector<Rows>& side, std::int64_t count) {
  for (Rows& rows : side)
    views_[rows.field] = {rows.memory.data(), rows.element, count, std::int64_t(rows.row()), size_of(rows.element)};
}

// ---- rows of j of other domains -------------------------------------------------------------------------------------

std::size_t FarDomains::bytes_of_j() const {
  std::size_t bytes = 0;
  for (const Rows& rows : j_) bytes += rows.row();
  return bytes;
}

void FarDomains::write_j(std::span<const std::int64_t> j, std::byte* to) const {
  for (const Rows& rows : j_)
    for (const std::int64_t one : j) {
      std::memcpy(to, rows.memory.data() + std::size_t(one) * rows.row(), rows.row());
      to += rows.row();
    }
}

void FarDomains::forget_received() {
  received_ = 0;
  for (Rows& rows : j_) rows.memory.resize(rows.row() * std::size_t(nj_));
}

void FarDomains::append_j(const std::byte* from, std::int64_t count) {
  for (Rows& rows : j_) {
    const std::size_t bytes = rows.row() * std::size_t(count);
    rows.memory.insert(rows.memory.end(), from, from + bytes);
    from += bytes;
  }
  received_ += count;
  view_rows(j_, nj_);  // memory has grown, and the request of move() reads j by these views
}

SumRequest FarDomains::with_j(const SumRequest& request, std::int64_t first, std::vector<ArrayView>& views) const {
  SumRequest all = request;
  views.assign(request.views.begin(), request.views.end());
  for (const Rows& rows : j_) {
    // Kernels do not write inputs.
    auto* const data = const_cast<std::byte*>(rows.memory.data()) + rows.row() * std::size_t(first);
    views[rows.field] = {data, rows.element, nj_ + received_ - first, std::int64_t(rows.row()), size_of(rows.element)};
  }
  all.views = views;
  all.nj = nj_ + received_ - first;
  return all;
}

// ---- results --------------------------------------------------------------------------------------------------------

FarArray FarDomains::totals_of_caller(const FarArray& totals, int outputs) {
  std::vector<Bytes> to;
  std::int64_t first = 0;
  for (const std::int64_t rows : received_i_) {
    MessageWriter writer;
    for (int c = 0; c < outputs; ++c)
      writer.add(std::span<const double>(totals.data + c * totals.stride + first, std::size_t(rows)));
    first += rows;
    to.push_back(writer.take());
  }
  const std::vector<Bytes> from = send(std::move(to));
  totals_.resize(outputs, ni_of_caller_);
  for (std::size_t peer = 0; peer < from.size(); ++peer) {
    MessageReader reader(from[peer]);
    for (int c = 0; c < outputs; ++c)
      for (const std::int64_t i : sent_i_[peer]) totals_[c][std::size_t(i)] = reader.read_one<double>();
  }
  return totals_.array();
}

// Each process sums the terms of its j for the sampled i of all, which travel as rows; of a periodic sum with their
// positions in the cell.
std::vector<double> FarDomains::exact_sums(const SumRequest& request, std::span<const std::int64_t> sampled,
                                           int columns, FarBackend& backend, const ExactSums& sums) {
  const std::optional<FarSums::Images> images = backend.sums().images();
  const auto axes = std::size_t(axes_);
  MessageWriter writer;
  writer.add_one(std::int64_t(sampled.size()));
  for (const std::int64_t i : sampled)
    if (images) writer.add(std::span<const double>(backend.particles().position_of_i + i * axes_, axes));
  for (const Rows& rows : i_)
    for (const std::int64_t i : sampled)
      writer.add(std::span(rows.memory).subspan(std::size_t(i) * rows.row(), rows.row()));
  std::vector<Rows> all = i_;
  for (Rows& rows : all) rows.memory.clear();
  std::vector<double> positions;          // of the sampled i of all
  std::vector<std::int64_t> first_of{0};  // [process]: the number of its first sampled i
  for (const Bytes& block : send_to_all(writer.take())) {
    MessageReader reader(block);
    const auto of_peer = reader.read_one<std::int64_t>();
    if (images) {
      positions.resize(positions.size() + std::size_t(of_peer) * axes);
      reader.read(std::span(positions).last(std::size_t(of_peer) * axes));
    }
    for (Rows& rows : all) {
      const std::byte* const at = reader.skip(rows.row() * std::size_t(of_peer));
      rows.memory.insert(rows.memory.end(), at, at + rows.row() * std::size_t(of_peer));
    }
    first_of.push_back(first_of.back() + of_peer);
  }
  const std::int64_t count_of_all = first_of.back();
  std::vector<double> partial(std::size_t(count_of_all * columns), 0.0);
  if (request.nj > 0 && count_of_all > 0) {
    // The i of others have indices that no j of the domain has. Own i come last, by their own indices.
    SumRequest of_all = request;
    std::vector<ArrayView> views(request.views.begin(), request.views.end());
    for (Rows& rows : all)
      views[rows.field] = {rows.memory.data(), rows.element, count_of_all, std::int64_t(rows.row()),
                           size_of(rows.element)};
    of_all.views = views;
    of_all.binding = ++binding_;
    of_all.ni = count_of_all;
    of_all.i_offset = request.nj;
    std::vector<std::int64_t> of_others;
    for (std::int64_t k = 0; k < count_of_all; ++k)
      if (k < first_of[own()] || k >= first_of[own() + 1]) of_others.push_back(k);
    FarColumns exact;
    exact.resize(columns, count_of_all);
    if (!of_others.empty()) {
      std::vector<double> shifted;
      std::optional<FarSums::Images> of_sample = images;
      if (of_sample)
        of_sample->place_of_i = [&](const CellVector& shift) {
          shifted = positions;
          for (std::size_t k = 0; k < shifted.size(); ++k) shifted[k] -= shift[k % axes];
          return ArrayView{shifted.data(), Element::Double, count_of_all, 8 * axes_, 8};
        };
      const FarSums::OtherImages others(backend.sums(), std::move(of_sample));
      sums(of_all, of_others, exact.array());
    }
    for (const std::int64_t k : of_others)
      for (int c = 0; c < columns; ++c) partial[std::size_t(k * columns + c)] = exact[c][std::size_t(k)];
    const FarArray of_own = backend.reserve_sums(FarBackend::Sums::OfSample, columns);
    if (!sampled.empty()) sums(request, sampled, of_own);
    const std::vector<double> rows = backend.rows(of_own, columns, sampled);
    std::ranges::copy(rows, partial.begin() + first_of[own()] * columns);
  }
  const std::vector<double> of_peers = gather(partial);
  std::ranges::fill(partial, 0.0);
  for (std::size_t k = 0; k < of_peers.size(); ++k) partial[k % partial.size()] += of_peers[k];
  return partial;
}

std::string FarDomains::text() const {
  std::string text = fmt::format(
      "each rank has the j that its i need: this one {} of its domain and {} of others, and received "
      "{:.3g} MB",
      nj_, received_, 1e-6 * double(bytes_received_));
  if (size_of_largest_ * double(received_i_.size()) > kUneven * size_of_all_)  // the peers may be gone
    text += fmt::format(
        "; rank {} has {:.0f}% of all i and j: particles at one position are not divided, and those without "
        "a finite position do not move",
        largest_, 100 * size_of_largest_ / size_of_all_);
  return text;
}

}  // namespace nbcc
