// The controls of the window, and what it tells.
#pragma once
#include <string>
#include <vector>

#include "examples/nbody/draw/sprites.h"
#include "examples/nbody/simulators.h"

namespace examples {

struct Controls {
  bool paused = false, one_step = false, reset_camera = false, quit = false;
  double dt = 0, first_dt = 0;
  int steps = 1;      // between two pictures
  int simulator = 0;  // of the list
  SpriteLook look;

  // ' ' pause, '.' one step, 's' the next simulator, '+' and '-' twice and half the time step, 'r' the camera back,
  // 'q' and escape end. Other keys do nothing.
  void press(char key, int simulators);
};

struct Telling {
  std::int64_t bodies = 0;
  double time = 0, pictures_per_second = 0, interactions_per_second = 0;
  bool counts_interactions = true;    // 20 operations each
  std::string device, path, problem;  // problem: of the last switch, or ""
  std::string red = "speed drawn red";
};

// At the left edge of the window. Returns the pixels from there that it covers.
int draw_panel(Controls& controls, const Telling& telling, const std::vector<Simulator>& simulators);

}  // namespace examples
