// Pipelines -> LibraryFiles. Door: build_library(). Each step is a call: kernels for every instruction set, code for
// every architecture, descriptions, declarations, linking. Writes no file.
#include "jit/build_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "jit/callers.h"
#include "jit/clang_compile.h"
#include "jit/cpu_jit.h"
#include "jit/link_library.h"
#include "runtime/api/nbcc.h"
#include "runtime/error.h"
#include "runtime/image/image.h"
#include "runtime/image/image_kernel.h"
#include "templates/embedded.h"

namespace nbcc {
namespace {

std::string version() {
  return fmt::format("nbcc {}.{}.{}", NBCC_VERSION_MAJOR, NBCC_VERSION_MINOR, NBCC_VERSION_PATCH);
}

int number_of_architecture(const std::string& name) {
  return std::atoi(name.c_str() + std::min<std::size_t>(3, name.size()));
}

// Machine code in every shape that a device asks for by itself. Of the newest architecture PTX as well, for GPUs that
// are newer than that, in the text's own shape.
std::vector<CudaImage> cuda_images(const LibraryRequest& request, const KernelSource& kernel) {
  std::vector<CudaImage> images;
  if (request.architectures.empty()) return images;
  const CudaCompiler& compiler = *request.cuda_compiler;
  const auto add = [&](const std::string& architecture, const CudaShape& shape, CudaCompiler::Form form) {
    images.push_back({architecture, shape, form == CudaCompiler::Form::Ptx, compiler.version(),
                      compiler.compile(kernel.text, architecture, shape, form).image});
  };
  const std::string newest = *std::max_element(
      request.architectures.begin(), request.architectures.end(),
      [](const auto& a, const auto& b) { return number_of_architecture(a) < number_of_architecture(b); });
  const std::vector<CudaShape> shapes = usual_shapes(kernel);
  for (const std::string& architecture : request.architectures) {
    for (const CudaShape& shape : shapes) add(architecture, shape, CudaCompiler::Form::Cubin);
  }
  add(newest, shapes.front(), CudaCompiler::Form::Ptx);
  return images;
}

struct Built {
  Signature signature;
  std::optional<CunbodyApi> cunbody;
  std::optional<FdpsFunctor> fdps;
  std::vector<LibraryObject> objects;
  std::string description;
};

Built build_pipeline(const LibraryRequest& request, const Source& source) {
  const Pipeline pipeline = parse(source);
  Built built;
  if (request.api == Api::Cunbody) built.cunbody = cunbody_of(source, pipeline);
  PipelineImage image;
  image.made_by = version();
  image.precision = name(request.options.precision);
  image.math = name(request.options.math);
  image.root = name(request.options.root);
  for (const Isa isa : request.isas) {
    KernelSource kernel = build_cpu_kernel(pipeline, request.options, isa, "");
    const std::string prefix = kernel_prefix(kernel.pipeline, isa);
    built.objects.push_back({prefix + ".o", cpu_object(kernel, prefix)});
    kernel.text.clear();
    image.cpu.push_back(std::move(kernel));
  }
  image.cuda = build_cuda_kernel(pipeline, request.options, "");
  image.cuda_images = cuda_images(request, image.cuda);
  built.signature = signature_of(source, image.cuda);
  if (request.api == Api::Fdps) built.fdps = fdps_functor(source, pipeline, image.cuda, request.class_map);
  built.description = write_image(image);
  return built;
}

// The header that users get, and what it includes, are what the functions are compiled with.
LibraryObject compile_functions(const LibraryText& text, const LibraryRequest& request,
                                const std::vector<Built>& pipelines) {
  const std::string nbcc_h(embedded_template("nbcc.h"));
  ClangJob job;
  job.main = "/" + text.name + ".c";
  job.files = {{job.main, library_source(text, request.isas)},
               {"/" + text.name + ".h", c_header(text)},
               {"/include/nbcc/nbcc.h", nbcc_h},
               {"/include/runtime/api/nbcc.h", nbcc_h},
               {"/include/nbcc_image.h", std::string(embedded_template("nbcc_image.h"))},
               {"/include/stddef.h", "typedef __SIZE_TYPE__ size_t;\n"},
               {"/include/stdint.h", "typedef __INT32_TYPE__ int32_t;\ntypedef __INT64_TYPE__ int64_t;\n"}};
  if (text.cunbody) job.files["/cunbody_api.h"] = cunbody_header(text);
  for (const Built& built : pipelines) job.files["/" + built.signature.pipeline + ".image"] = built.description;
  const std::string triple =
      request.isas.front() == Isa::Neon ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
  job.arguments = {"-triple",
                   triple,
                   "-x",
                   "c",
                   "-std=c17",
                   "-ffreestanding",
                   "-nostdsysteminc",
                   "-nobuiltininc",
                   "-isystem",
                   "/include",
                   "-O2",
                   "-mrelocation-model",
                   "pic",
                   "-pic-level",
                   "2"};
  ClangResult compiled = compile_in_memory(job, ClangForm::Object);
  if (!compiled.ok) throw InternalError(fmt::format("the compiler refused the library's functions:\n{}", compiled.log));
  return {text.name + ".o", std::move(compiled.bytes)};
}

bool is_function(const std::string& name, const std::vector<Signature>& signatures, Api api) {
  std::vector<std::string> functions = api == Api::Cunbody ? cunbody_names() : std::vector<std::string>();
  for (const Signature& signature : signatures) {
    const std::vector<std::string> more = function_names(signature.pipeline);
    functions.insert(functions.end(), more.begin(), more.end());
  }
  return std::count(functions.begin(), functions.end(), name) > 0;
}

// A namespace or module cannot have the name of a function that is in it, and nbcc has a module of its own.
std::string name_of_module(const std::string& library, const std::vector<Signature>& signatures, Api api) {
  const bool is_free = library != "nbcc" && !is_word(library) && !is_function(library, signatures, api);
  return is_free ? library : library + "_library";
}

// "a::b": what functions are called in C is there beside its first part.
void check_namespace(const std::string& name, const std::vector<Signature>& signatures, Api api) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find("::", begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (is_word(part)) throw UsageError(fmt::format("namespace '{}': '{}' is a word of C++", name, part));
    if (begin == 0 && is_function(part, signatures, api)) {
      throw UsageError(fmt::format("namespace '{}': the library has a function '{}'", name, part));
    }
    begin = end + 2;
  }
}

// In a comment of one line.
std::string file_names(const std::vector<Source>& sources) {
  std::string names;
  for (const Source& source : sources) {
    names += (names.empty() ? "" : ", ") + source.path.substr(source.path.rfind('/') + 1);
  }
  for (char& c : names) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return names;
}

void check_request(const LibraryRequest& request) {
  if (request.sources.empty()) throw UsageError("a library needs a pipeline");
  if (request.api == Api::Cunbody) {
    if (request.sources.size() > 1) {
      throw UsageError(
          fmt::format("a library with CUNBODY-1's interface is of one pipeline, got {}: a program has one "
                      "cunbody_api()",
                      request.sources.size()));
    }
    check_cunbody_names(request.sources.front().name());
  }
  if (request.isas.empty()) throw UsageError("a library needs an instruction set");
  const bool neon = std::count(request.isas.begin(), request.isas.end(), Isa::Neon) > 0;
  if (neon && request.isas.size() > 1) throw UsageError("neon and sse2, avx2, avx512 cannot be in one library");
#if defined(__x86_64__)
  if (neon && !request.is_static)
    throw UsageError("a library for neon cannot be linked on this machine; --static can be made");
#endif
}

}  // namespace

std::string library_name(const std::string& file_name) {
  std::string stem = file_name.substr(0, file_name.rfind('.'));
  if (stem.starts_with("lib") && stem.size() > 3) stem.erase(0, 3);
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) c = '_';
  }
  if (stem.empty()) return "pipelines";
  return stem.front() >= '0' && stem.front() <= '9' ? "lib" + stem : stem;
}

LibraryFiles build_library(const LibraryRequest& request) {
  check_request(request);
  // The names first: they take no time.
  std::vector<Signature> names;
  for (const Source& source : request.sources) names.push_back({source.name(), {}, {}});
  check_names(names);
  check_namespace(request.cxx_namespace, names, request.api);

  std::vector<Built> pipelines;
  for (const Source& source : request.sources) pipelines.push_back(build_pipeline(request, source));

  std::vector<FdpsFunctor> functors;
  for (const Built& built : pipelines) {
    if (built.fdps) functors.push_back(*built.fdps);
  }
  if (request.api == Api::Fdps) check_class_map(request.class_map, functors);

  LibraryText text;
  text.name = library_name(request.file_name);
  text.made = fmt::format("{} from {} ({} precision, {} math)", version(), file_names(request.sources),
                          name(request.options.precision), name(request.options.math));
  for (const Built& built : pipelines) text.signatures.push_back(built.signature);
  if (request.for_fortran) check_fortran_names(text.signatures);
  text.cunbody = pipelines.front().cunbody;
  text.module = name_of_module(text.name, text.signatures, request.api);
  text.cxx_namespace = request.cxx_namespace.empty() ? text.module : request.cxx_namespace;

  std::vector<LibraryObject> objects{compile_functions(text, request, pipelines)};
  for (Built& built : pipelines) {
    std::move(built.objects.begin(), built.objects.end(), std::back_inserter(objects));
  }
  LibraryFiles result{text.name, {}, c_header(text), cpp_header(text), fortran_module(text), {}, {}};
  if (text.cunbody) result.cunbody_header = cunbody_header(text);
  if (request.api == Api::Fdps) result.fdps_header = fdps_header(text, functors);
  if (request.is_static) {
    result.library = make_archive(objects);
  } else {
    result.library =
        link_shared_library({std::move(objects),
                             request.file_name,
                             kRuntimeSoname,
                             {"nbcc_image_run", "nbcc_last_error", "nbcc_pipeline_from_image", "nbcc_sum_bind_arrays"},
                             request.rpath});
  }
  return result;
}

}  // namespace nbcc
