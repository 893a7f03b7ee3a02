// Compiles pipelines to LibraryFiles. Entry point: build_library(). Steps: sources of every language, kernels for every
// instruction set and GPU architecture, descriptions, linking. The slow steps are last, after all checks. Writes no
// file.
#include "jit/build_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "compiler/passes/facts/text_facts.h"
#include "jit/build_kernel.h"
#include "jit/clang_compile.h"
#include "jit/cpu_jit.h"
#include "jit/link_library.h"
#include "runtime/api/nbcc.h"
#include "runtime/error.h"
#include "runtime/image/cuda_programs.h"
#include "runtime/image/image.h"
#include "runtime/image/image_kernel.h"
#include "runtime/image/stored_rows.h"
#include "runtime/thread_pool.h"
#include "templates/embedded.h"

namespace nbcc {
namespace {

std::string version() { return std::string("nbcc ") + nbcc_version(); }

// One variant of a kernel for one architecture.
struct CudaJob {
  std::string architecture;
  LaunchConfig config;
  std::string source;
  bool wants_ptx = false;  // in addition to machine code
};

// All programs that runs of a pipeline load, for every launch configuration that a device may choose. For the newest
// architecture also PTX, which newer GPUs compile; PTX lacks the configurations that are chosen by the number of
// particles.
std::vector<CudaJob> cuda_jobs(const LibraryRequest& request, const KernelSource& kernel,
                               std::span<const StoredRow> rows) {
  std::vector<CudaJob> jobs;
  if (request.architectures.empty()) return jobs;
  std::vector<CudaProgramSource> programs = programs_of_kernel(kernel);
  for (const StoredRow& row : rows) std::ranges::move(programs_of_row(row), std::back_inserter(programs));
  const std::string newest = *std::ranges::max_element(request.architectures, {}, number_of_architecture);
  for (const std::string& architecture : request.architectures) {
    std::set<std::pair<std::uint64_t, LaunchConfig>> known;  // kernels of several rows may be equal
    for (const CudaProgramSource& program : programs) {
      std::string source = source_of(*program.kernel, program.variant);
      if (!program.runs_on(number_of_architecture(architecture)) ||
          !known.emplace(source_hash(source), program.variant.config).second)
        continue;
      jobs.push_back(
          {architecture, program.variant.config, std::move(source), architecture == newest && program.is_needed()});
    }
  }
  return jobs;
}

CudaCode compile(const CudaCompiler& compiler, const CudaJob& job) {
  CudaCode code = compiler.compile(job.source, job.architecture, job.config, CudaCompiler::Form::Cubin);
  if (!job.wants_ptx)
    code.ptx.clear();
  else if (code.ptx.empty())
    code.ptx = compiler.compile(job.source, job.architecture, job.config, CudaCompiler::Form::Ptx).image;
  return code;
}

// Machine code of all jobs, then PTX.
std::vector<CudaImage> cuda_images(const LibraryRequest& request, const KernelSource& kernel,
                                   std::span<const StoredRow> rows) {
  const std::vector<CudaJob> jobs = cuda_jobs(request, kernel, rows);
  std::vector<CudaImage> images, ptx;
  if (jobs.empty()) return images;
  const CudaCompiler& compiler = *request.cuda_compiler;
  std::vector<CudaCode> codes(jobs.size());
  ThreadPool(0).parallel_for(std::int64_t(jobs.size()),
                             [&](std::int64_t k) { codes[std::size_t(k)] = compile(compiler, jobs[std::size_t(k)]); });
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const CudaJob& job = jobs[k];
    CudaImage image{job.architecture,        job.config,         false,
                    source_hash(job.source), compiler.version(), std::move(codes[k].image)};
    images.push_back(image);
    if (!job.wants_ptx) continue;
    image.ptx = true;
    image.bytes = std::move(codes[k].ptx);
    ptx.push_back(std::move(image));
  }
  images.insert(images.end(), ptx.begin(), ptx.end());
  return images;
}

// Compiles the derived kernels of a CPU kernel. Kernels of equal source share their code.
std::vector<StoredRow> build_rows(const LibraryRequest& request, const KernelSource& kernel, Isa isa,
                                  LibraryPipeline& one, std::vector<LibraryObject>& objects) {
  std::vector<StoredRow> rows = store_rows(kernel, request.with, request.options.precision);
  std::set<std::string> compiled;
  for (StoredRow& row : rows)
    for (StoredKernel& derived : row.kernels)
      for (KernelVariant& variant : derived.source.variants) {
        const std::string hash = fmt::format("{:016x}", source_hash(variant.source));
        if (compiled.insert(hash).second) {
          const std::string symbol = fmt::format("{}_{}", kernel_prefix(kernel.pipeline, isa), hash);
          objects.push_back({symbol + ".o", cpu_object(derived.source, variant, symbol)});
          one.codes.push_back({isa, hash, symbol});
        }
        variant.source = hash;
      }
  return rows;
}

// Returns the description of a pipeline, and adds its CPU kernels to `objects`.
std::string build_kernels(const LibraryRequest& request, LibraryPipeline& one, std::vector<LibraryObject>& objects) {
  PipelineImage image;
  image.made_by = version();
  image.precision = name(request.options.precision);
  image.math = name(request.options.math);
  image.root = name(request.options.root);
  for (const Isa isa : request.isas) {
    KernelSource kernel = build_cpu_kernel(one.pipeline, request.options, isa, "");
    const std::string prefix = kernel_prefix(kernel.pipeline, isa);
    for (const KernelVariant& variant : kernel.variants) {
      const std::string name = prefix + (variant.frame == Frame::Lists ? "_lists" : "");
      objects.push_back({name + ".o", cpu_object(kernel, variant, name)});
    }
    std::ranges::move(build_rows(request, kernel, isa, one, objects), std::back_inserter(image.rows));
    kernel.variants.clear();
    image.cpu.push_back(std::move(kernel));
  }
  image.cuda = one.cuda;
  image.facts = text_facts(one.pipeline);
  std::vector<StoredRow> rows = store_rows(image.cuda, request.with, request.options.precision);
  if (!request.architectures.empty()) std::ranges::for_each(rows, keep_launches_of_programs);
  image.cuda_images = cuda_images(request, image.cuda, rows);
  std::ranges::move(rows, std::back_inserter(image.rows));
  return write_image(image);
}

// Compiles the library's C functions. The in-memory files are the library's header, the headers of bindings, and the
// headers that these include.
LibraryObject compile_functions(const LibraryText& library, const std::vector<Isa>& isas, ClangJob job) {
  const std::string nbcc_h(embedded_template("nbcc.h"));
  job.what = "the library's functions";
  job.main = "/" + library.name + ".c";
  job.files.insert({{job.main, library_source(library, isas)},
                    {"/include/nbcc/nbcc.h", nbcc_h},
                    {"/include/runtime/api/nbcc.h", nbcc_h},
                    {"/include/runtime/api/nbcc_fields.h", std::string(embedded_template("nbcc_fields.h"))},
                    {"/include/runtime/api/nbcc_pair_lists.h", std::string(embedded_template("nbcc_pair_lists.h"))},
                    {"/include/runtime/api/nbcc_statistics.h", std::string(embedded_template("nbcc_statistics.h"))},
                    {"/include/nbcc_image.h", std::string(embedded_template("nbcc_image.h"))},
                    {"/include/stddef.h", "typedef __SIZE_TYPE__ size_t;\n"},
                    {"/include/stdint.h", "typedef __INT32_TYPE__ int32_t;\ntypedef __INT64_TYPE__ int64_t;\n"}});
  job.arguments = fmt::format("-triple {}", facts(isas.front()).triple) +
                  " -x c -std=c17 -ffreestanding -nostdsysteminc -nobuiltininc -isystem /include -O2"
                  " -mrelocation-model pic -pic-level 2";
  return {library.name + ".o", compile_in_memory(job)};
}

std::set<std::string> all_functions(const LibraryText& library) {
  std::set<std::string> names(library.more_functions.begin(), library.more_functions.end());
  for (const LibraryPipeline& one : library.pipelines) names.merge(function_names(one.signature.pipeline));
  return names;
}

// The name of the namespace or module. It must differ from the functions in it, and from nbcc's own module `nbcc`.
std::string name_of_module(const LibraryText& library) {
  const bool is_taken =
      library.name == "nbcc" || is_word(library.name) || all_functions(library).contains(library.name);
  return is_taken ? library.name + "_library" : library.name;
}

// Checks a namespace such as "a::b". Its first component must not be the name of a C function, because both are in the
// global scope.
void check_namespace(const std::string& name, const LibraryText& library) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find("::", begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (is_word(part)) throw UsageError(fmt::format("namespace '{}': '{}' is a word of C++", name, part));
    if (begin == 0 && all_functions(library).contains(part)) {
      throw UsageError(fmt::format("namespace '{}': the library has a function '{}'", name, part));
    }
    begin = end + 2;
  }
}

// File names for a one-line comment.
std::string file_names(const std::vector<Source>& sources) {
  std::string names;
  for (const Source& source : sources) {
    names += (names.empty() ? "" : ", ") + source.path.substr(source.path.rfind('/') + 1);
  }
  std::ranges::replace_if(names, [](unsigned char c) { return c < ' '; }, '?');
  return names;
}

void check_request(const LibraryRequest& request) {
  if (request.sources.empty()) throw UsageError("a library needs a pipeline");
  if (request.isas.empty()) throw UsageError("a library needs an instruction set");
  const IsaFacts& first = facts(request.isas.front());
  for (const Isa isa : request.isas) {
    if (facts(isa).triple != first.triple)
      throw UsageError(fmt::format("{} and {} cannot be in one library", first.name, name(isa)));
  }
  if (first.triple != kHostTriple && !request.is_static) {
    throw UsageError(
        fmt::format("a library for {} cannot be linked on this machine; --static can be made", first.name));
  }
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
  LibraryText text;
  text.name = library_name(request.file_name);
  text.made = fmt::format("{} from {} ({} precision, {} math)", version(), file_names(request.sources),
                          name(request.options.precision), name(request.options.math));
  for (const Source& source : request.sources) text.pipelines.push_back(library_pipeline(source, request.options));
  std::vector<std::string> names;
  for (const LibraryPipeline& one : text.pipelines) names.push_back(one.signature.pipeline);
  check_names(names);
  for (const LanguageBinding& binding : request.bindings) {
    if (binding.extend) binding.extend(text);
  }
  check_namespace(request.cxx_namespace, text);
  text.module = name_of_module(text);
  text.cxx_namespace = request.cxx_namespace.empty() ? text.module : request.cxx_namespace;
  LibraryFiles result{{}, {{text.name + ".h", c_header(text)}}};
  for (const LanguageBinding& binding : request.bindings) result.texts[binding.file] = binding.write(text);

  ClangJob job;
  for (const auto& [file, contents] : result.texts) job.files["/" + file] = contents;
  std::vector<LibraryObject> objects;
  for (LibraryPipeline& one : text.pipelines) {
    job.files["/" + one.signature.pipeline + ".image"] = build_kernels(request, one, objects);
  }
  objects.insert(objects.begin(), compile_functions(text, request.isas, std::move(job)));
  if (request.is_static) {
    result.library = make_archive(objects);
  } else {
    result.library =
        link_shared_library({std::move(objects),
                             request.file_name,
                             kRuntimeSoname,
                             {"nbcc_image_run", "nbcc_image_run_pairs", "nbcc_last_error", "nbcc_last_warning",
                              "nbcc_pipeline_from_image", "nbcc_sum_bind_arrays", "nbcc_sum_bind_pairs"},
                             request.rpath});
  }
  return result;
}

}  // namespace nbcc
