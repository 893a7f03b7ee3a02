// The functions of nbcc.h that need a compiler: opening a device, compiling a pipeline. Everything else of the C
// interface is in runtime/c_api.cpp.
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>

#include "compiler/diagnostic.h"
#include "jit/build_kernel.h"
#include "jit/cpu_jit.h"
#include "runtime/cpu_device.h"
#include "runtime/cuda_device.h"
#include "runtime/handles.h"

namespace nbcc {
namespace {

// Runs the body; every exception becomes a status with a message.
template <typename Body>
nbcc_status guarded(nbcc_error** error, Body body) noexcept {
  try {
    if (error) *error = nullptr;
    body();
    return NBCC_OK;
  } catch (const CompileError& e) {
    return fail(error, NBCC_ERROR_INPUT, e.what());
  } catch (const SourceUnreadable& e) {
    return fail(error, NBCC_ERROR_USAGE, e.what());
  } catch (...) {
    return fail_with_current_exception(error);
  }
}

void require(const void* pointer, const char* what) {
  if (!pointer) throw UsageError(std::string(what) + " is a null pointer");
}

Options compile_options(const nbcc_pipeline_options* given) {
  const nbcc_pipeline_options o = read_options(
      given, nbcc_pipeline_options{sizeof(nbcc_pipeline_options), NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_REFINED});
  // Read as numbers: a caller in C may have put anything there.
  const int precision = number_of(o.precision), math = number_of(o.math), root = number_of(o.root);
  if (precision < NBCC_SINGLE || precision > NBCC_DOUBLE) throw UsageError("options: no such precision");
  if (math < NBCC_FAST || math > NBCC_PRECISE) throw UsageError("options: no such math");
  if (root < NBCC_ROOT_REFINED || root > NBCC_ROOT_EXACT) throw UsageError("options: no such root");
  constexpr RootMode kRoots[] = {RootMode::Refined, RootMode::Estimate, RootMode::Exact};
  return {Precision(precision), Math(math), kRoots[root]};
}

nbcc_pipeline* compile(nbcc_device* device, const Source& source, const nbcc_pipeline_options* options) {
  KernelDevice* const opened = device->device.get();
  if (const auto* cpu = dynamic_cast<const CpuDevice*>(opened)) {
    return new nbcc_pipeline{
        opened->load(build_cpu_kernel(source, compile_options(options), cpu->isa(), cpu->dump_folder()))};
  }
  if (const auto* cuda = dynamic_cast<const CudaDevice*>(opened)) {
    return new nbcc_pipeline{opened->load(build_cuda_kernel(source, compile_options(options), cuda->dump_folder()))};
  }
  throw UsageError("this device cannot compile pipelines");
}

std::shared_ptr<KernelDevice> open_device(std::string_view name, const nbcc_device_options& o) {
  const char* const dump = o.dump_dir ? o.dump_dir : std::getenv("NBCC_DUMP");
  const std::string cache_folder = o.cache_dir ? o.cache_dir : DiskCache::default_folder();
  const std::string dump_folder = dump ? dump : "";
  if (name == "cpu") {
    const Isa isa = o.isa ? isa_from_name(o.isa) : detect_isa();
    return std::make_shared<CpuDevice>(o.threads, isa, make_cpu_toolchain(), cache_folder, dump_folder);
  }
  if (const std::optional<int> ordinal = cuda_ordinal(name)) {
    return std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), *ordinal, cache_folder, dump_folder);
  }
  throw DeviceError("there is no device '" + std::string(name) + "'; there are cpu, cuda and cuda:0, cuda:1, ...");
}

}  // namespace
}  // namespace nbcc

extern "C" {

nbcc_status nbcc_device_open(const char* name, const nbcc_device_options* options, nbcc_device** device,
                             nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::require(name, "name");
    nbcc::require(device, "device");
    *device = new nbcc_device{nbcc::open_device(
        name,
        nbcc::read_options(options, nbcc_device_options{sizeof(nbcc_device_options), 0, nullptr, nullptr, nullptr}))};
  });
}

nbcc_status nbcc_pipeline_from_text(nbcc_device* device, const char* text, const char* name,
                                    const nbcc_pipeline_options* options, nbcc_pipeline** pipeline,
                                    nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::require(device, "device");
    nbcc::require(text, "text");
    nbcc::require(pipeline, "pipeline");
    *pipeline = nbcc::compile(device, {name ? name : "pipeline.pipe", text}, options);
  });
}

nbcc_status nbcc_pipeline_from_file(nbcc_device* device, const char* path, const nbcc_pipeline_options* options,
                                    nbcc_pipeline** pipeline, nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::require(device, "device");
    nbcc::require(path, "path");
    nbcc::require(pipeline, "pipeline");
    *pipeline = nbcc::compile(device, nbcc::read_source(path), options);
  });
}

}  // extern "C"
