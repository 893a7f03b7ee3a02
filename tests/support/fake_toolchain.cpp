// Turns any kernel text into an "object" that load() knows, and that object into hand-written functions. Entry point:
// FakeToolchain. Knows one pipeline only.
#include "tests/support/fake_toolchain.h"

#include <cmath>
#include <cstdint>

#include "runtime/error.h"

namespace nbcc::test {
namespace {

constexpr int kLanes = 8, kBlock = 16;
std::atomic<int> violations{0};

void require(bool holds) {
  if (!holds) ++violations;
}

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0; }

const double* doubles(const void* const* columns, int k) { return static_cast<const double*>(columns[k]); }

std::int64_t whole_vectors(std::int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// Columns of i: xi (0..2), a copy of xi.x made here (3). Columns of j: xj (0..2), mj as float (3), g * mj made here
// (4).
void prepare_i(const nbcc_kernel_arguments* a, std::int64_t begin, std::int64_t end) {
  require(begin % kBlock == 0 && begin < end);
  double* const copy = static_cast<double*>(const_cast<void*>(a->i[3]));
  for (std::int64_t i = begin; i < whole_vectors(end); ++i) copy[i] = doubles(a->i, 0)[i];
}

void prepare_j(const nbcc_kernel_arguments* a, std::int64_t begin, std::int64_t end) {
  require(begin % kLanes == 0 && begin < end);
  double* const gm = static_cast<double*>(const_cast<void*>(a->j[4]));
  for (std::int64_t j = begin; j < whole_vectors(end); ++j) gm[j] = a->param[1] * static_cast<const float*>(a->j[3])[j];
}

void interact_one(const nbcc_kernel_arguments* a, std::int64_t i, std::int64_t j_begin, std::int64_t j_end) {
  double sum[4] = {};
  for (std::int64_t j = j_begin; j < j_end; ++j) {
    const double dx = doubles(a->j, 0)[j] - doubles(a->i, 3)[i];
    const double dy = doubles(a->j, 1)[j] - doubles(a->i, 1)[i];
    const double dz = doubles(a->j, 2)[j] - doubles(a->i, 2)[i];
    const double distance2 = dx * dx + dy * dy + dz * dz, r2 = distance2 + a->param[0];
    const double mr = doubles(a->j, 4)[j] / std::sqrt(r2);
    sum[0] += mr / r2 * dx;
    sum[1] += mr / r2 * dy;
    sum[2] += mr / r2 * dz;
    sum[3] += mr;
    if (i + a->i_offset != j + a->j_offset && distance2 < a->acc[4][i]) {
      a->acc[4][i] = distance2;
      a->arg[4][i] = double(j + a->j_offset);
    }
  }
  for (int c = 0; c < 4; ++c) a->acc[c][i] += sum[c];
  a->acc[5][i] = std::fmax(a->acc[5][i], double(i + a->i_offset));
}

void interact(const nbcc_kernel_arguments* a, std::int64_t i_begin, std::int64_t i_end, std::int64_t j_begin,
              std::int64_t j_end) {
  for (int c = 0; c < 4; ++c) require(aligned(a->i[c]) && aligned(a->j[c]));
  require(i_begin % kBlock == 0 && i_begin < i_end && j_begin < j_end && !a->arg[0] && a->arg[4]);
  for (std::int64_t i = i_begin; i < i_end; ++i) interact_one(a, i, j_begin, j_end);
  // A vector kernel reads its lanes behind the end, and writes back what it added nothing to.
  for (std::int64_t i = i_end; i < whole_vectors(i_end); ++i) {
    require(std::isfinite(doubles(a->i, 0)[i]) && std::isfinite(doubles(a->i, 3)[i]));
    a->acc[0][i] += 0.0;
  }
}

void finish(const nbcc_kernel_arguments* a, std::int64_t i_begin, std::int64_t i_end) {
  require(i_begin % kBlock == 0 && i_begin < i_end);
  for (std::int64_t i = i_begin; i < i_end; ++i) a->acc[3][i] = -a->acc[3][i];
}

FieldLayout field(const char* name, Role role, Type type, int width, int first) {
  FieldLayout made;
  made.name = name;
  made.role = role;
  made.kind = kind_of(role);
  made.type = type;
  made.width = width;
  made.first = first;
  return made;
}

}  // namespace

KernelSource fake_source(int tile) {
  using enum Reduction;
  using Part = Column::Part;
  KernelSource source;
  source.pipeline = "fake";
  source.variants = {{Frame::AllPairs, "gravity, tile " + std::to_string(tile)}};
  source.target = "cpu-fake";
  source.lanes = kLanes;
  source.i_block = kBlock;
  source.tile = tile;
  for (int c = 0; c < 3; ++c) {
    source.columns.i.push_back({c, Element::Double, Part::Whole});
    source.columns.j.push_back({c, Element::Double, Part::Whole});
  }
  source.columns.j.push_back({3, Element::Float, Part::Whole});
  source.columns.i.push_back({-1, Element::Double, Part::Derived});
  source.columns.j.push_back({-1, Element::Double, Part::Derived});
  source.fields = {field("xi", Role::InputI, Type::Real, 3, 0),    field("xj", Role::InputJ, Type::Real, 3, 0),
                   field("mj", Role::InputJ, Type::Real, 1, 3),    field("eps2", Role::Param, Type::Real, 1, 0),
                   field("g", Role::Param, Type::Real, 1, 1),      field("acc", Role::Output, Type::Real, 3, 0),
                   field("pot", Role::Output, Type::Real, 1, 3),   field("near", Role::Output, Type::Index, 1, 4),
                   field("seen", Role::Output, Type::Double, 1, 5)};
  source.fields[4].defaults = {1.0};
  source.fields[5].comment = "acceleration";
  source.fields[7].reduction = ArgMin;
  source.fields[8].reduction = Max;
  source.params = 2;
  source.outputs = 6;
  for (const Reduction reduction : {Sum, Sum, Sum, Sum, ArgMin, Max}) source.accumulators.push_back({reduction});
  source.has_finish = true;
  source.uses.i_index = source.uses.j_index = true;
  source.operations = 38;
  source.search.bound = "|xj - xi| < 1";
  source.search.obstacle = "line 1: both are told";
  return source;
}

int contract_violations() { return violations; }

std::string FakeToolchain::compile(const KernelSource&, const KernelVariant& variant) const {
  ++compiled;
  return "object of " + variant.source;
}

std::unique_ptr<CpuCode> FakeToolchain::load(const std::string& object) const {
  if (!object.starts_with("object of gravity")) throw DeviceError("no such object: " + object);
  auto code = std::make_unique<CpuCode>();
  code->prepare_i = &prepare_i;
  code->prepare_j = &prepare_j;
  code->interact = &interact;
  code->finish = &finish;
  return code;
}

}  // namespace nbcc::test
