// The sequence of a sum with a far field, and what of it is made again. Entry points: the public functions of FarRun.
#include "runtime/far/far_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "runtime/far/host_far_backend.h"
#include "runtime/first_failure.h"
#include "runtime/round_up.h"

namespace nbcc {

using Seconds = FarStatistics::Seconds;

namespace {

// `wanted` of the rows of so many numbers, at equal distances.
std::vector<double> some_rows(std::vector<double> all, int numbers, std::int64_t wanted) {
  const std::int64_t rows = numbers > 0 ? std::int64_t(all.size()) / numbers : 0;
  if (rows <= wanted) return all;
  std::vector<double> some;
  for (std::int64_t k = 0; k < wanted; ++k) {
    const auto row = all.begin() + k * rows / wanted * numbers;
    some.insert(some.end(), row, row + numbers);
  }
  return some;
}

}  // namespace

FarRun::FarRun(const Kernel& kernel, const Summation& summation, Precision at_least, double tolerance,
               std::span<const int> orders, FarRanks* ranks)
    : source_(kernel.source),
      summation_(summation),
      tolerance_(tolerance),
      ranks_(ranks),
      members_([&] {
        std::vector<std::shared_ptr<FarBackend>> backends;
        if (ranks)
          backends.push_back(ranks->make_backend(kernel, summation, at_least));
        else
          backends = summation.far_backends(kernel, at_least, orders);
        if (backends.empty()) backends.push_back(std::make_shared<HostFarBackend>(kernel, summation, at_least));
        return std::vector<Member>(backends.begin(), backends.end());
      }()),
      table_(kernels(), first().backend->sums().measured(), kernel.source.fields),
      sample_(kernel.source) {
  if (kernels().periods)
    images_ = std::make_unique<FarImages>(kernels(), kernel.source.pipeline, kernel.source.fields,
                                          first().backend->sums().measured(), tolerance);
}

// ---- several GPUs ---------------------------------------------------------------------------------------------------

// The caller's stream belongs to one GPU. Each of several GPUs has its own stream, no default stream: a copy between
// two GPUs in a default stream waits for all earlier work of both, and delays all later work.
SumRequest FarRun::of_member(Member& member, const SumRequest& request) const {
  SumRequest own = request;
  if (is_shared()) own.stream = member.backend->own_stream(), own.progress = nullptr;
  return own;
}

// A host thread for each of several GPUs, because each waits for its GPU. Of failures, that of the first member is
// thrown, when no GPU works any more.
void FarRun::on_each(const SumRequest& request, const std::function<void(Member&, const SumRequest&)>& body) {
  if (!is_shared()) return body(first(), request);
  std::vector<FirstFailure> failures(members_.size());
  summation_.on_host_threads(std::int64_t(members_.size()), [&](std::int64_t k) {
    Member& member = members_[std::size_t(k)];
    failures[std::size_t(k)].attempt([&] { body(member, of_member(member, request)); });
  });
  if (std::ranges::none_of(failures, &FirstFailure::has_failed)) return;
  for (std::size_t k = 0; k < failures.size(); ++k)
    failures[k].attempt([&] { members_[k].backend->wait(members_[k].backend->own_stream()); });
  for (const FirstFailure& failure : failures) failure.rethrow();
}

// Waits for the work of the caller's stream, on whichever GPU the arrays and so the stream are.
void FarRun::wait_for_caller(const SumRequest& request) {
  FarBackend* owner = first().backend.get();
  for (const ArrayView& view : request.views)
    for (const Member& member : members_)
      if (view.data && member.backend->holds(view)) owner = member.backend.get();
  owner->wait(request.stream);
}

// ---- particles and trees --------------------------------------------------------------------------------------------

SumRequest FarRun::move(const SumRequest& request) {
  SumRequest moved;
  first().backend->timed(&Seconds::particles, [&] {
    std::optional<PeriodicCell> cell;
    if (images_) cell = images_->cell_without_extents(request.params);
    moved = ranks_->move(request, first().backend->sums(), cell ? &*cell : nullptr);
  });
  return moved;
}

std::string FarRun::prepare(const SumRequest& request, int leaf) {
  if (is_shared()) wait_for_caller(request);
  stream_ = of_member(first(), request).stream;
  std::string obstacle;  // which all members have, or none
  on_each(request, [&](Member& member, const SumRequest& own) {
    std::string of_member = prepare(member, own, leaf);
    if (&member == &first()) obstacle = std::move(of_member);
  });
  return obstacle;
}

std::string FarRun::prepare(Member& member, const SumRequest& request, int leaf) {
  FarBackend& backend = *member.backend;
  const int last_leaf = std::exchange(member.leaf, 0);  // these particles have no trees yet
  member.up_order.reset();
  const FarParticles& particles = backend.particles();
  std::string obstacle;
  backend.set_stream(request.stream);
  backend.timed(&Seconds::particles, [&] {
    backend.reserve_particles(request);
    const SumRequest here = backend.with_inputs(request);
    std::vector<double> centres(std::size_t(kernels().centres));
    backend.sums().find_centres(here, centres);
    const double* const sent = backend.send_centres(centres);
    backend.sums().find_sources(here, particles.position_of_j, particles.weights, sent);
    backend.sums().find_targets(here, particles.position_of_i, particles.factors, sent);
    const bool has_images = !images_ || move_to_cell(member, here);
    obstacle = backend.check_particles();
    if (!has_images) obstacle = "the tables of far images of the ranks differ";
  });
  if (!obstacle.empty()) {
    if (&member == &first()) exclusions_of_images_ = 0;
    return obstacle;
  }
  if (kernels().needs_one_set && !particles.indices_agree)
    return "the text compares i_index and j_index, but i and j of one index are not the same particles";
  const bool one_tree = particles.are_one_set && particles.are_all;
  if (!any(!(last_leaf > 0 && one_tree == backend.one_tree() && backend.are_in_trees()))) {
    member.leaf = last_leaf;
    set_leaf(member, leaf);
    return "";
  }
  member.lists.reset();
  if (&member == &first()) kept_.are_here = false, exclusions_of_images_ = 0;
  bool is_finite = true;
  backend.timed(&Seconds::tree, [&] { is_finite = backend.build_trees(one_tree, leaf); });
  if (!is_finite) return "a j has a position that is not finite";
  member.leaf = leaf;
  return "";
}

void FarRun::set_leaf(Member& member, int leaf) {
  if (leaf == member.leaf) return;
  member.leaf = leaf;
  member.lists.reset();
  member.up_order.reset();
  member.backend->timed(&Seconds::tree, [&] { member.backend->split_trees(leaf); });
}

// At most kMost of i, unless they are the j, and of j: every stride-th.
std::array<std::vector<double>, 2> FarRun::some_positions() {
  constexpr std::int64_t kMost = 1 << 12;
  const FarParticles& particles = first().backend->particles();
  const auto some = [&](double* positions, std::int64_t count) {
    const std::int64_t stride = ceil_div(count, kMost);
    std::vector<std::int64_t> first_coordinates;
    for (std::int64_t k = 0; k < count; k += stride) first_coordinates.push_back(k * kernels().axes);
    return first().backend->rows({positions, 1, count}, kernels().axes, first_coordinates);
  };
  const bool is_one_set = particles.are_one_set && particles.are_all;
  return {some(particles.position_of_j, particles.nj),
          is_one_set ? std::vector<double>() : some(particles.position_of_i, particles.ni)};
}

bool FarRun::has_moved_far() {
  if (ranks_) return ranks_->has_moved_far(kFarMove, kManyMoved);
  const FarParticles& particles = first().backend->particles();
  if (kept_.are_here) return false;
  if (particles.ni != kept_.ni || particles.nj != kept_.nj) return true;
  const double far = kFarMove * std::exp2(first().backend->cell_sizes(false).back());
  const std::array<std::vector<double>, 2> positions = some_positions();
  for (const std::size_t side : {0, 1})
    if (share_of_moved(positions[side], kept_.positions[side], kernels().axes, far) > kManyMoved) return true;
  return false;
}

// The trees of another leaf have the same order.
bool FarRun::have_values_changed(double spread) {
  if (ranks_) return ranks_->have_values_changed(spread, !kernels().both_sides);
  const std::array<std::vector<FarNorms>, 2> norms = first().backend->norms();
  return !change_of(norms[0], kept_.norms[0]).is_rescaling(spread, false) ||
         !change_of(norms[1], kept_.norms[1]).is_rescaling(spread, !kernels().both_sides);
}

// ---- the choice of a setting ----------------------------------------------------------------------------------------

std::string FarRun::draw_sample(const SumRequest& request, std::int64_t wanted) {
  FarBackend& backend = *first().backend;
  kept_.ni = backend.particles().ni;
  kept_.nj = backend.particles().nj;
  kept_.positions = some_positions();
  kept_.are_here = first().leaf > 0;
  if (first().leaf > 0) {
    backend.keep_orders();
    kept_.norms = backend.norms();
  }
  const std::int64_t chosen = backend.particles().chosen;
  if (ranks_) {
    ranks_->keep();
    const double of_all = std::max(1.0, ranks_->sum(double(chosen)));
    wanted = std::int64_t(std::ceil(std::min(1.0, double(wanted) / of_all) * double(chosen)));
  }
  const bool has_changed = sample_.draw(chosen, wanted, backend.chosen_i());
  if (!ranks_ && !images_ && first().leaf > 0) sample_.set_some(backend.some_of(sample_.particles(), kSampled));
  if (ranks_) sample_.set_complete(!any(!sample_.is_complete()));
  if (has_changed && first().lists && first().lists->of != Of::All) first().lists.reset();
  if (!any(!sample_.particles().empty())) return std::string(FarBackend::kNoFiniteI);
  exclude_nearest_images(request, Of::Sampled);
  return sample_.set_exact(exact_sums(request)) ? "" : "the terms of no sampled i are finite";
}

// [sampled i][FarSample::columns()]
std::vector<double> FarRun::exact_sums(const SumRequest& request) {
  FarBackend& backend = *first().backend;
  if (ranks_) return exact_sums_of_ranks(request);
  const double pairs = double(sample_.particles().size()) * double(request.nj) * images();
  if (images_ && backend.sums_sample_alone() && pairs > kFewExactPairs)
    if (const std::shared_ptr<const FarOperator> reference = images_->reference_operator())
      return exact_sums(request, reference);
  const FarArray exact = backend.reserve_sums(FarBackend::Sums::OfSample, sample_.columns());
  backend.sums().sum_sample(backend.with_inputs(of_member(first(), request)), sample_.particles(), exact);
  add_far_images(exact, Of::Sampled);
  return backend.rows(exact, sample_.columns(), sample_.particles());
}

std::string FarRun::begin_table(const SumRequest& request) {
  // Terms without a weight have no errors. Where weights are rare, few of many drawn j have one; if none has one, all j
  // are looked through.
  constexpr std::int64_t kDrawn = 4096, kWanted = 64, kMostDraws = 256, kLookedThrough = kDrawn * kMostDraws;
  FarBackend& backend = *first().backend;
  const FarParticles& particles = backend.particles();
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> any_j(0, std::max<std::int64_t>(particles.nj, 1) - 1);
  const auto of_one = std::ptrdiff_t(kernels().weights);
  std::vector<double> weights;
  const auto take = [&](std::span<const std::int64_t> of_j) {
    const std::vector<double> drawn = backend.rows(particles.weights, kernels().weights, of_j);
    for (auto row = drawn.begin(); row != drawn.end(); row += of_one)
      if (std::int64_t(weights.size()) < kWanted * of_one &&
          std::any_of(row, row + of_one, [](double w) { return w != 0; }))
        weights.insert(weights.end(), row, row + of_one);
  };
  std::vector<std::int64_t> of_j(kDrawn);
  const std::int64_t most_draws = particles.nj > 0 ? kMostDraws : 0;
  for (std::int64_t draw = 0; draw < most_draws && std::int64_t(weights.size()) < kWanted * of_one; ++draw) {
    for (std::int64_t& j : of_j) j = any_j(random);
    take(of_j);
  }
  for (std::int64_t first = 0; first < particles.nj && weights.empty(); first += kLookedThrough) {
    of_j.resize(std::size_t(std::min(kLookedThrough, particles.nj - first)));
    std::iota(of_j.begin(), of_j.end(), first);
    take(of_j);
  }
  std::vector<std::int64_t> of_i;
  for (std::size_t k = 0; k < kWanted && !sample_.particles().empty(); ++k)
    of_i.push_back(sample_.particles()[k % sample_.particles().size()]);
  std::vector<double> factors = backend.rows(particles.factors, kernels().factors, of_i);
  if (ranks_) {
    weights = some_rows(ranks_->gather(weights), kernels().weights, kWanted);
    factors = some_rows(ranks_->gather(factors), kernels().factors, kWanted);
  }
  if (weights.empty()) return "all weights are 0";
  table_.begin(backend.sums().params(request), std::move(weights), std::move(factors), sample_.typical_sizes());
  return "";
}

FarLimits FarRun::limits(const FarSetting& setting) {
  set_leaf(first(), setting.leaf);
  std::set<int> found;
  for (const bool of_i : {false, true})
    for (const int size : first().backend->cell_sizes(of_i))
      if (size > -1023 && size < 1024) found.insert(size);  // radii that are neither 0 nor infinite
  const std::vector<int> sizes(found.begin(), found.end());
  return table_.limits(sizes, setting);
}

void FarRun::forget_lists() {
  for (Member& member : members_) member.lists.reset();
}

double FarRun::cost(const FarSetting& setting) {
  FarBackend& backend = *first().backend;
  first().lists.reset();
  const FarCounts counts = backend.count_pairs(setting.order, limits(setting));
  const FarCosts costs = backend.costs();
  const double of_distant_pair = kernels().distant.operations / std::max(1.0, kernels().near.operations);
  double products = double(backend.particles().nj) * kernels().weights;
  if (kernels().both_sides) products += double(backend.particles().chosen) * kernels().sums;
  const double cost = counts.near + counts.distant * of_distant_pair + costs.settled * counts.settled +
                      costs.product * products * std::pow(setting.order, kernels().axes) + costs.point * counts.points +
                      costs.launches;
  if (!ranks_) return cost;
  // All wait for the slowest.
  const std::vector<std::vector<double>> of_all = ranks_->exchange({cost});
  return double(of_all.size()) * std::ranges::max(of_all)[0];
}

// The largest need and the least room of all GPUs.
FarMemory FarRun::memory(const SumRequest& request, const FarSetting& setting) {
  FarMemory least = first().backend->memory(request, setting);
  for (const Member& member : members_) {
    const FarMemory memory = member.backend->memory(request, setting);
    least.needed = std::max(least.needed, memory.needed);
    least.available = std::min(least.available, memory.available);
  }
  if (is_shared()) least.device = fmt::format("each of {} GPUs", members_.size());
  if (ranks_) least.needed = std::int64_t(ranks_->largest(double(least.needed)));
  if (ranks_) least.available = -std::int64_t(ranks_->largest(-double(least.available)));
  return least;
}

// ---- sums -----------------------------------------------------------------------------------------------------------

void FarRun::compute(const SumRequest& request, const FarSetting& setting, Of of) {
  if (of == Of::Tried && !tries_some()) of = Of::Sampled;
  const Made made{setting, first().backend->sums_sample_alone() ? of : Of::All,
                  request.excluded_rows ? request.excluded_rows->number : 0};
  const bool makes_lists =
      any(std::ranges::any_of(members_, [&](const Member& member) { return member.lists != made; }));
  if (makes_lists && ranks_) forget_lists();
  const FarLimits limits = makes_lists ? this->limits(setting) : FarLimits();
  if (makes_lists) statistics_.separation = limits.largest_ratio();
  totals_ = first().backend->reserve_sums(FarBackend::Sums::Totals, source_.outputs);
  on_each(request, [&](Member& member, const SumRequest& own) { begin(member, own, made, limits); });
  on_each(request, [&](Member& member, const SumRequest& own) { end(member, own, setting.order); });
  if (is_shared()) first().backend->timed(&Seconds::down, [&] { first().backend->take_totals(totals_); });
  add_far_images(totals_, of);
  double pairs = 0;
  for (const Member& member : members_) pairs += member.pairs;
  auto chosen = double(first().backend->particles().chosen);
  if (ranks_) pairs = ranks_->sum(pairs), chosen = std::max(1.0, ranks_->sum(chosen));
  statistics_.pairs_per_i = pairs / chosen;
  statistics_.order = setting.order;
  statistics_.leaf = setting.leaf;
  statistics_.precision = kernels().precision;
}

// Lists, grids and near sums; another member's grids may be wanted for the rest.
void FarRun::begin(Member& member, const SumRequest& request, const Made& made, const FarLimits& limits) {
  FarBackend& backend = *member.backend;
  const int order = made.setting.order;
  set_leaf(member, made.setting.leaf);
  const SumRequest here = backend.with_inputs(request);
  if (member.lists != made) {
    member.lists.reset();
    const auto sampled = made.of == Of::Sampled ? sample_.particles()
                         : made.of == Of::Tried ? sample_.some()
                                                : std::span<const std::int64_t>();
    backend.timed(&Seconds::walk, [&] { member.pairs = backend.make_lists(order, limits, sampled).pairs; });
    backend.timed(&Seconds::walk, [&] { backend.find_corrections(here.excluded_rows); });
    member.lists = made;
    member.lists_are_new = true;
  }
  // What a process receives depends on its lists.
  if (any(member.up_order != order || (ranks_ && member.lists_are_new))) {
    backend.timed(&Seconds::up, [&] { backend.go_up(order); });
    member.up_order = order;
  }
  if (here.progress) here.progress->set_stage(0, 0.4);
  backend.timed(&Seconds::near, [&] { backend.sum_near(here, totals_, member.lists_are_new); });
}

void FarRun::end(Member& member, const SumRequest& request, int order) {
  FarBackend& backend = *member.backend;
  const SumRequest here = backend.with_inputs(request);
  if (is_shared()) backend.timed(&Seconds::up, [&] { backend.finish_up(); });
  if (here.progress) here.progress->set_stage(0.4, 1);
  backend.timed(&Seconds::distant, [&] { backend.sum_distant(here, member.lists_are_new); });
  member.lists_are_new = false;
  backend.timed(&Seconds::down, [&] {
    backend.go_down(order, totals_);
    backend.add_corrections(here, totals_);
  });
  if (is_shared()) backend.wait(request.stream);
}

void FarRun::compute_all_pairs(const SumRequest& request, Of of) {
  totals_ = first().backend->reserve_sums(FarBackend::Sums::Totals, source_.outputs);
  exclude_nearest_images(request, of);
  statistics_.set_all_pairs(std::int64_t(images()) * request.nj, kernels().precision);
  if (of == Of::Sampled) {
    compute_all_pairs(first(), sample_.chosen_of(of_member(first(), request)));
    add_far_images(totals_, of);
    if (is_shared()) wait();
    return;
  }
  if (is_shared()) wait();
  on_each(request, [&](Member& member, SumRequest own) {
    const FarShare& share = member.backend->share();
    const std::int64_t begin = share.begin(own.i_count);
    own.i_count = share.end(own.i_count) - begin;
    if (own.i_list)
      own.i_list += begin;
    else
      own.i_begin += begin;
    compute_all_pairs(member, own);
    if (is_shared()) member.backend->wait(own.stream);
  });
  add_far_images(totals_, of);
}

void FarRun::compute_all_pairs(Member& member, const SumRequest& request) {
  FarSums& sums = member.backend->sums();
  member.lists.reset();
  member.backend->timed(&Seconds::near, [&] {
    sums.near().clear_lists();
    sums.sum_near(member.backend->with_inputs(request), totals_);
  });
}

double FarRun::error_of_sample(Of of) {
  if (of == Of::Tried && tries_some())
    return sample_.error_of_some(first().backend->rows(totals_, source_.outputs, sample_.some()), statistics_);
  std::vector<double> totals = first().backend->rows(totals_, source_.outputs, sample_.particles());
  if (ranks_) totals = ranks_->gather(totals);
  return sample_.error(totals, statistics_);
}

// A part without j has no totals.
void FarRun::add_part(const SumRequest& request, std::shared_ptr<double>& sums) {
  FarBackend& backend = *first().backend;
  const std::int64_t count = source_.outputs * request.ni;
  if (!sums) sums = backend.zeros(count);
  if (request.nj > 0) backend.timed(&Seconds::down, [&] { backend.add(sums.get(), totals_.data, count); });
  if (is_shared() || request.nj == 0) wait();
  totals_ = {sums.get(), request.ni, request.ni};
}

// Inputs of i that are on the host are read there, as outputs on the host are written there.
void FarRun::finish(const SumRequest& request) {
  FarBackend& backend = *first().backend;
  backend.timed(&Seconds::down, [&] {
    if (ranks_) totals_ = ranks_->totals_of_caller(totals_, source_.outputs);
    backend.sums().finish(of_member(first(), request), totals_);
  });
  if (is_shared()) wait();
}

FarStatistics FarRun::statistics() {
  FarBackend& backend = *first().backend;
  if (backend.has_seconds()) backend.wait(stream_);
  statistics_.seconds = backend.seconds();
  if (const FarOperator* const through = images_ ? images_->last() : nullptr) {
    statistics_.images = int(images_->count());
    statistics_.image_points = through->tables.grid.points();
    statistics_.mismatch = through->tables.mismatch;
    statistics_.convention = through->convention;
  }
  if (ranks_) statistics_.ranks = ranks_->text();
  return statistics_;
}

void FarRun::reset_seconds() {
  for (Member& member : members_) member.backend->reset_seconds();
}

void FarRun::wait() { first().backend->wait(stream_); }

}  // namespace nbcc
