// Checks calls that name fields, and turns them into a SumRequest. Entry point: SumState::run. The device (Summation)
// reads particles, sums and writes results.
#include "runtime/sum/run/sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <new>
#include <ranges>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/far_peers.h"
#include "runtime/sum/request/overlapping_rows.h"
#include "runtime/sum/request/plural.h"
#include "runtime/sum/request/reduction.h"
#include "runtime/sum/run/device_small_floats.h"
#include "runtime/sum/run/histograms.h"
#include "runtime/sum/run/image_warning.h"
#include "runtime/sum/run/int_range.h"
#include "runtime/sum/run/totals.h"

namespace nbcc {
namespace {

constexpr std::string_view kRoleNames[] = {"input_i", "input_j", "param", "output", "input_pair"};

// More particles than any machine can hold; sizes of arrays in bytes stay below 2^63.
constexpr std::int64_t kMaxParticles = std::int64_t(1) << 40;

// Checks that a param's value, which callers pass as a double, is a value of the param's type; otherwise the conversion
// would change it silently. Integers beyond 2^53 are rejected, because a double does not represent every such integer.
// NaN is rejected, because guards that compare with it exclude all pairs silently.
void check_param(const FieldLayout& field, const std::string& quoted, double value) {
  const bool is_bool = field.type == Type::Bool, is_int = field.type == Type::Int;
  const double largest = is_bool ? 1 : is_int ? 2147483647 : 9007199254740991;
  const double smallest = is_bool ? 0 : is_int ? -largest - 1 : -largest;
  if (!field.integral()) {
    if (std::isnan(value)) throw UsageError(fmt::format("{} is NaN: expected a number", quoted));
    return;
  }
  if (value >= smallest && value <= largest && std::trunc(value) == value) return;
  throw UsageError(is_bool ? fmt::format("{} is a bool: it must be 0 or 1, got {}", quoted, value)
                           : fmt::format("{} is an {}: it must be a whole number from {} to {}, got {}", quoted,
                                         name(field.type), std::int64_t(smallest), std::int64_t(largest), value));
}

void check_view(const FieldLayout& field, const std::string& quoted, const ArrayView& view) {
  if (view.count < 0) throw UsageError(fmt::format("{}: its count must be 0 or more, got {}", quoted, view.count));
  if (field.is_total() && view.count != 1)
    throw UsageError(
        fmt::format("{} is a total, which has one value for the run: its count must be 1, got {}", quoted, view.count));
  if (view.count > 0 && !view.data) {
    throw UsageError(fmt::format("{}: no data (a null pointer) for {}", quoted, plural(view.count, "particle")));
  }
  if (field.numbers() > 1 && view.component_stride == 0 && view.count > 0) {
    throw UsageError(
        fmt::format("{}: component_stride is 0, but the field has {}", quoted, plural(field.numbers(), "component")));
  }
  if (field.role == Role::Output && view.count > 1 && view.stride == 0) {
    throw UsageError(
        fmt::format("{}: an output for {} cannot have a stride of 0", quoted, plural(view.count, "particle")));
  }
  if (field.role == Role::Output && rows_overlap(view, field.numbers()))
    throw UsageError(fmt::format("{}: rows of {} that are {} bytes apart (component_stride {}) overlap", quoted,
                                 plural(field.numbers(), "number"), view.stride, view.component_stride));
}

}  // namespace

SumState::SumState(std::shared_ptr<const Kernel> kernel)
    : sum_(std::move(kernel)),
      given_(fields().size()),
      views_(fields().size()),
      params_(std::size_t(source().params + source().table_params)) {
  add_result(std::make_unique<DeviceSmallFloats>(source(), sum_.summation()));
  if (!source().histograms.empty()) histograms_ = std::make_unique<HistogramWords>(source());
  if (histograms_ || std::ranges::any_of(fields(), &FieldLayout::is_total)) {
    auto totals = std::make_unique<Totals>(source(), sum_.summation());
    totals_ = totals.get();
    add_result(std::move(totals));
  }
  if (histograms_) add_result(std::make_unique<RunHistograms>(*histograms_, sum_.summation()));
  request_.views = views_;
  request_.params = params_;
  for (std::size_t f = 0; f < fields().size(); ++f) {
    const FieldLayout& field = fields()[f];
    if (field.role != Role::Param || field.defaults.empty()) continue;
    std::copy(field.defaults.begin(), field.defaults.end(), params_.begin() + field.first);
    given_[f] = Given::Yes;
  }
}

SumState::~SumState() = default;
SumState::SumState(SumState&&) noexcept = default;

SumStatistics SumState::statistics() const {
  SumStatistics found = sum_.statistics();
  if (histograms_) found.terms_outside = histograms_->outside();
  return found;
}

std::size_t SumState::find(std::string_view name) const {
  for (std::size_t f = 0; f < fields().size(); ++f)
    if (fields()[f].name == name) return f;
  const auto names = fields() | std::views::transform(&FieldLayout::name);
  throw UsageError(fmt::format("pipeline '{}' has no field '{}'; its fields are {}", source().pipeline, name,
                               fmt::join(names, ", ")));
}

std::string SumState::quoted(std::size_t field) const {
  return fmt::format("{} '{}' of pipeline '{}'", kRoleNames[int(fields()[field].role)], fields()[field].name,
                     source().pipeline);
}

void SumState::forget_j(JReuse at_most) { request_.reuse = std::min(request_.reuse, at_most); }

void SumState::set_param(std::string_view name, std::span<const double> values) {
  const std::size_t f = find(name);
  const FieldLayout& field = fields()[f];
  if (field.role != Role::Param) throw UsageError(fmt::format("{} is not a param: bind an array to it", quoted(f)));
  if (std::int64_t(values.size()) != field.components()) {
    throw UsageError(fmt::format("{} takes {}, got {}", quoted(f), plural(field.components(), "value"), values.size()));
  }
  if (field.is_table()) {
    std::vector<double> params = params_;
    std::copy(values.begin(), values.end(), params.begin() + field.first);
    check_splines(f, params);
  }
  for (const double value : values) check_param(field, quoted(f), value);
  std::copy(values.begin(), values.end(), params_.begin() + field.first);
  given_[f] = Given::Yes;
  params_of_groups_.erase(f);
  if (field.is_table()) tables_.reset(), tables_of_groups_.clear();
  // Columns that prepare_j derives from the packed ones may depend on params.
  forget_j(JReuse::Packed);
}

std::span<const double> SumState::values_of(std::string_view param) const {
  const std::size_t f = find(param);
  const FieldLayout& field = fields()[f];
  if (field.role != Role::Param) throw UsageError(fmt::format("{} is not a param", quoted(f)));
  if (given_[f] != Given::Yes || params_of_groups_.contains(f)) return {};
  return std::span(params_).subspan(std::size_t(field.first), std::size_t(field.components()));
}

void SumState::bind(std::string_view name, const ArrayView& view) {
  const std::size_t f = find(name);
  const FieldLayout& field = fields()[f];
  if (field.role == Role::Param) throw UsageError(fmt::format("{} takes values, not an array", quoted(f)));
  check_view(field, quoted(f), view);
  views_[f] = view;
  given_[f] = Given::Yes;
  ++request_.binding;
  if (field.role == Role::InputJ) forget_j(JReuse::None);
}

void SumState::ignore(std::string_view name) {
  const std::size_t f = find(name);
  if (fields()[f].role != Role::Output) {
    throw UsageError(fmt::format("{} cannot be ignored: only outputs can", quoted(f)));
  }
  views_[f] = {};
  given_[f] = Given::Ignored;
  ++request_.binding;
}

void SumState::set_offsets(std::int64_t i_offset, std::int64_t j_offset) {
  if (j_offset != request_.j_offset) forget_j(JReuse::Packed);
  request_.i_offset = i_offset;
  request_.j_offset = j_offset;
}

void SumState::set_counts(std::int64_t ni, std::int64_t nj) {
  if (ni < 0 || nj < 0) throw UsageError(fmt::format("counts must be 0 or more, got ni = {} and nj = {}", ni, nj));
  if (nj_ != nj) forget_j(JReuse::None);
  ni_ = ni;
  nj_ = nj;
}

void SumState::keep_j(bool keep) {
  if (!keep) forget_j(JReuse::None);
  request_.keep_j = keep;
}

void SumState::j_changed() { forget_j(JReuse::None); }

void SumState::set_launch(const LaunchConfig& overrides) {
  for (const auto& [name, member, most] : kLaunchNumbers) {
    if (const int number = overrides.*member; number < 0 || number > most)
      throw UsageError(
          fmt::format("launch configuration: {} must be from 1 to {}, or 0 for no choice; got {}", name, most, number));
  }
  sum_.summation().set_launch(overrides);
}

LaunchConfig SumState::launch_for(std::int64_t ni, std::int64_t nj) {
  if (ni < 1 || nj < 0) {
    throw UsageError(fmt::format("launch configuration: ni must be 1 or more and nj 0 or more, got {} and {}", ni, nj));
  }
  return sum_.summation().launch_for(ni, nj);
}

std::int64_t SumState::count_of_i() const {
  constexpr Role roles[] = {Role::InputI, Role::Output};
  return count_of_side('i', shared_count(roles, "i-fields", "particle"), ni_);
}

std::int64_t SumState::count_of_j() const {
  constexpr Role roles[] = {Role::InputJ};
  return count_of_side('j', shared_count(roles, "j-fields", "particle"), nj_);
}

std::int64_t SumState::count_of_side(char side, std::optional<std::int64_t> bound,
                                     std::optional<std::int64_t> set) const {
  if (bound) return *bound;
  if (!set) {
    throw UsageError(fmt::format("pipeline '{}': no bound field gives the number of {}-particles: set the counts",
                                 source().pipeline, side));
  }
  return *set;
}

// The common count of all fields with these roles; no value if there is no such field. Throws UsageError if a field is
// not bound or has another count.
std::optional<std::int64_t> SumState::shared_count(std::span<const Role> roles, std::string_view all,
                                                   std::string_view one) const {
  std::optional<std::size_t> first;
  for (std::size_t f = 0; f < views_.size(); ++f) {
    const Role role = fields()[f].is_of_pair() ? Role::InputPair : fields()[f].role;
    if (given_[f] == Given::Ignored || std::ranges::find(roles, role) == roles.end()) continue;
    if (given_[f] == Given::No) throw UsageError(fmt::format("{} is not bound to an array", quoted(f)));
    if (fields()[f].is_total()) continue;
    if (!first) first = f;
    if (views_[f].count != views_[*first].count) {
      throw UsageError(fmt::format("{} has {}, but {} has {}: all {} must have the same count", quoted(f),
                                   plural(views_[f].count, one), quoted(*first), views_[*first].count, all));
    }
  }
  if (!first) return {};
  return views_[*first].count;
}

void SumState::set_pairs(PairChoice choice) {
  if (choice == PairChoice::Cutoff && source().search.axes == 0 && !kernel().derived("nearest").obstacle.empty())
    check_neighbours("pairs = cutoff");
  request_.pairs = choice;
}

void SumState::set_skin(double skin) {
  if (!(skin >= 0 && std::isfinite(skin))) throw UsageError(fmt::format("skin: it must be 0 or more, got {}", skin));
  if (skin > 0) check_neighbours("skin");
  request_.skin = skin;
}

template <typename T>
Fetch<T> SumState::fetch() const {
  return [this](const T* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0) sum_.summation().fetch(values.data(), from, values.size() * sizeof(T));
    return values;
  };
}

void SumState::clear_lists() {
  sum_.forget_batches();
  lists_.reset();
  listed_pairs_.reset();
  listed_particles_.reset();
  params_of_groups_.clear();
  table_of_params_.clear();
  tables_of_groups_.clear();
}

void SumState::set_lists(const std::optional<ListArrays>& arrays) {
  if (!arrays) return clear_lists();
  check_lists(Feature::Lists);
  const SearchLayout& search = source().search;
  if (arrays->shifts && search.j_positions.empty())
    throw UsageError(fmt::format(
        "lists: shifts are added to positions, but it is not proved which inputs of j are the positions of pipeline "
        "'{}'{}{}",
        source().pipeline, source().search.obstacle.empty() ? "" : "; ", source().search.obstacle));
  if (arrays->shifts && arrays->axes != search.axes)
    throw UsageError(fmt::format("lists: a shift has {}, but positions of pipeline '{}' have {}",
                                 plural(arrays->axes, "number"), source().pipeline, search.axes));
  Lists lists = read_lists(*arrays, fetch<std::int64_t>(), fetch<double>());
  clear_lists();
  lists_ = std::make_unique<const Lists>(std::move(lists));
}

void SumState::set_device_lists(const DeviceLists& lists) {
  check_lists(Feature::Lists);
  Lists made = lists_on_device(lists, count_of_i());
  clear_lists();
  lists_ = std::make_unique<const Lists>(std::move(made));
}

void SumState::set_batches(std::int64_t batches, std::int64_t ni, const std::int64_t* i_batch, std::int64_t nj,
                           const std::int64_t* j_batch) {
  check_lists(Feature::Batches);
  if (ni < 0 || nj < 0 || (ni > 0 && !i_batch) || (nj > 0 && !j_batch)) throw UsageError("batches: there are no ids");
  Lists lists = lists_of_batches(batches, fetch<std::int64_t>()(i_batch, ni), fetch<std::int64_t>()(j_batch, nj));
  clear_lists();
  lists_ = std::make_unique<const Lists>(std::move(lists));
}

void SumState::set_listed_pairs(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j) {
  PairRows rows = read_rows("pairs", ni, first, count, j, fetch<std::int64_t>());
  clear_lists();
  listed_pairs_ = std::move(rows);
}

void SumState::set_param_of_groups(std::string_view name, std::span<const double> values) {
  const std::size_t f = find(name);
  const FieldLayout& field = fields()[f];
  if (field.role != Role::Param) throw UsageError(fmt::format("{} is not a param", quoted(f)));
  if (!lists_)
    throw UsageError(fmt::format(
        "{}: values for each batch or group are given, but there are neither batches nor lists", quoted(f)));
  const auto [groups, rest] = std::ldiv(long(values.size()), long(field.components()));
  if (groups != lists_->caller_groups() || rest != 0)
    throw UsageError(fmt::format("{} takes {} for each of {}, got {}", quoted(f), plural(field.components(), "value"),
                                 plural(lists_->caller_groups(), "batch or group"), values.size()));
  for (const double value : values) check_param(field, quoted(f), value);
  if (field.is_table()) {
    std::vector<double> params = params_;
    for (auto row = values.begin(); row != values.end(); row += field.components()) {
      std::copy_n(row, field.components(), params.begin() + field.first);
      check_splines(f, params);
    }
    tables_of_groups_.clear();
  }
  params_of_groups_[f].assign(values.begin(), values.end());
}

void SumState::set_exclusions(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j,
                              const std::int64_t* images) {
  if (!first) {
    exclusions_.reset();
    exclusion_rows_.reset();
    return;
  }
  check_lists(Feature::Exclusions);
  if (images && !source().copies())
    throw UsageError(fmt::format("exclusions: pipeline '{}' has no every_image()", source().pipeline));
  PairRows rows = read_rows("exclusions", ni, first, count, j, fetch<std::int64_t>());
  if (images) rows.images = fetch<std::int64_t>()(images, 3 * count);
  exclusions_ = std::make_unique<const Exclusions>(rows);
  exclusion_rows_ = std::move(rows);
}

SumRequest SumState::request_of(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const {
  SumRequest request = request_;
  request.ni = ni;
  request.nj = nj;
  if (needs_both_ends_ && request.pairs == PairChoice::Auto) request.symmetric = SymmetricChoice::Off;
  request.i_begin = choice.i_list ? 0 : choice.i_begin;
  request.i_count = choice.i_count < 0 ? ni - choice.i_begin : choice.i_count;
  request.i_list = choice.i_list;
  request.accumulate = choice.accumulate;
  request.check_indices = !choice.clamp && !source().index_checks.checks.empty();
  request.j_part = choice.part;
  request.stream = choice.stream;
  request.progress = choice.progress;
  request.peers = choice.peers;
  request.lists = lists_.get();
  request.listed_pairs = listed_pairs_ ? &*listed_pairs_ : nullptr;
  request.exclusions = exclusions_.get();
  request.excluded_rows = exclusions_ ? &*exclusion_rows_ : nullptr;
  request.params_of_groups = table_of_params_;
  request.tables_of_groups = tables_of_groups_;
  if (!tables_of_groups_.empty()) request.keep_j = false;  // columns of j may depend on tables
  request.tables = tables_.get();
  return request;
}

void SumState::check_splines(std::size_t field, std::span<const double> params) const {
  const std::string fault = spline_fault(source(), fields()[field], params);
  if (!fault.empty()) throw UsageError(fmt::format("{}: {}", quoted(field), fault));
}

void SumState::make_tables() {
  if (tables_ || source().tables.empty()) return;
  for (std::size_t f = 0; f < fields().size(); ++f)
    if (fields()[f].is_table()) check_splines(f, params_);  // set_param has not checked defaults
  tables_ = std::make_unique<const Tables>(source(), params_);
}

// Called before the run, because outputs may alias the inputs that the warning depends on.
void SumState::warn_of(const SumRequest& request) {
  const auto can_read = [this](const void* data) {
    try {
      return sum_.summation().can_read(static_cast<const std::int64_t*>(data));
    } catch (const UsageError&) {
      return false;  // the run reports memory of another GPU, with the field's name
    }
  };
  const std::optional<std::string> images = image_warning(source(), request, can_read);
  if (!images || !image_warning_) image_warning_ = images;
  warnings_.clear();
  if (image_warning_) warnings_.push_back(*image_warning_);
}

SumRequest SumState::prepare(const RunChoice& choice, const std::optional<IOfParts>& begun) {
  const std::int64_t ni = count_of_i(), nj = count_of_j();
  if (std::max({ni, nj, choice.i_list ? choice.i_count : 0}) > kMaxParticles) throw std::bad_alloc();
  check_params();
  check_choice(choice, ni);
  if (choice.accumulate) check_accumulate();
  check_listed(choice, ni, nj);
  make_tables();
  make_table_of_params();
  make_tables_of_groups();
  if (!tables_of_groups_.empty() && choice.part != JPart::Whole)
    throw UsageError("part: params that are tables have values for each batch or group, which need all j at once");
  SumRequest request = request_of(choice, ni, nj);
  check_part(request, begun);
  for (const auto& result : results_) request = result->begin(request);
  return request;
}

RunPlan SumState::plan(const RunChoice& choice) {
  return sum_.plan(prepare(choice, std::exchange(i_of_parts_, std::nullopt)));
}

void SumState::run(const RunChoice& choice) {
  // A run that fails, or one that is not the next part, ends a sum in parts that has begun.
  std::optional<IOfParts> i_of_parts = std::exchange(i_of_parts_, std::nullopt);
  SumRequest request = prepare(choice, i_of_parts);
  if (ends(choice.part)) i_of_parts.reset();
  if (choice.part == JPart::First) i_of_parts = i_of_part(request);
  warn_of(request);
  if (histograms_) histograms_->set_arrays(views_);
  if (histograms_ && begins(choice.part)) histograms_->clear();
  const bool is_of_others = request.peers && request.peers->has_own_j();  // which wait for this process
  if (request.i_count == 0 && !is_of_others) {
    store_results(request);
    return void(i_of_parts_ = std::move(i_of_parts));
  }
  check_int_range(source(), request, sum_.summation(), [this](std::size_t f) { return quoted(f); });
  check_indices(request);
  // After a run that fails, packed j-particles are not valid.
  request_.reuse = JReuse::None;
  sum(request);
  store_results(request);
  if (const std::string detour = detour_of(sum_.last_plan(), sum_.methods()); !detour.empty())
    warnings_.push_back(fmt::format("pipeline '{}': {}", source().pipeline, detour));
  if (request.keep_j && sum_.last_plan().method->keeps_j) request_.reuse = JReuse::Prepared;
  i_of_parts_ = std::move(i_of_parts);
}

// In runs over lists only the listed particles are checked: the indices of others are never used.
void SumState::check_indices(SumRequest& request) {
  if (!request.check_indices) return;
  if ((lists_ || listed_pairs_) && !listed_particles_)
    listed_particles_ = lists_ ? particles_of(*lists_) : particles_of(*listed_pairs_);
  request.listed = listed_particles_ ? &*listed_particles_ : nullptr;
  request.lists_chosen_i = request.listed && !request.i_list && request.i_count == request.ni;
  sum_.summation().check_indices(request);
}

FoundPairs SumState::find_pairs(Progress* progress, bool without_self) {
  check_neighbours("neighbours");
  const std::int64_t ni = count_of_i(), nj = count_of_j();
  if (std::max(ni, nj) > kMaxParticles) throw std::bad_alloc();
  check_params();
  check_listed({}, ni, nj);
  if (lists_ || listed_pairs_) throw UsageError("neighbours: lists determine which pairs act, so there is no search");
  make_tables();
  SumRequest request = request_of({}, ni, nj);
  request.progress = progress;
  warn_of(request);
  request_.reuse = JReuse::None;
  FoundPairs found = sum_.summation().find_pairs(request);
  if (without_self) found.remove_self_pairs(request.i_offset - request.j_offset);
  return found;
}

PairSpace SumState::pair_space() const {
  check_neighbours("neighbours");
  check_params();
  return nbcc::pair_space(source(), params_);
}

void SumState::wait(Progress* progress) { sum_.wait(progress); }

}  // namespace nbcc
