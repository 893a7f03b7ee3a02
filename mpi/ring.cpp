// A sum on every rank -> the sums over all of their j. Door: Ring::run. Knows no reduction: parts of one sum are
// nbcc_sum_run's affair (nbcc_part).
//
// What may fail on one rank alone happens between two agreements; a rank that has failed keeps passing blocks on, since
// the others wait for them.
#include "mpi/ring.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <string_view>

namespace nbcc {
namespace {

bool is_gpu(nbcc_device* device) { return std::string_view(nbcc_device_name(device)).starts_with("cuda"); }

// Whether MPI sends from, and receives into, memory of a GPU. Where it cannot be asked it is not tried.
bool mpi_takes_cuda() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

// On a CPU a block is summed up in pieces, between which MPI is given the chance to go on with what it sends and
// receives: many implementations do nothing while nobody calls them. A piece has so many pairs at least, which take
// some milliseconds.
constexpr double kPairsOfPiece = 1 << 24;
constexpr std::int64_t kMostPieces = 8;

std::int64_t pieces_of(std::int64_t ni, std::int64_t nj) {
  return std::clamp<std::int64_t>(std::int64_t(double(ni) * double(nj) / kPairsOfPiece), 1, kMostPieces);
}

// All ranks see the same numbers, and so all of them or none come here.
[[noreturn]] void refuse_pipeline(int rank) {
  throw Error(NBCC_ERROR_USAGE,
              "rank " + std::to_string(rank) + ": the inputs of j are not those of rank 0's pipeline");
}

}  // namespace

void RingBuffer::reserve(std::size_t bytes) {
  if (data_ && bytes <= bytes_) return;
  nbcc_device_free(device_, data_);
  data_ = nullptr;
  detail::call(on_host_ ? nbcc_device_allocate_shared : nbcc_device_allocate, device_, bytes, &data_);
  bytes_ = bytes;
}

// The sum's own arrays of j, whose places blocks take while the ring turns; they are bound again at the end.
class Ring::Bound {
 public:
  explicit Bound(nbcc_sum* sum) : sum(sum) {
    nbcc_field field;
    for (int k = 0; nbcc_sum_field(sum, k, &field) == 0; ++k)
      if (field.role == NBCC_INPUT_J) fields.push_back({field.name, field.components});
  }
  ~Bound() {
    if (!taken_) return;
    attempt([&] {
      bind(arrays);
      if (fields.empty()) detail::call(nbcc_sum_set_counts, sum, ni, nj);
    });
  }
  // Throws Error where a run could not tell how many particles there are.
  void look() {
    if (!sum) throw Error(NBCC_ERROR_USAGE, "sum is a null pointer");
    detail::call(nbcc_sum_get_counts, sum, &ni, &nj);
    for (const JField& field : fields) {
      nbcc_view view{};
      detail::call(nbcc_sum_get_view, sum, field.name.c_str(), &view);
      arrays.push_back(view);
    }
  }
  void bind(const std::vector<nbcc_view>& views) {
    taken_ = true;
    for (std::size_t f = 0; f < fields.size(); ++f) detail::call(nbcc_sum_bind, sum, fields[f].name.c_str(), &views[f]);
  }
  // Particles of a block.
  void take(const std::vector<nbcc_view>& views, std::int64_t count) {
    bind(views);
    if (fields.empty()) detail::call(nbcc_sum_set_counts, sum, ni, count);
  }

  nbcc_sum* const sum;
  std::vector<JField> fields;
  std::vector<nbcc_view> arrays;
  std::int64_t ni = 0, nj = 0;

 private:
  bool taken_ = false;
};

Ring::Ring(MPI_Comm comm, nbcc_device* device)
    : ranks_(comm),
      device_(device),
      on_gpu_(is_gpu(device)),
      sends_from_gpu_(on_gpu_ && mpi_takes_cuda()),
      host_{{device, true}, {device, true}},
      gpu_{{device, false}, {device, false}},
      first_i_(std::size_t(ranks_.count()) + 1),
      first_j_(std::size_t(ranks_.count()) + 1) {
  ranks_.agree(device ? std::nullopt : std::optional(Error(NBCC_ERROR_USAGE, "device is a null pointer")));
  check_mpi(MPI_Type_contiguous(int(kCell), MPI_BYTE, &cell_), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&cell_), "MPI_Type_commit");
}

Ring::~Ring() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0 && cell_ != MPI_DATATYPE_NULL) MPI_Type_free(&cell_);
}

void Ring::run(nbcc_sum* sum, const nbcc_run_options& options) {
  Bound bound(sum);
  ranks_.agree(attempt([&] {
    bound.look();
    if (options.part != NBCC_WHOLE)
      throw Error(NBCC_ERROR_USAGE, "part: the ring itself hands over the parts of a sum, and takes whole sums");
    if (nbcc_sum_has_lists(sum) != 0)
      throw Error(NBCC_ERROR_USAGE,
                  "part: lists, batches, listed pairs and exclusions name the j of one rank, and the ring sums over "
                  "those of all ranks");
  }));
  exchange(bound);
  ranks_.agree(attempt([&] {
    std::int64_t cells = 1;
    for (const Share& share : shares_) cells = std::max(cells, block_cells(fields_, share));
    for (RingBuffer& buffer : host_) buffer.reserve(std::size_t(cells * kCell));
    for (RingBuffer& buffer : gpu_)
      if (on_gpu_) buffer.reserve(std::size_t(cells * kCell));
    const Share& own = shares_[std::size_t(ranks_.own())];
    // Parts whose arrays are all on the GPU are launches alone, so a block of the host is packed for the GPU.
    own_in_place_ = !on_gpu_ || std::ranges::all_of(bound.arrays,
                                                    [&](const nbcc_view& array) { return on_device(device_, array); });
    if (ranks_.count() == 1 && own_in_place_) return;  // to whom should it go?
    pack_block(device_, fields_, own, bound.arrays, host_[0].data());
    if (sends_from_gpu_)
      detail::call(nbcc_device_write, device_, gpu_[0].data(), static_cast<const void*>(host_[0].data()),
                   std::size_t(block_cells(fields_, own) * kCell));
  }));
  ranks_.agree(circulate(bound, options));
  // Everybody has everything: finish() and the outputs, from no more j.
  ranks_.agree(attempt([&] {
    const int own = ranks_.own();
    nbcc_run_options last = options;
    last.part = NBCC_LAST_PART;
    bound.take(views_in_block(fields_, shares_[std::size_t(own)], block(0), 0, 0), 0);
    detail::call(nbcc_sum_set_offsets, sum, first_i_[std::size_t(own)], first_j_[std::size_t(own)]);
    detail::call(nbcc_sum_run, sum, &last);
  }));
}

// Who has how many particles, and of which elements.
void Ring::exchange(const Bound& bound) {
  const std::size_t fields = bound.fields.size();
  const std::vector<std::int64_t> sizes = ranks_.gather({bound.ni, bound.nj, std::int64_t(fields)});
  for (int rank = 0; rank < ranks_.count(); ++rank)
    if (sizes[std::size_t(3 * rank + 2)] != sizes[2]) refuse_pipeline(rank);
  std::vector<std::int64_t> mine;
  for (std::size_t f = 0; f < fields; ++f) {
    mine.push_back(bound.arrays[f].element);
    mine.push_back(bound.fields[f].components);
  }
  const std::vector<std::int64_t> shapes = ranks_.gather(mine);
  fields_ = bound.fields;
  shares_.assign(std::size_t(ranks_.count()), {});
  for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
    Share& share = shares_[rank];
    share.ni = sizes[3 * rank];
    share.nj = sizes[3 * rank + 1];
    for (std::size_t f = 0; f < fields; ++f) {
      const std::size_t at = 2 * (rank * fields + f);
      share.elements.push_back(nbcc_element(shapes[at]));
      if (shapes[at + 1] != shapes[2 * f + 1]) refuse_pipeline(int(rank));
    }
    first_i_[rank + 1] = first_i_[rank] + share.ni;
    first_j_[rank + 1] = first_j_[rank] + share.nj;
  }
}

// Where MPI finds the block of a step.
void* Ring::block(int step) const { return (sends_from_gpu_ ? gpu_ : host_)[step % 2].data(); }

// Sends the block of this step on, and receives that of the next one.
void Ring::start_transfer(int step, MPI_Request* requests) {
  const int own = ranks_.own(), count = ranks_.count();
  if (step + 1 == count) return;
  const Share& now = shares_[std::size_t((own - step + count) % count)];
  const Share& next = shares_[std::size_t((own - step - 1 + count) % count)];
  check_mpi(MPI_Irecv(block(step + 1), int(block_cells(fields_, next)), cell_, ranks_.before(own), 0, ranks_.comm(),
                      &requests[0]),
            "MPI_Irecv");
  check_mpi(
      MPI_Isend(block(step), int(block_cells(fields_, now)), cell_, ranks_.behind(own), 0, ranks_.comm(), &requests[1]),
      "MPI_Isend");
}

// All blocks, from the own one backwards around the ring.
std::optional<Error> Ring::circulate(Bound& bound, const nbcc_run_options& options) {
  std::optional<Error> failed;
  for (int step = 0; step < ranks_.count(); ++step) {
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    start_transfer(step, requests);
    const int owner = (ranks_.own() - step + ranks_.count()) % ranks_.count();
    if (!failed) failed = attempt([&] { sum_block(bound, owner, step, options, requests); });
    check_mpi(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    // The block's memory is that of the next one but one.
    if (!failed && on_gpu_) failed = attempt([&] { detail::call(nbcc_sum_wait, bound.sum); });
  }
  return failed;
}

void Ring::sum_block(Bound& bound, int owner, int step, nbcc_run_options options, MPI_Request* requests) {
  const Share& share = shares_[std::size_t(owner)];
  const bool in_place = step == 0 && own_in_place_;
  void* data = block(step);
  if (on_gpu_ && !sends_from_gpu_ && !in_place) {
    data = gpu_[step % 2].data();
    detail::call(nbcc_device_write, device_, data, static_cast<const void*>(block(step)),
                 std::size_t(block_cells(fields_, share) * kCell));
  }
  const std::int64_t pieces = on_gpu_ ? 1 : pieces_of(bound.ni, share.nj);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t begin = share.nj * piece / pieces, end = share.nj * (piece + 1) / pieces;
    options.part = step == 0 && piece == 0 ? NBCC_FIRST_PART : NBCC_NEXT_PART;
    bound.take(
        in_place ? some_of(bound.arrays, begin, end - begin) : views_in_block(fields_, share, data, begin, end - begin),
        end - begin);
    detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[std::size_t(ranks_.own())],
                 first_j_[std::size_t(owner)] + begin);
    detail::call(nbcc_sum_run, bound.sum, &options);
    int done = 0;
    check_mpi(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  }
}

}  // namespace nbcc
