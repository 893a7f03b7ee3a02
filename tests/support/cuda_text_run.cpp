// An oracle's input -> arguments of nbcc_interact, launches, columns of results. Entry point: CudaTextRun. Chooses
// nothing and checks nothing.
#include "tests/support/cuda_text_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "runtime/sum/request/pack.h"
#include "runtime/sum/request/tables.h"

namespace nbcc::test {
namespace {

void require(CudaResult result) {
  if (result) throw std::runtime_error("the driver says " + std::to_string(result));
}

// As words: all members of the arguments are 8 bytes wide.
template <typename T>
void append(std::vector<std::uint64_t>& words, const T& value) {
  static_assert(sizeof(T) % 8 == 0);
  const std::size_t at = words.size();
  words.resize(at + sizeof(T) / 8);
  std::memcpy(&words[at], &value, sizeof(T));
}

// An array of nothing is an array of one.
template <typename T>
void append_all(std::vector<std::uint64_t>& words, std::vector<T> values) {
  values.resize(std::max<std::size_t>(values.size(), 1));
  for (const T& value : values) append(words, value);
}

std::size_t slots(const KernelSource& source) {
  return source.accumulators.size() +
         std::size_t(std::ranges::count_if(source.accumulators,
                                           [](const AccumulatorLayout& one) { return keeps_index(one.reduction); }));
}

}  // namespace

CudaTextRun::CudaTextRun(const CudaShim& shim, const KernelSource& source, const LaunchConfig& shape)
    : driver_(shim.driver()), source_(source), shape_(shape) {
  CudaContext* context = nullptr;
  require(driver_.device_primary_ctx_retain(&context, 0));
  require(driver_.ctx_push_current(context));
  require(
      driver_.module_load_data(&module_, shim.compiler()->compile(source.first().source, "sm_90", shape).image.data()));
  require(driver_.module_get_function(&function_, module_, "nbcc_interact"));
}

CudaTextRun::~CudaTextRun() {
  free_blocks();
  driver_.module_unload(module_);
  driver_.ctx_pop_current(nullptr);
  driver_.device_primary_ctx_release(0);
}

void CudaTextRun::free_blocks() {
  for (const CudaDevicePointer block : blocks_) driver_.mem_free(block);
  blocks_.clear();
}

CudaDevicePointer CudaTextRun::allocate(std::size_t bytes) {
  CudaDevicePointer made = 0;
  if (bytes == 0) return 0;
  require(driver_.mem_alloc(&made, bytes));
  blocks_.push_back(made);
  return made;
}

template <typename T>
CudaDevicePointer CudaTextRun::upload(const std::vector<T>& values) {
  const CudaDevicePointer made = allocate(values.size() * sizeof(T));
  require(driver_.memcpy_htod_async(made, values.data(), values.size() * sizeof(T), nullptr));
  return made;
}

// Components that the kernel does not read have no array.
std::vector<CudaView> CudaTextRun::views(Role role, const std::vector<std::vector<double>>& columns, bool records) {
  std::vector<CudaView> views(columns.size());
  const auto count = columns.empty() ? 0 : std::int64_t(columns[0].size());
  const auto width = std::int64_t(columns.size());
  std::vector<double> together;
  for (std::int64_t k = 0; k < count; ++k) {
    for (const auto& column : columns) together.push_back(column[std::size_t(k)]);
  }
  const CudaDevicePointer all = records ? upload(together) : 0;
  for (const Column& column : role == Role::InputI ? source_.columns.i : source_.columns.j) {
    CudaView& view = views[std::size_t(column.component)];
    if (records) {
      view = {gpu_pointer<char>(all + 8 * std::uint64_t(column.component)), 8 * width, std::int64_t(Element::Double)};
      continue;
    }
    std::vector<std::byte> packed(std::size_t(count * size_of(column.element)));
    auto& from = const_cast<std::vector<double>&>(columns[std::size_t(column.component)]);
    pack({from.data(), Element::Double, count, 8, 0}, 0, {.count = count}, column, packed.data());
    view = {gpu_pointer<char>(upload(packed)), size_of(column.element), std::int64_t(column.element)};
  }
  return views;
}

void CudaTextRun::launch(std::vector<std::uint64_t> arguments, std::int64_t ni, unsigned parts) {
  const std::int64_t block = std::int64_t(shape_.threads / std::max(shape_.j_slices, 1)) * shape_.i_per_thread;
  void* list[] = {arguments.data()};
  require(driver_.launch_kernel(function_, unsigned((ni + block - 1) / block), parts, 1, unsigned(shape_.threads), 1, 1,
                                0, nullptr, list, nullptr));
}

CudaTextRun::Columns CudaTextRun::operator()(const OracleInput& input, const CudaTextChoice& choice) {
  std::vector<std::uint64_t> head;
  append_all(head, views(Role::InputI, input.i, choice.records));
  append_all(head, views(Role::InputJ, input.j, choice.records));
  if (!source_.tables.empty()) head.push_back(upload(Tables(source_, input.params).bytes));
  const std::int64_t chosen = choice.list.empty() ? input.ni : std::int64_t(choice.list.size());
  std::vector<CudaOutput> outputs;
  const std::vector<double> before(std::size_t(input.ni), choice.onto ? 1.0 : NAN);
  const bool narrow = choice.output == Element::Float;
  for (std::size_t c = 0; c < source_.accumulators.size(); ++c)
    outputs.push_back(
        {gpu_pointer<char>(narrow ? upload(std::vector<float>(before.begin(), before.end())) : upload(before)),
         size_of(choice.output), std::int64_t(choice.output), choice.onto});
  append_all(head, outputs);
  append_all(head, std::vector<double>(input.params.begin(), input.params.begin() + source_.params));

  CudaRun run;
  run.running = allocate(slots(source_) * std::size_t(chosen) * 8);
  run.running_stride = chosen;
  run.partial = allocate(choice.parts * slots(source_) * std::size_t(chosen) * 8);
  run.arrived = upload(std::vector<unsigned>(std::size_t(chosen) * choice.parts));
  run.i_list = upload(choice.list);
  run.ni = chosen;
  run.i_offset = input.i_offset;
  run.j_offset = input.j_offset;
  for (int c = 0; chosen > 0 && c < choice.chunks; ++c) {
    run.j_begin = input.nj * c / choice.chunks;
    run.nj = input.nj * (c + 1) / choice.chunks - run.j_begin;

    run.first = c == 0;
    run.last = c == choice.chunks - 1;
    std::vector<std::uint64_t> arguments = head;
    append(arguments, run);
    launch(arguments, chosen, choice.parts);
  }

  Columns columns;
  for (const CudaOutput& output : outputs) {
    std::vector<double> all(std::size_t(input.ni));
    std::vector<float> in_floats(all.size());
    void* const to = narrow ? static_cast<void*>(in_floats.data()) : all.data();
    require(driver_.memcpy_dtoh_async(to, reinterpret_cast<CudaDevicePointer>(output.data),
                                      std::size_t(size_of(choice.output)) * all.size(), nullptr));
    if (narrow) all.assign(in_floats.begin(), in_floats.end());
    if (choice.list.empty()) {
      columns.push_back(all);
      continue;
    }
    auto& chosen_only = columns.emplace_back();
    for (const std::int64_t i : choice.list) chosen_only.push_back(all[std::size_t(i)]);
  }
  std::vector<unsigned> arrived(std::size_t(chosen) * choice.parts, 1);
  require(driver_.memcpy_dtoh_async(arrived.data(), run.arrived, 4 * arrived.size(), nullptr));
  if (std::ranges::any_of(arrived, [](unsigned left) { return left != 0; }))
    throw std::runtime_error("`arrived` is not 0 again");
  free_blocks();
  return columns;
}

}  // namespace nbcc::test
