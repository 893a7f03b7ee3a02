// Runs that cross features: for a cell of the table of capabilities, a row with a feature, a random run that has both,
// other features and options beside them, and what the table says of it: the right results ("yes", and "other" with the
// reason in the statistics), or an error with the table's message ("no"). Entry points: draw_crossed(), CrossedTrials.
//
// A new row or column needs what puts it into a run: statements in crossed_text.cpp, an option in crossed_run.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/crossed_cell.h"
#include "tests/support/crossed_text.h"
#include "tests/support/kernel_run.h"

namespace nbcc::test {

// A device and how its kernels are made. Arrays lie on the host, or on one of the GPUs.
struct CrossedDevice {
  std::string name;
  std::shared_ptr<KernelDevice> device;
  std::function<KernelSource(const Pipeline&, const Options&)> build;
  std::vector<const CudaGpu*> gpus{};
  int twin = -1;  // the index of a device that gives the same bits
};

// The run of a seed. `variety`: how many numbers of texts there are.
CrossedRun draw_crossed(std::string_view row, Feature aim, std::uint64_t seed, std::uint64_t variety);

class CrossedTrials {
 public:
  explicit CrossedTrials(std::vector<CrossedDevice> devices);
  ~CrossedTrials();
  // "" or what is wrong, with fewer features if that is wrong as well.
  std::string operator()(const CrossedRun& run);
  // Cells that runs have shown, and how often.
  const std::map<Cell, int>& shown() const { return shown_; }

 private:
  std::string fault_of(const CrossedRun& run);
  bool is_as_refused(const CrossedRun& run, const std::vector<Cell>& refused, const std::string& message,
                     std::string_view pipeline);
  const std::shared_ptr<const Kernel>& kernel_of(std::size_t device, const CrossedRun& run, const Options& options);
  const CrossedText& text_of(const CrossedRun& run);

  std::vector<CrossedDevice> devices_;
  std::map<std::tuple<std::size_t, TextFamily, std::uint64_t>, std::shared_ptr<const Kernel>> kernels_;
  std::map<std::pair<TextFamily, std::uint64_t>, CrossedText> texts_;
  std::map<Cell, int> shown_;
};

}  // namespace nbcc::test
