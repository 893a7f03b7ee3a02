// This machine -> a list of simulators. The entry point is simulators_here().
#include "examples/nbody/simulators.h"

#include <algorithm>

namespace examples {
namespace {

void add_cpu(std::vector<Simulator>& all) {
  all.push_back({"CPU", "cpu", {}, {}});
  all.push_back({"CPU, one thread", "cpu", {.threads = 1}, {}});
  for (const char* isa : {"avx512", "avx2", "sse2"}) {
    try {
      nbcc::Device("cpu", {.isa = isa});
      all.push_back({std::string("CPU, ") + isa, "cpu", {.isa = isa}, {}});
    } catch (const nbcc::Error&) {
      // This machine has it not.
    }
  }
}

void add_gpus(std::vector<Simulator>& all, bool blocks) {
  int count = 0;
  if (nbcc_cuda_count(&count, nullptr) != NBCC_OK) return;
  if (count > 1) all.push_back({"all GPUs", "cuda:all", {}, {}});
  for (int k = 0; k < count; ++k) {
    const std::string device = "cuda:" + std::to_string(k), label = "GPU " + std::to_string(k);
    all.push_back({label, device, {}, {}});
    if (!blocks) continue;
    for (const int threads : {64, 128, 256, 512})
      all.push_back({label + ", blocks of " + std::to_string(threads), device, {}, {.threads = threads}});
  }
}

}  // namespace

std::vector<Simulator> simulators_here(const std::string& device, bool blocks) {
  std::vector<Simulator> all;
  add_cpu(all);
  add_gpus(all, blocks);
  const std::string wanted = device == "cuda" ? "cuda:0" : device;
  const auto first = std::find_if(all.begin(), all.end(), [&](const Simulator& one) { return one.device == wanted; });
  if (first == all.end())
    all.insert(all.begin(), {device, device, {}, {}});  // opening it will tell what is wrong
  else
    std::rotate(all.begin(), first, all.end());
  return all;
}

}  // namespace examples
