// The functions of nbcc.h that need a compiler: compiling a pipeline. What is told of texts alone is
// in c_api_report.cpp, everything else of the C interface in runtime/api/c_api.cpp.
#include <new>

#include "jit/build_kernel.h"
#include "jit/c_api_guard.h"
#include "jit/cpu_jit.h"
#include "runtime/api/handles.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda_device.h"

namespace nbcc {

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

namespace {

nbcc_pipeline* compile(nbcc_device* device, const Source& source, const nbcc_pipeline_options* options) {
  KernelDevice* const opened = device->device.get();
  if (auto* const cpu = dynamic_cast<CpuDevice*>(opened)) {
    cpu->provide(make_cpu_toolchain());
    return new nbcc_pipeline{
        opened->load(build_cpu_kernel(source, compile_options(options), cpu->isa(), cpu->dump_folder()))};
  }
  if (const auto* cuda = dynamic_cast<const CudaDevice*>(opened)) {
    return new nbcc_pipeline{opened->load(build_cuda_kernel(source, compile_options(options), cuda->dump_folder()))};
  }
  throw UsageError("this device cannot compile pipelines");
}

}  // namespace
}  // namespace nbcc

extern "C" {

nbcc_status nbcc_pipeline_from_text(nbcc_device* device, const char* text, const char* name,
                                    const nbcc_pipeline_options* options, nbcc_pipeline** pipeline,
                                    nbcc_error** error) {
  return nbcc::guarded_compile(error, [&] {
    nbcc::require(device, "device");
    nbcc::require(text, "text");
    nbcc::require(pipeline, "pipeline");
    *pipeline = nbcc::compile(device, {name ? name : "pipeline.pipe", text}, options);
  });
}

nbcc_status nbcc_pipeline_from_file(nbcc_device* device, const char* path, const nbcc_pipeline_options* options,
                                    nbcc_pipeline** pipeline, nbcc_error** error) {
  return nbcc::guarded_compile(error, [&] {
    nbcc::require(device, "device");
    nbcc::require(path, "path");
    nbcc::require(pipeline, "pipeline");
    *pipeline = nbcc::compile(device, nbcc::read_source(path), options);
  });
}

}  // extern "C"
