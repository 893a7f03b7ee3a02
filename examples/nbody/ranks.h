// Several processes that move one system of bodies, each its share of them.
#pragma once
#include <memory>
#include <span>

#include "examples/support/bodies.h"
#include "runtime/api/nbcc.hpp"

namespace examples {

// All functions are called by all processes, in the same order, and throw nbcc::Error on all of them or on none.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual bool is_first() const = 0;  // who speaks
  virtual int count() const = 0;
  // Of all bodies those of this process.
  virtual Bodies share(const Bodies& all) const = 0;
  // For sums on this device, which must outlive this object's last sum.
  virtual void open(const nbcc::Device& device) = 0;
  virtual void close() = 0;
  // Over the bodies of all processes.
  virtual void run(nbcc::Sum& sum) = 0;
  // Numbers of each process -> on all of them those of all, added up.
  virtual void add_up(std::span<double> numbers) const = 0;
};

// Those that mpirun has started. Throws Missing where this program was built without MPI.
std::unique_ptr<Ranks> ranks_of_mpi();

}  // namespace examples
