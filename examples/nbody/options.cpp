// A command line -> Options. One door: parse(). Opens no file.
#include "examples/nbody/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace examples {
namespace {

void declare_run(CLI::App& app, Options& options) {
  app.add_option("BODIES", options.bodies,
                 "A text file of bodies, as `nbcc make-ic plummer --n 1024 -o bodies.txt` makes it");
  app.add_option("--end", options.end, "Time to stop at")->capture_default_str();
  app.add_option("--dt", options.dt, "Time step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--eps", options.settings.eps, "Softening length")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--damping", options.settings.damping,
                 "Of the velocity in each step: 1 is leapfrog, less the damped scheme")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--precision", options.precision, "Of the force")
      ->check(CLI::IsMember({"single", "mixed", "double"}))
      ->capture_default_str();
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_flag("--rest", options.at_rest, "Let the centre of mass rest in the origin");
  app.add_option("--every", options.every, "Time between reports, snapshots and checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--snapshots", options.snapshots, "NAME: write NAME-0000.hdf5, NAME-0001.hdf5, ...");
  app.add_option("--checkpoint", options.checkpoint, "A file to go on from, written at every report");
  app.add_flag("--restart", options.restart, "Go on from the checkpoint")->needs("--checkpoint");
  app.add_flag("--quiet", options.quiet, "No progress bar");
}

void declare_benchmark(CLI::App& app, Options& options) {
  app.add_flag("--benchmark", options.benchmark,
               "No simulation: the rate of the force against N and, on a GPU, the shape of its kernel")
      ->group("Benchmark");
  app.add_option("--n", options.counts, "Numbers of bodies, as 1024,4096,16384")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->needs("--benchmark")
      ->group("Benchmark");
}

void declare_pictures(CLI::App& app, Options& options) {
  const auto pictures = [](CLI::Option* option) { return option->group("Pictures"); };
  pictures(app.add_option("--frames", options.frames.folder,
                          "A folder for frame-0000.png, frame-0001.png, ..., drawn without a window"));
  pictures(app.add_option("--movie", options.frames.movie, "A movie of the frames, as cluster.mp4, by ffmpeg"));
  pictures(app.add_option("--frame-every", options.frame_every, "Time between two frames; 0: as --every"))
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  pictures(app.add_option("--size", options.frames.size, "Width and height of pictures and window, in pixels"))
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  pictures(app.add_option("--orbit", options.frames.orbit,
                          "Degrees by which the camera is moved around the bodies: to the right, upwards"))
      ->capture_default_str();
}

void declare_viewer(CLI::App& app, Options& options) {
  const auto viewer = [](CLI::Option* option) { return option->group("Viewer"); };
  CLI::Option* const flag = viewer(app.add_flag("--viewer", options.viewer, "A window to watch the bodies in"));
  viewer(app.add_option("--screenshot", options.view.screenshot, "A PNG file of the window's last picture"))
      ->needs(flag);
  viewer(app.add_option("--pictures", options.view.pictures, "End after so many pictures; 0: when it is closed"))
      ->check(CLI::NonNegativeNumber)
      ->needs(flag);
  viewer(app.add_option("--keys", options.view.keys, "Keys to press by itself, one before each of the first pictures"))
      ->needs(flag);
}

// "" if the options go together.
const char* conflict(const Options& options) {
  if (!options.frames.movie.empty() && (options.frames.size[0] % 2 != 0 || options.frames.size[1] % 2 != 0))
    return "a movie needs an even --size";
  if (!options.benchmark && options.bodies.empty() != options.restart)
    return "give bodies to start with, or a checkpoint and --restart";
  return "";
}

}  // namespace

bool parse(int count, char** words, Options& options, int& code) {
  CLI::App app("Direct N-body simulation");
  declare_run(app, options);
  declare_pictures(app, options);
  declare_viewer(app, options);
  declare_benchmark(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  options.settings.precision = options.precision == "single"  ? NBCC_SINGLE
                               : options.precision == "mixed" ? NBCC_MIXED
                                                              : NBCC_DOUBLE;
  if (options.frame_every == 0) options.frame_every = options.every;
  const std::string problem = conflict(options);
  if (problem.empty()) return true;
  std::fprintf(stderr, "nbody: %s\n", problem.c_str());
  code = 2;
  return false;
}

}  // namespace examples
