// The environment and the folders of this machine -> locations where NVRTC may be. Interface: nvrtc_locations(). Opens
// no library.
#include <dlfcn.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "fmt/format.h"
#include "runtime/cuda/driver/nvrtc.h"

namespace nbcc {
namespace {

#if defined(__aarch64__)
constexpr const char* kTarget = "targets/sbsa-linux/lib";
#else
constexpr const char* kTarget = "targets/x86_64-linux/lib";
#endif

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool is_folder(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The paths that match a glob pattern, the highest version first.
std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  ::glob_t paths{};
  if (::glob(pattern.c_str(), 0, nullptr, &paths) == 0) found.assign(paths.gl_pathv, paths.gl_pathv + paths.gl_pathc);
  ::globfree(&paths);
  // A longer name has a higher version: "cuda-9.2" is older than "cuda-13.0".
  std::ranges::sort(found, std::greater(), [](const std::string& name) { return std::pair(name.size(), name); });
  return found;
}

void add_toolkit(LibraryLocation& location, const std::string& root) {
  for (const char* folder : {"lib64", "lib", kTarget}) {
    const std::string path = root + "/" + folder;
    if (is_folder(path)) location.folders.push_back(path);
  }
}

// Adds NVIDIA's wheels: nvidia-cuda-nvrtc-cu11 and -cu12, and nvidia-cuda-nvrtc from CUDA 13 on.
void add_packages(LibraryLocation& location, const std::string& packages) {
  for (const char* wheel : {"nvidia/cu1[3-9]/lib", "nvidia/cuda_nvrtc/lib"}) {
    for (const std::string& path : matches(packages + "/" + wheel)) location.folders.push_back(path);
  }
}

void add_wheels(LibraryLocation& location, const std::string& prefix) {
  for (const char* packages : {"site-packages", "dist-packages"}) {
    add_packages(location, fmt::format("{}/lib/python3*/{}", prefix, packages));
  }
}

LibraryLocation toolkit_of_variable(const char* name) {
  const std::string root = variable(name);
  LibraryLocation location{fmt::format("${}{}", name, root.empty() ? " (not set)" : " = " + root), {}};
  if (!root.empty()) add_toolkit(location, root);
  return location;
}

LibraryLocation toolkit_of_pattern(const std::string& pattern) {
  LibraryLocation location{pattern, {}};
  for (const std::string& root : matches(pattern)) add_toolkit(location, root);
  return location;
}

LibraryLocation wheels_of_variable(const char* name) {
  const std::string prefix = variable(name);
  LibraryLocation location{fmt::format("${}{}", name, prefix.empty() ? " (not set)" : " = " + prefix), {}};
  if (prefix.empty()) return location;
  add_wheels(location, prefix);
  // Conda packages install libraries in PREFIX/lib.
  if (is_folder(prefix + "/lib")) location.folders.push_back(prefix + "/lib");
  return location;
}

// The library or program file that contains this function.
std::string own_file() {
  ::Dl_info info{};
  return ::dladdr(reinterpret_cast<const void*>(&own_file), &info) && info.dli_fname ? info.dli_fname : "";
}

LibraryLocation wheels_of_pattern(const std::string& pattern) {
  LibraryLocation location{pattern + "/lib/python3*/{site,dist}-packages/nvidia", {}};
  for (const std::string& prefix : matches(pattern)) add_wheels(location, prefix);
  return location;
}

}  // namespace

LibraryLocation wheels_beside(const std::string& file) {
  std::string folder = file;
  while (folder.find('/') != std::string::npos) {
    folder.resize(folder.rfind('/'));
    if (folder.ends_with("/site-packages") || folder.ends_with("/dist-packages")) {
      LibraryLocation location{folder + "/nvidia", {}};
      add_packages(location, folder);
      return location;
    }
  }
  return {"beside nbcc's Python package (not here)", {}};
}

// In order of preference: toolkits named by the user, toolkits installed on the system, libraries of Python packages.
std::vector<LibraryLocation> nvrtc_locations() {
  std::vector<LibraryLocation> locations = {toolkit_of_variable("CUDA_HOME"),
                                            toolkit_of_variable("CUDA_PATH"),
                                            toolkit_of_pattern("/usr/local/cuda"),
                                            toolkit_of_pattern("/usr/local/cuda-*"),
                                            toolkit_of_pattern("/opt/cuda"),
                                            {"the loader's own rules ($LD_LIBRARY_PATH, ldconfig)", {""}},
                                            wheels_of_variable("VIRTUAL_ENV"),
                                            wheels_of_variable("CONDA_PREFIX"),
                                            wheels_beside(own_file())};
  const std::string home = variable("HOME");
  if (!home.empty()) {
    locations.push_back(wheels_of_pattern(home + "/.local"));
    locations.push_back(wheels_of_pattern(home + "/.pyenv/versions/*"));
  }
  for (const char* prefix : {"/usr/local", "/usr"}) locations.push_back(wheels_of_pattern(prefix));
  return locations;
}

}  // namespace nbcc
