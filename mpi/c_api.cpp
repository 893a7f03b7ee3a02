// The functions of nbcc_mpi.h: they call Ring and convert exceptions to status codes. Nothing is computed here.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "mpi/nbcc_mpi.h"
#include "mpi/ring.h"

struct nbcc_mpi_ring {
  nbcc::Ring ring;
};

namespace {

template <typename Body>
nbcc_status guarded(nbcc_error** error, const Body& body) noexcept {
  if (error) *error = nullptr;
  try {
    body();
    return NBCC_OK;
  } catch (const nbcc::Error& e) {
    return nbcc_error_make(error, e.status(), e.what());
  } catch (const nbcc::MpiFailure& e) {
    return nbcc_error_make(error, NBCC_ERROR_DEVICE, e.what());
  } catch (const std::bad_alloc&) {
    return nbcc_error_make(error, NBCC_ERROR_DEVICE, "out of memory");
  } catch (const std::exception& e) {
    return nbcc_error_make(error, NBCC_ERROR_INTERNAL, e.what());
  } catch (...) {
    return nbcc_error_make(error, NBCC_ERROR_INTERNAL, "internal error: an exception of unknown type");
  }
}

template <typename T>
T& checked(T* pointer, const char* what) {
  if (!pointer) throw nbcc::Error(NBCC_ERROR_USAGE, std::string(what) + " is a null pointer");
  return *pointer;
}

}  // namespace

extern "C" {

nbcc_status nbcc_mpi_ring_create(MPI_Comm comm, nbcc_device* device, nbcc_mpi_ring** ring, nbcc_error** error) {
  return guarded(error, [&] {
    checked(ring, "the address for the ring") = nullptr;
    *ring = new nbcc_mpi_ring{{comm, device}};
  });
}

void nbcc_mpi_ring_destroy(nbcc_mpi_ring* ring) { delete ring; }

nbcc_status nbcc_mpi_run(nbcc_mpi_ring* ring, nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error) {
  return guarded(error, [&] {
    // Copies the members that the caller's version of the struct has.
    nbcc_run_options chosen{sizeof(nbcc_run_options), 0, -1, nullptr, 0, nullptr, NBCC_WHOLE, 0};
    if (options) std::memcpy(&chosen, options, std::min(options->size, sizeof chosen));
    // nbcc_sum_run refuses size 0.
    chosen.size = options && options->size < sizeof(size_t) ? 0 : sizeof chosen;
    checked(ring, "ring").ring.run(sum, chosen);
  });
}

nbcc_status nbcc_mpi_ring_owners(const nbcc_mpi_ring* ring, const int64_t** i_first, const int64_t** j_first,
                                 nbcc_error** error) {
  return guarded(error, [&] {
    checked(i_first, "the address for i_first") = checked(ring, "ring").ring.first_i().data();
    checked(j_first, "the address for j_first") = ring->ring.first_j().data();
  });
}

int64_t nbcc_mpi_ring_bytes(const nbcc_mpi_ring* ring) { return ring ? ring->ring.bytes_received() : 0; }

}  // extern "C"
