// A compiled pipeline's codes -> a Kernel. Interface: load_image(), for CPU and CUDA devices. Runs nothing; image.cpp
// reads the bytes.
#include "runtime/image/image_kernel.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/cpu_functions.h"
#include "runtime/error.h"
#include "runtime/image/cuda_programs.h"

namespace nbcc {
namespace {

// True if the driver can translate PTX for `code` to run on `gpu`: the GPU must be as new or newer. Code for a name
// with a letter, such as sm_90a, runs on that architecture only.
bool runs_ptx(const std::string& gpu, const std::string& code) {
  const int has = number_of_architecture(gpu), needs = number_of_architecture(code);
  const bool is_specific = !code.empty() && (code.back() < '0' || code.back() > '9');
  return is_specific ? has == needs : has >= needs;
}

bool runs_cubin(const std::string& gpu, const std::string& code) {
  return runs_ptx(gpu, code) && number_of_architecture(gpu) / 10 == number_of_architecture(code) / 10;
}

// Presents a compiled pipeline to the CUDA device as a compiler for the sources of one kernel: compile() returns the
// library's code. NVRTC compiles code that the library lacks, for other configurations or GPUs.
class ImageCompiler final : public CudaCompiler {
 public:
  ImageCompiler(const PipelineImage& image, std::string gpu, int driver_version, std::string cache_folder,
                OpenCompiler open)
      : gpu_(std::move(gpu)), open_(std::move(open)), cache_(std::move(cache_folder)) {
    for (const CudaImage& one : image.cuda_images) {
      // A driver loads code of its own CUDA major version and of earlier ones.
      if (one.toolkit / 1000 > driver_version / 1000) {
        too_new_ = std::max(too_new_, one.toolkit);
        continue;
      }
      if (one.ptx ? runs_ptx(gpu_, one.architecture) : runs_cubin(gpu_, one.architecture)) usable_.push_back(one);
    }
    // Machine code before PTX, the nearest architecture first.
    std::ranges::stable_sort(usable_, [](const CudaImage& a, const CudaImage& b) {
      if (a.ptx != b.ptx) return b.ptx;
      return number_of_architecture(a.architecture) > number_of_architecture(b.architecture);
    });
  }

  std::string identity() const override { return "a compiled library"; }
  bool holds_code() const override { return true; }
  // Always the GPU's own architecture: the driver itself distinguishes machine code from PTX.
  std::vector<std::string> architectures() const override { return {gpu_}; }

  // True if the image has code for the kernel's first variant in this configuration.
  bool holds(const KernelSource& kernel, const LaunchConfig& config) const {
    return find(kernel.first().source, config) != nullptr;
  }
  bool holds(const CudaProgramSource& program) const {
    return !program.runs_on(number_of_architecture(gpu_)) ||
           find(source_of(*program.kernel, program.variant), program.variant.config) != nullptr;
  }
  bool can_compile() const {
    try {
      nvrtc();
      return true;
    } catch (const DeviceError&) {
      return false;
    }
  }

  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form) const override {
    if (const CudaImage* const found = find(text, config)) return {found->bytes};
    const std::shared_ptr<const CudaCompiler> compiler = nvrtc();
    // Choose the architecture like CudaLoader does.
    const std::vector<std::string> known = compiler->architectures();
    std::string target;
    for (const std::string& one : known) {
      if (runs_ptx(architecture, one)) target = one;
    }
    if (target.empty()) {
      throw DeviceError(fmt::format("{} does not know {} any more", compiler->identity(), architecture));
    }
    const Form form = runs_cubin(architecture, target) ? Form::Cubin : Form::Ptx;
    const std::string key =
        fmt::format("{}\n{}, {}\n{}\n{}", architecture, compiler->identity(), target, describe(config), text);
    return {cache_.get_or_make(key, [&] { return compiler->compile(text, target, config, form).image; })};
  }

 private:
  const CudaImage* find(const std::string& text, const LaunchConfig& config) const {
    const auto found = std::ranges::find_if(usable_, [&, number = source_hash(text)](const CudaImage& one) {
      return one.text == number && one.config == config.compiled();
    });
    return found == usable_.end() ? nullptr : &*found;
  }

  std::shared_ptr<const CudaCompiler> nvrtc() const {
    const std::lock_guard lock(mutex_);
    if (opened_) return opened_;
    try {
      opened_ = open_();
    } catch (const DeviceError& e) {
      std::string reason = fmt::format("the library holds no code for {}", gpu_);
      if (too_new_ > 0 && usable_.empty()) {
        reason = fmt::format("the library's code is of CUDA {}, which this driver is too old for",
                             cuda_version_text(too_new_));
      }
      throw DeviceError(fmt::format("{}, and compiling its source needs NVRTC: {}", reason, e.what()));
    }
    return opened_;
  }

  std::string gpu_;
  int too_new_ = 0;
  std::vector<CudaImage> usable_;
  OpenCompiler open_;
  DiskCache cache_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const CudaCompiler> opened_;
};

// The rows of a library on a GPU. Without NVRTC those remain whose code the library holds.
class RowsOnGpu final : public Derivations {
 public:
  RowsOnGpu(std::span<const StoredRow> rows, std::string_view target, const std::string& gpu,
            std::shared_ptr<const ImageCompiler> compiler)
      : rows_(stored_derivations(rows, target)),
        compiler_(std::move(compiler)),
        none_{fmt::format("the library holds no code of its kernels for {}, and these need NVRTC", gpu)} {
    for (const StoredRow& row : rows) {
      if (row.target != target || !row.obstacle.empty() || row.name == kPairValuesRow) continue;
      const auto is_held = [&](const CudaProgramSource& one) { return !one.is_needed() || compiler_->holds(one); };
      if (std::ranges::all_of(programs_of_row(row), is_held)) held_.insert(&rows_->row(row.name, row.precision));
    }
  }
  const DerivedKernels& row(std::string_view name, Precision at_least) const override {
    const DerivedKernels& row = rows_->row(name, at_least);
    if (!row.obstacle.empty() || held_.contains(&row)) return row;
    std::call_once(asked_, [&] { can_compile_ = compiler_->can_compile(); });
    return can_compile_ ? row : none_;
  }

 private:
  const std::shared_ptr<const Derivations> rows_;
  const std::shared_ptr<const ImageCompiler> compiler_;
  std::set<const DerivedKernels*> held_;  // rows of rows_
  mutable std::once_flag asked_;
  mutable bool can_compile_ = false;
  const DerivedKernels none_;
};

// Finds the code of derived kernels, which is in the library as their main kernel is.
CpuDevice::LoadCode loader_of(std::span<const nbcc_image_code> codes, std::string_view isa) {
  static_assert(kCpuFunctions.size() == NBCC_IMAGE_FUNCTIONS);
  std::map<std::string, std::shared_ptr<const CpuCode>, std::less<>> known;
  for (const nbcc_image_code& one : codes) {
    if (one.isa != isa) continue;
    auto code = std::make_shared<CpuCode>();
    for (std::size_t k = 0; k < kCpuFunctions.size(); ++k) kCpuFunctions[k].set(*code, one.functions[k]);
    known[one.source] = std::move(code);
  }
  return [known](const KernelSource& kernel, const KernelVariant& variant) {
    const auto found = known.find(variant.source);
    if (found == known.end())
      throw UsageError(fmt::format("the library has no code for a kernel of pipeline '{}'", kernel.pipeline));
    return found->second;
  };
}

}  // namespace

std::shared_ptr<const Kernel> load_image(CpuDevice& device, const PipelineImage& image,
                                         std::span<const nbcc_image_kernel> kernels,
                                         std::span<const nbcc_image_code> codes) {
  std::string held;
  for (const nbcc_image_kernel& kernel : kernels) {
    held += (held.empty() ? "" : ", ") + std::string(kernel.isa);
    const Isa isa = isa_from_name(kernel.isa);
    if (!runs(device.isa(), isa)) continue;
    const std::string target = cpu_target_name(isa);
    const auto source = std::ranges::find(image.cpu, target, &KernelSource::target);
    if (source == image.cpu.end()) throw UsageError("the library's kernels and their descriptions do not agree");
    auto code = std::make_shared<CpuCode>();
    code->prepare_i = reinterpret_cast<nbcc_prepare_function>(kernel.prepare_i);
    code->prepare_j = reinterpret_cast<nbcc_prepare_function>(kernel.prepare_j);
    code->interact = reinterpret_cast<nbcc_interact_function>(kernel.interact);
    code->finish = reinterpret_cast<nbcc_finish_function>(kernel.finish);
    code->locate_i = reinterpret_cast<nbcc_locate_function>(kernel.locate_i);
    code->locate_j = reinterpret_cast<nbcc_locate_function>(kernel.locate_j);
    code->extent = reinterpret_cast<nbcc_extent_function>(kernel.extent);
    code->indices = {reinterpret_cast<nbcc_indices_function>(kernel.indices_i),
                     reinterpret_cast<nbcc_indices_function>(kernel.indices_j),
                     reinterpret_cast<nbcc_indices_function>(kernel.indices_pair)};
    code->within = reinterpret_cast<nbcc_within_function>(kernel.within);
    code->interact_numbered = reinterpret_cast<nbcc_interact_function>(kernel.interact_numbered);
    auto lists = std::make_shared<CpuCode>(*code);
    lists->interact = nullptr;
    lists->interact_numbered = reinterpret_cast<nbcc_interact_function>(kernel.lists_numbered);
    lists->interact_excluding = reinterpret_cast<nbcc_interact_function>(kernel.lists_excluding);
    KernelSource held_source = with_stored_values(*source, image.rows);
    held_source.derivations = stored_derivations(image.rows, held_source.target);
    return device.adopt(std::move(held_source), std::move(code), std::move(lists), loader_of(codes, kernel.isa));
  }
  const std::string& name = image.cpu.empty() ? image.cuda.pipeline : image.cpu.front().pipeline;
  throw DeviceError(fmt::format("pipeline '{}' was compiled for {}; {} has none of them", name,
                                held.empty() ? "no CPU" : held, device.name()));
}

std::shared_ptr<const Kernel> load_image(const CudaDevice& device, const PipelineImage& image, OpenCompiler compiler) {
  const CudaGpu& gpu = device.gpu();
  int driver_version = 0;
  gpu.require(gpu.driver().driver_get_version(&driver_version), "asking for the driver's version");
  const auto codes = std::make_shared<const ImageCompiler>(image, gpu.architecture(), driver_version,
                                                           device.cache_folder(), std::move(compiler));
  // Make a separate CudaDevice, because a device has one compiler. It uses the GPU's primary context like all others,
  // and no disk cache, because the library holds the code.
  CudaDevice own(gpu.driver(), codes, gpu.ordinal(), "", device.dump_folder());
  own.set_tunings(device.tunings());
  // Without NVRTC, restrict the launch configurations to those that the library holds.
  const auto restrict_launches = [&](KernelSource& kernel) {
    const auto is_missing = [&](const LaunchConfig& config) { return !codes->holds(kernel, config); };
    std::vector<LaunchConfig>& launches = kernel.first().launches;
    if (std::ranges::any_of(launches, is_missing) && !is_missing(launches.front()) && !codes->can_compile())
      std::erase_if(launches, is_missing);
  };
  KernelSource source = image.cuda;
  std::vector<StoredRow> rows;
  std::ranges::copy_if(image.rows, std::back_inserter(rows),
                       [&](const StoredRow& row) { return row.target == source.target; });
  restrict_launches(source);
  for (StoredRow& row : rows)
    for (StoredKernel& kernel : row.kernels) restrict_launches(kernel.source);
  source = with_stored_values(std::move(source), rows);
  source.derivations = std::make_shared<RowsOnGpu>(rows, source.target, gpu.architecture(), codes);
  return own.load(std::move(source));
}

}  // namespace nbcc
