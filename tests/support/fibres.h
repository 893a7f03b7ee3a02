// Several calls of one function that take turns in one thread: each runs until it waits, then the next one does.
// Tested by tests/unit/support/fibres_test.cpp.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace nbcc::test {

// What a run does. Tags are what wait() was given by each fibre, -1 for those that have ended.
struct FibreScript {
  virtual ~FibreScript() = default;
  virtual void body(int k) = 0;
  // The order in which fibres take their turn, all of them in round 0; those that are left out wait on.
  virtual std::vector<int> turns(int round) = 0;
  virtual void before_turn(int k) = 0;
  // After every round in which not all have ended. True: those that wait go on; false: they are abandoned where they
  // stand, without unwinding.
  virtual bool meet(const std::vector<int>& tags) = 0;
};

class Fibres {
 public:
  Fibres();
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;
  ~Fibres();

  // Calls script.body(k) for every k in [0, count), each on a stack of its own that is kept for the next run.
  void run(int count, FibreScript& script);

  // Of the fibre that runs now; tag >= 0.
  void wait(int tag);

 private:
  struct Fibre;
  static void enter(unsigned low, unsigned high);
  void make_ready(int count);
  void resume(Fibre& fibre);  // until it waits or has ended
  void leave(Fibre& fibre);

  std::vector<std::unique_ptr<Fibre>> fibres_;
  ucontext_t scheduler_;
  jmp_buf scheduler_left_;
  FibreScript* script_ = nullptr;
  Fibre* running_ = nullptr;
};

}  // namespace nbcc::test
