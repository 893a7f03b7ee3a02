// Pictures of a simulation, drawn without a window.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "examples/nbody/moving.h"
#include "examples/support/bodies.h"

namespace examples {

struct FrameChoice {
  std::string folder;                  // frame-0000.png, frame-0001.png, ... go there; empty: none
  std::string movie;                   // a file, by ffmpeg unless is_animation(); empty: none
  std::array<int, 2> size{1280, 720};  // width and height, in pixels
  std::array<double, 2> orbit{};       // degrees that the camera moves, to the right and upwards
  double zoom = 1;                     // more than 1: the camera is so many times nearer
  double brightness = 1;               // factor of the light of every body
  std::int64_t drawn = 0;              // so many bodies, the first of the file, are in pictures; 0: all
};

// True for a movie that is an animated PNG, which needs no ffmpeg.
inline bool is_animation(const std::string& movie) { return movie.ends_with(".png"); }

class Frames {
 public:
  // Says once, in standard error, what draws and which way the positions take. Throws Missing where nothing draws or
  // this build cannot, nbcc::Error, and UsageError for files that cannot be written, as all functions.
  Frames(const FrameChoice& choice, const nbcc::Device& device, const Bodies& start);
  ~Frames();

  void draw(const Moving& particles);  // returns when the picture of the present state is complete
  void add(const Moving& particles);   // the same, and writes the picture into the files
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace examples
