// Collective exchange of errors and numbers between ranks. Entry point: Ranks. Knows no particles and no sums.
#include "mpi/ranks.h"

#include <limits>
#include <string>

namespace nbcc {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  throw MpiFailure(std::string(call) + ": " + words);
}

Ranks::Ranks(MPI_Comm comm) {
  int initialised = 0, finalised = 0;
  check_mpi(MPI_Initialized(&initialised), "MPI_Initialized");
  check_mpi(MPI_Finalized(&finalised), "MPI_Finalized");
  if (initialised == 0 || finalised != 0)
    throw Error(NBCC_ERROR_USAGE, "MPI is not initialised, or already finalised: call MPI_Init first");
  if (comm == MPI_COMM_NULL) throw Error(NBCC_ERROR_USAGE, "comm is MPI_COMM_NULL");
  check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
  // Errors are returned to the caller; MPI's default would end the program.
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_size(comm_, &count_), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(comm_, &own_), "MPI_Comm_rank");
}

Ranks::~Ranks() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0) MPI_Comm_free(&comm_);
}

void Ranks::agree(const std::optional<Error>& mine, int order) const {
  constexpr int kNone = std::numeric_limits<int>::max();
  const int failed = mine ? order * count_ + own_ : kNone;
  int first = kNone;
  check_mpi(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (first == kNone) return;
  const int lowest = first % count_;
  std::string message = mine ? mine->what() : "";
  int status_and_length[] = {mine ? int(mine->status()) : 0, int(message.size())};
  check_mpi(MPI_Bcast(status_and_length, 2, MPI_INT, lowest, comm_), "MPI_Bcast");
  message.resize(std::size_t(status_and_length[1]));
  check_mpi(MPI_Bcast(message.data(), status_and_length[1], MPI_CHAR, lowest, comm_), "MPI_Bcast");
  throw Error(nbcc_status(status_and_length[0]), "rank " + std::to_string(lowest) + ": " + message);
}

std::vector<std::int64_t> Ranks::gather(const std::vector<std::int64_t>& mine) const {
  const int each = int(mine.size());
  std::vector<std::int64_t> all(mine.size() * std::size_t(count_));
  check_mpi(MPI_Allgather(mine.data(), each, MPI_INT64_T, all.data(), each, MPI_INT64_T, comm_), "MPI_Allgather");
  return all;
}

}  // namespace nbcc
