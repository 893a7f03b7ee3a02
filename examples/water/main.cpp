// Flexible water beside LAMMPS: every term of the energy, the forces, and the energies of a run of velocity Verlet.
//
// The numbers of LAMMPS, and the input that they are made from, are files of examples/water/from_lammps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/support/failure.h"
#include "examples/support/program.h"
#include "examples/support/progress.h"
#include "examples/water/water.h"

namespace {

using examples::Numbers;
using examples::Reference;
using examples::Water;
using examples::WaterEnergies;

// Both programs sum half a million terms in double precision, whose magnitudes are 22 times their sum: they differ by
// some 1e-14. A digit of a constant that is wrong, or a pair that is missing, is far above this.
constexpr double kTolerance = 1e-10;
constexpr double kFemtoseconds = 0.5;  // a step of the run that LAMMPS has made

struct Settings {
  std::string folder = "examples/water/from_lammps", device = "cpu";
  int steps = 200;
  double skin = 1.5;
  bool is_json = false;
};

// A number here and LAMMPS's.
struct Compared {
  std::string name;
  double here, there;
  double difference() const { return std::fabs(here / there - 1); }
};

std::vector<Compared> compare(const WaterEnergies& energies, const Reference& reference) {
  std::vector<Compared> terms{
      {"bond_oh", energies.bond_oh, 0}, {"bond_hh", energies.bond_hh, 0},       {"lj", energies.lj, 0},
      {"coulomb", energies.coulomb, 0}, {"potential", energies.potential(), 0}, {"kinetic", energies.kinetic, 0},
      {"total", energies.total(), 0}};
  for (Compared& term : terms) term.there = reference.term(term.name);
  return terms;
}

// The largest component of the differences over the largest of the forces.
double difference_of_forces(const Numbers& here, const Numbers& there) {
  double difference = 0, largest = 0;
  for (std::size_t k = 0; k < there.size(); ++k) {
    if (std::isnan(here[k])) return here[k];
    difference = std::max(difference, std::fabs(here[k] - there[k]));
    largest = std::max(largest, std::fabs(there[k]));
  }
  return difference / largest;
}

// What is told of a run, and whether all of it is LAMMPS's.
class Report {
 public:
  Report(const Settings& settings, const nbcc::Device& device, std::int64_t atoms) : is_json_(settings.is_json) {
    std::printf(is_json_ ? "{\n  \"molecules\": %lld, \"atoms\": %lld, \"device\": \"%s\",\n  \"energies\": {"
                         : "%lld molecules, %lld atoms on %s\n",
                static_cast<long long>(atoms / 3), static_cast<long long>(atoms), device.name().c_str());
  }

  void add_terms(const std::vector<Compared>& terms) {
    if (!is_json_) std::printf("\n%-18s %22s %22s %12s\n", "energy, kcal/mol", "here", "LAMMPS", "difference");
    for (const Compared& term : terms) {
      if (is_json_)
        std::printf("%s\"%s\": %.17g", &term == &terms.front() ? "" : ", ", term.name.c_str(), term.here);
      else
        tell(term);
      check(term.name, term.difference());
    }
    if (is_json_) std::printf("},\n");
  }

  void add_forces(double difference) {
    std::printf(is_json_ ? "  \"difference_of_forces\": %.2e,\n  \"run\": ["
                         : "forces: the largest difference is %.1e of the largest force\n",
                difference);
    if (!is_json_) std::printf("\n%-18s %22s %22s %12s\n", "total energy", "here", "LAMMPS", "difference");
    check("the forces", difference);
  }

  void add_moment(std::int64_t step, const WaterEnergies& here, const Reference::Moment* there) {
    const Compared total{"step " + std::to_string(step), here.total(), there ? there->total : NAN};
    if (is_json_)
      std::printf("%s\n    {\"step\": %lld, \"potential\": %.17g, \"kinetic\": %.17g, \"total\": %.17g}",
                  step == 0 ? "" : ",", static_cast<long long>(step), here.potential(), here.kinetic, here.total());
    else if (there)
      tell(total);
    else
      std::printf("%-18s %22.12f\n", total.name.c_str(), total.here);
    if (there) check("the total energy of " + total.name, total.difference());
  }

  void end(int steps, const nbcc_statistics& found, const std::string& rate) {
    const double runs = double(found.runs), tested = double(found.pairs_tested) / runs;
    if (is_json_)
      std::printf("\n  ],\n  \"steps\": %d, \"searches\": %lld, \"pairs_tested\": %.0f, \"pairs_within\": %lld\n}\n",
                  steps, static_cast<long long>(found.searches), tested, static_cast<long long>(found.pairs_within));
    else
      std::printf(
          "\nneighbours: sought in %lld of %.0f sums; pairs tested in each: %.0f, within the cutoff: %lld\n%s\n",
          static_cast<long long>(found.searches), runs, tested, static_cast<long long>(found.pairs_within),
          rate.c_str());
    if (!wrong_.empty()) throw std::runtime_error("not what LAMMPS has: " + wrong_);
  }

 private:
  static void tell(const Compared& one) {
    std::printf("%-18s %22.12f %22.12f %12.1e\n", one.name.c_str(), one.here, one.there, one.difference());
  }

  void check(const std::string& name, double difference) {
    const bool is_right = difference <= kTolerance;  // what is not a number is not
    if (!is_right) wrong_ += (wrong_.empty() ? "" : ", ") + name;
  }

  bool is_json_;
  std::string wrong_;
};

void run(const Settings& settings) {
  const Reference reference = examples::read_reference(settings.folder);
  const nbcc::Device device(settings.device);
  Water water(device, reference, settings.skin);
  Report report(settings, device, reference.atoms());
  report.add_terms(compare(water.energies(), reference));
  report.add_forces(difference_of_forces(water.forces(), reference.forces));

  std::string rate;
  {
    examples::Progress bar;
    auto next = reference.run.begin();
    for (int step = 0; step <= settings.steps; ++step) {
      if (step > 0) water.step(kFemtoseconds);
      const bool is_known = next != reference.run.end() && next->step == step;
      if (is_known || step == 0 || step == settings.steps)
        report.add_moment(step, water.energies(), is_known ? &*next++ : nullptr);
      bar.show(double(step) / std::max(settings.steps, 1), step);
    }
    rate = bar.rate(settings.steps);
  }
  report.end(settings.steps, water.statistics(), rate);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Molecular dynamics of flexible water, beside LAMMPS", "water");
  Settings settings;
  app.add_option("folder", settings.folder, "Where the files of LAMMPS are")->capture_default_str();
  app.add_option("--steps", settings.steps, "Steps of 0.5 fs; LAMMPS's energies are there at 0, 100 and 200")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  app.add_option("--skin", settings.skin, "Neighbours are sought again when an atom has moved by half of this")
      ->check(examples::not_negative())
      ->capture_default_str();
  examples::add_device(app, settings.device);
  app.add_flag("--json", settings.is_json, "Report in JSON");
  return examples::run_program(app, count, words, [&] { run(settings); });
}
