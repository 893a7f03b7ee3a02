// Processes of MPI -> Ranks, by nbcc's ring of blocks of j.
#include "examples/nbody/ranks.h"

#include <mpi.h>

#include <optional>

#include "mpi/nbcc_mpi.hpp"

namespace examples {
namespace {

class RanksOfMpi final : public Ranks {
 public:
  RanksOfMpi() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  ~RanksOfMpi() override {
    ring_.reset();
    MPI_Finalize();
  }

  bool is_first() const override { return own_ == 0; }
  int count() const override { return count_; }
  Bodies share(const Bodies& all) const override {
    const std::int64_t begin = all.count() * own_ / count_, end = all.count() * (own_ + 1) / count_;
    return {{all.mass.begin() + begin, all.mass.begin() + end},
            {all.x.begin() + 3 * begin, all.x.begin() + 3 * end},
            {all.v.begin() + 3 * begin, all.v.begin() + 3 * end}};
  }
  void open(const nbcc::Device& device) override { ring_.emplace(MPI_COMM_WORLD, device); }
  void close() override { ring_.reset(); }
  void run(nbcc::Sum& sum) override { ring_->run(sum); }
  void add_up(std::span<double> numbers) const override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

 private:
  int own_ = 0, count_ = 1;
  std::optional<nbcc::MpiRing> ring_;
};

}  // namespace

std::unique_ptr<Ranks> ranks_of_mpi() { return std::make_unique<RanksOfMpi>(); }

}  // namespace examples
