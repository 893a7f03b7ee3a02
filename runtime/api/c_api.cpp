// Implements the functions of nbcc.h, except those marked [jit], by calls of KernelDevice, Kernel and SumState, and
// converts every exception to a status.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/api/nbcc.h"
#include "runtime/api/open_device.h"
#include "runtime/cuda/driver/cuda_driver.h"

namespace nbcc {

nbcc_status fail(nbcc_error** error, nbcc_status status, const std::string& message) noexcept {
  if (error) {
    try {
      *error = new nbcc_error{status, message};
    } catch (...) {
      *error = nullptr;
    }
  }
  return status;
}

nbcc_status fail_with_current_exception(nbcc_error** error) noexcept {
  try {
    try {
      throw;
    } catch (const UsageError& e) {
      return fail(error, NBCC_ERROR_USAGE, e.what());
    } catch (const DeviceError& e) {
      return fail(error, NBCC_ERROR_DEVICE, e.what());
    } catch (const Interrupted& e) {
      return fail(error, NBCC_INTERRUPTED, e.what());
    } catch (const std::bad_alloc&) {
      return fail(error, NBCC_ERROR_DEVICE, "out of memory");
    } catch (const std::exception& e) {
      return fail(error, NBCC_ERROR_INTERNAL, fmt::format("internal error: {}", e.what()));
    }
  } catch (...) {
    return fail(error, NBCC_ERROR_INTERNAL, "internal error: an exception of unknown type");
  }
}

namespace {

SumState& state_of(nbcc_sum* sum) { return checked(sum, "sum").state; }

KernelDevice& device_of(nbcc_device* device) { return *checked(device, "device").device; }

std::string_view name_of(const char* name) { return &checked(name, "name"); }

// True if there is something to copy. Throws UsageError for a null pointer.
bool has_ends(const void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return false;
  if (!to) throw UsageError("the address to copy to is a null pointer");
  if (!from) throw UsageError("the address to copy from is a null pointer");
  return true;
}

ArrayView view_of(const nbcc_view& view) {
  const int element = number_of(view.element);
  if (element < NBCC_FLOAT || element > NBCC_BFLOAT16) {
    throw UsageError(fmt::format("view: {} is no element type", element));
  }
  return {view.data, Element(element), view.count, view.stride, view.component_stride};
}

// Calls body with a Progress that calls the sum's callback, or with null if there is no callback.
template <typename Body>
void with_progress(nbcc_sum& sum, const Body& body) {
  if (!sum.progress) return body(nullptr);
  Progress progress([&sum](double done) { return sum.progress(sum.progress_data, done) != 0; });
  body(&progress);
}

// The enumerations of the interface and of the runtime have the same numbers.
static_assert(int(Element::Float) == NBCC_FLOAT && int(Element::Double) == NBCC_DOUBLE_ELEMENT &&
              int(Element::Int32) == NBCC_INT32 && int(Element::Int64) == NBCC_INT64 &&
              int(Element::Half) == NBCC_HALF && int(Element::BFloat16) == NBCC_BFLOAT16);
static_assert(int(Role::InputI) == NBCC_INPUT_I && int(Role::InputJ) == NBCC_INPUT_J &&
              int(Role::Param) == NBCC_PARAM && int(Role::Output) == NBCC_OUTPUT &&
              int(Role::InputPair) == NBCC_INPUT_PAIR);
static_assert(int(Reduction::Sum) == NBCC_SUM && int(Reduction::Min) == NBCC_MIN && int(Reduction::Max) == NBCC_MAX &&
              int(Reduction::ArgMin) == NBCC_ARGMIN && int(Reduction::ArgMax) == NBCC_ARGMAX &&
              int(Reduction::LogSumExp) == NBCC_LOGSUMEXP && int(Reduction::Softmax) == NBCC_SOFTMAX &&
              int(Reduction::Product) == NBCC_PRODUCT && int(Reduction::Count) == NBCC_COUNT &&
              int(Reduction::At) == NBCC_AT);
static_assert(int(JPart::Whole) == NBCC_WHOLE && int(JPart::First) == NBCC_FIRST_PART &&
              int(JPart::Next) == NBCC_NEXT_PART && int(JPart::Last) == NBCC_LAST_PART);

RunChoice choice_of(const nbcc_run_options* options) {
  const nbcc_run_options all{sizeof(nbcc_run_options), 0, -1, nullptr, 0, nullptr, NBCC_WHOLE, 0};
  const nbcc_run_options chosen = read_options(options, all);
  const int part = number_of(chosen.part);
  if (part < NBCC_WHOLE || part > NBCC_LAST_PART) throw UsageError(fmt::format("part: there is no part {}", part));
  return {chosen.i_begin,    chosen.i_count, chosen.i_list,      chosen.accumulate != 0,
          chosen.clamp != 0, chosen.stream,  JPart(chosen.part), nullptr};
}

}  // namespace

void run_sum(nbcc_sum& sum, const nbcc_run_options* options, FarPeers* peers) {
  RunChoice choice = choice_of(options);
  choice.peers = peers;
  with_progress(sum, [&](Progress* progress) {
    choice.progress = progress;
    sum.check.begin(sum.state, choice);
    sum.state.run(choice);
    sum.check.end(sum.state, choice);
  });
}

void check_run(nbcc_sum& sum, const nbcc_run_options* options) { sum.state.check(choice_of(options)); }

}  // namespace nbcc

using nbcc::guarded;

extern "C" {

const char* nbcc_error_message(const nbcc_error* error) { return error ? error->message.c_str() : ""; }
nbcc_status nbcc_error_status(const nbcc_error* error) { return error ? error->status : NBCC_OK; }
void nbcc_error_free(nbcc_error* error) { delete error; }
nbcc_status nbcc_error_make(nbcc_error** error, nbcc_status status, const char* message) {
  return nbcc::fail(error, status, message ? message : "");
}

const char* nbcc_version(void) {
  static const std::string version =
      fmt::format("{}.{}.{}", NBCC_VERSION_MAJOR, NBCC_VERSION_MINOR, NBCC_VERSION_PATCH);
  return version.c_str();
}

nbcc_status nbcc_device_open(const char* name, const nbcc_device_options* options, nbcc_device** device,
                             nbcc_error** error) {
  return guarded(error, [&] {
    const nbcc_device_options all{sizeof(nbcc_device_options), 0, nullptr, nullptr, nullptr};
    nbcc::checked(device, "device");
    *device = new nbcc_device{nbcc::open_device(nbcc::name_of(name), nbcc::read_options(options, all))};
  });
}
void nbcc_device_close(nbcc_device* device) { delete device; }
const char* nbcc_device_name(const nbcc_device* device) { return device ? device->device->name().c_str() : ""; }

nbcc_status nbcc_cuda_count(int* count, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::checked(count, "count") = 0;
    const nbcc::CudaDriver& driver = nbcc::cuda_driver();
    nbcc::check(driver, driver.device_get_count(count), "cuDeviceGetCount");
  });
}

nbcc_status nbcc_device_allocate(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::KernelDevice& on = nbcc::device_of(device);
    nbcc::checked(memory, "memory") = nullptr;
    *memory = on.allocate(bytes);
  });
}

nbcc_status nbcc_device_allocate_shared(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::KernelDevice& on = nbcc::device_of(device);
    nbcc::checked(memory, "memory") = nullptr;
    *memory = on.allocate_shared(bytes);
  });
}

void nbcc_device_free(nbcc_device* device, void* memory) {
  if (device && memory) device->device->release(memory);
}

nbcc_status nbcc_device_write(nbcc_device* device, void* to, const void* from_host, size_t bytes, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::KernelDevice& on = nbcc::device_of(device);
    if (nbcc::has_ends(to, from_host, bytes)) on.write(to, from_host, bytes);
  });
}

nbcc_status nbcc_device_read(nbcc_device* device, void* to_host, const void* from, size_t bytes, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::KernelDevice& on = nbcc::device_of(device);
    if (nbcc::has_ends(to_host, from, bytes)) on.read(to_host, from, bytes);
  });
}

nbcc_status nbcc_device_holds(nbcc_device* device, const void* memory, int* holds, nbcc_error** error) {
  return guarded(error, [&] { nbcc::checked(holds, "holds") = nbcc::device_of(device).holds(memory) ? 1 : 0; });
}

void nbcc_pipeline_close(nbcc_pipeline* pipeline) { delete pipeline; }
const char* nbcc_pipeline_name(const nbcc_pipeline* pipeline) {
  return pipeline ? pipeline->kernel->source.pipeline.c_str() : "";
}
double nbcc_pipeline_operations(const nbcc_pipeline* pipeline) {
  return pipeline ? pipeline->kernel->source.operations : 0.0;
}
const char* nbcc_pipeline_neighbours(const nbcc_pipeline* pipeline) {
  return pipeline ? pipeline->kernel->source.search.bound.c_str() : "";
}
const char* nbcc_pipeline_no_neighbours(const nbcc_pipeline* pipeline) {
  return pipeline ? pipeline->kernel->source.search.obstacle.c_str() : "";
}
nbcc_status nbcc_pipeline_listed_once(const nbcc_pipeline* pipeline, double* cost, nbcc_error** error) {
  return guarded(error, [&] {
    const nbcc::Kernel& kernel = *nbcc::checked(pipeline, "pipeline").kernel;
    const auto fail = [&kernel](std::string_view why) {
      throw nbcc::UsageError(fmt::format("symmetric = listed: pipeline '{}': {}", kernel.source.pipeline, why));
    };
    const nbcc::DerivedKernels& made = kernel.derived("symmetric");
    if (!made.obstacle.empty()) fail(made.obstacle);
    if (made.kernels.front().source->find(nbcc::Frame::Symmetric))
      fail("this device computes listed pairs for their i only");
    nbcc::checked(cost, "cost") = made.as<nbcc::SymmetricFacts>().cost;
  });
}
int nbcc_pipeline_needs_symmetric(const nbcc_pipeline* pipeline, const char* param) {
  if (!pipeline || !param) return 0;
  const nbcc::DerivedKernels& made = pipeline->kernel->derived("symmetric");
  if (!made.facts) return 0;
  const auto& partners = made.as<nbcc::SymmetricFacts>().partners;
  return std::ranges::count(partners, std::pair<std::string, std::string>(param, param)) > 0 ? 1 : 0;
}
int nbcc_pipeline_field_count(const nbcc_pipeline* pipeline) {
  return pipeline ? int(pipeline->kernel->source.fields.size()) : 0;
}

int nbcc_pipeline_field(const nbcc_pipeline* pipeline, int k, nbcc_field* field) {
  if (!pipeline) return -1;
  const nbcc::Kernel& kernel = *pipeline->kernel;
  return nbcc::describe_field(kernel.source.fields, kernel.types, pipeline->facts.is_read, k, field);
}
nbcc_index_use nbcc_pipeline_index_use(const nbcc_pipeline* pipeline) {
  return pipeline ? nbcc_index_use(pipeline->facts.index_use) : NBCC_INDEX_VALUE;
}

nbcc_status nbcc_sum_create(nbcc_pipeline* pipeline, nbcc_sum** sum, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::checked(sum, "sum") = nullptr;
    const nbcc_pipeline& of = nbcc::checked(pipeline, "pipeline");
    *sum = new nbcc_sum{nbcc::SumState(of.kernel), nbcc::RunCheck(of.kernel, of.facts.index_guard),
                        of.facts.index_guard != nbcc::IndexGuard::None};
    (*sum)->digest = of.facts.digest;
  });
}
void nbcc_sum_destroy(nbcc_sum* sum) { delete sum; }

nbcc_status nbcc_sum_set_param(nbcc_sum* sum, const char* name, const double* values, int count, nbcc_error** error) {
  return guarded(error, [&] {
    if (count < 0)
      throw nbcc::UsageError(fmt::format("param '{}': count must not be negative, got {}", nbcc::name_of(name), count));
    if (count > 0) nbcc::checked(values, "values");
    nbcc::state_of(sum).set_param(nbcc::name_of(name), std::span(values, std::size_t(count)));
  });
}

nbcc_status nbcc_sum_bind(nbcc_sum* sum, const char* name, const nbcc_view* view, nbcc_error** error) {
  return guarded(error,
                 [&] { nbcc::state_of(sum).bind(nbcc::name_of(name), nbcc::view_of(nbcc::checked(view, "view"))); });
}

nbcc_status nbcc_sum_ignore(nbcc_sum* sum, const char* name, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).ignore(nbcc::name_of(name)); });
}

nbcc_status nbcc_sum_set_offsets(nbcc_sum* sum, int64_t i_offset, int64_t j_offset, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).set_offsets(i_offset, j_offset); });
}

nbcc_status nbcc_sum_set_counts(nbcc_sum* sum, int64_t ni, int64_t nj, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).set_counts(ni, nj); });
}

int nbcc_sum_field(const nbcc_sum* sum, int k, nbcc_field* field) {
  if (!sum) return -1;
  const nbcc::Kernel& kernel = sum->state.kernel();
  return nbcc::describe_field(kernel.source.fields, kernel.types, {}, k, field);
}

nbcc_status nbcc_sum_get_view(nbcc_sum* sum, const char* name, nbcc_view* view, nbcc_error** error) {
  return guarded(error, [&] {
    const nbcc::ArrayView bound = nbcc::state_of(sum).bound(nbcc::name_of(name));
    nbcc::checked(view, "view") = {bound.data, nbcc_element(bound.element), bound.count, bound.stride,
                                   bound.component_stride};
  });
}

nbcc_status nbcc_sum_get_counts(nbcc_sum* sum, int64_t* ni, int64_t* nj, nbcc_error** error) {
  return guarded(error, [&] {
    const auto [count_of_i, count_of_j] = nbcc::state_of(sum).counts();
    nbcc::checked(ni, "ni") = count_of_i;
    nbcc::checked(nj, "nj") = count_of_j;
  });
}

nbcc_status nbcc_sum_keep_j(nbcc_sum* sum, int keep, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).keep_j(keep != 0); });
}

nbcc_status nbcc_sum_j_changed(nbcc_sum* sum, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).j_changed(); });
}

nbcc_status nbcc_sum_set_pairs(nbcc_sum* sum, nbcc_pairs pairs, nbcc_error** error) {
  return guarded(error, [&] {
    if (pairs != NBCC_PAIRS_AUTO && pairs != NBCC_PAIRS_ALL && pairs != NBCC_PAIRS_CUTOFF)
      throw nbcc::UsageError(fmt::format("pairs: there is no choice {}", int(pairs)));
    nbcc::state_of(sum).set_pairs(nbcc::PairChoice(pairs));
  });
}

nbcc_status nbcc_sum_set_symmetric(nbcc_sum* sum, nbcc_symmetric choice, nbcc_error** error) {
  return guarded(error, [&] {
    if (choice != NBCC_SYMMETRIC_AUTO && choice != NBCC_SYMMETRIC_OFF && choice != NBCC_SYMMETRIC_ALWAYS &&
        choice != NBCC_SYMMETRIC_LISTED)
      throw nbcc::UsageError(fmt::format("symmetric: there is no choice {}", int(choice)));
    nbcc::state_of(sum).set_symmetric(nbcc::SymmetricChoice(choice));
  });
}

nbcc_status nbcc_sum_set_skin(nbcc_sum* sum, double skin, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).set_skin(skin); });
}

nbcc_status nbcc_sum_set_lists(nbcc_sum* sum, const nbcc_lists* lists, nbcc_error** error) {
  return guarded(error, [&] {
    if (!lists) return nbcc::state_of(sum).set_lists({});
    const nbcc_lists l = nbcc::read_options(lists, nbcc_lists{});
    nbcc::state_of(sum).set_lists(nbcc::ListArrays{l.groups, l.ranges, l.i_first, l.i_order, l.range_first, l.j_begin,
                                                   l.j_end, l.j_order, l.j_count, l.shifts, l.axes});
  });
}

nbcc_status nbcc_sum_set_batches(nbcc_sum* sum, int64_t batches, int64_t ni, const int64_t* i_batch, int64_t nj,
                                 const int64_t* j_batch, nbcc_error** error) {
  return guarded(error, [&] {
    if (batches == 0 && !i_batch && !j_batch) return nbcc::state_of(sum).clear_lists();
    nbcc::state_of(sum).set_batches(batches, ni, i_batch, nj, j_batch);
  });
}

nbcc_status nbcc_sum_set_batch_param(nbcc_sum* sum, const char* name, const double* values, int64_t count,
                                     nbcc_error** error) {
  return guarded(error, [&] {
    if (count < 0)
      throw nbcc::UsageError(fmt::format("param '{}': count must not be negative, got {}", nbcc::name_of(name), count));
    if (count > 0) nbcc::checked(values, "values");
    nbcc::state_of(sum).set_param_of_groups(nbcc::name_of(name), std::span(values, std::size_t(count)));
  });
}

nbcc_status nbcc_sum_set_listed_pairs(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count, const int64_t* j,
                                      nbcc_error** error) {
  return guarded(error, [&] {
    if (!first) return nbcc::state_of(sum).clear_lists();
    nbcc::state_of(sum).set_listed_pairs(ni, first, count, j);
  });
}

nbcc_status nbcc_sum_set_exclusions(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count, const int64_t* j,
                                    nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).set_exclusions(ni, first, count, j); });
}

nbcc_status nbcc_sum_set_excluded_images(nbcc_sum* sum, int64_t ni, const int64_t* first, int64_t count,
                                         const int64_t* j, const int64_t* images, nbcc_error** error) {
  return guarded(error, [&] { nbcc::state_of(sum).set_exclusions(ni, first, count, j, images); });
}

int nbcc_sum_has_lists(const nbcc_sum* sum) { return sum && sum->state.has_lists() ? 1 : 0; }

nbcc_status nbcc_sum_find_neighbours(nbcc_sum* sum, nbcc_neighbour_list* found, nbcc_error** error) {
  return guarded(error, [&] {
    const std::size_t size = nbcc::checked(found, "found").size;
    if (size < sizeof(nbcc_neighbour_list)) throw nbcc::UsageError("neighbours: `size` must be the size of the struct");
    auto pairs = std::make_unique<nbcc::FoundPairs>();
    nbcc::with_progress(nbcc::checked(sum, "sum"),
                        [&](nbcc::Progress* progress) { *pairs = sum->state.find_pairs(progress, sum->skips_self); });
    *found = {size,
              std::int64_t(pairs->first.size()) - 1,
              std::int64_t(pairs->j.size()),
              pairs->axes,
              pairs->first.data(),
              pairs->j.data(),
              pairs->shifts.data(),
              nullptr};
    found->owner = pairs.release();
  });
}

void nbcc_neighbour_list_free(nbcc_neighbour_list* found) {
  if (!found) return;
  delete static_cast<nbcc::FoundPairs*>(found->owner);
  *found = {found->size, 0, 0, 0, nullptr, nullptr, nullptr, nullptr};
}

nbcc_status nbcc_sum_set_launch_configuration(nbcc_sum* sum, const nbcc_launch_configuration* configuration,
                                              nbcc_error** error) {
  return guarded(error, [&] {
    const nbcc_launch_configuration c = nbcc::read_options(
        configuration, nbcc_launch_configuration{sizeof(nbcc_launch_configuration), 0, 0, 0, 0, 0, 0});
    nbcc::state_of(sum).set_launch({c.threads, c.i_per_thread, c.j_tile, c.unroll, c.j_slices, c.j_splits});
  });
}

nbcc_status nbcc_sum_get_launch_configuration(nbcc_sum* sum, int64_t ni, int64_t nj,
                                              nbcc_launch_configuration* configuration, nbcc_error** error) {
  return guarded(error, [&] {
    const std::size_t size = nbcc::checked(configuration, "launch configuration").size;
    if (size < sizeof(size_t)) throw nbcc::UsageError("launch configuration: `size` must be the size of the struct");
    const auto [threads, i_per_thread, j_tile, unroll, slices, splits] = nbcc::state_of(sum).launch_for(ni, nj);
    const nbcc_launch_configuration found{size, threads, i_per_thread, j_tile, unroll, slices, splits};
    std::memcpy(configuration, &found, std::min(size, sizeof found));
  });
}

nbcc_status nbcc_sum_set_progress(nbcc_sum* sum, nbcc_progress progress, void* data, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::checked(sum, "sum").progress = progress;
    sum->progress_data = data;
  });
}

nbcc_status nbcc_sum_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error) {
  return guarded(error, [&] { nbcc::run_sum(nbcc::checked(sum, "sum"), options, nullptr); });
}

const char* nbcc_sum_warning(const nbcc_sum* sum, int k) {
  if (!sum || k < 0) return nullptr;
  const std::vector<std::string>& of_state = sum->state.warnings();
  if (std::size_t(k) < of_state.size()) return of_state[std::size_t(k)].c_str();
  return sum->check.warning(std::size_t(k) - of_state.size());
}

nbcc_status nbcc_sum_wait(nbcc_sum* sum, nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::with_progress(nbcc::checked(sum, "sum"), [&](nbcc::Progress* progress) {
      // All work has been launched; how much of it is left is unknown.
      if (progress) progress->set_stage(1, 1);
      sum->state.wait(progress);
    });
  });
}

}  // extern "C"
