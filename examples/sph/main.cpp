// Smoothed particle hydrodynamics: a shock tube beside its exact solution, the collapse of a ball of gas, a sound wave.
//
// The gas stays on the device (gas.h): density, forces, gravity and the steps of the integrator are sums, and the host
// sees the six numbers of totals.pipe at each step.
#include "examples/sph/programs.h"
#include "examples/support/chart_file.h"
#include "examples/support/program.h"
#include "examples/support/replace_file.h"

namespace {

using namespace examples;

void add_gas(CLI::App& app, GasSettings& gas, std::string& device) {
  add_device(app, device);
  add_precision(app, gas.precision, "Of the sums' terms");
  app.add_option("--gamma", gas.gamma, "Ratio of specific heats")->check(CLI::Range(1.01, 10.0))->capture_default_str();
  app.add_option("--eta", gas.eta, "Smoothing lengths per distance of neighbours")
      ->check(CLI::Range(1.0, 2.0))
      ->capture_default_str();
  app.add_option("--alpha", gas.alpha, "Viscosity; twice that is its quadratic part")
      ->check(not_negative())
      ->capture_default_str();
  app.add_option("--conductivity", gas.conductivity, "Of thermal energy at jumps of pressure")
      ->check(not_negative())
      ->capture_default_str();
  app.add_option("--courant", gas.courant, "Share of a smoothing length that a signal goes in a step")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
}

void add_state(CLI::App& app, const std::string& name, GasState& state, bool moves) {
  const auto take = [&state, moves](const std::vector<double>& n) {
    state = {n[0], moves ? n[1] : 0, n[moves ? 2 : 1]};
  };
  app.add_option_function<std::vector<double>>(name, take,
                                               std::string("Density") + (moves ? ", velocity" : "") + " and pressure")
      ->expected(moves ? 3 : 2)
      ->check(finite());
}

CLI::App* add_sod(CLI::App& app, SodOptions& options) {
  CLI::App* const tube = app.add_subcommand("sod", "Shock tube, beside the exact solution");
  add_gas(*tube, options.gas, options.device);
  add_state(*tube, "--left", options.left, false);
  add_state(*tube, "--right", options.right, false);
  tube->add_option("--cells", options.cells, "Cells of two particles along a unit of length, on the left")
      ->check(CLI::Range(8, 4096))
      ->capture_default_str();
  tube->add_option("--across", options.across, "Cells across the tube, on the left")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  tube->add_option("--end", options.end, "Time to stop at")->check(positive())->capture_default_str();
  tube->add_option("--profile", options.profile, "A text file of all particles, beside the exact solution");
  tube->add_option("--picture", options.picture, "An SVG file with charts of that")->check(chart_file());
  return tube;
}

CLI::App* add_evrard(CLI::App& app, EvrardOptions& options) {
  CLI::App* const ball = app.add_subcommand("evrard", "Collapse of a cold ball of gas under its own gravity");
  options.gas.gamma = 5.0 / 3;
  options.gas.conductivity = 0;  // where gravity holds the gas, a slope of pressure is no jump
  options.gas.has_gravity = true;
  add_gas(*ball, options.gas, options.device);
  ball->add_option("--eps", options.gas.eps, "Softening length of gravity")->check(positive())->capture_default_str();
  ball->add_option("--cells", options.cells, "Cells of two particles along the diameter")
      ->check(CLI::Range(4, 1024))
      ->capture_default_str();
  ball->add_option("--end", options.end, "Time to stop at")->check(positive())->capture_default_str();
  ball->add_option("--every", options.every, "Time between reports")->check(positive())->capture_default_str();
  ball->add_option("--picture", options.picture,
                   "An SVG file with charts of the energies, and of the radial profile at ...")
      ->check(chart_file());
  ball->add_option("--profile-at", options.profile_at, "... this time, if it is reached")
      ->check(positive())
      ->capture_default_str();
  return ball;
}

CLI::App* add_wave(CLI::App& app, WaveOptions& options) {
  CLI::App* const sound = app.add_subcommand("wave", "Frequency of a sound wave");
  options.gas.gamma = 5.0 / 3;
  options.gas.alpha = options.gas.conductivity = 0;
  options.gas.eta = 1.3;
  add_gas(*sound, options.gas, options.device);
  sound->add_option("--cells", options.cells, "Cells of two particles along the wave")
      ->check(CLI::Range(4, 4096))
      ->capture_default_str();
  sound->add_option("--across", options.across, "Cells across")->check(CLI::Range(4, 1024))->capture_default_str();
  sound->add_flag("--cubic", options.is_cubic, "One particle in a cell");
  sound->add_option("--amplitude", options.amplitude, "Of the velocity")
      ->check(CLI::Range(0.0, 0.1))
      ->capture_default_str();
  sound->add_option("--end", options.end, "Periods to follow the wave for")->check(positive())->capture_default_str();
  return sound;
}

CLI::App* add_riemann(CLI::App& app, RiemannOptions& options) {
  CLI::App* const exact = app.add_subcommand("riemann", "The exact solution of a shock tube whose gases may move");
  exact->add_option("--gamma", options.gamma, "Ratio of specific heats")->check(positive())->capture_default_str();
  add_state(*exact, "--left", options.left, true);
  add_state(*exact, "--right", options.right, true);
  return exact;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Smoothed particle hydrodynamics", "sph");
  app.require_subcommand(1);
  SodOptions for_sod;
  EvrardOptions for_evrard;
  WaveOptions for_wave;
  RiemannOptions for_riemann;
  const CLI::App* const is_sod = add_sod(app, for_sod);
  const CLI::App* const is_evrard = add_evrard(app, for_evrard);
  const CLI::App* const is_wave = add_wave(app, for_wave);
  add_riemann(app, for_riemann);
  return run_program(app, count, words, [&] {
    for (GasSettings* gas : {&for_sod.gas, &for_evrard.gas, &for_wave.gas}) gas->beta = 2 * gas->alpha;
    if (!for_sod.profile.empty()) require_place_for(for_sod.profile);
    if (*is_sod)
      sod(for_sod);
    else if (*is_evrard)
      evrard(for_evrard);
    else if (*is_wave)
      wave(for_wave);
    else
      riemann(for_riemann);
  });
}
