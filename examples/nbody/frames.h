// Pictures of a simulation, drawn without a window.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "examples/nbody/simulation.h"

namespace examples {

struct FrameChoice {
  std::string folder;                  // frame-0000.png, frame-0001.png, ... go there; empty: none
  std::string movie;                   // a file, by ffmpeg unless is_animation(); empty: none
  std::array<int, 2> size{1280, 720};  // width and height, in pixels
  std::array<double, 2> orbit{};       // degrees that the camera moves, to the right and upwards
};

// True for a movie that is an animated PNG, which needs no ffmpeg.
inline bool is_animation(const std::string& movie) { return movie.ends_with(".png"); }

class Frames {
 public:
  // Says once, in standard error, what draws and which way the positions take. Throws Missing where nothing draws or
  // this build cannot, nbcc::Error, and UsageError for files that cannot be written, as all functions.
  Frames(const FrameChoice& choice, const nbcc::Device& device, const Bodies& start);
  ~Frames();

  void add(const Simulation& simulation);  // as it is now
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace examples
