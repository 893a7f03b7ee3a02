// Processes of MPI -> Ranks, by nbcc's ring of blocks of j.
#include "examples/support/ranks.h"

#include <mpi.h>

#include <optional>

#include "mpi/nbcc_mpi.hpp"

namespace examples {
namespace {

// Who is moved at the same time is counted together.
void first_of(void* given, void* kept, int* count, MPI_Datatype*) {
  const Moved* const one = static_cast<const Moved*>(given);
  Moved* const other = static_cast<Moved*>(kept);
  for (int k = 0; k < *count; ++k) {
    if (one[k].time == other[k].time)
      other[k].count += one[k].count;
    else if (one[k].time < other[k].time)
      other[k] = one[k];
  }
}

class RanksOfMpi final : public Ranks {
 public:
  explicit RanksOfMpi(const nbcc::Device& device) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &own_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Type_contiguous(2, MPI_INT64_T, &moved_);
    MPI_Type_commit(&moved_);
    MPI_Op_create(first_of, 1, &earliest_);
    ring_.emplace(MPI_COMM_WORLD, device);
  }
  ~RanksOfMpi() override {
    ring_.reset();
    MPI_Op_free(&earliest_);
    MPI_Type_free(&moved_);
    MPI_Finalize();
  }

  int own() const override { return own_; }
  int count() const override { return count_; }
  void add_up(std::span<double> numbers) const override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), int(numbers.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  Moved earliest(Moved mine) const override {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, moved_, earliest_, MPI_COMM_WORLD);
    return mine;
  }
  void run(nbcc::Sum& sum) override { ring_->run(sum); }
  void run(nbcc::Sum& sum, const std::int64_t* list, std::int64_t count) override {
    ring_->run(sum, {sizeof(nbcc_run_options), 0, count, list, 0, nullptr, NBCC_WHOLE, 0});
  }

 private:
  int own_ = 0, count_ = 1;
  MPI_Datatype moved_ = MPI_DATATYPE_NULL;
  MPI_Op earliest_ = MPI_OP_NULL;
  std::optional<nbcc::MpiRing> ring_;
};

}  // namespace

std::unique_ptr<Ranks> ranks_of_mpi(const nbcc::Device& device) { return std::make_unique<RanksOfMpi>(device); }

}  // namespace examples
