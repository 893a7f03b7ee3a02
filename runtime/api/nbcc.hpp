// nbcc's C++ interface: nbcc.h with owners, spans and exceptions. Header only; link with libnbcc_jit.
//
//   nbcc::Device device("cpu");
//   nbcc::Pipeline gravity = nbcc::Pipeline::from_file(device, "gravity.pipe");
//   nbcc::Sum(gravity).set("eps2", 1e-4)
//       .bind("xi", x).bind("xj", x).bind("mj", m)      // std::vector<double> x(3 * n), m(n)
//       .bind("acc", acc).bind("pot", pot)
//       .run();
//
// Quantities have the units of the caller's arrays; nbcc adds none. Functions that fail throw nbcc::Error.
// Different objects may be used from different threads at once, one Sum from one thread at a time.
//
// The inline namespace gives these names other linker symbols than the names in the library's own namespace nbcc.
#pragma once
#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc_device.hpp"
#include "runtime/api/nbcc_pair_lists.hpp"
#include "runtime/api/nbcc_views.hpp"

namespace nbcc {
inline namespace v0 {

struct PipelineOptions {
  nbcc_precision precision = NBCC_SINGLE;
  nbcc_math math = NBCC_FAST;
  nbcc_root root = NBCC_ROOT_REFINED;
};

struct Field {
  std::string name;
  nbcc_role role = NBCC_INPUT_I;
  std::string type;     // as declared: "real", "vec3", "int", "float[4]"
  std::string comment;  // the comment after the declaration
  int components = 1;   // numbers per particle
  bool integral = false;
  nbcc_reduction reduction = NBCC_SUM;  // outputs only
  std::vector<double> defaults;         // params only: empty, or one per component
  bool total = false;                   // an output(total): one row for the run
};

// A field of an adjoint pipeline; see nbcc_adjoint_field.
struct AdjointField {
  std::string name;
  nbcc_adjoint_meaning meaning = NBCC_ADJOINT_VALUE;
  std::string of, partner;
};

class Pipeline {
 public:
  // Both throw Error: NBCC_ERROR_INPUT with the diagnostics if the text has errors, NBCC_ERROR_USAGE if the file cannot
  // be read. `name` appears in diagnostics as the file's name.
  static Pipeline from_text(const Device& device, const std::string& text, const std::string& name = "pipeline",
                            const PipelineOptions& options = {}) {
    const nbcc_pipeline_options given = plain(options);
    nbcc_pipeline* pipeline = nullptr;
    detail::call(nbcc_pipeline_from_text, device.get(), text.c_str(), name.c_str(), &given, &pipeline);
    return Pipeline(pipeline);
  }
  static Pipeline from_file(const Device& device, const std::string& path, const PipelineOptions& options = {}) {
    const nbcc_pipeline_options given = plain(options);
    nbcc_pipeline* pipeline = nullptr;
    detail::call(nbcc_pipeline_from_file, device.get(), path.c_str(), &given, &pipeline);
    return Pipeline(pipeline);
  }
  // The text of a pipeline of derivatives, for from_text(); see nbcc_adjoint_text. of, by: names separated by commas;
  // empty: all real numbers. Throws Error.
  static std::string adjoint_text(const std::string& text, nbcc_adjoint_side side, const std::string& of = {},
                                  const std::string& by = {}, const std::string& name = "pipeline") {
    nbcc_report* report = nullptr;
    detail::call(nbcc_adjoint_text, text.c_str(), name.c_str(), side, of.c_str(), by.c_str(), &report);
    const std::unique_ptr<nbcc_report, decltype(&nbcc_report_free)> owner(report, nbcc_report_free);
    return nbcc_report_text(report);
  }
  // The meaning of each field of that text, in order of declaration; see nbcc_adjoint_field.
  static std::vector<AdjointField> adjoint_fields(const std::string& text, nbcc_adjoint_side side,
                                                  const std::string& of = {}, const std::string& by = {},
                                                  const std::string& name = "pipeline") {
    nbcc_report* report = nullptr;
    detail::call(nbcc_adjoint_text, text.c_str(), name.c_str(), side, of.c_str(), by.c_str(), &report);
    const std::unique_ptr<nbcc_report, decltype(&nbcc_report_free)> owner(report, nbcc_report_free);
    std::vector<AdjointField> fields;
    nbcc_adjoint_field field;
    for (int k = 0; nbcc_report_adjoint_field(report, k, &field) == 0; ++k)
      fields.push_back({field.name, field.meaning, field.of, field.partner});
    return fields;
  }
  // The text of the pipeline with an additional output FORCE_virial[6], for from_text(); see nbcc_virial_text. Throws
  // Error.
  static std::string virial_text(const std::string& text, const std::string& force = "force",
                                 const std::string& place_i = "xi", const std::string& place_j = "xj",
                                 const std::string& name = "pipeline") {
    nbcc_report* report = nullptr;
    detail::call(nbcc_virial_text, text.c_str(), name.c_str(), force.c_str(), place_i.c_str(), place_j.c_str(),
                 &report);
    const std::unique_ptr<nbcc_report, decltype(&nbcc_report_free)> owner(report, nbcc_report_free);
    return nbcc_report_text(report);
  }
  // Takes ownership of a pipeline that was opened through nbcc.h.
  explicit Pipeline(nbcc_pipeline* pipeline) : handle_(pipeline) {}

  std::string name() const { return nbcc_pipeline_name(handle_.get()); }
  // Floating point operations per interaction: the convention stated in the file, else the raw count.
  double operations() const { return nbcc_pipeline_operations(handle_.get()); }
  // The pairs that can contribute, such as "|xj - xi| < rc"; empty if the guards prove nothing, and the reason why not.
  std::string neighbours() const { return nbcc_pipeline_neighbours(handle_.get()); }
  std::string no_neighbours() const { return nbcc_pipeline_no_neighbours(handle_.get()); }
  std::vector<Field> fields() const {  // in order of declaration
    std::vector<Field> fields;
    nbcc_field f;
    for (int k = 0; nbcc_pipeline_field(handle_.get(), k, &f) == 0; ++k) {
      fields.push_back({f.name, f.role, f.type, f.comment, f.components, f.integral != 0, f.reduction,
                        std::vector<double>(f.defaults, f.defaults + f.default_count), f.total != 0});
    }
    return fields;
  }
  nbcc_pipeline* get() const { return handle_.get(); }

 private:
  static nbcc_pipeline_options plain(const PipelineOptions& options) {
    return {sizeof(nbcc_pipeline_options), options.precision, options.math, options.root};
  }
  std::unique_ptr<nbcc_pipeline, detail::Close> handle_;
};

// The launch configuration of a GPU kernel; see nbcc_launch_configuration. 0: nbcc chooses.
struct LaunchConfiguration {
  int threads = 0, i_per_thread = 0, j_tile = 0, unroll = 0, j_slices = 0, j_splits = 0;
  bool operator==(const LaunchConfiguration&) const = default;
};

// The pairs within the cutoff, in CSR form; see nbcc_neighbour_list.
struct NeighbourList {
  int axes = 0;
  std::vector<std::int64_t> first, j;
  std::vector<double> shifts;  // [pair][axis]
};

// A pipeline with arrays bound to its fields. run() overwrites the outputs; accumulate() combines the results with the
// values in the outputs, by the output's reduction. On failure no output has been written; see nbcc_sum_run for GPUs
// and nbcc_sum_set_progress for interrupts. Outputs may be the same arrays as inputs. All functions may throw Error
// with NBCC_ERROR_USAGE; the message names the field, what was expected and what was given.
class Sum {
 public:
  explicit Sum(const Pipeline& pipeline) : fields_(pipeline.fields()) {
    nbcc_sum* sum = nullptr;
    detail::call(nbcc_sum_create, pipeline.get(), &sum);
    handle_.reset(sum);
  }

  // Sets a param: one value, or one per component.
  Sum& set(const std::string& param, double value) { return set(param, std::span<const double>(&value, 1)); }
  // A truth value, only for params of type bool.
  template <std::same_as<bool> Truth>
  Sum& set(const std::string& param, Truth value) {
    const Field* const known = find(param);
    if (known && known->role == NBCC_PARAM && !known->type.starts_with("bool"))
      throw Error(NBCC_ERROR_USAGE,
                  "param '" + param + "' is of type " + known->type + ": only a bool is true or false");
    return set(param, value ? 1.0 : 0.0);
  }
  Sum& set(const std::string& param, std::span<const double> values) {
    return call(nbcc_sum_set_param, param.c_str(), values.data(), int(values.size()));
  }
  Sum& set(const std::string& param, std::complex<double> value) {
    return set(param, std::array<double, 2>{value.real(), value.imag()});
  }
  Sum& set(const std::string& param, std::span<const std::complex<double>> values) {
    return set(param, std::span(reinterpret_cast<const double*>(values.data()), 2 * values.size()));
  }

  // Binds an array to an input or output. All i-fields must have the same count of particles, and all j-fields.
  Sum& bind(const std::string& field, const View& array) {
    const Field* const known = find(field);
    if (array.read_only && known && known->role == NBCC_OUTPUT) {
      throw Error(NBCC_ERROR_USAGE, "output '" + field + "' cannot be bound to a const array");
    }
    return call(nbcc_sum_bind, field.c_str(), &array.where);
  }
  // Binds a contiguous array of shape (N), or (N, components) in row-major order for a field with several components.
  template <ArrayRange R>
  Sum& bind(const std::string& field, R&& array) {
    const Field* const known = find(field);
    return bind(field, rows(array, known ? known->components : 1));
  }
  // Binds a contiguous array of complex numbers (std::complex<float> or <double>) to a field that is complex or a vec2.
  template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R> && std::ranges::borrowed_range<R> &&
             detail::Complex<std::ranges::range_value_t<R>>
  Sum& bind(const std::string& field, R&& array) {
    const auto count = std::int64_t(std::ranges::size(array));
    using Part = typename std::ranges::range_value_t<R>::value_type;
    const Field* const known = find(field);
    if (known && !known->type.starts_with("complex") && !known->type.starts_with("vec2"))
      throw Error(NBCC_ERROR_USAGE, "'" + field + "' is " + known->type + " and takes no complex numbers");
    const std::int64_t width = known ? known->components / 2 : 1;
    if (count % width != 0)
      throw Error(NBCC_ERROR_USAGE, "'" + field + "': " + std::to_string(count) +
                                        " complex numbers have no whole number of rows of " + std::to_string(width));
    return bind(field, view(std::ranges::data(array), count / width, width * std::int64_t(2 * sizeof(Part))));
  }
  // Binds a complex number to a total (output(total)).
  template <ArrayElement T>
  Sum& bind(const std::string& field, std::complex<T>& number) {
    return bind(field, std::span(&number, 1));
  }
  // Binds a number to a total (output(total)) of one component.
  template <ArrayElement T>
  Sum& bind(const std::string& field, T& number) {
    const Field* const known = find(field);
    if (known && (!known->total || known->components != 1))
      throw Error(NBCC_ERROR_USAGE, "'" + field + "' is not a total of one component: it takes an array, not a number");
    return bind(field, view(&number, 1));
  }
  // Ignores an output; it needs no array.
  Sum& ignore(const std::string& output) { return call(nbcc_sum_ignore, output.c_str()); }
  // Sets the numbers that are added to i_index and j_index, for bound arrays that are slices of larger ones.
  Sum& offsets(std::int64_t i_offset, std::int64_t j_offset) { return call(nbcc_sum_set_offsets, i_offset, j_offset); }
  // Sets the numbers of particles, for a side without fields; otherwise they follow from the bound arrays.
  Sum& counts(std::int64_t ni, std::int64_t nj) { return call(nbcc_sum_set_counts, ni, nj); }
  // keep: the next run packs the j-particles; they stay packed until a j-field is bound again, or j_changed().
  Sum& keep_j(bool keep = true) { return call(nbcc_sum_keep_j, keep ? 1 : 0); }
  Sum& j_changed() { return call(nbcc_sum_j_changed); }
  // Which pairs later runs compute; see nbcc_sum_set_pairs.
  Sum& pairs(nbcc_pairs chosen) { return call(nbcc_sum_set_pairs, chosen); }
  // Allows, refuses or requests that each pair of one set is computed once; see nbcc_sum_set_symmetric.
  Sum& symmetric(nbcc_symmetric choice) { return call(nbcc_sum_set_symmetric, choice); }
  // Keeps neighbour lists until a particle has moved by half of `width`; see nbcc_sum_set_skin.
  Sum& skin(double width) { return call(nbcc_sum_set_skin, width); }
  // Sums to a tolerance, for pipelines with a far field; 0 (the default): none. See nbcc_sum_set_tolerance.
  Sum& tolerance(double error) { return call(nbcc_sum_set_tolerance, error, nullptr); }
  // Sets the caller's lists (nbcc_lists; `size` is set here). no_lists() removes lists, batches and listed pairs.
  Sum& lists(nbcc_lists given) {
    given.size = sizeof given;
    return call(nbcc_sum_set_lists, &given);
  }
  Sum& no_lists() { return call(nbcc_sum_set_lists, nullptr); }
  // Independent systems: the batch id of each i and each j, in rising order; see nbcc_sum_set_batches.
  Sum& batches(std::int64_t count, std::span<const std::int64_t> i_batch, std::span<const std::int64_t> j_batch) {
    return call(nbcc_sum_set_batches, count, std::int64_t(i_batch.size()), i_batch.data(), std::int64_t(j_batch.size()),
                j_batch.data());
  }
  // Sets a param's values for each batch or each group of the lists: values[batch][component].
  Sum& set_batch(const std::string& param, std::span<const double> values) {
    return call(nbcc_sum_set_batch_param, param.c_str(), values.data(), std::int64_t(values.size()));
  }
  // Pairs listed one by one, and excluded pairs, in CSR form: the j of i are j[first[i]], ..., j[first[i + 1] - 1]; see
  // nbcc_sum_set_listed_pairs and nbcc_sum_set_exclusions.
  Sum& listed_pairs(std::span<const std::int64_t> first, std::span<const std::int64_t> j) {
    return call(nbcc_sum_set_listed_pairs, rows_in(first), first.data(), std::int64_t(j.size()), j.data());
  }
  Sum& exclusions(std::span<const std::int64_t> first, std::span<const std::int64_t> j) {
    return call(nbcc_sum_set_exclusions, rows_in(first), first.data(), std::int64_t(j.size()), j.data());
  }
  // images: three numbers for each j, as nbcc_sum_set_excluded_images.
  Sum& exclusions(std::span<const std::int64_t> first, std::span<const std::int64_t> j,
                  std::span<const std::int64_t> images) {
    if (images.size() != 3 * j.size())
      throw Error(NBCC_ERROR_USAGE, "exclusions: expected three numbers of images for each j");
    return call(nbcc_sum_set_excluded_images, rows_in(first), first.data(), std::int64_t(j.size()), j.data(),
                images.data());
  }
  Sum& no_exclusions() { return call(nbcc_sum_set_exclusions, 0, nullptr, 0, nullptr); }
  // The neighbour list, from the current contents of the arrays. CPU only.
  NeighbourList neighbours() {
    nbcc_neighbour_list found{};
    found.size = sizeof found;
    call(nbcc_sum_find_neighbours, &found);
    NeighbourList list{found.axes,
                       {found.first, found.first + found.ni + 1},
                       {found.j, found.j + found.count},
                       {found.shifts, found.shifts + found.count * found.axes}};
    nbcc_neighbour_list_free(&found);
    return list;
  }
  // The warnings of the last run or search (nbcc_sum_warning); usually none.
  std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    for (int k = 0; const char* const text = nbcc_sum_warning(handle_.get(), k); ++k) all.emplace_back(text);
    return all;
  }
  nbcc_statistics statistics() {
    nbcc_statistics found{};
    found.size = sizeof found;
    call(nbcc_sum_get_statistics, &found);
    return found;
  }
  // Sets the launch configuration of later runs on a GPU. No effect on the CPU. If the pipeline cannot be compiled with
  // it, the run and the function below throw.
  Sum& launch_configuration(const LaunchConfiguration& chosen) {
    const nbcc_launch_configuration given{sizeof given,  chosen.threads,  chosen.i_per_thread, chosen.j_tile,
                                          chosen.unroll, chosen.j_slices, chosen.j_splits};
    return call(nbcc_sum_set_launch_configuration, &given);
  }
  // The launch configuration of a run from arrays on the device, over nj for ni; zeros on the CPU.
  LaunchConfiguration launch_configuration(std::int64_t ni, std::int64_t nj) {
    nbcc_launch_configuration found{};
    found.size = sizeof found;
    call(nbcc_sum_get_launch_configuration, ni, nj, &found);
    return {found.threads, found.i_per_thread, found.j_tile, found.unroll, found.j_slices, found.j_splits};
  }
  // GPU: the stream of later runs (CUstream, cudaStream_t) of the primary context; null: the legacy default stream.
  Sum& stream(void* stream) {
    stream_ = stream;
    return *this;
  }

  // True: later runs clamp an index outside of a table to its nearest end. False (default): such an index is an Error.
  Sum& clamp(bool on) {
    clamp_ = on ? 1 : 0;
    return *this;
  }

  // Sets a callback that is called every 50 ms during run(), wait() or neighbours(), in the thread that called the
  // function, with the fraction of the work that is done, from 0 to 1. If the callback returns true, the function
  // throws Interrupted; if the callback throws, the function throws the same exception. A callback may return void. See
  // nbcc_sum_set_progress for the contents of outputs after that. nullptr (the default): no callback.
  template <std::invocable<double> Callback>
  Sum& progress(Callback callback) {
    auto watcher = std::make_unique<Watcher>();
    if constexpr (std::convertible_to<std::invoke_result_t<Callback&, double>, bool>)
      watcher->ask = std::move(callback);
    else
      watcher->ask = [callback = std::move(callback)](double done) mutable {
        callback(done);
        return false;
      };
    call(nbcc_sum_set_progress, &Watcher::call, static_cast<void*>(watcher.get()));
    watcher_ = std::move(watcher);
    return *this;
  }
  Sum& progress(std::nullptr_t) {
    call(nbcc_sum_set_progress, nullptr, nullptr);
    watcher_.reset();
    return *this;
  }

  // Sums over all j: for all i, for a range of i, for the i of a list (in any order, each at most once). The result of
  // particle k is stored at index k of the outputs, also for a range or list.
  Sum& run() { return start(0, -1, nullptr, 0); }
  Sum& run(std::int64_t i_begin, std::int64_t i_count) { return start(i_begin, checked(i_count), nullptr, 0); }
  Sum& run(std::span<const std::int64_t> i_list) { return start_list(i_list, 0); }
  // The same as run(), but combines the results with the values in the outputs by their reductions. Not for argmin,
  // argmax, at and softmax.
  Sum& accumulate() { return start(0, -1, nullptr, 1); }
  Sum& accumulate(std::int64_t i_begin, std::int64_t i_count) { return start(i_begin, checked(i_count), nullptr, 1); }
  Sum& accumulate(std::span<const std::int64_t> i_list) { return start_list(i_list, 1); }
  // One of several runs that are one sum over the j; see nbcc_part.
  Sum& run_part(nbcc_part part) {
    const nbcc_run_options options{sizeof(nbcc_run_options), 0, -1, nullptr, 0, stream_, part, clamp_};
    return call(nbcc_sum_run, &options);
  }
  // The same as run() with a list of `count` indices in memory of the GPU, which are not checked.
  Sum& run_device_list(const std::int64_t* i_list, std::int64_t count) { return start(0, checked(count), i_list, 0); }
  // Waits for the work of all runs. (A run whose arrays are all on a GPU returns when its work is in the stream.)
  Sum& wait() { return call(nbcc_sum_wait); }

  nbcc_sum* get() const { return handle_.get(); }

 private:
  // The callback, and the exception that it has thrown: exceptions must not pass through C functions.
  struct Watcher {
    std::function<bool(double)> ask;
    std::exception_ptr failure;
    static int call(void* data, double done) noexcept {
      auto& self = *static_cast<Watcher*>(data);
      self.failure = nullptr;
      try {
        return self.ask(done) ? 1 : 0;
      } catch (...) {
        self.failure = std::current_exception();
        return 1;
      }
    }
  };

  template <typename Function, typename... Given>
  Sum& call(Function function, Given... given) {
    try {
      detail::call(function, handle_.get(), given...);
    } catch (const Interrupted&) {
      if (watcher_ && watcher_->failure) std::rethrow_exception(std::exchange(watcher_->failure, nullptr));
      throw;
    }
    return *this;
  }
  Sum& start(std::int64_t begin, std::int64_t count, const std::int64_t* list, int accumulate) {
    const nbcc_run_options options{
        sizeof(nbcc_run_options), begin, count, list, accumulate, stream_, NBCC_WHOLE, clamp_};
    return call(nbcc_sum_run, &options);
  }
  Sum& start_list(std::span<const std::int64_t> list, int accumulate) {
    // A null list would mean a range, so an empty span needs a non-null pointer.
    static constexpr std::int64_t none = 0;
    return start(0, std::int64_t(list.size()), list.empty() ? &none : list.data(), accumulate);
  }
  static std::int64_t rows_in(std::span<const std::int64_t> first) {
    if (first.empty()) throw Error(NBCC_ERROR_USAGE, "the rows of pairs have one `first` more than there are i");
    return std::int64_t(first.size()) - 1;
  }
  static std::int64_t checked(std::int64_t count) {
    if (count < 0) throw Error(NBCC_ERROR_USAGE, "a range of i has a count of " + std::to_string(count));
    return count;
  }
  const Field* find(const std::string& name) const {
    for (const Field& field : fields_) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }

  std::vector<Field> fields_;
  void* stream_ = nullptr;
  int clamp_ = 0;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<nbcc_sum, detail::Close> handle_;
};

}  // namespace v0
}  // namespace nbcc
