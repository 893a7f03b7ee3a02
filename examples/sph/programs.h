// What the program `sph` can do; each prints its report. All throw nbcc::Error, UsageError, or std::runtime_error where
// the gas cannot go on.
#pragma once
#include <string>
#include <vector>

#include "examples/sph/gas.h"
#include "examples/sph/riemann.h"

namespace examples {

constexpr double kPanelWidth = 190, kPanelHeight = 150;  // pixels, of each chart in a picture

// A shock tube: two gases at rest, of different density and pressure, whose wall is taken away at time 0.
struct SodOptions {
  std::string device = "cpu", picture, profile;  // files; empty: none
  GasSettings gas;
  GasState left{1, 0, 1}, right{0.125, 0, 0.1};
  int cells = 32;  // of two particles, along a unit of length on the left
  int across = 8;  // and across the tube
  double end = 0.2;
};
void sod(const SodOptions& options);

// A cold ball of gas that falls together under its own gravity, and bounces: M = R = G = 1.
struct EvrardOptions {
  std::string device = "cpu", picture;
  GasSettings gas;
  int cells = 16;  // of two particles, along the diameter
  double end = 3, every = 0.2, profile_at = 0.8;
};
void evrard(const EvrardOptions& options);

// The exact solution of a shock tube whose gases may move.
struct RiemannOptions {
  double gamma = 1.4;
  GasState left{1, 0, 1}, right{0.125, 0, 0.1};
};
void riemann(const RiemannOptions& options);

// A sound wave of one wavelength, 1, in a gas of density 1 whose velocity of sound is 1.
struct WaveOptions {
  std::string device = "cpu";
  GasSettings gas;
  int cells = 32, across = 5;
  bool is_cubic = false;  // one particle in a cell, not two
  double amplitude = 1e-3, end = 1;
};
void wave(const WaveOptions& options);

// Particles' places in a box from 0 to `side`: one in the middle of each cell, or two on its diagonal (body-centred).
std::vector<std::array<double, 3>> lattice(const std::array<int, 3>& cells, const std::array<double, 3>& side,
                                           bool body_centred);

}  // namespace examples
