// Text to callable kernel: first in the process, with an empty cache, and from the disk cache. Entry point:
// measure_compile_times().
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench/measure.h"
#include "bench/sections.h"

namespace nbcc::bench {
namespace {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "nbcc-bench-XXXXXX").string();
    if (!mkdtemp(path.data())) throw std::runtime_error("no folder for temporary files");
    path_ = path;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Devices remember what they compiled, so every time is taken on a new one.
double milliseconds(const Setup& setup, const std::string& name, const std::string& text, const std::string& cache) {
  const Device device = open_device(setup, 1, cache);
  const double start = now();
  const Pipeline pipeline = Pipeline::from_text(device, text, name);
  const Sum sum(pipeline);
  return (now() - start) * 1e3;
}

}  // namespace

void measure_compile_times(const Setup& setup, Report& report) {
  std::vector<Row> rows;
  for (const char* name : {"gravity", "gravity_jerk", "lennard_jones", "sph_force", "ewald_real"}) {
    const std::string text = pipeline_text(setup.folder, name);
    const ScratchFolder warm;
    const double first = milliseconds(setup, name, text, warm.path());
    std::vector<double> cold, cached;
    for (int k = 0; k < 5; ++k) {
      const ScratchFolder empty;
      cold.push_back(milliseconds(setup, name, text, empty.path()));
      cached.push_back(milliseconds(setup, name, text, warm.path()));
    }
    rows.push_back(
        {{"pipeline", name}, {"first_ms", first}, {"cold_ms", median(cold)}, {"from_disk_ms", median(cached)}});
  }
  report.table("compile", "Text to callable kernel (the first one also pays what a process pays once), medians of 5",
               rows);
}

}  // namespace nbcc::bench
