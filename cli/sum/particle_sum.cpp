// Binds tables to a sum of the C++ interface. Entry point: ParticleSum. Reads and writes no files.
#include "cli/sum/particle_sum.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "cli/sum/file_box.h"
#include "compiler/text/sha256.h"
#include "compiler/text/source.h"
#include "runtime/api/handles.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

DeviceOptions device_options(const KernelChoice& choice) {
  DeviceOptions options;
  options.threads = choice.threads;
  if (choice.isa) options.isa = name(*choice.isa);
  options.cache_dir = choice.cache_folder;
  return options;
}

PipelineOptions pipeline_options(const Options& options) {
  constexpr nbcc_precision precisions[] = {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE};
  constexpr nbcc_root roots[] = {NBCC_ROOT_ESTIMATE, NBCC_ROOT_REFINED, NBCC_ROOT_EXACT};
  PipelineOptions given;
  given.precision = precisions[int(options.precision)];
  given.math = options.math == Math::Precise ? NBCC_PRECISE : NBCC_FAST;
  given.root = roots[int(options.root)];
  return given;
}

// A set of particles may be empty, but a view's pointer must not be null.
template <typename T>
T* not_null(T* pointer) {
  static std::remove_const_t<T> nothing{};
  return pointer ? pointer : &nothing;
}

// True if the field can be read from its column in place.
bool consecutive(const BoundField& field) {
  if (std::ranges::any_of(field.from, &ColumnComponent::is_scaled)) return false;
  for (std::size_t c = 1; c < field.from.size(); ++c) {
    if (field.from[c].column != field.from[0].column || field.from[c].component != field.from[0].component + int(c)) {
      return false;
    }
  }
  return true;
}

View view_of(const ParticleColumn& column, int first) {
  return std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        const auto size = std::int64_t(sizeof(T));
        const T* const data = values.empty() ? not_null<const T>(nullptr) : values.data() + first;
        return view(data, column.rows(), size * column.components, size);
      },
      column.data);
}

// Copies of the host's arrays in a GPU's memory.
class DeviceArrays {
 public:
  explicit DeviceArrays(const CudaGpu& gpu) : gpu_(gpu) {}  // must outlive this object

  // Copies an array to the GPU and returns the address of the copy. Throws DeviceError.
  void* copy_of(const nbcc_view& view, int components) {
    if (view.count == 0) return view.data;
    const CudaContextGuard guard(gpu_);
    const auto size = std::size_t(view.element == NBCC_FLOAT || view.element == NBCC_INT32 ? 4 : 8);
    const std::size_t bytes = std::size_t(view.count - 1) * std::size_t(view.stride) +
                              std::size_t(components - 1) * std::size_t(view.component_stride) + size;
    CudaBuffer& buffer = *buffers_.emplace_back(std::make_unique<CudaBuffer>(gpu_));
    if (!buffer.reserve(bytes)) throw DeviceError("out of memory of the GPU for the particles themselves");
    const CudaDriver& driver = gpu_.driver();
    gpu_.require(driver.memcpy_htod_async(buffer.data(), view.data, bytes, nullptr), "copying particles to the GPU");
    gpu_.require(driver.stream_synchronize(nullptr), "copying particles to the GPU");
    return reinterpret_cast<void*>(buffer.data());
  }
  void clear() { buffers_.clear(); }

 private:
  const CudaGpu& gpu_;
  std::vector<std::unique_ptr<CudaBuffer>> buffers_;
};

}  // namespace

struct ParticleSum::State {
  Device device;
  Pipeline pipeline;
  std::vector<Field> fields = pipeline.fields();
  Sum sum = Sum(pipeline);
  std::vector<ParamValue> params{};
  std::deque<std::vector<double>> gathered{};  // [row][component], fields not read in place
  std::vector<ParticleColumn> outputs{};
  std::vector<bool> totals{};  // parallel to `outputs`
  std::int64_t pairs = 0;      // listed
  std::optional<DeviceArrays> on_device{};
};

namespace {

Device open_device(const KernelChoice& choice, const std::shared_ptr<KernelDevice>& given) {
  return given ? Device(new nbcc_device{given}) : Device(choice.device, device_options(choice));
}

}  // namespace

ParticleSum::ParticleSum(const std::string& pipeline_file, const KernelChoice& choice,
                         const std::vector<ParamValue>& params, const std::shared_ptr<KernelDevice>& given) {
  Device device = open_device(choice, given);
  // The pipeline's file may be a pipe, which can be read once; the hash is that of the compiled text.
  const Source source = read_source(pipeline_file);
  pipeline_sha256_ = sha256(source.text);
  const PipelineOptions options = pipeline_options(choice.options);
  // A C string would end at a NUL; from_file() reports the NUL as an error of the text.
  const bool is_text = source.text.find('\0') == std::string::npos;
  Pipeline pipeline = is_text ? Pipeline::from_text(device, source.text, source.path, options)
                              : Pipeline::from_file(device, pipeline_file, options);
  state_.reset(new State{std::move(device), std::move(pipeline)});
  prepare(choice, params);
}

ParticleSum::ParticleSum(const Text& pipeline_text, const KernelChoice& choice, const std::vector<ParamValue>& params,
                         const std::shared_ptr<KernelDevice>& given) {
  Device device = open_device(choice, given);
  Pipeline pipeline =
      Pipeline::from_text(device, pipeline_text.text, pipeline_text.filename, pipeline_options(choice.options));
  pipeline_sha256_ = sha256(pipeline_text.text);
  state_.reset(new State{std::move(device), std::move(pipeline)});
  prepare(choice, params);
}

void ParticleSum::prepare(const KernelChoice& choice, const std::vector<ParamValue>& params) {
  state_->sum.pairs(nbcc_pairs(choice.pairs));
  state_->sum.symmetric(nbcc_symmetric(choice.symmetric));
  state_->sum.tolerance(choice.tolerance);
  state_->sum.clamp(choice.clamp);
  if (const CudaDevice* const gpu = first_gpu(*state_->device.get()->device)) state_->on_device.emplace(gpu->gpu());
  for (const Field& field : state_->fields) {
    if (field.role == NBCC_PARAM) state_->params.push_back({field.name, field.defaults});
    if (field.role == NBCC_INPUT_PAIR)
      pair_inputs_.push_back({field.name, field.type, false, field.integral, field.components});
    if (field.role != NBCC_INPUT_I && field.role != NBCC_INPUT_J) continue;
    inputs_.push_back({field.name, field.type, field.role == NBCC_INPUT_J, field.integral, field.components});
  }
  set_params(params);
}

ParticleSum::~ParticleSum() = default;

std::string ParticleSum::device_name() const { return state_->device.name(); }
std::string ParticleSum::pipeline_name() const { return state_->pipeline.name(); }

bool ParticleSum::is_slow_in_double() const {
  const CudaDevice* const gpu = first_gpu(*state_->device.get()->device);
  // The rates are relative to compute capability 9.0, whose rate in double is half of that in single.
  return gpu && gpu->gpu().rates().double_slots > 2 * gpu->gpu().rates().float_slots;
}

std::string ParticleSum::instruction_set() const {
  const KernelDevice& device = *state_->device.get()->device;
  const CudaDevice* const gpu = first_gpu(device);
  return gpu ? gpu->arch() : std::string(name(device.isa()));
}

std::string ParticleSum::method() const {
  const SumState& sum = state_->sum.get()->state;
  std::string method(sum.method());
  if (method != "far field") return method;
  const FarStatistics far = sum.statistics().far;
  // Order 0: no grids kept the tolerance, so that the run was over all pairs in a higher precision.
  return fmt::format("{}, tolerance {}, {} precision", far.order == 0 ? "all pairs" : method, far.tolerance,
                     far.precision);
}

bool ParticleSum::has_neighbours() const { return !state_->pipeline.neighbours().empty(); }
std::vector<ParamValue> ParticleSum::params() const { return state_->params; }

void ParticleSum::set_params(const std::vector<ParamValue>& params) {
  for (const ParamValue& given : params) {
    for (const std::string& warning : given.warnings) fmt::print(stderr, "nbcc: warning: {}\n", warning);
    for (const Field& field : state_->fields) {
      if (given.truth && field.name == given.name && !field.type.starts_with("bool"))
        throw UsageError(
            fmt::format("--param {}: only a bool is true or false, and it is of type {}", given.name, field.type));
      if (field.name == given.name) check_rows(given, field.type);
    }
    state_->sum.set(given.name, given.values);
    for (ParamValue& known : state_->params)
      if (known.name == given.name) known.values = given.values;
  }
}

void ParticleSum::set_pairs(const RandomPairs& pairs) {
  if (pairs.listed) state_->sum.listed_pairs(pairs.listed->first, pairs.listed->j);
  if (pairs.excluded) state_->sum.exclusions(pairs.excluded->first, pairs.excluded->j);
  if (pairs.batches > 0) state_->sum.batches(pairs.batches, pairs.i_batch, pairs.j_batch);
  state_->pairs = pairs.pairs();
}

void ParticleSum::bind(const std::vector<BoundField>& fields, std::int64_t ni, std::int64_t nj, Arrays arrays) {
  State& state = *state_;
  if (state.on_device) state.on_device->clear();
  const auto place = [&](View where, int components) {
    if (arrays == Arrays::OfDevice) where.where.data = state.on_device->copy_of(where.where, components);
    return where;
  };
  state.gathered.clear();
  state.outputs.clear();
  state.sum.counts(ni, nj);
  for (const BoundField& field : fields) {
    if (consecutive(field)) {
      const View where = view_of(*field.from[0].column, field.from[0].component);
      state.sum.bind(field.field, place(where, int(field.from.size())));
      continue;
    }
    const std::int64_t rows = field.acts ? nj : ni;
    std::vector<double>& values = state.gathered.emplace_back(std::size_t(rows) * field.from.size());
    for (std::int64_t row = 0, k = 0; row < rows; ++row)
      for (const ColumnComponent& component : field.from) values[std::size_t(k++)] = component.at(row);
    const View where =
        rows == 0 ? view(not_null<const double>(nullptr), 0) : nbcc::rows(values, std::int64_t(field.from.size()));
    state.sum.bind(field.field, place(where, int(field.from.size())));
  }
  // All outputs are created before the first is bound, because the vector moves them while it grows.
  state.totals.clear();
  const KernelSource& source = state.pipeline.get()->kernel->source;
  for (const FieldLayout& field : source.fields) {
    if (field.role != Role::Output) continue;
    const ElementType type = field.integral() ? ElementType::Int64 : ElementType::Double;
    const std::int64_t rows = field.is_total() ? std::max(field.length, 1) : field.is_pair_result() ? state.pairs : ni;
    const int components = field.is_total() ? field.width : field.numbers();
    state.outputs.push_back({field.name, components, make_data(type, std::size_t(rows * components))});
    state.totals.push_back(field.is_total());
  }
  for (std::size_t k = 0; k < state.outputs.size(); ++k) {
    ParticleColumn& output = state.outputs[k];
    View where = view_of(output, 0);
    where.read_only = false;
    int components = output.components;
    if (state.totals[k]) {  // all rows are the one row of a total
      components *= int(where.where.count);
      where.where.count = 1;
    }
    state.sum.bind(output.name, place(where, components));
  }
}

void ParticleSum::keep_j(bool keep) { state_->sum.keep_j(keep); }
void ParticleSum::particles_are_random() { state_->sum.get()->check.ignore_index_guard(); }
void ParticleSum::set_progress(std::function<void(double done)> progress) {
  if (progress)
    state_->sum.progress(std::move(progress));
  else
    state_->sum.progress(nullptr);
}
void ParticleSum::run() { state_->sum.run(); }
void ParticleSum::run(std::int64_t i_begin, std::int64_t i_count) { state_->sum.run(i_begin, i_count); }
void ParticleSum::run(std::span<const std::int64_t> i_list) { state_->sum.run(i_list); }
void ParticleSum::wait() { state_->sum.wait(); }
SumStatistics ParticleSum::statistics() const { return state_->sum.get()->state.statistics(); }

std::string ParticleSum::plan() {
  SumState& sum = state_->sum.get()->state;
  const RunPlan plan = sum.plan();
  std::string text = fmt::format("method: {} ({})\n", plan.method->name, sum.reason_of(plan));
  for (const auto& [method, cost] : plan.measurements)
    text +=
        fmt::format("before: {} measures what its choice needs, which costs as much as {:.3g} pairs\n", method, cost);
  for (const RunStep& step : plan.steps)
    if (plan.steps.size() > 1 || !step.kernel.empty())
      text += fmt::format("step: {}{}, {:.3g} pairs\n", step.method->name,
                          step.kernel.empty() ? "" : fmt::format(" with the {} kernel", step.kernel), step.cost);
  for (const DeviceWork& work : plan.method->work(plan.request)) {
    const std::string launches = work.launches == 0   ? ""
                                 : work.launches == 1 ? "1 launch, "
                                                      : fmt::format("{} launches, ", work.launches);
    text += fmt::format("{}: {}{} bytes of working memory\n", work.device, launches, work.bytes);
  }
  return text;
}

std::vector<std::string> ParticleSum::warnings() const { return state_->sum.warnings(); }

std::string ParticleSum::box_warning(const ParticleTable& table, const std::string& file) const {
  const KernelSource& source = state_->pipeline.get()->kernel->source;
  const std::optional<FileBox> box = file_box(table);
  std::vector<double> params(std::size_t(source.params + source.table_params));
  for (const FieldLayout& field : source.fields)
    for (const ParamValue& param : state_->params)
      if (field.role == Role::Param && field.name == param.name &&
          param.values.size() == std::size_t(field.components()))
        std::ranges::copy(param.values, params.begin() + field.first);
  return box ? nbcc::box_warning(*box, file, source, params) : "";
}

void ParticleSum::set_launch(const LaunchConfig& c) {
  state_->sum.launch_configuration({c.threads, c.i_per_thread, c.j_tile, c.unroll, c.j_slices, c.j_splits});
}

const CudaKernel& ParticleSum::cuda_kernel() const {
  const Kernel& kernel = *state_->pipeline.get()->kernel;
  if (kernel.source.callers)
    throw UsageError(fmt::format("pipeline '{}' has every_image() or output(pair): tune measures pipelines without",
                                 kernel.source.pipeline));
  return dynamic_cast<const CudaKernel&>(kernel);
}

std::vector<ParticleColumn>& ParticleSum::outputs() { return state_->outputs; }
const std::vector<bool>& ParticleSum::totals() const { return state_->totals; }

}  // namespace nbcc
