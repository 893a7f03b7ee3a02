// A checked request with arrays on the host -> copies, launches, results. Interface: CudaStaging::run. Kernels access
// arrays on the device directly.
//
//   stream in_      | send i0 | send j0 | send j1 | send i1 | ...
//   caller's stream           | sum i0 with j0    | sum i0 with j1 | sum i1 with ...
//   stream out_                                                    | receive results of i0 | ...
//
// Chunks of i are the outer loop, chunks of j the inner loop. Buffers are doubled, and an event says when a buffer is
// free again. Outputs are written only after everything else has succeeded. To guarantee that for outputs on the device
// too, a separate last launch stores them, and all i are one chunk.
#include "runtime/cuda/run/cuda_stage.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/request/divide_i.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

constexpr std::int64_t kAlignment = 256;  // bytes; columns begin at multiples of this
// The fraction of the free memory that a run may use. Other programs and the driver need the rest.
constexpr double kFractionOfFreeMemory = 0.8;

std::int64_t column_bytes(std::int64_t rows, Element element) { return round_up(rows * size_of(element), kAlignment); }

bool is_staged(Residency r) { return r == Residency::Host || r == Residency::ViaHost; }

}  // namespace

void CudaStaging::bind(const CudaResidency& residency) {
  residency_ = residency;
  resident_ = false;
  i_staged_.clear();
  j_staged_.clear();
  out_staged_.clear();
  i_bytes_ = j_bytes_ = 0;
  const KernelSource& source = kernel_.source;
  const auto add_input = [&](Role role, const Column& column, std::vector<StagedColumn>& all, std::int64_t& bytes) {
    for (std::size_t f = 0; f < source.fields.size(); ++f) {
      const int component = column.component - source.fields[f].first;
      if (source.fields[f].role != role || component < 0 || component >= source.fields[f].components()) continue;
      if (!is_staged(residency_.of[f])) return;
      all.push_back({f, component, column.component, column});
      bytes += size_of(column.element);
    }
  };
  for (const Column& column : source.columns.i) add_input(Role::InputI, column, i_staged_, i_bytes_);
  for (const Column& column : source.columns.j) add_input(Role::InputJ, column, j_staged_, j_bytes_);
  for (std::size_t f = 0; f < source.fields.size(); ++f) {
    if (source.fields[f].role != Role::Output || residency_.of[f] != Residency::Host) continue;
    for (int c = 0; c < source.fields[f].components(); ++c)
      out_staged_.push_back({f, c, source.fields[f].first + c, {}});
  }
}

ArrayView CudaStaging::view_of(const SumRequest& request, std::size_t field) const {
  return residency_.of[field] == Residency::ViaHost ? via_host_views_[field] : request.views[field];
}

void CudaStaging::run(const SumRequest& request, const std::int64_t* list, CudaStream* stream, CudaMethod* method) {
  if (request.reuse == JReuse::None) resident_ = false;
  Plan plan;
  try {
    stage_device_inputs(request, stream);
    plan = make_plan(request, list, method);
    size_memory(request, plan, stream);
    set_device_outputs(request, method != nullptr);
    run_chunks(request, plan, list, stream);
    if (request.progress) {
      launched_.record(stream);
      launched_.wait(request.progress);
    }
    wait_for_all(stream);
    launcher_.index_checks().report(plan.by_list ? nullptr : list, plan.lowest);
    if (residency_.device_outputs && !method && plan.last) {
      store_device_outputs(request, plan, stream);
      gpu_.synchronize(stream);
    }
  } catch (...) {
    // Wait until no copy or launch writes to our buffers.
    try {
      wait_for_all(stream);
    } catch (const DeviceError&) {
      // The first failure is thrown.
    }
    throw;
  }
  resident_ = request.keep_j && !j_staged_.empty() && request.nj > 0;
  if (plan.last) unpack_outputs(request, plan, list);
}

void CudaStaging::wait_for_all(CudaStream* stream) const {
  FirstFailure failure;
  failure.attempt([&] { in_.wait(); });
  failure.attempt([&] { gpu_.synchronize(stream); });
  failure.attempt([&] { out_.wait(); });
  failure.rethrow();
}

CudaStaging::Plan CudaStaging::make_plan(const SumRequest& request, const std::int64_t* list, CudaMethod* method) {
  Plan plan;
  plan.method = method;
  plan.first = begins(request.j_part);
  plan.last = ends(request.j_part);
  plan.rows = request.i_count;
  plan.lowest = list ? 0 : request.i_begin;
  plan.by_list = list && (kernel_.source.uses.i_index || request.exclusions || residency_.device_i ||
                          residency_.device_outputs || (method && method->uses_particle_indices(request)));
  if (plan.by_list) {
    const auto [low, high] = std::minmax_element(list, list + request.i_count);
    plan.lowest = *low;
    plan.rows = *high - *low + 1;
  }
  // The configuration depends on ni and nj only, not on the free memory.
  if (method)
    launcher_.configure_without_pairs();
  else
    launcher_.configure(request.i_of_run(), j_staged_.empty() ? request.nj : std::min(request.nj, kCudaJChunk),
                        request.exclusions, true);
  launcher_.set_progress(request.progress);
  return plan;
}

CudaChunkQuestion CudaStaging::question(const SumRequest& request, const Plan& plan) const {
  CudaChunkQuestion question;
  question.ni = plan.rows;
  question.nj = j_staged_.empty() ? 0 : request.nj;
  question.i_bytes = i_bytes_ + std::int64_t(out_staged_.size() * sizeof(double));
  question.i_work_bytes = launcher_.bytes_per_i() + launcher_.accumulators() * std::int64_t(sizeof(double));
  if (plan.method)
    question.i_work_bytes = std::int64_t(plan.method->bytes_for(request)) / std::max<std::int64_t>(plan.rows, 1);
  if (plan.by_list) question.i_work_bytes += std::int64_t(sizeof(std::int64_t));
  question.j_bytes = j_bytes_;
  question.i_in_one_chunk = plan.by_list || residency_.device_outputs || plan.method || !plan.first || !plan.last;
  question.j_resident = request.keep_j || resident_ || plan.method;
  question.i_multiple = launcher_.i_per_block();
  question.j_multiple = kernel_.program().config().j_tile;
  return question;
}

std::size_t CudaStaging::bytes_held() const {
  std::size_t bytes = j_columns_.bytes() + accumulators_.bytes() + list_.bytes() + launcher_.bytes();
  for (const CudaMethod* method : methods_) bytes += method->bytes();
  for (const IBuffers& i : i_) bytes += i.columns.bytes() + i.results.bytes();
  return bytes;
}

// Bytes that a run may use.
std::int64_t CudaStaging::budget() const {
  std::size_t free = 0, total = 0;
  gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
  return std::int64_t(kFractionOfFreeMemory * double(free + bytes_held()));
}

DeviceWork CudaStaging::work(const SumRequest& request, CudaMethod* method) {
  const Plan plan = make_plan(request, nullptr, method);
  const CudaChunks chunks = choose_chunks(question(request, plan), budget());
  DeviceWork found{fmt::format("cuda:{}", gpu_.ordinal()), 0, chunks.bytes};
  if (!chunks.fits) return found;
  const auto parts = [](std::int64_t count, std::int64_t chunk) {
    return (count + chunk - 1) / std::max<std::int64_t>(chunk, 1);
  };
  const std::int64_t of_chunk =
      method ? method->launches(request) : std::max<std::int64_t>(1, parts(request.nj, chunks.j_chunk));
  found.launches = parts(plan.rows, chunks.i_chunk) * of_chunk + (residency_.device_outputs && !method ? 1 : 0);
  return found;
}

void CudaStaging::size_memory(const SumRequest& request, Plan& plan, CudaStream* stream) {
  const CudaChunkQuestion asked = question(request, plan);
  std::int64_t bytes = budget();
  for (;;) {
    plan.chunks = choose_chunks(asked, bytes);
    if (!plan.chunks.fits) {
      std::size_t free = 0, total = 0;
      gpu_.require(gpu_.driver().mem_get_info(&free, &total), "asking for the GPU's memory");
      release(resident_);
      throw DeviceError(fmt::format(
          "out of memory of the GPU: this run needs {} bytes at least{}, and {} of {} are free", plan.chunks.bytes,
          asked.i_in_one_chunk || asked.j_resident ? " (arrays on the device cannot be divided into chunks)" : "", free,
          total));
    }
    plan.several_launches =
        !plan.first || !plan.last || (!plan.method && (residency_.device_outputs || plan.chunks.j_chunk < asked.nj));
    if (reserve(request, plan, stream)) return;
    // Releasing memory would lose the sums of earlier runs over other j (JPart).
    if (!plan.first)
      throw DeviceError("out of memory of the GPU: a later run of a sum needs more than the earlier ones");
    release(resident_);
    if (plan.method && reserve(request, plan, stream)) return;
    bytes = plan.chunks.bytes - 1;  // one step smaller
  }
}

bool CudaStaging::reserve(const SumRequest& request, const Plan& plan, CudaStream* stream) {
  const CudaChunks& chunks = plan.chunks;
  const std::int64_t i_count = plan.by_list ? request.i_count : std::min(request.i_count, chunks.i_chunk);
  const std::size_t buffers = chunks.i_chunk < plan.rows ? 2 : 1;
  std::int64_t i_bytes = 0, j_bytes = 0, chunk_bytes = 0;
  for (const StagedColumn& staged : i_staged_) i_bytes += column_bytes(chunks.i_chunk, staged.column.element);
  for (const StagedColumn& staged : j_staged_) {
    j_bytes += chunks.j_resident ? column_bytes(request.nj, staged.column.element)
                                 : 2 * column_bytes(chunks.j_chunk, staged.column.element);
    chunk_bytes += column_bytes(chunks.j_chunk, staged.column.element);
  }
  const std::int64_t out_bytes = std::int64_t(out_staged_.size()) * column_bytes(chunks.i_chunk, Element::Double);
  const bool room = plan.method ? plan.method->reserve(request) : launcher_.reserve(i_count, stream);
  if (!room || !j_columns_.reserve(std::size_t(j_bytes))) return false;
  for (std::size_t b = 0; b < buffers; ++b) {
    if (!i_[b].columns.reserve(std::size_t(i_bytes)) || !i_[b].results.reserve(std::size_t(out_bytes))) return false;
    i_[b].packed.reserve(std::size_t(i_bytes));
    i_[b].fetched.reserve(std::size_t(out_bytes));
  }
  const std::int64_t rows = plan.method ? request.accumulator_rows() : i_count;
  if (plan.several_launches && !accumulators_.reserve(std::size_t(rows * launcher_.accumulators()) * sizeof(double)))
    return false;
  if (plan.by_list && !list_.reserve(request.i_count)) return false;
  if (!resident_) {
    j_[0].packed.reserve(std::size_t(chunk_bytes));
    if (chunks.j_chunk < request.nj) j_[1].packed.reserve(std::size_t(chunk_bytes));
  }
  if (buffers > 1) gathered_.reserve(out_staged_.size() * std::size_t(plan.rows) * sizeof(double));
  if (plan.by_list) gathered_.reserve(std::size_t(request.i_count) * sizeof(double));
  return true;
}

void CudaStaging::release(bool keep_j) {
  if (!keep_j) j_columns_.release();
  launcher_.release();
  for (CudaMethod* method : methods_) method->release();
  accumulators_.release();
  list_.release();
  for (IBuffers& i : i_) {
    i.columns.release();
    i.results.release();
  }
}

// Copies inputs that an output would overwrite while other i still read them to the host.
void CudaStaging::stage_device_inputs(const SumRequest& request, CudaStream* stream) {
  via_host_views_.resize(kernel_.source.fields.size());
  via_host_.resize(kernel_.source.fields.size());
  bool any = false;
  for (std::size_t f = 0; f < kernel_.source.fields.size(); ++f) {
    if (residency_.of[f] != Residency::ViaHost) continue;
    const ArrayView& view = request.views[f];
    const ByteRange range = bytes_of(view, kernel_.source.fields[f].components());
    const auto bytes = std::size_t(range.high - range.low);
    const auto from = std::uintptr_t(range.low);
    via_host_[f].reserve(bytes);
    gpu_.fetch(via_host_[f].data(), from, bytes, stream);
    via_host_views_[f] = view;
    via_host_views_[f].data = via_host_[f].data() + (reinterpret_cast<std::uintptr_t>(view.data) - from);
    any = true;
  }
  if (any) gpu_.synchronize(stream);
}

void CudaStaging::run_chunks(const SumRequest& request, const Plan& plan, const std::int64_t* list,
                             CudaStream* stream) {
  if (plan.by_list) {
    list_.send(list, request.i_count, stream);
    clear_results(plan, stream);
  }
  std::array<IChunk, 2> waiting{};  // chunks whose results are being copied back
  const std::int64_t step = plan.by_list ? request.i_count : plan.chunks.i_chunk;
  int number = 0;
  IChunk chunk;
  for_ranges_of_i(request.i_count, step, [&](std::int64_t begin, std::int64_t count) {
    chunk.begin = begin;
    chunk.end = begin + count;
    chunk.first_row = plan.lowest + begin;
    chunk.row_count = plan.by_list ? plan.rows : count;
    chunk.buffer = number % 2;
    if (number >= 2) gather(plan, waiting[std::size_t(chunk.buffer)]);
    send_i(request, plan, chunk, list, stream);
    sum_chunk(request, plan, chunk, !resident_ && (number == 0 || !plan.chunks.j_resident), stream);
    receive(plan, chunk);
    waiting[std::size_t(chunk.buffer)] = chunk;
    ++number;
  });
  for (int last = std::max(0, number - 2); last < number; ++last) gather(plan, waiting[std::size_t(last % 2)]);
}

// The rows of i that are not in the list are copied back with the others, so clear them: uninitialised memory is never
// copied.
void CudaStaging::clear_results(const Plan& plan, CudaStream* stream) {
  const std::int64_t bytes = std::int64_t(out_staged_.size()) * column_bytes(plan.chunks.i_chunk, Element::Double);
  if (bytes == 0) return;
  gpu_.require(
      gpu_.driver().memset_d32_async(i_[0].results.data(), 0, std::size_t(bytes) / sizeof(std::uint32_t), stream),
      "clearing memory of the GPU");
}

// Sends the columns of a chunk of i; sets the kernel argument to the columns and to the buffers of its results.
void CudaStaging::send_i(const SumRequest& request, const Plan& plan, const IChunk& chunk, const std::int64_t* list,
                         CudaStream* stream) {
  const auto b = std::size_t(chunk.buffer);
  i_[b].sent.wait();
  i_[b].done.make_wait(in_.get());
  Picked picked{chunk.first_row, nullptr, chunk.row_count};
  if (list && !plan.by_list) picked = {0, list + chunk.begin, chunk.row_count};
  std::int64_t at = 0;
  for (const StagedColumn& staged : i_staged_) {
    const std::int64_t size = size_of(staged.column.element);
    std::byte* const packed = i_[b].packed.data() + at;
    pack(view_of(request, staged.field), staged.component, picked, staged.column, packed);
    const CudaDevicePointer column = i_[b].columns.data() + std::uint64_t(at);
    gpu_.send(column, packed, std::size_t(chunk.row_count * size), in_.get());
    // The kernel uses the caller's indices: shift the address so that index first_row is the first row.
    launcher_.arguments().i(staged.of_role) = {gpu_pointer<char>(column - std::uint64_t(chunk.first_row * size)), size,
                                               std::int64_t(staged.column.element)};
    at += column_bytes(plan.chunks.i_chunk, staged.column.element);
  }
  for (std::size_t k = 0; k < out_staged_.size(); ++k) {
    const std::int64_t row = std::int64_t(k) * column_bytes(plan.chunks.i_chunk, Element::Double);
    launcher_.arguments().output(out_staged_[k].of_role) = {
        gpu_pointer<char>(i_[b].results.data() + std::uint64_t(row - chunk.first_row * std::int64_t(sizeof(double)))),
        sizeof(double),
        std::int64_t(results_are_integers(kernel_.source, std::size_t(out_staged_[k].of_role)) ? Element::Int64
                                                                                               : Element::Double),
        0};
  }
  i_[b].sent.record(in_.get());
  i_[b].sent.make_wait(stream);
}

void CudaStaging::send_j(const SumRequest& request, const Plan& plan, std::int64_t begin, std::int64_t end, int buffer,
                         CudaStream* stream) {
  const auto b = std::size_t(buffer);
  j_[b].sent.wait();
  if (!plan.chunks.j_resident) j_[b].done.make_wait(in_.get());
  std::int64_t from = 0;
  for (const StagedColumn& staged : j_staged_) {
    const std::int64_t size = size_of(staged.column.element);
    std::byte* const packed = j_[b].packed.data() + from;
    pack(view_of(request, staged.field), staged.component, {begin, nullptr, end - begin}, staged.column, packed);
    const char* const to = launcher_.arguments().j(staged.of_role).data + begin * size;
    gpu_.send(reinterpret_cast<CudaDevicePointer>(to), packed, std::size_t((end - begin) * size), in_.get());
    from += column_bytes(plan.chunks.j_chunk, staged.column.element);
  }
  j_[b].sent.record(in_.get());
  j_[b].sent.make_wait(stream);
}

CudaPiece CudaStaging::piece(const Plan& plan, const IChunk& chunk) const {
  CudaPiece piece;
  piece.i_begin = plan.by_list ? 0 : chunk.first_row;
  piece.ni = chunk.end - chunk.begin;
  piece.i_list = plan.by_list ? list_.data() : 0;
  if (plan.several_launches) piece.accumulators = {accumulators_.data(), piece.ni};
  return piece;
}

// Sets the kernel argument to the columns of the j from `begin` on.
void CudaStaging::set_j_views(const SumRequest& request, const Plan& plan, std::int64_t begin, int buffer) {
  const bool whole = plan.chunks.j_resident;
  const std::int64_t room = whole ? request.nj : plan.chunks.j_chunk;
  std::int64_t at = 0;
  for (const StagedColumn& staged : j_staged_) {
    const std::int64_t size = size_of(staged.column.element), bytes = column_bytes(room, staged.column.element);
    const std::int64_t shift = whole ? 0 : buffer * bytes - begin * size;
    launcher_.arguments().j(staged.of_role) = {gpu_pointer<char>(j_columns_.data() + std::uint64_t(at + shift)), size,
                                               std::int64_t(staged.column.element)};
    at += (whole ? 1 : 2) * bytes;
  }
}

void CudaStaging::sum_chunk(const SumRequest& request, const Plan& plan, const IChunk& chunk, bool send,
                            CudaStream* stream) {
  const CudaRunContext context{request, stream};
  CudaPiece now = piece(plan, chunk);
  const std::int64_t step = j_staged_.empty() ? std::max<std::int64_t>(request.nj, 1) : plan.chunks.j_chunk;
  std::int64_t begin = 0;
  int buffer = 0;
  do {
    const std::int64_t end = std::min(begin + step, request.nj);
    set_j_views(request, plan, begin, buffer);
    if (send && end > begin && !j_staged_.empty()) send_j(request, plan, begin, end, buffer, stream);
    now.j_begin = begin;
    now.nj = end - begin;
    now.first = begin == 0 && plan.first;
    now.last = end == request.nj && plan.last && !residency_.device_outputs;
    if (!plan.method) launcher_.launch(now, context);
    if (!plan.chunks.j_resident) j_[std::size_t(buffer)].done.record(stream);
    begin = end;
    buffer = 1 - buffer;
  } while (begin < request.nj);
  if (plan.method) {
    CudaPiece all = now;
    all.j_begin = 0;
    all.nj = request.nj;
    all.first = plan.first;
    all.last = plan.last;
    all.accumulators.stride = request.accumulator_rows();
    plan.method->send(context);
    launcher_.check_indices(all, context);
    plan.method->run(context, all);
  } else if (residency_.device_outputs && !out_staged_.empty() && plan.last) {
    CudaPiece finish = piece(plan, chunk);
    finish.first = false;
    launcher_.launch(finish, context);
  }
  i_[std::size_t(chunk.buffer)].done.record(stream);
}

void CudaStaging::receive(const Plan& plan, const IChunk& chunk) {
  if (out_staged_.empty() || !plan.last) return;
  const auto b = std::size_t(chunk.buffer);
  const std::int64_t row = column_bytes(plan.chunks.i_chunk, Element::Double);
  i_[b].done.make_wait(out_.get());
  for (std::size_t k = 0; k < out_staged_.size(); ++k) {
    const std::size_t at = k * std::size_t(row);
    gpu_.fetch(i_[b].fetched.data() + at, i_[b].results.data() + at, std::size_t(chunk.row_count) * sizeof(double),
               out_.get());
  }
  i_[b].received.record(out_.get());
}

// Waits for the results of a chunk. Copies them to gathered_ if there are several chunks.
void CudaStaging::gather(const Plan& plan, const IChunk& chunk) {
  if (out_staged_.empty() || !plan.last) return;
  const auto b = std::size_t(chunk.buffer);
  i_[b].received.wait();
  if (plan.chunks.i_chunk >= plan.rows) return;
  const std::int64_t row = column_bytes(plan.chunks.i_chunk, Element::Double);
  for (std::size_t k = 0; k < out_staged_.size(); ++k) {
    std::memcpy(gathered_.data() + (std::int64_t(k) * plan.rows + chunk.begin) * std::int64_t(sizeof(double)),
                i_[b].fetched.data() + k * std::size_t(row), std::size_t(chunk.row_count) * sizeof(double));
  }
}

// Stores the outputs on the device.
void CudaStaging::store_device_outputs(const SumRequest& request, const Plan& plan, CudaStream* stream) {
  for (const StagedColumn& staged : out_staged_) launcher_.arguments().output(staged.of_role).data = nullptr;
  set_device_outputs(request, true);
  IChunk all;
  all.end = request.i_count;
  all.first_row = plan.lowest;
  CudaPiece finish = piece(plan, all);
  finish.first = false;
  launcher_.launch(finish, {request, stream});
}

void CudaStaging::set_device_outputs(const SumRequest& request, bool wanted) {
  for (std::size_t f = 0; f < kernel_.source.fields.size(); ++f) {
    const FieldLayout& field = kernel_.source.fields[f];
    if (field.role != Role::Output || residency_.of[f] != Residency::Device) continue;
    const ArrayView& view = request.views[f];
    for (int c = 0; c < field.components(); ++c) {
      CudaOutput& output = launcher_.arguments().output(field.first + c);
      output.data = wanted ? static_cast<char*>(view.data) + c * view.component_stride : nullptr;
      output.accumulate = request.accumulate ? 1 : 0;
    }
  }
}

void CudaStaging::unpack_outputs(const SumRequest& request, const Plan& plan, const std::int64_t* list) {
  const bool several = plan.chunks.i_chunk < plan.rows;
  const std::byte* const from = several ? gathered_.data() : i_[0].fetched.data();
  const std::int64_t stride =
      several ? plan.rows * std::int64_t(sizeof(double)) : column_bytes(plan.chunks.i_chunk, Element::Double);
  const Picked picked = list ? Picked{0, list, request.i_count} : Picked{request.i_begin, nullptr, request.i_count};
  for (std::size_t k = 0; k < out_staged_.size(); ++k) {
    const StagedColumn& staged = out_staged_[k];
    const auto* values = reinterpret_cast<const double*>(from + std::int64_t(k) * stride);
    if (plan.by_list) {
      auto* const chosen = reinterpret_cast<double*>(gathered_.data());
      for (std::int64_t n = 0; n < request.i_count; ++n) chosen[n] = values[list[n] - plan.lowest];
      values = chosen;
    }
    const ArrayView& view = request.views[staged.field];
    const std::optional accumulate(kernel_.source.fields[staged.field].reduction);
    const auto store = [&](const auto* results) {
      unpack(results, view, staged.component, picked, request.accumulate ? accumulate : std::nullopt);
    };
    if (results_are_integers(kernel_.source, std::size_t(staged.of_role)))
      store(reinterpret_cast<const std::int64_t*>(values));
    else
      store(values);
  }
}

}  // namespace nbcc
