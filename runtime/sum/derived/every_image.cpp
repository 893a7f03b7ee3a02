// Entry point: with_images(). image_copies.h decides which copies there are.
#include "runtime/sum/derived/every_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/made_inputs.h"
#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/derived/device_images.h"
#include "runtime/sum/derived/forwarding.h"
#include "runtime/sum/derived/image_copies.h"
#include "runtime/sum/derived/input_columns.h"
#include "runtime/sum/derived/nearest_images.h"
#include "runtime/sum/request/formula.h"
#include "runtime/sum/run/host_arrays.h"

namespace nbcc {
namespace {

class CopiesSummation final : public ForwardingSummation {
 public:
  CopiesSummation(const std::shared_ptr<const Kernel>& kernel, const Kernel& callers)
      : ForwardingSummation(kernel, callers.source),
        layout_(*callers.source.copies()),
        row_{row()},
        nearest_(callers, device()),
        on_device_(callers.source, sum_.source().search) {}

  std::span<const PairMethod> methods() const override { return row_; }

  SumStatistics statistics() const override {
    SumStatistics all = sum_.sum().statistics();
    nearest_.add_to(all, is_nearest_);
    return all;
  }

  std::vector<std::shared_ptr<FarBackend>> far_backends(const Kernel& callers, Precision at_least,
                                                        std::span<const int> orders) const override {
    return device().far_backends(callers, at_least, orders);
  }

  FoundPairs find_pairs(const SumRequest& request) override {
    FoundPairs found = device().find_pairs(over_copies(request, nullptr));
    found.axes = int(layout_.of_i.size());
    found.shifts.assign(found.j.size() * std::size_t(found.axes), 0.0);
    for (std::int64_t i = 0; i < request.ni; ++i)
      for (auto p = std::size_t(found.first[std::size_t(i)]); p < std::size_t(found.first[std::size_t(i) + 1]); ++p) {
        const auto copy = std::size_t(found.j[p]);
        found.j[p] = copies_.of[copy];
        Multiples all{};
        for (std::size_t k = 0; k < 3; ++k)
          all[k] = copies_.moved[copy][k] + moves_j_[std::size_t(found.j[p])][k] - moves_i_[std::size_t(i)][k];
        for (std::size_t axis = 0; axis < std::size_t(found.axes); ++axis)
          found.shifts[p * std::size_t(found.axes) + axis] = PeriodicVectors::sum_of(periods_, axis, all);
      }
    return found;
  }

 private:
  PairMethod row() {
    PairMethod row;
    row.name = "every image";
    // A periodic sum is none of this method: the run says that it needs a tolerance.
    row.estimate = [this](const SumRequest& request) {
      return Estimate{.cost = layout_.obstacle.empty() ? pairs_of(request) : std::numeric_limits<double>::infinity()};
    };
    row.work = [this](const SumRequest& request) {
      const std::int64_t bytes = (request.ni + std::int64_t(copies_.of.size())) * 64;
      return std::vector<DeviceWork>{{"host", 0, bytes}};
    };
    // detour_of() warns of a run that computes each pair twice, though symmetric is always. Other runs need no survey.
    row.survey = [this](const SumRequest& request) {
      Estimate found = *row_[0].estimate(request);
      const bool asks = request.symmetric == SymmetricChoice::Always;
      const SumRequest* const over_nearest = asks ? bind_nearest(request) : nullptr;
      if (!over_nearest) return found;
      const Estimate of_nearest = nearest_.sum().plan(*over_nearest).estimate;
      found.once = of_nearest.once, found.twice = of_nearest.twice;
      return found;
    };
    row.enqueue = [this](const SumRequest& request) { run(request); };
    row.statistics = [this] { return statistics(); };
    return row;
  }

  // With arrays in the memory of a device the copies are made there, and the host waits for their number alone.
  void run(const SumRequest& request) {
    const SumRequest* const over_nearest = bind_nearest(request);
    is_nearest_ = over_nearest != nullptr;
    if (is_nearest_) return nearest_.sum().run(*over_nearest);
    const std::vector<ArrayView> arrays = arrays_of(callers_.fields, request.views);
    const bool has_particles = request.ni > 0 && request.nj > 0;
    DeviceCopies* const copies = has_particles ? device().device_copies(arrays) : nullptr;
    const CopiesOfRun of_run(copies, request.stream);
    const SumRequest over = over_copies(request, copies);
    try {
      sum_.run(over);
      // The next run changes the arrays of copies, and what a copy in an error is.
      if (!is_on_device_ || over.check_indices) sum_.wait(request.progress);
    } catch (const UsageError& error) {
      if (is_on_device_) fetch_copies(*copies);
      throw UsageError(renumbered(error.what(), "j-particle ", [&](std::int64_t copy) {
        return fmt::format("j-particle {}", copies_.of.at(std::size_t(copy)) + request.j_offset);
      }));
    }
  }

  // The request for a sum without copies; null: the run needs them. A run binds again what its survey has bound,
  // because the surveys of other batches may come in between.
  const SumRequest* bind_nearest(const SumRequest& request) {
    if (!layout_.obstacle.empty() || !nearest_.may_run(request)) return nullptr;
    InputColumns of_i(callers_, Role::InputI, request, device()), of_j(callers_, Role::InputJ, request, device());
    const std::vector<double> reaches = reaches_of_j(request, of_i, of_j);
    if (!nearest_.is_large(request.params, lattice_of(request.params).unit, largest_of(reaches))) return nullptr;
    find_positions(request, of_i, of_j);
    return nearest_.bind(request, at_i_, at_j_);
  }

  static double largest_of(const std::vector<double>& reaches) {
    double largest = 0;
    for (const double reach : reaches)
      if (!(reach <= largest)) largest = reach;  // also a NaN, of one reach for all
    return largest;
  }

  void find_positions(const SumRequest& request, InputColumns& of_i, InputColumns& of_j) {
    const std::size_t axes = layout_.of_i.size();
    at_i_.resize(axes), at_j_.resize(axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      of_i.find_values(layout_.of_i[axis], request.ni, at_i_[axis]);
      of_j.find_values(layout_.of_j[axis], request.nj, at_j_[axis]);
    }
  }

  // Makes the copies and the request for the sum over them. `copies`: of the device that has all arrays; null: there is
  // none.
  SumRequest over_copies(const SumRequest& request, DeviceCopies* copies) {
    if (!layout_.obstacle.empty())
      throw UsageError(fmt::format("pipeline '{}': {}", callers_.pipeline, layout_.obstacle));
    const ImageLattice lattice = lattice_of(request.params);
    // The host makes the copies, too, if there is something to report about the particles.
    is_on_device_ = copies && on_device_.make(*copies, request, lattice);
    if (is_on_device_) {
      made_.reset();
      exclude_on_device(request, *copies);
      return bound(request, copies);
    }
    on_device_.forget();
    fetched_ = 0;
    InputColumns of_i(callers_, Role::InputI, request, device()), of_j(callers_, Role::InputJ, request, device());
    find_positions(request, of_i, of_j);
    const PeriodicVectors& periods = lattice.periods;
    periods_ = lattice.in_given;
    Coordinates of_units_i, of_units_j;
    const Coordinates &scaled_i = scaled(at_i_, lattice.unit, of_units_i),
                      &scaled_j = scaled(at_j_, lattice.unit, of_units_j);
    const std::vector<double> reaches = reaches_of_j(request, of_i, of_j);
    if (!holds(request, periods, scaled_i, scaled_j, reaches)) {
      made_.reset();  // until all of it is made
      std::vector<double> widened = reaches;
      for (double& reach : widened) reach += request.skin;
      moves_i_ = moves_to_first_cell(periods, scaled_i, "i");
      moves_j_ = moves_to_first_cell(periods, scaled_j, "j");
      copies_ = copies_of(periods, moved(periods, scaled_i, moves_i_), moved(periods, scaled_j, moves_j_), moves_j_,
                          widened, lattice.rounding);
      moves_given_i_.clear();
      for (const Multiples& moves : moves_i_) moves_given_i_.push_back(periods.in_given_vectors(moves));
      shifts_of_.reset();
      made_.emplace(Made{periods, scaled_i, scaled_j, reaches});
    }
    place();
    exclude(request);
    return bound(request, nullptr);
  }

  ImageLattice lattice_of(std::span<const double> params) const {
    const std::size_t axes = layout_.of_i.size();
    std::vector<double> unit(axes);
    const std::vector<double> ones(std::size_t(components(Role::InputI)), 1.0);
    std::array<std::vector<double>, 3> given, in_units;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      unit[axis] = std::fabs(evaluate(layout_.units[axis], params, ones));
      if (!(unit[axis] > 0 && std::isfinite(unit[axis])))
        throw UsageError(
            fmt::format("pipeline '{}': the cutoff is compared with the result of every_image() times {}; "
                        "expected a finite factor other than 0",
                        callers_.pipeline, unit[axis]));
      for (std::size_t k = 0; k < 3; ++k) {
        given[k].resize(axes), in_units[k].resize(axes);
        given[k][axis] = evaluate(layout_.periods[k][axis], params);
        in_units[k][axis] = given[k][axis] * unit[axis];
      }
    }
    const PeriodicVectors periods(callers_.pipeline, in_units);
    return {periods, periods.reduced(given), unit, rounding_of(sum_.source())};
  }

  // A bound of the error of a coordinate in the kernel, relative to coordinates and periodic vectors: larger than that
  // of a few roundings.
  static double rounding_of(const KernelSource& kernel) {
    const bool is_float =
        std::ranges::any_of(kernel.columns.i, [](const Column& column) { return column.element == Element::Float; });
    return is_float ? 0x1p-18 : 0x1p-46;
  }

  int components(Role role) const {
    int count = 0;
    for (const FieldLayout& field : sum_.source().fields)
      if (field.role == role) count += field.components();
    return count;
  }

  // `memory` holds the result unless all units are 1.
  static const Coordinates& scaled(const Coordinates& at, const std::vector<double>& unit, Coordinates& memory) {
    if (std::ranges::count(unit, 1.0) == std::ptrdiff_t(unit.size())) return at;
    memory = at;
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      for (double& x : memory[axis]) x *= unit[axis];
    return memory;
  }

  // Upper bounds of the distances at which a j acts on any i; one for all, or by j.
  std::vector<double> reaches_of_j(const SumRequest& request, InputColumns& of_i, InputColumns& of_j) const {
    using Kind = SearchLayout::Reach;
    const SearchLayout& search = sum_.source().search;
    const auto require = [&](const Formula& formula) {
      if (formula.steps.empty())
        throw UsageError(
            fmt::format("pipeline '{}': the cutoff of every_image() may be computed with + - * / of real "
                        "numbers, sqrt, abs, fma, min, max, pow and elements of tables alone",
                        callers_.pipeline));
    };
    if (search.reach == Kind::Uniform) {
      require(search.reach_uniform);
      return {std::fabs(evaluate(search.reach_uniform, request.params))};
    }
    double largest = 0;
    if (search.of_i()) {
      require(search.reach_of_i);
      for (const double reach : of_i.values(search.reach_of_i, request.ni))
        if (std::fabs(reach) > largest) largest = std::fabs(reach);
    }
    if (!search.of_j()) return {largest};
    require(search.reach_of_j);
    std::vector<double> reaches = of_j.values(search.reach_of_j, request.nj);
    for (double& reach : reaches) {
      const double own = std::isnan(reach) ? 0 : std::fabs(reach);
      reach = search.reach == Kind::OfJ   ? own
              : search.reach == Kind::Max ? std::max(own, largest)
              : search.reach == Kind::Min ? std::min(own, largest)
                                          : own + largest;
    }
    return reaches;
  }

  // True if the copies of an earlier run, made with the same skin, have all images within reach of where particles are.
  bool holds(const SumRequest& request, const PeriodicVectors& periods, const Coordinates& i, const Coordinates& j,
             const std::vector<double>& reaches) {
    const bool is_kept = made_ && request.skin > 0 && request.skin == skin_ && made_->periods == periods &&
                         made_->reaches.size() == reaches.size() && moves_i_.size() == std::size_t(request.ni) &&
                         made_->j[0].size() == std::size_t(request.nj);
    skin_ = request.skin;
    if (!is_kept) return false;
    const auto within = [&](const Coordinates& now, const Coordinates& then, std::size_t p, double most) {
      double way2 = 0;
      for (std::size_t axis = 0; axis < now.size(); ++axis) {
        const double way = now[axis][p] - then[axis][p];
        way2 += way * way;
      }
      return way2 <= most * most;
    };
    for (std::size_t p = 0; p < i[0].size(); ++p)
      if (!within(i, made_->i, p, 0.5 * skin_)) return false;
    for (std::size_t p = 0; p < j[0].size(); ++p)
      if (!within(j, made_->j, p, 0.5 * skin_)) return false;
    for (std::size_t r = 0; r < reaches.size(); ++r)
      if (!(reaches[r] <= made_->reaches[r])) return false;
    return true;
  }

  // The positions in the first cell, and the shifts of the copies, [particle or copy][axis]. The kernel's displacement
  // is the difference of positions plus the shift: the pair of i with an image of j and its reverse differ in sign
  // alone, because both particles are in the first cell and the shift of the reverse is exactly opposite.
  void place() {
    const std::size_t axes = at_i_.size();
    const auto position = [&](const Coordinates& at, const std::vector<Multiples>& moves, std::size_t p, double* to) {
      const bool is_moved = (moves[p][0] | moves[p][1] | moves[p][2]) != 0;
      for (std::size_t axis = 0; axis < axes; ++axis)
        to[axis] = is_moved ? at[axis][p] + PeriodicVectors::sum_of(periods_, axis, moves[p]) : at[axis][p];
    };
    place_i_.resize(moves_i_.size() * axes);
    in_chunks(moves_i_.size(), [&](std::size_t p) { position(at_i_, moves_i_, p, &place_i_[p * axes]); });
    place_j_.resize(copies_.of.size() * axes);
    in_chunks(copies_.of.size(), [&](std::size_t copy) {
      position(at_j_, moves_j_, std::size_t(copies_.of[copy]), &place_j_[copy * axes]);
    });
    if (shifts_of_ == periods_) return;
    shift_j_.resize(place_j_.size());
    for (std::size_t k = 0; k < shift_j_.size(); ++k)
      shift_j_[k] = PeriodicVectors::sum_of(periods_, k % axes, copies_.moved[k / axes]);
    shifts_of_ = periods_;
  }

  // body(0), ..., body(count - 1), on the threads of the host.
  template <typename Body>
  void in_chunks(std::size_t count, const Body& body) const {
    constexpr std::size_t kChunk = 4096;
    device().on_host_threads(std::int64_t((count + kChunk - 1) / kChunk), [&](std::int64_t chunk) {
      const std::size_t begin = std::size_t(chunk) * kChunk, end = std::min(count, begin + kChunk);
      for (std::size_t k = begin; k < end; ++k) body(k);
    });
  }

  // An array of rows of a made input.
  template <typename Number>
  static ArrayView rows_of(std::vector<Number>& values, Element element, std::int64_t count, std::int64_t across) {
    const auto size = std::int64_t(sizeof(Number));
    return {values.data(), element, count, across * size, size};
  }

  SumRequest bound(const SumRequest& request, DeviceCopies* device) {
    const auto axes = std::int64_t(layout_.of_i.size());
    const std::int64_t copies = device ? on_device_.count() : std::int64_t(copies_.of.size());
    gathered_.resize(callers_.fields.size());
    std::vector<MadeArray> made;
    for (std::size_t f = 0; f < callers_.fields.size(); ++f)
      if (callers_.fields[f].role == Role::InputJ)
        made.push_back({callers_.fields[f].name, gathered_field(f, request, copies, device)});
    for (const FieldLayout& field : sum_.source().fields) {
      const std::string& name = field.name;
      const auto add = [&](const char* of, const auto& on_device, const auto& on_host) {
        if (name == of) made.push_back({name, device ? on_device() : on_host()});
      };
      add(
          kPlaceOfI, [&] { return on_device_.place_of_i(); },
          [&] { return rows_of(place_i_, Element::Double, request.ni, axes); });
      add(
          kPlaceOfJ, [&] { return on_device_.place_of_j(); },
          [&] { return rows_of(place_j_, Element::Double, copies, axes); });
      add(
          kShiftOfJ, [&] { return on_device_.shift_of_j(); },
          [&] { return rows_of(shift_j_, Element::Double, copies, axes); });
      add(
          kCopiedJ, [&] { return on_device_.copied(); },
          [&] {
            copied_ = copies_.of;
            for (std::int64_t& j : copied_) j += request.j_offset;
            return rows_of(copied_, Element::Int64, copies, 1);
          });
      add(kMovedI, [&] { return on_device_.moved_i(); }, [&] { return multiples(moves_given_i_); });
      add(kMovedJ, [&] { return on_device_.moved_j(); }, [&] { return multiples(copies_.moved_given); });
    }
    SumRequest over_copies = sum_.bind(request, made);
    over_copies.nj = copies;
    over_copies.j_offset = 0;
    over_copies.pairs = request.pairs;
    over_copies.skin = request.skin;
    over_copies.symmetric = SymmetricChoice::Off;
    over_copies.exclusions = exclusions_.get();
    over_copies.excluded_rows = exclusions_ ? &excluded_ : nullptr;
    return over_copies;
  }

  static ArrayView multiples(std::vector<Multiples>& moved) {
    return {moved.data(), Element::Int32, std::int64_t(moved.size()), sizeof(Multiples), sizeof(std::int32_t)};
  }

  // The field of each copy. A field that no pair reads is not gathered.
  ArrayView gathered_field(std::size_t f, const SumRequest& request, std::int64_t copies, DeviceCopies* device) {
    const FieldLayout& field = callers_.fields[f];
    const ArrayView& view = request.views[f];
    const bool is_read = std::ranges::any_of(sum_.source().columns.j, [&](const Column& column) {
      return column.component >= field.first && column.component < field.first + field.components();
    });
    if (!is_read || copies == 0) return {view.data, view.element, copies, 0, size_of(view.element)};
    if (device)
      return gathered(*device, DeviceImages::kFirstFree + f, view, field.components(), on_device_.of(), copies);
    return gathered(view, field.components(), copies_.of, gathered_[f], this->device(), request.stream);
  }

  // The host needs the copies for exclusions and for messages.
  void fetch_copies(DeviceCopies& device) {
    if (fetched_ == on_device_.made()) return;
    fetched_ = 0;
    const auto count = std::size_t(on_device_.count());
    copies_.of.resize(count);
    copies_.moved_given.resize(count);
    moves_given_i_.resize(std::size_t(on_device_.moved_i().count));
    device.fetch(copies_.of.data(), on_device_.of(), count * sizeof(std::int64_t));
    device.fetch(copies_.moved_given.data(), on_device_.moved_j().data, count * sizeof(Multiples));
    device.fetch(moves_given_i_.data(), on_device_.moved_i().data, moves_given_i_.size() * sizeof(Multiples));
    fetched_ = on_device_.made();
  }

  void exclude_on_device(const SumRequest& request, DeviceCopies& device) {
    if (!request.excluded_rows) return exclude(request);
    if (exclusions_ && fetched_ == on_device_.made() && excluded_of_ == request.excluded_rows->number) return;
    fetch_copies(device);
    exclude(request);
    excluded_of_ = request.excluded_rows->number;
  }

  // An excluded pair is excluded with all its images, or with the one that the caller names.
  void exclude(const SumRequest& request) {
    exclusions_.reset();
    if (!request.excluded_rows) return;
    const PairRows& rows = *request.excluded_rows;
    std::vector<std::int64_t> first{0}, j;
    for (std::int64_t i = 0; i < request.ni; ++i) {
      for (auto entry = std::size_t(rows.first[std::size_t(i)]); entry < std::size_t(rows.first[std::size_t(i) + 1]);
           ++entry) {
        const auto copies = std::ranges::equal_range(copies_.of, std::int64_t(rows.j[entry]));
        for (auto copy = copies.begin(); copy != copies.end(); ++copy) {
          const auto number = copy - copies_.of.begin();
          const Multiples& moved = copies_.moved_given[std::size_t(number)];
          bool is_named = true;
          for (std::size_t k = 0; k < 3 && !rows.images.empty(); ++k)
            is_named = is_named && rows.images[3 * entry + k] == moved[k] - moves_given_i_[std::size_t(i)][k];
          if (is_named) j.push_back(number);
        }
      }
      first.push_back(std::int64_t(j.size()));
    }
    const auto as_given = [](const std::int64_t* from, std::int64_t count) { return std::vector(from, from + count); };
    excluded_ = read_rows("exclusions", request.ni, first.data(), std::int64_t(j.size()), j.data(), as_given);
    exclusions_ = std::make_unique<const Exclusions>(excluded_);
  }

  const CopiesLayout& layout_;
  std::array<PairMethod, 1> row_;
  NearestImages nearest_;
  bool is_nearest_ = false;  // the last run was without copies
  DeviceImages on_device_;
  bool is_on_device_ = false;     // the copies of the last run
  std::int64_t fetched_ = 0;      // DeviceImages::made() of those in copies_; 0: they are others
  std::int64_t excluded_of_ = 0;  // PairRows::number of exclusions_ for these
  // The last copies, and the positions and reaches that they were made for.
  struct Made {
    PeriodicVectors periods;
    Coordinates i, j;
    std::vector<double> reaches;
  };
  std::optional<Made> made_;
  double skin_ = 0;
  std::array<std::vector<double>, 3> periods_;  // the reduced basis, [vector][axis]; 0 where there is none
  std::optional<std::array<std::vector<double>, 3>> shifts_of_;  // periods_ of shift_j_; nothing: of other copies
  std::vector<Multiples> moves_i_, moves_j_;                     // to the first cell
  ImageCopies copies_;
  Coordinates at_i_, at_j_;  // as given
  // The arrays that are bound.
  std::vector<Multiples> moves_given_i_;  // moves_i_ in given vectors
  std::vector<double> place_i_, place_j_, shift_j_;
  std::vector<std::int64_t> copied_;
  std::vector<std::vector<std::byte>> gathered_;  // by field
  // The exclusions of copies.
  PairRows excluded_;
  std::unique_ptr<const Exclusions> exclusions_;
};

class CopiesKernel final : public Kernel {
 public:
  explicit CopiesKernel(std::shared_ptr<const Kernel> kernel)
      : Kernel(source_for_callers(kernel->source)), kernel_(std::move(kernel)) {}
  std::unique_ptr<Summation> start() const override { return std::make_unique<CopiesSummation>(kernel_, *this); }
  std::shared_ptr<const Kernel> load(const KernelSource& other) const override { return kernel_->load(other); }

 private:
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace

std::shared_ptr<const Kernel> with_images(std::shared_ptr<const Kernel> kernel) {
  if (!kernel || !kernel->source.copies()) return kernel;
  return std::make_shared<CopiesKernel>(std::move(kernel));
}

}  // namespace nbcc
