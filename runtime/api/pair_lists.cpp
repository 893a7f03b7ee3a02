// Implements the functions of nbcc_pair_lists.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/pairs/cuda_pair_search.h"
#include "runtime/pairs/pair_search.h"

struct nbcc_pair_search {
  std::shared_ptr<nbcc::KernelDevice> device;
  std::unique_ptr<nbcc::PairSearch> search;
};

namespace nbcc {
namespace {

using pair_search::Search;
using pair_search::Side;
static_assert(sizeof(pair_search::Index) == sizeof(std::int64_t));
const pair_search::Index* as_index(const std::int64_t* array) {
  return reinterpret_cast<const pair_search::Index*>(array);
}
pair_search::Index* as_index(std::int64_t* array) { return reinterpret_cast<pair_search::Index*>(array); }

std::unique_ptr<PairSearch> pair_search_of(KernelDevice& device) {
  if (first_gpu(device)) return cuda_pair_search(device);
  return host_pair_search(dynamic_cast<CpuDevice&>(device).on_threads());
}

bool is_double(const nbcc_view& view, const char* name) {
  const int element = number_of(view.element);
  if (element != NBCC_FLOAT && element != NBCC_DOUBLE_ELEMENT)
    throw UsageError(
        fmt::format("neighbours: {}: expected elements float or double, got element type {}", name, element));
  if (view.count < 0 || view.count > std::numeric_limits<int>::max() - 1)
    throw UsageError(fmt::format("neighbours: {}: expected 0 to 2^31 - 2 particles, got {}", name, view.count));
  return element == NBCC_DOUBLE_ELEMENT;
}

Side side_of(const nbcc_view& view, const std::int64_t* batch, const std::int64_t* type) {
  Side side = {};
  side.x = static_cast<const char*>(view.data);
  side.stride = view.stride;
  side.component_stride = view.component_stride;
  side.count = view.count;
  side.system = as_index(batch);
  side.type = as_index(type);
  return side;
}

Search search_of(const nbcc_pair_query& q) {
  const bool one_set = q.y.data == nullptr;
  if (!one_set && is_double(q.x, "x") != is_double(q.y, "y"))
    throw UsageError("neighbours: expected positions x and y of one type, got float and double");
  if (!(q.cutoff > 0) || !std::isfinite(q.cutoff))
    throw UsageError(fmt::format("neighbours: expected a finite cutoff > 0, got {}", q.cutoff));
  if (q.batches < 0 || q.batches > std::numeric_limits<int>::max())
    throw UsageError(fmt::format("neighbours: expected 0 to 2^31 - 1 batches, got {}", q.batches));
  if (one_set && q.y.count != 0)
    throw UsageError(fmt::format("neighbours: y: expected positions of {} particles, got a null pointer", q.y.count));
  if (!one_set && (q.half || q.self))
    throw UsageError("neighbours: expected half and self only where i and j are one set, got y");
  if (q.cutoff_of_types && !(q.i_type && (one_set || q.j_type)))
    throw UsageError("neighbours: cutoffs by types need the types of all particles");
  Search s = {};
  s.side[1] = side_of(q.x, q.i_batch, q.i_type);
  s.side[0] = one_set ? s.side[1] : side_of(q.y, q.j_batch, q.j_type);
  s.one_set = one_set ? 1 : 0;
  s.half = q.half;
  s.self = q.self;
  s.inclusive = q.inclusive;
  s.systems = std::max<std::int64_t>(q.batches, 1);
  s.cells = q.cells;
  s.periodic = q.periodic;
  s.cutoff = q.cutoff;
  s.cutoff_of_i = q.cutoff_of_i;
  s.cutoff_of_types = q.cutoff_of_types;
  s.types = q.cutoff_of_types ? q.types : 0;
  s.excluded_first = as_index(q.excluded_first);
  s.excluded_j = as_index(q.excluded_j);
  return s;
}

}  // namespace
}  // namespace nbcc

extern "C" {

nbcc_status nbcc_pair_search_create(nbcc_device* device, nbcc_pair_search** search, nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc::checked(search, "search") = nullptr;
    const std::shared_ptr<nbcc::KernelDevice> of = nbcc::checked(device, "device").device;
    *search = new nbcc_pair_search{of, nbcc::pair_search_of(*of)};
  });
}
void nbcc_pair_search_destroy(nbcc_pair_search* search) { delete search; }

nbcc_status nbcc_pair_search_run(nbcc_pair_search* search, const nbcc_pair_query* query, int64_t* count,
                                 nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    const nbcc_pair_query q = nbcc::read_options(&nbcc::checked(query, "query"), nbcc_pair_query{});
    nbcc::PairSearch& with = *nbcc::checked(search, "search").search;
    nbcc::Progress progress([&q](double done) { return q.progress(q.progress_data, done) != 0; });
    const std::function<void()> poll = [&progress] { progress.poll(); };
    const std::int64_t found = with.search(nbcc::search_of(q), nbcc::is_double(q.x, "x"), q.stream, count,
                                           q.progress ? poll : std::function<void()>());
    if (count) *count = found;
  });
}

nbcc_status nbcc_pair_search_store(nbcc_pair_search* search, const nbcc_pair_arrays* arrays, nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    const nbcc_pair_arrays a = nbcc::read_options(&nbcc::checked(arrays, "arrays"), nbcc_pair_arrays{});
    if (a.capacity < 0)
      throw nbcc::UsageError(fmt::format("neighbours: capacity: expected 0 or more, got {}", a.capacity));
    if (a.capacity > 0) nbcc::checked(a.i, "i"), nbcc::checked(a.j, "j");
    nbcc::checked(search, "search")
        .search->store({a.capacity, nbcc::as_index(a.i), nbcc::as_index(a.j), a.shifts, nbcc::as_index(a.first),
                        nbcc::as_index(a.count)});
  });
}

nbcc_status nbcc_sum_get_pair_space(const nbcc_sum* sum, nbcc_pair_space* space, nbcc_error** error) {
  return nbcc::guarded(error, [&] {
    nbcc_pair_space& to = nbcc::checked(space, "space");
    if (to.size < sizeof to) throw nbcc::UsageError("nbcc_pair_space: `size` must be the size of the struct");
    const nbcc::PairSpace found = nbcc::checked(sum, "sum").state.pair_space();
    to.cutoff = found.cutoff;
    to.inclusive = found.inclusive ? 1 : 0;
    to.self = sum->skips_self ? 0 : 1;
    std::ranges::copy(found.cell, to.cell);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      to.periodic[axis] = found.periodic[axis] ? 1 : 0;
      to.i_field[axis] = found.of_i[axis].field, to.i_component[axis] = found.of_i[axis].component;
      to.j_field[axis] = found.of_j[axis].field, to.j_component[axis] = found.of_j[axis].component;
    }
  });
}

}  // extern "C"
