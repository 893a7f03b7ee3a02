// A travelling sound wave of small amplitude, and the exact solution of Riemann's problem in words. The entry points
// are wave() and riemann().
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <string>

#include "examples/sph/programs.h"

namespace examples {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// The wave's part of the velocities: its amplitude and phase.
std::complex<double> component(const Particles& gas) {
  std::complex<double> sum = 0;
  for (std::size_t k = 0; k < gas.count(); ++k) sum += gas.v[3 * k] * std::polar(1.0, -kTurn * gas.x[3 * k]);
  return 2.0 * sum / double(gas.count());
}

// Twelve digits behind the point or, of what is as small as they are, twelve of its own.
std::string shown(double value) {
  char text[64];
  std::snprintf(text, sizeof text, value != 0 && std::fabs(value) < 1e-6 ? "%.12g" : "%.12f", value);
  return text;
}

void describe(const char* name, const Riemann::Wave& wave) {
  if (wave.is_shock)
    std::printf("%s: shock of speed %.12f, density behind it %s\n", name, wave.head, shown(wave.rho).c_str());
  else
    std::printf("%s: rarefaction of speeds %.12f to %.12f, density behind it %s\n", name, wave.head, wave.tail,
                shown(wave.rho).c_str());
}

}  // namespace

void wave(const WaveOptions& options) {
  const double d = 1.0 / options.cells, width = options.across * d, mass = d * d * d / (options.is_cubic ? 1 : 2);
  const double energy = 1 / (options.gas.gamma * (options.gas.gamma - 1));  // of a speed of sound of 1
  GasSettings settings = options.gas;
  settings.box = {1, width, width};
  Particles start;
  for (const auto& at : lattice({options.cells, options.across, options.across}, settings.box, !options.is_cubic)) {
    // Travelling to the right: velocity and density rise and fall together, and so the places are moved against it.
    const double phase = kTurn * (at[0] - 0.5), moved = options.amplitude / kTurn * std::cos(phase);
    const double compressed = options.amplitude * std::sin(phase);
    start.add(mass, {at[0] - 0.5 + moved, at[1] - width / 2, at[2] - width / 2},
              {options.amplitude * std::sin(phase), 0, 0}, energy * std::pow(1 + compressed, settings.gamma - 1),
              options.gas.eta * std::cbrt(mass));
  }
  const nbcc::Device device(options.device);
  Gas gas(device, start, settings);
  const Particles first = gas.particles();
  const auto [least, most] = std::minmax_element(first.rho.begin(), first.rho.end());
  std::printf("%zu particles on %s, density %.12f to %.12f\n", start.count(), device.name().c_str(), *least, *most);
  if (options.amplitude == 0) return;

  // In a sixteenth of a period the phase turns by less than half of a turn.
  double turned = 0;
  const std::complex<double> began = component(first);
  std::complex<double> before = began;
  for (double part = 1; gas.time() < options.end; ++part) {
    const double until = std::min(part / 16, options.end);
    while (gas.time() < until) gas.step(until);
    const std::complex<double> now = component(gas.particles());
    turned -= std::arg(now / before);
    before = now;
  }
  std::printf("time %g in %lld steps: amplitude x %.6f\n", gas.time(), static_cast<long long>(gas.steps()),
              std::abs(before) / std::abs(began));
  std::printf("frequency %.6f, of sound %.6f: relative error %.1e\n", turned / gas.time(), kTurn,
              turned / gas.time() / kTurn - 1);
}

void riemann(const RiemannOptions& options) {
  const Riemann exact(options.left, options.right, options.gamma);
  std::printf("between the waves: pressure %s, velocity %.12f\n", shown(exact.p()).c_str(), exact.v());
  describe("left", exact.left());
  describe("right", exact.right());
}

}  // namespace examples
