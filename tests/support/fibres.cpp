// Calls of one function -> calls that take turns. Entry point: Fibres. Knows nothing of CUDA; does not unwind what it
// abandons.
//
// swapcontext() asks the system for the signal mask at each switch, which is half of the time of a kernel on the shim.
// A context is entered once by it, and left and resumed by _longjmp(), which does not ask; the sanitizers know only
// the former.
#undef _FORTIFY_SOURCE  // whose longjmp() refuses to go to another stack
#include "tests/support/fibres.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace nbcc::test {

namespace {
constexpr std::size_t kStackBytes = 256 << 10;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kJumps = false;
#else
constexpr bool kJumps = true;
#endif
}  // namespace

struct Fibres::Fibre {
  explicit Fibre(int number) : k(number) {
    // The lowest page is never used: a stack that runs over stops the program instead of changing its neighbour's.
    guard = std::size_t(sysconf(_SC_PAGESIZE));
    void* const at =
        mmap(nullptr, guard + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    memory = static_cast<std::byte*>(at);
    mprotect(memory, guard, PROT_NONE);
  }
  ~Fibre() { munmap(memory, guard + kStackBytes); }

  int k;
  std::byte* memory;
  std::size_t guard;
  ucontext_t context;
  jmp_buf left;          // where it was left, if it was entered
  bool begun = false;    // its context stands inside of enter()
  bool entered = false;  // since it has begun
  int tag = -1;
};

Fibres::Fibres() = default;
Fibres::~Fibres() = default;

// makecontext hands over ints only.
void Fibres::enter(unsigned low, unsigned high) {
  auto* const self = reinterpret_cast<Fibres*>(std::uintptr_t(low) | std::uintptr_t(high) << 32);
  Fibre* const fibre = self->running_;
  while (true) {
    self->script_->body(fibre->k);
    fibre->tag = -1;
    self->leave(*fibre);
  }
}

void Fibres::make_ready(int count) {
  while (int(fibres_.size()) < count) fibres_.push_back(std::make_unique<Fibre>(int(fibres_.size())));
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (int k = 0; k < count; ++k) {
    Fibre& fibre = *fibres_[std::size_t(k)];
    if (fibre.begun) continue;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.memory + fibre.guard;
    fibre.context.uc_stack.ss_size = kStackBytes;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, reinterpret_cast<void (*)()>(&Fibres::enter), 2, unsigned(self), unsigned(self >> 32));
    fibre.begun = true;
    fibre.entered = false;
  }
}

void Fibres::resume(Fibre& fibre) {
  if (!kJumps) return void(swapcontext(&scheduler_, &fibre.context));
  if (_setjmp(scheduler_left_) != 0) return;
  if (fibre.entered) _longjmp(fibre.left, 1);
  fibre.entered = true;
  setcontext(&fibre.context);
}

void Fibres::leave(Fibre& fibre) {
  if (!kJumps) return void(swapcontext(&fibre.context, &scheduler_));
  if (_setjmp(fibre.left) == 0) _longjmp(scheduler_left_, 1);
}

void Fibres::run(int count, FibreScript& script) {
  make_ready(count);
  script_ = &script;
  std::vector<int> tags(std::size_t(count), 0);
  bool all_ended = count == 0;
  for (int round = 0; !all_ended; ++round) {
    for (const int k : script.turns(round)) {
      int& tag = tags[std::size_t(k)];
      if (tag < 0) continue;
      script.before_turn(k);
      running_ = fibres_[std::size_t(k)].get();
      resume(*running_);
      tag = running_->tag;
    }
    all_ended = *std::max_element(tags.begin(), tags.end()) < 0;
    if (all_ended || script.meet(tags)) continue;
    for (int k = 0; k < count; ++k) {
      if (tags[std::size_t(k)] >= 0) fibres_[std::size_t(k)]->begun = false;
    }
    return;
  }
}

void Fibres::wait(int tag) {
  running_->tag = tag;
  leave(*running_);
}

}  // namespace nbcc::test
