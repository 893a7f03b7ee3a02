// Collects MachineFacts of this process, its files and its devices. Entry points: find_facts(), try_sum().
#include "cli/machine/machine_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include "cli/machine/programs.h"
#include "cli/sum/particle_sum.h"
#include "jit/cpu_jit.h"
#include "runtime/api/nbcc.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

// A shared library, opened by dlopen and closed by the destructor.
class Library {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_) return;
    const char* const problem = ::dlerror();
    problem_ = problem ? problem : name;
  }
  ~Library() {
    if (handle_) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }
  std::string path() const {
    struct link_map* map = nullptr;
    return handle_ && ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
  }
  void* find(const char* name) const { return ::dlsym(handle_, name); }

 private:
  void* handle_;
  std::string problem_;
};

// The installation prefix, which contains bin/, or the build folder.
fs::path prefix() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown).parent_path().parent_path();
}

// The first existing path; "" if none exists.
std::string first_existing(const std::vector<fs::path>& paths) {
  std::error_code unknown;
  const auto found = std::ranges::find_if(paths, [&](const fs::path& path) { return fs::exists(path, unknown); });
  return found == paths.end() ? "" : found->string();
}

// Names to pass to dlopen for a library of this installation: paths in the prefix, then the soname for the loader.
std::vector<std::string> library_candidates(const std::string& soname) {
  std::vector<std::string> candidates;
  std::error_code unknown;
  for (const char* folder : {"lib", "lib64"}) {
    const fs::path root = prefix() / folder;
    if (fs::exists(root / soname, unknown)) candidates.push_back((root / soname).string());
    for (const auto& entry : fs::directory_iterator(root, unknown))  // lib/x86_64-linux-gnu
      if (entry.is_directory(unknown) && fs::exists(entry.path() / soname, unknown))
        candidates.push_back((entry.path() / soname).string());
  }
  candidates.push_back(soname);
  return candidates;
}

void find_mpi(MachineFacts& facts) {
  for (const std::string& candidate : library_candidates("libnbcc_mpi.so.0")) {
    const Library library(candidate);
    facts.mpi_problem = library.problem();
    if (!library) continue;
    facts.mpi_library = library.path();
    using GetLibraryVersion = int (*)(char*, int*);  // may be called before MPI_Init
    char text[8192] = "";                            // no MPI has a larger MPI_MAX_LIBRARY_VERSION_STRING
    int length = 0;
    if (const auto get = reinterpret_cast<GetLibraryVersion>(library.find("MPI_Get_library_version")))
      get(text, &length);
    facts.mpi_version = std::string(text).substr(0, std::string(text).find_first_of(",\n"));
    return;
  }
}

Interface python_package() {
  Interface found{"Python package", "", ""};
  const std::string python = find_program("python3");
  if (python.empty()) {
    found.problem = "there is no python3";
    return found;
  }
  try {
    // The current folder is taken off sys.path. A plain folder called nbcc imports too, but has no __file__.
    found.path = run_program(shell_word(python) + " -c",
                             "import sys\n"
                             "sys.path[:1] = filter(None, sys.path[:1])\n"
                             "import nbcc\n"
                             "if not getattr(nbcc, '__file__', None): raise ImportError(\"No module named 'nbcc'\")\n"
                             "print(nbcc.__file__)");
    found.path.erase(found.path.find_last_not_of('\n') + 1);
  } catch (const std::exception& e) {
    const std::string text = e.what();
    const std::size_t end = text.find_last_not_of('\n') + 1, begin = text.rfind('\n', end - 1);
    found.problem = text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin - 1);
  }
  return found;
}

// The shared library that contains this code, as the wheel's libnbcc_jit.so does; "" if the program itself contains it.
std::string own_library() {
  Dl_info unused;
  struct link_map* map = nullptr;
  const int found =
      ::dladdr1(reinterpret_cast<void*>(&nbcc_version), &unused, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  if (found == 0 || !map || !*map->l_name) return "";
  std::error_code unknown;
  const fs::path path = fs::canonical(map->l_name, unknown);  // without the command's "bin/.."
  return unknown ? map->l_name : path.string();
}

std::vector<Interface> find_interfaces() {
  const fs::path root = prefix();
  const auto library = [](const char* soname) {
    if (const std::string own = own_library(); !own.empty()) return own;
    for (const std::string& candidate : library_candidates(soname))
      if (const Library opened(candidate); opened) return opened.path();
    return std::string();
  };
  return {{"C and C++ headers", first_existing({root / "include/nbcc/nbcc.h"}), ""},
          {"library for programs (libnbcc_jit)", library("libnbcc_jit.so.0"), ""},
          {"Fortran module", first_existing({root / "share/nbcc/fortran/nbcc.f90", root / "fortran/nbcc.f90"}), ""},
          python_package(),
          {"LAMMPS plugin", first_existing({root / "share/nbcc/bindings/lammps/plugin"}), ""}};
}

}  // namespace

std::string try_sum(const std::string& device) {
  try {
    KernelChoice choice;
    choice.device = device;
    choice.cache_folder = "";
    ParticleTable table;
    table.rows = 3;
    table.columns = {{"x", 1, std::vector<double>{1, 2, 3}}};
    // The term also contains an elementary function; exp(0) is exactly 1.
    const ParticleSum::Text text{"doctor.pipe", "input_j real x; output(sum) real s; s += x * exp(0.0 * x);"};
    ParticleSum sum(text, choice);
    sum.bind({{"x", true, {{&table.columns[0], 0}}}}, 1, 3);
    sum.run();
    sum.wait();
    const double found = std::get<std::vector<double>>(sum.outputs()[0].data)[0];
    return found == 6 ? "" : fmt::format("1 + 2 + 3 gives {}", found);
  } catch (const std::exception& e) {
    return e.what();
  }
}

MachineFacts find_facts() {
  MachineFacts facts;
  facts.version = nbcc_version();
  facts.toolchain = make_cpu_toolchain()->identity();
  facts.toolchain.resize(std::min(facts.toolchain.size(), facts.toolchain.find(" -")));  // without its options
  facts.isa = detect_isa();
  facts.threads = available_cores();
  facts.cpu_sum = try_sum("cpu");
  facts.glibc = gnu_get_libc_version();
  const DiskCache cache(DiskCache::default_folder());
  facts.cache = cache.folder();
  facts.cache_trouble = cache.trouble();
  for (const DiskCache::Entry& entry : cache.list()) ++facts.kernels, facts.kernel_bytes += entry.bytes;
  facts.shared_cache = DiskCache::default_shared_folder();
  facts.shared_cache_trouble = cache.trouble_of_shared();
  facts.shared_kernels = std::int64_t(cache.list_shared().size());
  facts.gpus = find_gpus();
  facts.nvrtc = find_nvrtc();
  for (std::size_t k = 0; k < facts.gpus.list.size(); ++k) facts.gpu_sums.push_back(try_sum(fmt::format("cuda:{}", k)));
  find_mpi(facts);
  facts.interfaces = find_interfaces();
  return facts;
}

}  // namespace nbcc
