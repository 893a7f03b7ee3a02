// Hand-written kernels and particles -> sums on a GPU, in its default stream. Entry points: HandProgram, HandArrays,
// HandSum, compile_add_parts().
#include "bench/cuda/hand_sum.h"

#include <fmt/core.h>

#include <stdexcept>

#include "bench/embedded_texts.h"

namespace nbcc::bench {
namespace {

constexpr int kAddThreads = 128;

std::string text_of(const std::string& name) {
  const std::string_view text = embedded_cuda_kernel(name);
  if (text.empty()) throw std::runtime_error(fmt::format("no hand-written kernel is named '{}'", name));
  return std::string(text);
}

std::size_t row_bytes(const HandFamily& family) { return std::size_t(family.row) * (family.row_in_double ? 8 : 4); }

void reserve(CudaBuffer& buffer, std::size_t bytes) {
  if (!buffer.reserve(bytes)) throw std::runtime_error("out of memory of the GPU");
}

}  // namespace

HandProgram::HandProgram(const CudaGpu& gpu, const HandCode& code, const char* entry) : gpu_(gpu) {
  const CudaContextGuard guard(gpu_);
  gpu_.require(gpu_.driver().module_load_data(&module_, code.image.data()), "loading a hand-written kernel");
  gpu_.require(gpu_.driver().module_get_function(&function_, module_, entry), "finding a hand-written kernel");
}

HandProgram::~HandProgram() {
  if (module_) gpu_.driver().module_unload(module_);
}

void HandProgram::launch(unsigned grid_x, unsigned grid_y, unsigned threads, void** arguments) const {
  gpu_.require(gpu_.driver().launch_kernel(function_, grid_x, grid_y, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
               "launching a hand-written kernel");
}

HandArrays::HandArrays(const CudaGpu& gpu, const HandFamily& family, const Particles& of, int most_parts)
    : n(of.n), problem(family.pack(of)), particles(gpu), parts(gpu), results(gpu) {
  const CudaContextGuard guard(gpu);
  const std::size_t bytes = problem.particles.size(), rows = std::size_t(n) * row_bytes(family);
  reserve(particles, bytes);
  reserve(results, rows);
  if (most_parts > 1) reserve(parts, rows * std::size_t(most_parts));
  gpu.require(gpu.driver().memcpy_htod_async(particles.data(), problem.particles.data(), bytes, nullptr),
              "copying particles to the GPU");
  gpu.require(gpu.driver().stream_synchronize(nullptr), "copying particles to the GPU");
}

std::unique_ptr<const HandProgram> compile_add_parts(const CudaGpu& gpu, const HandCompiler& compiler,
                                                     const HandFamily& family) {
  if (!family.divides_j) return nullptr;
  const HandCode code =
      compiler.compile(text_of("add_parts"), "add_parts", gpu.architecture(), options_of_add_parts(family));
  return std::make_unique<const HandProgram>(gpu, code, "add_parts");
}

HandSum::HandSum(const CudaGpu& gpu, const HandCompiler& compiler, const HandFamily& family, const HandShape& shape,
                 const HandProgram* add_parts)
    : gpu_(gpu), family_(family), shape_(shape), add_parts_(add_parts) {
  const HandCode code =
      compiler.compile(text_of(family.text), "interact", gpu.architecture(), options_of(family, shape));
  registers_ = code.registers;
  spilled_bytes_ = code.spilled_bytes;
  interact_.emplace(gpu, code, "interact");
}

std::vector<int> HandSum::possible_parts(std::int64_t n) const {
  std::vector<int> all;
  if (family_.text != "gravity_plain_loop" && n % shape_.tile != 0) return all;
  if (!family_.divides_j) return {1};
  const std::int64_t width = shape_.threads * shape_.i_per_thread, blocks = (n + width - 1) / width;
  for (const int parts : {1, 2, 4, 8, 16, 24, 32, 64}) {
    // Less than half a wave leaves the device idle; beyond some tens of blocks a multiprocessor nothing is gained.
    if (parts > n / shape_.tile || 2 * blocks * parts < gpu_.multiprocessors()) continue;
    if (parts > 1 && blocks * parts > 128 * gpu_.multiprocessors()) continue;
    all.push_back(parts);
  }
  return all;
}

void HandSum::run(const HandArrays& arrays, int parts) const {
  const auto width = std::int64_t(shape_.threads) * shape_.i_per_thread;
  struct {
    double value[8];
  } params;
  for (std::size_t k = 0; k < 8; ++k) params.value[k] = arrays.problem.params[k];
  CudaDevicePointer particles = arrays.particles.data(), parts_at = arrays.parts.data(),
                    results = arrays.results.data();
  int n = int(arrays.n);
  void* arguments[] = {&particles, &particles, parts > 1 ? &parts_at : &results, &n, &n, &params};
  interact_->launch(unsigned((arrays.n + width - 1) / width), unsigned(parts), unsigned(shape_.threads), arguments);
  if (parts == 1) return;
  int numbers = n * family_.row;
  void* add_arguments[] = {&parts_at, &results, &numbers, &parts};
  add_parts_->launch(unsigned((numbers + kAddThreads - 1) / kAddThreads), 1, kAddThreads, add_arguments);
}

std::vector<double> HandSum::results(const HandArrays& arrays) const {
  const CudaContextGuard guard(gpu_);
  const std::size_t count = std::size_t(arrays.n) * std::size_t(family_.row);
  const auto copy = [&](void* to) {
    gpu_.require(
        gpu_.driver().memcpy_dtoh_async(to, arrays.results.data(), std::size_t(arrays.n) * row_bytes(family_), nullptr),
        "copying results from the GPU");
    gpu_.require(gpu_.driver().stream_synchronize(nullptr), "copying results from the GPU");
  };
  if (family_.row_in_double) {
    std::vector<double> values(count);
    copy(values.data());
    return values;
  }
  std::vector<float> values(count);
  copy(values.data());
  return {values.begin(), values.end()};
}

}  // namespace nbcc::bench
