// Compiled pipelines through the C interface: the functions of nbcc_image.h, nbcc_last_error() and nbcc_last_warning().
// Sums run as for pipelines compiled in the process; only the kernel is loaded differently.
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/api/open_device.h"
#include "runtime/image/image_kernel.h"
#include "runtime/sum/check/run_check.h"
#include "runtime/sum/derived/for_callers.h"
#include "runtime/tolerance/tolerance.h"

namespace nbcc {
namespace {

// The message of this thread's last failure in a function without an nbcc_error** parameter.
thread_local std::string last_error;
// The warnings of this thread's last call of nbcc_image_run().
thread_local std::string last_warning;

const nbcc_image& checked_image(const nbcc_image* image) {
  if (checked(image, "image").size < sizeof(nbcc_image)) throw UsageError("the library was compiled by an older nbcc");
  return *image;
}

PipelineImage read_image(const nbcc_image& image) {
  return nbcc::read_image({static_cast<const char*>(image.description), image.description_size});
}

std::span<const nbcc_image_kernel> kernels_of(const nbcc_image& image) {
  return {image.kernels, std::size_t(image.kernel_count)};
}

std::span<const nbcc_image_code> codes_of(const nbcc_image& image) {
  return {image.codes, image.codes ? std::size_t(image.code_count) : 0};
}

// Loads a compiled pipeline on a device of one backend; null on a device of another backend.
using ImageLoader = std::shared_ptr<const Kernel> (*)(KernelDevice&, const nbcc_image&, const PipelineImage&);

std::shared_ptr<const Kernel> load_on_cpu(KernelDevice& device, const nbcc_image& image, const PipelineImage& read) {
  auto* const cpu = dynamic_cast<CpuDevice*>(&device);
  return cpu ? load_image(*cpu, read, kernels_of(image), codes_of(image)) : nullptr;
}

std::shared_ptr<const Kernel> load_on_gpus(KernelDevice& device, const nbcc_image&, const PipelineImage& read) {
  auto* const gpus = dynamic_cast<CudaGpus*>(&device);
  if (!gpus) return nullptr;
  return gpus->load_each([&](const CudaDevice& gpu) { return load_image(gpu, read, make_nvrtc); });
}

constexpr ImageLoader kLoaders[] = {load_on_cpu, load_on_gpus};

nbcc_pipeline load(KernelDevice& device, const nbcc_image& image) {
  const PipelineImage read = read_image(image);
  for (const ImageLoader load_on : kLoaders)
    if (const auto kernel = load_on(device, image, read)) return {for_callers(kernel), read.facts};
  throw UsageError(device.name() + " does not run compiled pipelines");
}

// The listed pairs of a call, as nbcc_image.h describes them.
struct ListedPairs {
  const std::int64_t* first = nullptr;
  std::int64_t count = 0;
  const std::int64_t* j = nullptr;
};

// Sets the counts and params, and binds the arrays of all fields; nbcc_image.h describes `arrays`. `pairs` null: the
// caller has no listed pairs. Without `first` and `j` the pairs of an earlier call remain listed.
void bind_arrays(SumState& sum, const std::vector<FieldLayout>& fields, Element real, std::int64_t ni, std::int64_t nj,
                 const ListedPairs* pairs, const void* const* arrays) {
  if (pairs && !pairs->first && pairs->j)
    throw UsageError("first: it is a null pointer, but j is not; null for both keeps the pairs that are listed");
  sum.set_counts(ni, nj);
  if (pairs && pairs->first) sum.set_listed_pairs(ni, pairs->first, pairs->count, pairs->j);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const FieldLayout& field = fields[f];
    if (field.role == Role::Param) {
      if (!arrays[f]) throw UsageError(fmt::format("param '{}' is a null pointer", field.name));
      sum.set_param(field.name, {static_cast<const double*>(arrays[f]), std::size_t(field.components())});
      continue;
    }
    if (field.role == Role::Output && !arrays[f]) {
      sum.ignore(field.name);
      continue;
    }
    const Element element = typed_element(field, field.is_total() ? Element::Double : real);
    const std::int64_t bytes = size_of(element);
    if (field.is_of_pair() && !pairs)
      throw UsageError(fmt::format("'{}' has a value for each listed pair, but this call lists no pairs", field.name));
    const std::int64_t rows = field.is_total()             ? 1
                              : field.is_of_pair()         ? pairs->count
                              : field.role == Role::InputJ ? nj
                                                           : ni;
    sum.bind(field.name, {const_cast<void*>(arrays[f]), element, rows, field.numbers() * bytes, bytes});
  }
}

Element real_element(nbcc_element real) {
  if (number_of(real) == NBCC_FLOAT) return Element::Float;
  if (number_of(real) == NBCC_DOUBLE_ELEMENT) return Element::Double;
  throw UsageError("real numbers are NBCC_FLOAT or NBCC_DOUBLE_ELEMENT");
}

// The device of calls without handles, one for all compiled pipelines of the process: the first device that
// $NBCC_DEVICE names, else all cores. Never closed, since another call may follow at any time.
KernelDevice& device_of_calls() {
  static auto* const device = new std::shared_ptr([] {
    const char* const variable = std::getenv("NBCC_DEVICE");
    const std::string_view names = variable && *variable ? variable : "cpu";
    return open_device(first_device_name(names), {sizeof(nbcc_device_options), 0, nullptr, nullptr, nullptr});
  }());
  return **device;
}

// Sets the tolerance of calls without handles. The text is read in the same way in every locale.
void set_tolerance_of_calls(SumState& sum) {
  const char* const variable = std::getenv("NBCC_TOLERANCE");
  if (!variable || !*variable) return;
  const std::string_view text = variable;
  double tolerance = 0;
  // A number that is too small for a double is an error, too: it is not 0.
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tolerance);
  if (error == std::errc::result_out_of_range)
    throw UsageError(fmt::format("NBCC_TOLERANCE: it must be 0 (none) or from 1e-14 to 1, got {}", text));
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("NBCC_TOLERANCE: expected a number, got '{}'", text));
  if (tolerance == 0) return;
  try {
    set_tolerance(sum, tolerance);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("NBCC_TOLERANCE: {}", e.what()));
  }
}

void add_warning(std::string_view warning) {
  if (!last_warning.empty()) last_warning += '\n';
  last_warning += warning;
}

// A pipeline on device_of_calls(), with a pool of sums that no call is using.
class Calls {
 public:
  explicit Calls(const nbcc_image& image) : pipeline_(load(device_of_calls(), image)) {}

  void run(Element real, std::int64_t ni, std::int64_t nj, const ListedPairs* pairs, const void* const* arrays) {
    constexpr std::int64_t kFirstOfNone[] = {0};
    ListedPairs listed = pairs ? *pairs : ListedPairs{};
    if (pairs && !pairs->first) {
      if (ni > 0) throw UsageError("first: it is a null pointer, and lists no pairs");
      listed.first = kFirstOfNone;  // replaces the pairs of an earlier call
    }
    std::unique_ptr<SumState> sum = take();
    sum->forget_warnings();
    bind_arrays(*sum, sum->fields(), real, ni, nj, pairs ? &listed : nullptr, arrays);
    // Made for this call, so that its warnings have the numbers of this call.
    RunCheck check(pipeline_.kernel, pipeline_.facts.index_guard);
    check.begin(*sum, {});
    sum->run();
    sum->wait();
    check.end(*sum, {});
    for (const std::string& warning : sum->warnings()) add_warning(warning);
    for (std::size_t k = 0; const char* const warning = check.warning(k); ++k) add_warning(warning);
    // A sum that has thrown does not return to the pool, since its state is unknown.
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(sum));
  }

 private:
  std::unique_ptr<SumState> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<SumState> sum = std::move(idle_.back());
        idle_.pop_back();
        return sum;
      }
    }
    auto made = std::make_unique<SumState>(pipeline_.kernel);
    set_tolerance_of_calls(*made);
    return made;
  }

  const nbcc_pipeline pipeline_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<SumState>> idle_;
};

Calls& calls_of(const nbcc_image& image) {
  const std::atomic_ref<void*> slot(*image.calls);
  if (void* const known = slot.load(std::memory_order_acquire)) return *static_cast<Calls*>(known);
  auto made = std::make_unique<Calls>(image);
  void* expected = nullptr;
  // Another thread may have stored its object first.
  if (!slot.compare_exchange_strong(expected, made.get())) return *static_cast<Calls*>(expected);
  return *made.release();
}

void keep_error(nbcc_error* error) {
  try {
    last_error = nbcc_error_message(error);
  } catch (...) {
    last_error.clear();
  }
  nbcc_error_free(error);
}

// A call without handles. Failures are kept for nbcc_last_error(), warnings for nbcc_last_warning().
nbcc_status run_call(const nbcc_image* image, nbcc_element real, std::int64_t ni, std::int64_t nj,
                     const ListedPairs* pairs, const void* const* arrays) {
  nbcc_error* error = nullptr;
  last_warning.clear();
  const nbcc_status status = guarded(&error, [&] {
    checked(arrays, "arrays");
    calls_of(checked_image(image)).run(real_element(real), ni, nj, pairs, arrays);
  });
  // `error` is null if memory for the message could not be allocated.
  if (error) keep_error(error);
  return status;
}

}  // namespace
}  // namespace nbcc

extern "C" {

const char* nbcc_last_error(void) { return nbcc::last_error.c_str(); }
const char* nbcc_last_warning(void) { return nbcc::last_warning.c_str(); }

nbcc_status nbcc_pipeline_from_image(nbcc_device* device, const nbcc_image* image, nbcc_pipeline** pipeline,
                                     nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::KernelDevice& on = *nbcc::checked(device, "device").device;
    nbcc::checked(pipeline, "pipeline");
    *pipeline = new nbcc_pipeline(nbcc::load(on, nbcc::checked_image(image)));
  });
}

nbcc_status nbcc_sum_bind_arrays(nbcc_sum* sum, nbcc_element real, int64_t ni, int64_t nj, const void* const* arrays,
                                 nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::SumState& state = nbcc::checked(sum, "sum").state;
    nbcc::checked(arrays, "arrays");
    nbcc::bind_arrays(state, state.fields(), nbcc::real_element(real), ni, nj, nullptr, arrays);
  });
}

nbcc_status nbcc_sum_bind_pairs(nbcc_sum* sum, nbcc_element real, int64_t ni, int64_t nj, const int64_t* first,
                                int64_t pairs, const int64_t* j, const void* const* arrays, nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::SumState& state = nbcc::checked(sum, "sum").state;
    nbcc::checked(arrays, "arrays");
    const nbcc::ListedPairs listed{first, pairs, j};
    nbcc::bind_arrays(state, state.fields(), nbcc::real_element(real), ni, nj, &listed, arrays);
  });
}

nbcc_status nbcc_image_run(const nbcc_image* image, nbcc_element real, int64_t ni, int64_t nj,
                           const void* const* arrays) {
  return nbcc::run_call(image, real, ni, nj, nullptr, arrays);
}

nbcc_status nbcc_image_run_pairs(const nbcc_image* image, nbcc_element real, int64_t ni, int64_t nj,
                                 const int64_t* first, int64_t pairs, const int64_t* j, const void* const* arrays) {
  const nbcc::ListedPairs listed{first, pairs, j};
  return nbcc::run_call(image, real, ni, nj, &listed, arrays);
}

}  // extern "C"
