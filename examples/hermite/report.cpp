// Energies and statistics of a run -> text on standard output. Its entry point is Report.
#include "examples/hermite/report.h"

#include <cstdio>

#include "examples/support/energy.h"
#include "examples/support/program.h"

namespace examples {
namespace {

long long whole(std::int64_t number) { return static_cast<long long>(number); }

double steps_per_particle(const Statistics& statistics) {
  return double(statistics.steps()) / double(statistics.count());
}

}  // namespace

Report::Report(const std::string& device, std::int64_t count, const HermiteSettings& settings, bool is_json,
               bool is_long, bool is_silent)
    : is_json_(is_json), is_long_(is_long), is_silent_(is_silent) {
  if (is_silent) return;
  const char* const format =
      is_json ? "{\n  \"bodies\": %lld, \"device\": \"%s\", \"precision\": \"%s\", \"order\": %d, \"eta\": %.17g, "
                "\"eps\": %.17g, \"largest_step\": %.17g, \"G\": %.17g,\n  \"reports\": ["
              : "# %lld bodies on %s, %s precision, order %d, eta = %g, eps = %g, steps up to %g";
  std::printf(format, whole(count), device.c_str(), name_of(settings.precision), settings.order, settings.eta,
              settings.eps, settings.largest, settings.G);
  if (!is_json && settings.G != 1) std::printf(", G = %.9g", settings.G);
  if (!is_json) std::printf("\n#%9s %18s %11s %14s %14s\n", "time", "energy", "dE/|E|", "kinetic", "potential");
}

void Report::add(double time, const Energies& energies) {
  if (is_first_) start_ = energies;
  const double error = energy_error(energies.sum(), start_.sum(), time);
  if (is_silent_) return;
  if (is_json_)
    std::printf(
        "%s\n    {\"time\": %.17g, \"energy\": %.17g, \"error\": %.6e, \"kinetic\": %.17g, \"potential\": %.17g}",
        is_first_ ? "" : ",", time, energies.sum(), error, energies.kinetic, energies.potential);
  else
    std::printf("%10.6f %18.14f %11.3e %14.10f %14.10f\n", time, energies.sum(), error, energies.kinetic,
                energies.potential);
  std::fflush(stdout);
  is_first_ = false;
}

void Report::end(const Statistics& statistics, double distance) {
  if (is_silent_) return;
  if (is_json_) return end_json(statistics, distance);
  if (distance >= 0) std::printf("farthest from where it began: %.3e\n", distance);
  if (!is_long_) return;
  std::printf("blocks: %lld, of %.2f bodies each in the mean\n", whole(statistics.blocks()), statistics.mean_block());
  std::printf("steps of a body: %.2f in the mean, %lld to %lld\n", steps_per_particle(statistics),
              whole(statistics.fewest()), whole(statistics.most()));
  const Seconds& took = statistics.seconds();
  std::printf("seconds: %.4f; host %.4f, communication %.4f, calculation %.4f\n", took.sum(), took.host,
              took.communication(), took.calculation());
  std::printf("#%19s %10s %14s %10s\n", "bodies in a block", "blocks", "steps", "seconds");
  for (std::size_t k = 0; k < statistics.bins().size(); ++k) {
    const BlockBin& bin = statistics.bins()[k];
    if (bin.blocks == 0) continue;
    std::printf("%9llu -%9llu %10lld %14lld %10.4f\n", 1ULL << k, (2ULL << k) - 1, whole(bin.blocks),
                whole(bin.particles), bin.seconds.sum());
  }
}

void Report::end_json(const Statistics& statistics, double distance) const {
  const Seconds& took = statistics.seconds();
  std::printf("\n  ],\n");
  if (distance >= 0) std::printf("  \"farthest_from_start\": %.6e,\n", distance);
  std::printf("  \"blocks\": %lld, \"mean_block\": %.6g,\n", whole(statistics.blocks()), statistics.mean_block());
  std::printf("  \"steps_of_a_body\": {\"mean\": %.6g, \"fewest\": %lld, \"most\": %lld},\n",
              steps_per_particle(statistics), whole(statistics.fewest()), whole(statistics.most()));
  std::printf("  \"seconds\": {\"host\": %.6g, \"communication\": %.6g, \"calculation\": %.6g},\n  \"histogram\": [",
              took.host, took.communication(), took.calculation());
  bool first = true;
  for (std::size_t k = 0; k < statistics.bins().size(); ++k) {
    const BlockBin& bin = statistics.bins()[k];
    if (bin.blocks == 0) continue;
    std::printf("%s\n    {\"from\": %llu, \"blocks\": %lld, \"steps\": %lld, \"seconds\": %.6g}", first ? "" : ",",
                1ULL << k, whole(bin.blocks), whole(bin.particles), bin.seconds.sum());
    first = false;
  }
  std::printf("\n  ]\n}\n");
}

}  // namespace examples
