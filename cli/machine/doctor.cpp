// Turns MachineFacts into Findings. Entry points: diagnose(), can_sum(). Does not inspect the machine itself.
#include "cli/machine/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "runtime/cuda/driver/cuda_compiler.h"

namespace nbcc {
namespace {

constexpr const char* kNvrtcRemedy =
    "install a CUDA toolkit and name its folder by CUDA_HOME, or python3 -m pip install nvidia-cuda-nvrtc "
    "(nvidia-cuda-nvrtc-cu12 for a driver of CUDA 12)";

std::string plural(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Finding processor(const MachineFacts& facts) {
  return {"processor", Health::Works, fmt::format("{}, {}", name(facts.isa), plural(facts.threads, "thread")), ""};
}

Finding cpu_sums(const MachineFacts& facts) {
  if (facts.cpu_sum.empty())
    return {"sums on the CPU", Health::Works, fmt::format("right, by {}", facts.toolchain), ""};
  return {
      "sums on the CPU", Health::Broken, fmt::format("{} ({})", facts.cpu_sum, facts.toolchain),
      "install nbcc again, with the libraries of the LLVM that it was built with (Debian: libllvm19 libclang-cpp19 of "
      "version 19); if that does not help, report it with this page"};
}

Finding c_library(const MachineFacts& facts) { return {"glibc", Health::Works, facts.glibc, ""}; }

Finding cache(const MachineFacts& facts) {
  const OwnFolder::Trouble& trouble = facts.cache_trouble;
  if (!trouble.problem.empty())
    return {"cache", Health::Broken,
            fmt::format("{}: nothing is kept, and every program compiles its kernels again", trouble.problem),
            fmt::format("{}; NBCC_CACHE_DIR names one", trouble.remedy)};
  return {"cache", Health::Works,
          fmt::format("{}, {}, {:.1f} MB; only you may write it", facts.cache, plural(facts.kernels, "kernel"),
                      double(facts.kernel_bytes) * 1e-6),
          ""};
}

Finding shared_cache(const MachineFacts& facts) {
  const OwnFolder::Trouble& trouble = facts.shared_cache_trouble;
  if (!trouble.problem.empty())
    return {"shared cache", Health::Broken, trouble.problem + ": no kernel of NBCC_SHARED_CACHE_DIR is used",
            trouble.remedy};
  return {"shared cache", Health::Works,
          fmt::format("{}, {}; only read", facts.shared_cache, plural(facts.shared_kernels, "kernel")), ""};
}

Finding driver(const Gpus& gpus) {
  if (gpus.driver_version > 0 && !gpus.list.empty())
    return {"GPU driver", Health::Works, "for CUDA " + cuda_version_text(gpus.driver_version), ""};
  return {
      "GPU driver", gpus.driver_version > 0 ? Health::Broken : Health::Absent, gpus.problem,
      "for GPUs: install NVIDIA's driver (Debian: nvidia-driver); in a container start it with --gpus all (Docker) or "
      "--nv (Apptainer); CUDA_VISIBLE_DEVICES must not hide them"};
}

std::string gpu_remedy(const Gpu& gpu, const Gpus& gpus, const Nvrtc& nvrtc) {
  if (nvrtc.version == 0) return kNvrtcRemedy;
  if (gpus.driver_version / 1000 < nvrtc.version / 1000)
    return fmt::format(
        "the driver is for CUDA {0}, NVRTC of CUDA {1}: install a driver for CUDA {1}, or NVRTC of CUDA {2}",
        cuda_version_text(gpus.driver_version), cuda_version_text(nvrtc.version), gpus.driver_version / 1000);
  if (!nvrtc.architectures.empty() &&
      number_of_architecture(gpu.architecture()) < number_of_architecture(nvrtc.architectures.front()))
    return fmt::format("NVRTC {} compiles for {} and later; install an older one", cuda_version_text(nvrtc.version),
                       nvrtc.architectures.front());
  if (std::ranges::find(nvrtc.architectures, gpu.architecture()) == nvrtc.architectures.end())
    return fmt::format("NVRTC {} does not know {}; install a newer one", cuda_version_text(nvrtc.version),
                       gpu.architecture());
  return "see what nvidia-smi says of it; if nothing, report it with this page";
}

Finding nvrtc(const Nvrtc& found) {
  if (found.version == 0) return {"NVRTC", Health::Absent, found.problem, std::string("for GPUs: ") + kNvrtcRemedy};
  return {"NVRTC", Health::Works,
          fmt::format("{} in {}, for {}", cuda_version_text(found.version), found.path,
                      fmt::join(found.architectures, " ")),
          ""};
}

Finding mpi(const MachineFacts& facts) {
  if (!facts.mpi_library.empty())
    return {"MPI", Health::Works,
            fmt::format("{}, by {}", facts.mpi_version.empty() ? "an MPI" : facts.mpi_version, facts.mpi_library), ""};
  return {"MPI", Health::Absent, facts.mpi_problem,
          "for sums over the ranks of MPI: install libnbcc-mpi0, or build nbcc where mpicc is"};
}

Finding interface(const Interface& one) {
  if (!one.path.empty()) return {one.name, Health::Works, one.path, ""};
  const std::string missing = one.problem.empty() ? "not beside this command" : one.problem;
  const char* const remedy = one.name.starts_with("Python")    ? "install the wheel, or python3-nbcc"
                             : one.name.starts_with("library") ? "install libnbcc-jit0"
                                                               : "install libnbcc-dev, or run cmake --install";
  return {one.name, Health::Absent, missing, remedy};
}

}  // namespace

std::vector<Finding> diagnose(const MachineFacts& facts) {
  std::vector<Finding> findings = {processor(facts), cpu_sums(facts),    c_library(facts),
                                   cache(facts),     driver(facts.gpus), nvrtc(facts.nvrtc)};
  if (!facts.shared_cache.empty()) findings.insert(findings.begin() + 4, shared_cache(facts));
  for (std::size_t k = 0; k < facts.gpus.list.size(); ++k) {
    const Gpu& gpu = facts.gpus.list[k];
    Finding finding{fmt::format("GPU cuda:{}", k), Health::Works,
                    fmt::format("{}, compute capability {}.{}, {:.1f} GB", gpu.name, gpu.major, gpu.minor,
                                double(gpu.bytes) * 1e-9),
                    ""};
    if (!facts.gpu_sums[k].empty()) {
      finding.health = Health::Broken;
      finding.finding += ": " + facts.gpu_sums[k];
      finding.remedy = gpu_remedy(gpu, facts.gpus, facts.nvrtc);
    }
    findings.push_back(finding);
  }
  findings.push_back(mpi(facts));
  for (const Interface& one : facts.interfaces) findings.push_back(interface(one));
  return findings;
}

bool can_sum(const MachineFacts& facts) { return facts.cpu_sum.empty() || std::ranges::count(facts.gpu_sums, "") > 0; }

}  // namespace nbcc
