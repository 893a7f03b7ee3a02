// A kernel and its launch -> its blocks, one after the other, each with its threads as fibres. Entry points:
// CudaModule, run_grid(). Blocks of one launch never overlap, and a thread is interrupted at barriers only.
#include "tests/support/cuda_shim_grid.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <utility>

namespace nbcc {

CudaModule::~CudaModule() {
  if (handle_) dlclose(handle_);
}

bool CudaModule::open(std::string_view object) {
  handle_ = dlopen(folder_.write("module.so", object).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) return false;
  thread = static_cast<Index*>(dlsym(handle_, "nbcc_shim_thread"));
  block = static_cast<Index*>(dlsym(handle_, "nbcc_shim_block"));
  threads = static_cast<Index*>(dlsym(handle_, "nbcc_shim_threads"));
  blocks = static_cast<Index*>(dlsym(handle_, "nbcc_shim_blocks"));
  barrier = static_cast<void (**)(int)>(dlsym(handle_, "nbcc_shim_barrier"));
  warp_barrier = static_cast<void (**)(int)>(dlsym(handle_, "nbcc_shim_warp_barrier"));
  wait = static_cast<void (**)()>(dlsym(handle_, "nbcc_shim_wait"));
  const auto edge = [&](const char* name) {
    const auto function = reinterpret_cast<char* (*)()>(dlsym(handle_, name));
    return function ? function() : nullptr;
  };
  shared_begin = edge("nbcc_shim_shared_begin");
  shared_end = edge("nbcc_shim_shared_end");
  return thread && block && threads && blocks && barrier && warp_barrier && wait;
}

CudaFunction* CudaModule::find(const char* name) {
  for (const auto& function : functions) {
    if (function->name == name) return function.get();
  }
  const auto symbol = [&](const char* of) { return dlsym(handle_, fmt::format("nbcc_shim_{}_{}", of, name).c_str()); };
  CudaFunction found{name, this, reinterpret_cast<void (*)(void**)>(symbol("call")),
                     reinterpret_cast<int (*)(int)>(symbol("size")), reinterpret_cast<int (*)()>(symbol("bounds"))};
  if (!found.call || !found.size || !found.bounds) return nullptr;
  functions.push_back(std::make_unique<CudaFunction>(found));
  return functions.back().get();
}

}  // namespace nbcc

namespace nbcc::test {
namespace {

// What the text's barrier and its waiting for earlier launches find here.
struct Running {
  Fibres& fibres;
  const CudaModule& module;
  const std::function<void()>& earlier;
  bool waited = false;
};
thread_local Running* running = nullptr;

// A tag tells the line, and whether the whole block is to meet there.
void barrier(int line) { running->fibres.wait(2 * line); }
void warp_barrier(int line) { running->fibres.wait(2 * line + 1); }
bool is_of_warp(int tag) { return tag >= 0 && tag % 2 == 1; }
int line_of(int tag) { return tag / 2; }

// An earlier launch may be of the same module, which has one set of variables for whoever runs.
void wait() {
  if (std::exchange(running->waited, true) || !running->earlier) return;
  Running* const here = running;
  const CudaModule& module = here->module;
  const CudaModule::Index kept[] = {*module.thread, *module.block, *module.threads, *module.blocks};
  const std::vector<char> shared(module.shared_begin, module.shared_end);
  here->earlier();
  std::copy(shared.begin(), shared.end(), module.shared_begin);
  *module.thread = kept[0], *module.block = kept[1], *module.threads = kept[2], *module.blocks = kept[3];
  running = here;
}

CudaModule::Index index_of(std::size_t k, const std::array<unsigned, 3>& of) {
  return {unsigned(k % of[0]), unsigned(k / of[0] % of[1]), unsigned(k / of[0] / of[1])};
}

std::vector<int> ordered(std::size_t count, ShimOrder order, int round) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order.kind == ShimOrder::Kind::Backward) std::reverse(numbers.begin(), numbers.end());
  if (order.kind == ShimOrder::Kind::Shuffled) {
    std::mt19937_64 random(order.seed + std::uint64_t(round) * 1000003);
    std::shuffle(numbers.begin(), numbers.end(), random);
  }
  return numbers;
}

class BlockScript final : public FibreScript {
 public:
  BlockScript(const ShimLaunch& launch, ShimOrder order) : launch_(launch), order_(order) {
    for (const auto& argument : launch.arguments) arguments_.push_back(const_cast<std::byte*>(argument.data()));
  }

  void body(int) override { launch_.function->call(arguments_.data()); }
  std::vector<int> turns(int round) override {
    std::vector<int> all = ordered(threads(), order_, round);
    if (round > 0) std::erase_if(all, [&](int k) { return !goes_on_[std::size_t(k)]; });
    return all;
  }
  void before_turn(int k) override { *launch_.function->module->thread = index_of(std::size_t(k), launch_.threads); }
  // Warps that have met go on; when there is none, the block has to have met.
  bool meet(const std::vector<int>& tags) override {
    goes_on_.assign(tags.size(), false);
    bool any = false;
    for (std::size_t first = 0; first < tags.size(); first += kWarp) {
      const std::size_t count = std::min(kWarp, tags.size() - first);
      const std::span<const int> warp(tags.data() + first, count);
      if (!std::ranges::any_of(warp, is_of_warp)) continue;
      if (!have_met(warp)) return false;
      std::fill_n(goes_on_.begin() + std::ptrdiff_t(first), count, true);
      any = true;
    }
    if (any) return true;
    goes_on_.assign(tags.size(), true);
    return have_met(tags);
  }

  std::size_t threads() const { return std::size_t(launch_.threads[0]) * launch_.threads[1] * launch_.threads[2]; }

  std::string failure;

 private:
  static constexpr std::size_t kWarp = 32;

  bool have_met(std::span<const int> tags) {
    const auto ended = std::ranges::count(tags, -1);
    const int tag = std::ranges::max(tags);
    const auto here = std::ranges::count(tags, tag);
    const auto elsewhere = std::ranges::find_if(tags, [&](int other) { return other >= 0 && other != tag; });
    if (ended)
      failure = fmt::format("{} threads of {} have left the kernel while others wait at the barrier of line {}", ended,
                            tags.size(), line_of(tag));
    else if (elsewhere != tags.end())
      failure = fmt::format("{} threads of {} wait at the barrier of line {}, others at that of line {}", here,
                            tags.size(), line_of(tag), line_of(*elsewhere));
    return failure.empty();
  }

  const ShimLaunch& launch_;
  ShimOrder order_;
  std::vector<void*> arguments_;
  std::vector<bool> goes_on_;
};

}  // namespace

std::string run_grid(Fibres& fibres, const ShimLaunch& launch, ShimOrder block_order, ShimOrder thread_order,
                     const std::function<void()>& earlier) {
  const CudaModule& module = *launch.function->module;
  Running now{fibres, module, earlier};
  running = &now;
  *module.barrier = barrier;
  *module.warp_barrier = warp_barrier;
  *module.wait = wait;
  *module.threads = {launch.threads[0], launch.threads[1], launch.threads[2]};
  *module.blocks = {launch.blocks[0], launch.blocks[1], launch.blocks[2]};
  const std::size_t blocks = std::size_t(launch.blocks[0]) * launch.blocks[1] * launch.blocks[2];
  for (const int b : ordered(blocks, block_order, 0)) {
    *module.block = index_of(std::size_t(b), launch.blocks);
    if (module.shared_begin)
      // Nobody may read what was not written: as floats and halves NaN, or large and negative.
      std::memset(module.shared_begin, b % 2 == 0 ? 0xfb : 0xff, std::size_t(module.shared_end - module.shared_begin));
    BlockScript script(launch, thread_order);
    fibres.run(int(script.threads()), script);
    if (!script.failure.empty())
      return fmt::format("{}, block ({}, {}): {}", launch.function->name, module.block->x, module.block->y,
                         script.failure);
  }
  if (launch.early && !now.waited)
    return fmt::format("{} was launched early and waits for no earlier launch", launch.function->name);
  return "";
}

}  // namespace nbcc::test
