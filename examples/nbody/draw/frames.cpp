// A simulation -> pictures in a folder or a movie. Entry point: Frames.
#include "examples/nbody/frames.h"

#include <cstdio>
#include <filesystem>
#include <numbers>
#include <optional>
#include <system_error>

#include "examples/nbody/draw/animated_png.h"
#include "examples/nbody/draw/movie.h"
#include "examples/nbody/draw/offscreen.h"
#include "examples/nbody/draw/vertices.h"
#include "examples/support/failure.h"

namespace examples {
namespace {

constexpr int kPerSecond = 25;

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UsageError("cannot make the folder '" + folder + "': " + error.message());
}

Camera camera_of(const FrameChoice& choice, const Bodies& bodies) {
  Camera camera = camera_for(bodies);
  camera.approach(choice.zoom);
  constexpr double degree = std::numbers::pi / 180;
  camera.orbit(choice.orbit[0] * degree, choice.orbit[1] * degree);
  return camera;
}

}  // namespace

struct Frames::State {
  // shown: the bodies that are drawn.
  State(const FrameChoice& chosen, const nbcc::Device& device, const Bodies& shown)
      : choice(chosen),
        screen(open_offscreen(cuda_ordinal(device), chosen.size[0], chosen.size[1])),
        sprites(screen->gl(), shown.count()),
        vertices(screen->gl(), device, sprites),
        camera(camera_of(chosen, shown)),
        look(look_for(shown, camera)) {
    look.brightness *= chosen.brightness;
  }

  FrameChoice choice;
  std::unique_ptr<Offscreen> screen;
  Sprites sprites;
  Vertices vertices;
  Camera camera;
  SpriteLook look;
  std::optional<Movie> movie;
  std::optional<AnimatedPng> animation;
  int number = 0;
};

Frames::Frames(const FrameChoice& choice, const nbcc::Device& device, const Bodies& start)
    : state_(std::make_unique<State>(choice, device, first_bodies(start, choice.drawn))) {
  if (!choice.folder.empty()) make_folder(choice.folder);
  if (is_animation(choice.movie))
    state_->animation.emplace(choice.movie, choice.size[0], choice.size[1], kPerSecond);
  else if (!choice.movie.empty())
    state_->movie.emplace(choice.movie, choice.size[0], choice.size[1], kPerSecond);
  std::fprintf(stderr, "nbody: %s draws; %s\n", state_->screen->renderer().c_str(), state_->vertices.path().c_str());
}

Frames::~Frames() = default;

void Frames::draw(const Moving& particles) {
  State& s = *state_;
  const Scene scene = particles.scene();
  s.vertices.update(scene);
  SpriteLook look = s.look;
  if (scene.values) look.fast = 1;  // coloured.pipe
  s.sprites.draw(s.camera, look, {0, 0, s.screen->width(), s.screen->height()});
  s.screen->gl().Finish();
}

void Frames::add(const Moving& particles) {
  State& s = *state_;
  draw(particles);
  const Image image = s.screen->read();
  char name[32];
  std::snprintf(name, sizeof name, "/frame-%04d.png", s.number++);
  if (!s.choice.folder.empty()) write_png(s.choice.folder + name, image);
  if (s.movie) s.movie->add(image);
  if (s.animation) s.animation->add(image);
}

void Frames::finish() {
  if (state_->movie) state_->movie->finish();
  if (state_->animation) state_->animation->finish();
}

}  // namespace examples
