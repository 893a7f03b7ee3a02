// Several processes that move one system of bodies, each its share of them.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "examples/support/bodies.h"
#include "runtime/api/nbcc.hpp"

namespace examples {

// Bodies that are moved at a time.
struct Moved {
  std::int64_t time = 0, count = 0;
};

// All functions but own() and count() are called by all processes, in the same order, and throw nbcc::Error on all of
// them or on none.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int own() const = 0;
  virtual int count() const = 0;
  bool is_first() const { return own() == 0; }  // who speaks

  // Of all bodies those of this process. They are dealt out in turn: bodies that stand together in a file may be moved
  // together, and should then be of different processes.
  Bodies share(const Bodies& all) const;
  // `width` numbers of each body of this process -> those of all bodies, in the order in which they were shared out.
  std::vector<double> collect(const std::vector<double>& mine, int width) const;
  // Numbers of each process -> on all of them those of all, added up.
  virtual void add_up(std::span<double> numbers) const = 0;
  // When the first bodies of all processes are moved, and how many these are.
  virtual Moved earliest(Moved mine) const = 0;

  // Over the bodies of all processes, for all of this one, or for so many of a list that is on the sum's device;
  // without a list for the first ones.
  virtual void run(nbcc::Sum& sum) = 0;
  virtual void run(nbcc::Sum& sum, const std::int64_t* list, std::int64_t count) = 0;
};

// Those that mpirun has started, for sums on this device, which must outlive them. Throws Missing where this program
// was built without MPI.
std::unique_ptr<Ranks> ranks_of_mpi(const nbcc::Device& device);

}  // namespace examples
