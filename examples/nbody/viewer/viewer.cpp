// Bodies and a user -> pictures in a window. Entry point: show().
#include "examples/nbody/viewer.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/viewer/panel.h"
#include "examples/nbody/viewer/running.h"
#include "examples/nbody/viewer/window.h"

namespace examples {
namespace {

constexpr double kRadiansPerHeight = 4;  // of the camera, when the mouse goes from above to below
constexpr double kZoomPerNotch = 1.15;

// Rates, over half a second each.
class Meter {
 public:
  void count(double interactions, Telling& telling) {
    ++pictures_;
    interactions_ += interactions;
    const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
    if (seconds < 0.5) return;
    telling.pictures_per_second = pictures_ / seconds;
    telling.interactions_per_second = interactions_ / seconds;
    *this = {};
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
  double pictures_ = 0, interactions_ = 0;
};

class Viewer {
 public:
  Viewer(const ViewerStart& start, const FrameChoice& look)
      : start_(start),
        simulators_(start.motion ? std::vector<Simulator>{{start.device, start.device, {}, {}}}
                                 : simulators_here(start.device, start.settings.tolerance == 0)),
        window_("n-body", look.size[0], look.size[1]),
        shown_(first_bodies(start.state.bodies, look.drawn)),
        sprites_(window_.gl(), shown_.count()),
        first_camera_(camera_for(shown_)) {
    first_camera_.orbit(look.orbit[0] * kDegree, look.orbit[1] * kDegree);
    first_camera_.approach(look.zoom);
    camera_ = first_camera_;
    controls_.dt = controls_.first_dt = start.dt;
    controls_.look = look_for(shown_, camera_);
    controls_.look.brightness *= look.brightness;
    telling_.bodies = start.state.bodies.count();
    telling_.time = double(start.state.step) * start.dt;
    run_on(0, start.state);
    telling_.counts_interactions = !start.motion;
    if (!running_->has_values()) return;
    controls_.look.fast = 1;  // coloured.pipe
    telling_.red = "value drawn red";
  }

  void run(const ViewerChoice& choice) {
    for (int drawn = 0; !window_.is_closed() && !controls_.quit && (choice.pictures == 0 || drawn < choice.pictures);
         ++drawn) {
      Gestures gestures = window_.poll();
      if (std::size_t(drawn) < choice.keys.size()) gestures.typed += choice.keys[std::size_t(drawn)];
      obey(gestures);
      advance();
      draw();
      window_.show();
    }
    if (choice.screenshot.empty()) return;
    draw();
    write_png(choice.screenshot, read_pixels(window_.gl(), window_.width(), window_.height()));
  }

 private:
  static constexpr double kDegree = std::numbers::pi / 180;

  void run_on(int simulator, const State& state) {
    const Simulator& chosen = simulators_[std::size_t(simulator)];
    running_ = start_.motion ? std::make_unique<Running>(chosen, start_.motion, window_.gl(), sprites_)
                             : std::make_unique<Running>(chosen, state, start_.settings, window_.gl(), sprites_);
    current_ = simulator;
    telling_.device = running_->device();
    telling_.path = running_->path();
  }

  // The bodies go on where they are. If the new simulator cannot be, they stay with the old one.
  void switch_simulator() {
    telling_.problem.clear();
    const State state = running_->state();
    running_.reset();  // a buffer is shared with one GPU's memory at a time
    try {
      run_on(controls_.simulator, state);
    } catch (const nbcc::Error& error) {
      telling_.problem = error.what();
      controls_.simulator = current_;
      run_on(current_, state);
    }
  }

  void obey(const Gestures& gestures) {
    camera_.orbit(-kRadiansPerHeight * gestures.drag_x, kRadiansPerHeight * gestures.drag_y);
    camera_.approach(std::pow(kZoomPerNotch, gestures.wheel));
    for (const char key : gestures.typed) controls_.press(key, int(simulators_.size()));
    if (std::exchange(controls_.reset_camera, false)) camera_ = first_camera_;
    if (controls_.simulator != current_) switch_simulator();
  }

  void advance() {
    int steps = controls_.paused ? 0 : controls_.steps;
    if (std::exchange(controls_.one_step, false)) steps = 1;
    for (int k = 0; k < steps; ++k) running_->step(controls_.dt);
    telling_.time += steps * controls_.dt;
    meter_.count(steps > 0 ? steps * running_->pairs_per_step() : 0, telling_);
  }

  void draw() {
    running_->update_sprites();
    // Beside the panel, as wide as it was in the last picture, where that leaves more than half of the window.
    const int width = window_.width(), left = 2 * covered_ < width ? covered_ : 0;
    sprites_.draw(camera_, controls_.look, {left, 0, width - left, window_.height()});
    window_.begin_controls();
    covered_ = draw_panel(controls_, telling_, simulators_);
    window_.end_controls();
  }

  ViewerStart start_;
  std::vector<Simulator> simulators_;
  Window window_;
  Bodies shown_;
  Sprites sprites_;
  Camera first_camera_, camera_;
  Controls controls_;
  Telling telling_;
  Meter meter_;
  std::unique_ptr<Running> running_;
  int current_ = 0, covered_ = 0;  // the simulator; pixels at the left edge, by the panel
};

}  // namespace

void show(const ViewerStart& start, const ViewerChoice& choice, const FrameChoice& look) {
  Viewer(start, look).run(choice);
}

}  // namespace examples
