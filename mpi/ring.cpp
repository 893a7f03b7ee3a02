// Passes blocks of j around the ring and sums over each block, or gathers all j. Entry point: Ring::run. Knows no
// reductions: nbcc_sum_run accumulates the partial sums (nbcc_part), and RankTotals reduces totals over the ranks.
//
// Work that may fail on a single rank is done between two calls of Ranks::agree(). A rank that has failed still passes
// blocks on, because the other ranks wait for them.
#include "mpi/ring.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mpi/common_sum.h"
#include "mpi/rank_peers.h"
#include "mpi/rank_totals.h"
#include "runtime/api/nbcc_ranks.h"

namespace nbcc {
namespace {

bool is_gpu(nbcc_device* device) { return std::string_view(nbcc_device_name(device)).starts_with("cuda"); }

// True if MPI can send from and receive into GPU memory (CUDA-aware). False if the MPI library has no query for this.
bool mpi_takes_cuda() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

// On a CPU a block is summed in pieces, and MPI_Testall is called between them: many MPI implementations make no
// progress with transfers unless MPI is called. A piece has at least this many pairs, which take some milliseconds.
constexpr double kMinPairsPerPiece = 1 << 24;
constexpr std::int64_t kMaxPieces = 8;

std::int64_t piece_count(std::int64_t ni, std::int64_t nj) {
  return std::clamp<std::int64_t>(std::int64_t(double(ni) * double(nj) / kMinPairsPerPiece), 1, kMaxPieces);
}

// Called on all ranks or on none, because all ranks compare the same numbers.
[[noreturn]] void refuse_pipeline(int rank, const char* fields = "inputs of j") {
  throw Error(NBCC_ERROR_USAGE,
              "rank " + std::to_string(rank) + ": the " + fields + " are not those of rank 0's pipeline");
}

// As text: 0 is none.
std::string text_of(double tolerance) {
  if (tolerance == 0) return "none";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), tolerance).ptr};
}

// Called on all ranks or on none, as refuse_pipeline().
[[noreturn]] void refuse_tolerance(int rank, double its, double of_first) {
  throw Error(NBCC_ERROR_USAGE, "rank " + std::to_string(rank) + ": tolerance: it is " + text_of(its) + " here and " +
                                    text_of(of_first) + " on rank 0: expected one tolerance on all ranks");
}

constexpr std::size_t kSizes = 7 + CommonSum::kNumbers;  // numbers of a rank that Ring::exchange() gathers first

// The numbers of one rank, where each rank has `each` of them.
std::span<const std::int64_t> numbers_of(const std::vector<std::int64_t>& all, std::size_t each, int rank) {
  return std::span(all).subspan(std::size_t(rank) * each, each);
}

}  // namespace

void RingBuffer::reserve(std::size_t bytes) {
  if (data_ && bytes <= bytes_) return;
  nbcc_device_free(device_, data_);
  data_ = nullptr;
  detail::call(on_host_ ? nbcc_device_allocate_shared : nbcc_device_allocate, device_, bytes, &data_);
  bytes_ = bytes;
}

// The j arrays that the caller has bound to the sum. During a run blocks are bound instead; the destructor binds the
// caller's arrays again.
class Ring::BoundArrays {
 public:
  explicit BoundArrays(nbcc_sum* sum) : sum(sum) {
    nbcc_field field;
    for (int k = 0; nbcc_sum_field(sum, k, &field) == 0; ++k)
      if (field.role == NBCC_INPUT_J) fields.push_back({field.name, field.components});
  }
  ~BoundArrays() {
    if (!is_rebound_) return;
    attempt([&] {
      bind(arrays);
      if (fields.empty()) detail::call(nbcc_sum_set_counts, sum, ni, nj);
    });
  }
  // Reads the bound arrays and counts. Throws Error if an array is missing or the number of particles is not known.
  void read_bindings() {
    if (!sum) throw Error(NBCC_ERROR_USAGE, "sum is a null pointer");
    detail::call(nbcc_sum_get_counts, sum, &ni, &nj);
    for (const JField& field : fields) {
      nbcc_view view{};
      detail::call(nbcc_sum_get_view, sum, field.name.c_str(), &view);
      arrays.push_back(view);
    }
  }
  void bind(const std::vector<nbcc_view>& views) {
    is_rebound_ = true;
    for (std::size_t f = 0; f < fields.size(); ++f) detail::call(nbcc_sum_bind, sum, fields[f].name.c_str(), &views[f]);
  }
  // Binds `count` particles of a block.
  void bind_block(const std::vector<nbcc_view>& views, std::int64_t count) {
    bind(views);
    if (fields.empty()) detail::call(nbcc_sum_set_counts, sum, ni, count);
  }

  nbcc_sum* const sum;
  std::vector<JField> fields;
  std::vector<nbcc_view> arrays;
  std::int64_t ni = 0, nj = 0;

 private:
  bool is_rebound_ = false;
};

Ring::Ring(MPI_Comm comm, nbcc_device* device)
    : ranks_(comm),
      device_(device),
      on_gpu_(is_gpu(device)),
      sends_from_gpu_(on_gpu_ && mpi_takes_cuda()),
      host_{{device, true}, {device, true}},
      gpu_{{device, false}, {device, false}},
      gathered_(device, on_gpu_),
      first_i_(std::size_t(ranks_.count()) + 1),
      first_j_(std::size_t(ranks_.count()) + 1) {
  ranks_.agree(device ? std::nullopt : std::optional(Error(NBCC_ERROR_USAGE, "device is a null pointer")));
  check_mpi(MPI_Type_contiguous(int(kBlockUnitBytes), MPI_BYTE, &unit_type_), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&unit_type_), "MPI_Type_commit");
}

Ring::~Ring() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0 && unit_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&unit_type_);
}

void Ring::run(nbcc_sum* sum, const nbcc_run_options& options) {
  BoundArrays bound(sum);
  RankTotals totals(sum);
  const CommonSum common(sum);
  std::vector<std::int64_t> common_numbers;
  ranks_.agree(attempt([&] {
    bound.read_bindings();
    totals.read_bindings();
    common_numbers = common.numbers();
    if (options.part != NBCC_WHOLE)
      throw Error(NBCC_ERROR_USAGE, "part: a ring splits the sum into parts itself, so part must be NBCC_WHOLE");
  }));
  const Needs needs = exchange(bound, std::int64_t(totals.wanted().size()), common_numbers);
  const std::vector<std::int64_t> wanted_totals = exchange(totals);
  common.require_same(ranks_, common_numbers);
  ranks_.agree(attempt([&] { totals.bind_own(wanted_totals); }));
  bytes_received_ = 0;
  if (needs == Needs::Blocks)
    run_in_blocks(bound, options);
  else if (needs == Needs::AllJ || !run_with_own_j(bound, options))
    run_gathered(bound, options);
  totals.store(ranks_, device_, options.accumulate != 0);
}

void Ring::run_in_blocks(BoundArrays& bound, const nbcc_run_options& options) {
  ranks_.agree(attempt([&] {
    std::int64_t units = 1;
    for (const RankLayout& layout : layouts_) units = std::max(units, block_units(fields_, layout));
    for (RingBuffer& buffer : host_) buffer.reserve(std::size_t(units * kBlockUnitBytes));
    for (RingBuffer& buffer : gpu_)
      if (on_gpu_) buffer.reserve(std::size_t(units * kBlockUnitBytes));
    const RankLayout& own = layouts_[std::size_t(ranks_.own())];
    // On a GPU a run is asynchronous only if all its arrays are on the GPU, so j arrays on the host are packed.
    own_in_place_ = !on_gpu_ || std::ranges::all_of(bound.arrays,
                                                    [&](const nbcc_view& array) { return on_device(device_, array); });
    if (ranks_.count() == 1 && own_in_place_) return;  // no block is sent
    pack_block(device_, fields_, own, bound.arrays, host_[0].data());
    if (sends_from_gpu_)
      detail::call(nbcc_device_write, device_, gpu_[0].data(), static_cast<const void*>(host_[0].data()),
                   std::size_t(block_units(fields_, own) * kBlockUnitBytes));
  }));
  ranks_.agree(circulate(bound, options));
  // All ranks have summed all blocks: a last run over 0 j applies finish() and writes the outputs.
  ranks_.agree(attempt([&] {
    const int own = ranks_.own();
    nbcc_run_options last = options;
    last.part = NBCC_LAST_PART;
    bound.bind_block(views_in_block(fields_, layouts_[std::size_t(own)], block(0), 0, 0), 0);
    detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[std::size_t(own)], first_j_[std::size_t(own)]);
    detail::call(nbcc_sum_run, bound.sum, &last);
  }));
}

// One run of each rank over the j of all. A single rank has them in its own arrays.
void Ring::run_gathered(BoundArrays& bound, const nbcc_run_options& options) {
  const auto own = std::size_t(ranks_.own());
  const bool is_alone = ranks_.count() == 1;
  if (!is_alone) {
    ranks_.agree(attempt([&] { gathered_.pack(fields_, layouts_, ranks_.own(), bound.arrays); }));
    gathered_.exchange(ranks_);
    bytes_received_ += gathered_.bytes_received();
  }
  std::optional<RankPeers> ranks;
  ranks_.agree(attempt([&] {
    if (!is_alone) bound.bind_block(gathered_.views(), gathered_.count());
    detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[own], std::int64_t(0));
    detail::call(nbcc_sum_check_run, bound.sum, &options);
    ranks.emplace(ranks_);
  }));
  run_among(bound, options, *ranks, ranks->peers(false, why_all_j_.data()));
}

bool Ring::run_with_own_j(BoundArrays& bound, const nbcc_run_options& options) {
  const auto own = std::size_t(ranks_.own());
  std::optional<RankPeers> ranks;
  ranks_.agree(attempt([&] {
    detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[own], first_j_[own]);
    detail::call(nbcc_sum_check_run, bound.sum, &options);
    ranks.emplace(ranks_);
  }));
  run_among(bound, options, *ranks, ranks->peers(true, why_all_j_.data()));
  bytes_received_ += ranks->bytes_received();
  return why_all_j_[0] == 0;
}

void Ring::run_among(BoundArrays& bound, const nbcc_run_options& options, RankPeers& ranks, const nbcc_peers& peers) {
  const auto own = std::size_t(ranks_.own());
  const std::optional<Error> failed = attempt([&] {
    detail::call(nbcc_sum_run_among, bound.sum, &options, &peers);
    // The next run overwrites the gathered j.
    if (on_gpu_) detail::call(nbcc_sum_wait, bound.sum);
  });
  ranks.finish();
  // An interrupt may be the consequence of another rank's error or interrupt.
  const bool is_interrupted = failed && failed->status() == NBCC_INTERRUPTED;
  ranks_.agree(failed, !is_interrupted ? 0 : ranks.another_has_ended() ? 2 : 1);
  ranks_.agree(attempt([&] { detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[own], first_j_[own]); }));
}

// Exchanges the number of particles and the element types of all ranks, and checks their numbers of totals and their
// tolerances. `common`: CommonSum::numbers() of this rank; afterwards the numbers of all ranks, rank 0 first.
Ring::Needs Ring::exchange(const BoundArrays& bound, std::int64_t totals, std::vector<std::int64_t>& common) {
  const std::size_t fields = bound.fields.size();
  const std::int64_t needs_all_j = *nbcc_sum_needs_all_j(bound.sum) != 0 ? 1 : 0;
  const std::string why_all_j = on_gpu_ ? "the ranks sum on GPUs" : nbcc_sum_why_all_j(bound.sum);
  std::vector<std::int64_t> own_sizes{bound.ni,
                                      bound.nj,
                                      std::int64_t(fields),
                                      totals,
                                      needs_all_j,
                                      std::bit_cast<std::int64_t>(nbcc_sum_tolerance(bound.sum)),
                                      why_all_j.empty() ? 1 : 0};
  own_sizes.insert(own_sizes.end(), common.begin(), common.end());
  const std::vector<std::int64_t> sizes = ranks_.gather(own_sizes);
  common.clear();
  bool any_needs_all_j = false, all_may_have_own_j = ranks_.count() > 1;
  for (int rank = 0; rank < ranks_.count(); ++rank) {
    const std::span<const std::int64_t> its = numbers_of(sizes, kSizes, rank);
    common.insert(common.end(), its.end() - CommonSum::kNumbers, its.end());
    any_needs_all_j = any_needs_all_j || its[4] != 0;
    all_may_have_own_j = all_may_have_own_j && its[6] != 0;
    if (its[2] != sizes[2]) refuse_pipeline(rank);
    if (its[3] != sizes[3]) refuse_pipeline(rank, "totals");
    const double tolerance = std::bit_cast<double>(its[5]), of_first = std::bit_cast<double>(sizes[5]);
    if (tolerance != of_first) refuse_tolerance(rank, tolerance, of_first);
  }
  std::vector<std::int64_t> mine;
  for (std::size_t f = 0; f < fields; ++f) {
    mine.push_back(bound.arrays[f].element);
    mine.push_back(bound.fields[f].components);
  }
  const std::vector<std::int64_t> shapes = ranks_.gather(mine);
  fields_ = bound.fields;
  layouts_.assign(std::size_t(ranks_.count()), {});
  for (std::size_t rank = 0; rank < layouts_.size(); ++rank) {
    RankLayout& layout = layouts_[rank];
    layout.ni = sizes[kSizes * rank];
    layout.nj = sizes[kSizes * rank + 1];
    for (std::size_t f = 0; f < fields; ++f) {
      const std::size_t at = 2 * (rank * fields + f);
      layout.elements.push_back(nbcc_element(shapes[at]));
      if (shapes[at + 1] != shapes[2 * f + 1]) refuse_pipeline(int(rank));
    }
    first_i_[rank + 1] = first_i_[rank] + layout.ni;
    first_j_[rank + 1] = first_j_[rank] + layout.nj;
  }
  if (!any_needs_all_j) return Needs::Blocks;
  if (all_may_have_own_j) return Needs::OwnJ;
  const std::string why = ranks_.count() == 1 ? "" : why_all_j.empty() ? "another rank needs them" : why_all_j;
  why_all_j_.fill(0);
  why.copy(why_all_j_.data(), why_all_j_.size() - 1);
  return Needs::AllJ;
}

// Returns which totals are wanted on any rank, since the others must compute theirs for it, too.
std::vector<std::int64_t> Ring::exchange(const RankTotals& totals) {
  std::vector<std::int64_t> wanted = totals.wanted();
  const std::size_t count = wanted.size();
  if (count == 0) return wanted;
  std::vector<std::int64_t> mine = totals.shapes();
  const std::size_t shapes = mine.size();
  mine.insert(mine.end(), wanted.begin(), wanted.end());
  const std::vector<std::int64_t> all = ranks_.gather(mine);
  for (int rank = 0; rank < ranks_.count(); ++rank) {
    const std::span<const std::int64_t> its = numbers_of(all, mine.size(), rank);
    if (!std::ranges::equal(its.first(shapes), std::span(all).first(shapes))) refuse_pipeline(rank, "totals");
    for (std::size_t t = 0; t < count; ++t) wanted[t] |= its[shapes + t];
  }
  return wanted;
}

// The buffer from which MPI sends, or into which it receives, the block of a step.
void* Ring::block(int step) const { return (sends_from_gpu_ ? gpu_ : host_)[step % 2].data(); }

// Starts sending the block of this step to the next rank and receiving the block of the next step.
void Ring::start_transfer(int step, MPI_Request* requests) {
  const int own = ranks_.own(), count = ranks_.count();
  if (step + 1 == count) return;
  const RankLayout& now = layouts_[std::size_t((own - step + count) % count)];
  const RankLayout& next = layouts_[std::size_t((own - step - 1 + count) % count)];
  check_mpi(MPI_Irecv(block(step + 1), int(block_units(fields_, next)), unit_type_, ranks_.previous(own), 0,
                      ranks_.comm(), &requests[0]),
            "MPI_Irecv");
  bytes_received_ += block_units(fields_, next) * kBlockUnitBytes;
  check_mpi(MPI_Isend(block(step), int(block_units(fields_, now)), unit_type_, ranks_.next(own), 0, ranks_.comm(),
                      &requests[1]),
            "MPI_Isend");
}

// Sums over all blocks: first this rank's own block, then the block of the previous rank, and so on around the ring.
std::optional<Error> Ring::circulate(BoundArrays& bound, const nbcc_run_options& options) {
  std::optional<Error> failed;
  for (int step = 0; step < ranks_.count(); ++step) {
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    start_transfer(step, requests);
    const int owner = (ranks_.own() - step + ranks_.count()) % ranks_.count();
    if (!failed) failed = attempt([&] { sum_block(bound, owner, step, options, requests); });
    check_mpi(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    // There are two buffers: the transfer of the next step overwrites this block, so its sum must be complete.
    if (!failed && on_gpu_) failed = attempt([&] { detail::call(nbcc_sum_wait, bound.sum); });
  }
  return failed;
}

void Ring::sum_block(BoundArrays& bound, int owner, int step, nbcc_run_options options, MPI_Request* requests) {
  const RankLayout& layout = layouts_[std::size_t(owner)];
  const bool in_place = step == 0 && own_in_place_;
  void* data = block(step);
  if (on_gpu_ && !sends_from_gpu_ && !in_place) {
    data = gpu_[step % 2].data();
    detail::call(nbcc_device_write, device_, data, static_cast<const void*>(block(step)),
                 std::size_t(block_units(fields_, layout) * kBlockUnitBytes));
  }
  const std::int64_t pieces = on_gpu_ ? 1 : piece_count(bound.ni, layout.nj);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t begin = layout.nj * piece / pieces, end = layout.nj * (piece + 1) / pieces;
    options.part = step == 0 && piece == 0 ? NBCC_FIRST_PART : NBCC_NEXT_PART;
    bound.bind_block(in_place ? subrange_of(bound.arrays, begin, end - begin)
                              : views_in_block(fields_, layout, data, begin, end - begin),
                     end - begin);
    detail::call(nbcc_sum_set_offsets, bound.sum, first_i_[std::size_t(ranks_.own())],
                 first_j_[std::size_t(owner)] + begin);
    detail::call(nbcc_sum_run, bound.sum, &options);
    int done = 0;
    check_mpi(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  }
}

}  // namespace nbcc
