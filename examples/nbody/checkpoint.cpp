// Checkpoints <-> files, in the machine's own order of bytes. Entry points: write_checkpoint(), read_checkpoint().
#include "examples/nbody/checkpoint.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {
namespace {

// A program with another Head has another number here.
constexpr char kMagic[8] = {'n', 'b', 'o', 'd', 'y', ' ', '4', '\n'};

constexpr double kNone = -1;  // no energy_tolerance

struct Head {
  char magic[8] = {};
  std::int64_t count = 0, step = 0, precision = 0;
  double dt = 0, eps = 0, G = 1, damping = 0, tolerance = 0, energy_tolerance = kNone;
  Totals first;
};
static_assert(std::is_trivially_copyable_v<Head> && sizeof(Head) == 8 * (1 + 3 + 6 + 8));

template <typename T>
void put(std::ostream& out, const T* values, std::size_t count) {
  out.write(reinterpret_cast<const char*>(values), std::streamsize(sizeof(T) * count));
}
template <typename T>
void get(std::istream& in, T* values, std::size_t count) {
  in.read(reinterpret_cast<char*>(values), std::streamsize(sizeof(T) * count));
}

bool is_tolerance(double x) { return x == 0 || (x >= 1e-14 && x <= 1); }

bool is_sane(const Head& head) {
  return head.count >= 1 && head.step >= 0 && head.precision >= NBCC_SINGLE && head.precision <= NBCC_DOUBLE &&
         std::isfinite(head.dt) && head.dt > 0 && std::isfinite(head.eps) && head.eps >= 0 && std::isfinite(head.G) &&
         head.G > 0 && head.damping >= 0 && head.damping <= 1 && is_tolerance(head.tolerance) &&
         (head.energy_tolerance == kNone || (head.tolerance > 0 && is_tolerance(head.energy_tolerance)));
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  const State& state = checkpoint.state;
  const Settings& settings = checkpoint.settings;
  Head head{.count = state.bodies.count(),
            .step = state.step,
            .precision = settings.precision,
            .dt = checkpoint.dt,
            .eps = settings.eps,
            .G = settings.G,
            .damping = settings.damping,
            .tolerance = settings.tolerance,
            .energy_tolerance = settings.energy_tolerance.value_or(kNone),
            .first = checkpoint.first};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  replace_file(path, [&](const std::string& draft) {
    std::ofstream out(draft, std::ios::binary);
    put(out, &head, 1);
    for (const std::vector<double>* all : {&state.bodies.mass, &state.bodies.x, &state.bodies.v, &state.acceleration})
      put(out, all->data(), all->size());
    if (!out.flush()) throw UsageError("cannot write '" + path + "'");
  });
}

Checkpoint read_checkpoint(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!in || error) throw UsageError("cannot read '" + path + "'");
  Head head;
  get(in, &head, 1);
  // All but the number of the version.
  if (std::memcmp(head.magic, kMagic, 6) == 0 && std::memcmp(head.magic, kMagic, sizeof kMagic) != 0)
    throw std::runtime_error("'" + path + "' is a checkpoint of another version of this program");
  constexpr std::uintmax_t each = 10 * sizeof(double);
  if (!in || std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || !is_sane(head) ||
      (bytes - sizeof head) % each != 0 || (bytes - sizeof head) / each != std::uintmax_t(head.count))
    throw std::runtime_error("'" + path + "' is no checkpoint of this program, or not a whole one");
  Checkpoint checkpoint{{.step = head.step},
                        {.eps = head.eps,
                         .G = head.G,
                         .precision = nbcc_precision(head.precision),
                         .damping = head.damping,
                         .tolerance = head.tolerance},
                        head.dt,
                        head.first};
  if (head.energy_tolerance != kNone) checkpoint.settings.energy_tolerance = head.energy_tolerance;
  State& state = checkpoint.state;
  state.bodies.mass.resize(std::size_t(head.count));
  for (std::vector<double>* all : {&state.bodies.x, &state.bodies.v, &state.acceleration})
    all->resize(3 * std::size_t(head.count));
  for (std::vector<double>* all : {&state.bodies.mass, &state.bodies.x, &state.bodies.v, &state.acceleration})
    get(in, all->data(), all->size());
  if (!in) throw UsageError("cannot read '" + path + "'");
  return checkpoint;
}

}  // namespace examples
