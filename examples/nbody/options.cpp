// A command line -> Options. Entry points: add_options(), complete(). Opens no file.
#include "examples/nbody/options.h"

#include "examples/support/failure.h"
#include "examples/support/program.h"

namespace examples {
namespace {

void declare_run(CLI::App& app, Options& options) {
  app.add_option("BODIES", options.bodies,
                 "A text file of bodies, as `nbcc make-ic plummer --n 1024 -o bodies.txt` makes it");
  app.add_option("--end", options.end, "Time to stop at")->check(not_negative())->capture_default_str();
  CLI::Option* const of_checkpoint[] = {
      app.add_option("--dt", options.dt, "Time step")->check(positive())->capture_default_str(),
      app.add_option("--eps", options.settings.eps, "Softening length")->check(not_negative())->capture_default_str(),
      app.add_option("--G", options.G, "Gravitational constant [that of the file, else 1]")->check(positive()),
      app.add_option("--damping", options.settings.damping,
                     "Of the velocity in each step: 1 is leapfrog, less the damped scheme")
          ->check(finite() & CLI::Range(0.0, 1.0))
          ->capture_default_str(),
      add_precision(app, options.settings.precision, "Of the force"),
      app.add_option("--tolerance", options.settings.tolerance,
                     "Sum the forces to a tolerance, by a far field, in O(N) time: the root mean square over sampled "
                     "bodies of the error relative to the sum of the terms' magnitudes, 1e-14 to 1; 0: all pairs")
          ->check(tolerance())
          ->capture_default_str(),
      app.add_option("--energy-tolerance", options.settings.energy_tolerance,
                     "With --tolerance: of the potential energy of reports, which is then a sum of its own, in double "
                     "precision; 0: over all pairs. Default: the sums of the forces have the potential, too")
          ->check(tolerance()),
      app.add_flag("--rest", options.at_rest, "Let the centre of mass rest in the origin")};
  add_device(app, options.device);
  app.add_option("--every", options.every, "Time between reports, snapshots and checkpoints")
      ->check(positive())
      ->capture_default_str();
  app.add_option("--snapshots", options.snapshots, "NAME: write NAME-0000.hdf5, NAME-0001.hdf5, ...");
  app.add_option("--checkpoint", options.checkpoint, "A file to go on from, written at every report");
  CLI::Option* const restart =
      app.add_flag("--restart", options.restart, "Go on from the checkpoint, as it was begun")->needs("--checkpoint");
  for (CLI::Option* option : of_checkpoint) restart->excludes(option);
  app.add_flag("--quiet", options.quiet, "No progress bar");
  app.add_flag("--mpi", options.mpi, "Spread the bodies over the processes that mpirun has started");
  app.add_flag("--compare", options.compare,
               "Move the bodies by every simulator of this machine up to --end, and print how far they are apart");
}

void declare_benchmark(CLI::App& app, Options& options) {
  app.add_flag("--benchmark", options.benchmark,
               "No simulation: the rate of the force against N and, on a GPU, the launch configuration")
      ->group("Benchmark");
  app.add_option("--n", options.counts, "Numbers of bodies, as 1024,4096,16384")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 24))
      ->needs("--benchmark")
      ->group("Benchmark");
  app.add_flag(
         "--draw-steps", options.benchmark_draws,
         "Instead of the force: pictures of --size a second, drawn without a window, one after each step, against "
         "N and, on a GPU, the block size")
      ->needs("--benchmark")
      ->group("Benchmark");
}

void declare_pictures(CLI::App& app, Options& options) {
  const auto pictures = [](CLI::Option* option) { return option->group("Pictures"); };
  pictures(app.add_option("--frames", options.frames.folder,
                          "A folder for frame-0000.png, frame-0001.png, ..., drawn without a window"));
  pictures(
      app.add_option("--movie", options.frames.movie,
                     "A movie of the frames: cluster.png, an animated PNG, which browsers play; cluster.mp4 and other "
                     "kinds by ffmpeg"));
  pictures(app.add_option("--frame-every", options.frame_every, "Time between two frames; 0: as --every"))
      ->check(not_negative())
      ->capture_default_str();
  pictures(app.add_option("--size", options.frames.size, "Width and height of pictures and window, in pixels"))
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  pictures(app.add_option("--orbit", options.frames.orbit,
                          "Degrees by which the camera is moved around the bodies: to the right, upwards"))
      ->check(finite())
      ->capture_default_str();
  pictures(app.add_option("--zoom", options.frames.zoom,
                          "How many times nearer the camera is than where most bodies are in the picture"))
      ->check(positive())
      ->capture_default_str();
  pictures(app.add_option("--brightness", options.frames.brightness, "Factor of the light of every body"))
      ->check(positive())
      ->capture_default_str();
  pictures(app.add_option("--draw", options.frames.drawn,
                          "Draw only so many bodies, the first of the file, such as the discs of `nbcc make-ic "
                          "collision`; 0: all"))
      ->check(CLI::NonNegativeNumber)
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

void declare_pipeline(CLI::App& app, PipelineChoice& choice) {
  CLI::Option* const file =
      app.add_option("--pipeline", choice.file,
                     "Particles that this pipeline moves, instead of gravity: a file with columns "
                     "x[3] or x[2], and those that the pipeline reads")
          ->group("Pipeline");
  for (const char* const of_gravity : {"--eps", "--rest", "--G", "--damping", "--energy-tolerance"})
    file->excludes(app.get_option(of_gravity));
  const auto of_file = [&](CLI::Option* option) { return option->group("Pipeline")->needs(file); };
  of_file(app.add_option("--moves", choice.moves,
                         "The output that moves the particles [the only one of two or three components]"));
  of_file(app.add_option("--as", choice.as, "What this output is"))
      ->check(CLI::IsMember({"velocity", "acceleration", "force"}))
      ->capture_default_str();
  of_file(app.add_option("--factor", choice.factor,
                         "A column that multiplies it, such as the charge for a field; not of a velocity"));
  of_file(app.add_option("--colour", choice.colour, "What colours show: speed, a column, or an output"))
      ->capture_default_str();
  of_file(app.add_option("--colour-range", choice.range, "The values drawn blue and red [least and most of the start]"))
      ->expected(2)
      ->check(finite());
  of_file(app.add_option("--param", choice.params, "NAME=VALUE or NAME=1,2,3: a param of the pipeline; several times"));
}

// Of what does not go together, the reason; "" if all does.
const char* conflict(const Options& options) {
  const bool by_ffmpeg = !options.frames.movie.empty() && !is_animation(options.frames.movie);
  if (by_ffmpeg && (options.frames.size[0] % 2 != 0 || options.frames.size[1] % 2 != 0))
    return "a movie by ffmpeg needs an even --size";
  if (options.mpi && (options.benchmark || options.viewer || options.compare || options.wants_frames() ||
                      !options.checkpoint.empty() || !options.snapshots.empty()))
    return "--mpi reports and writes nothing: give no files to write, and no --viewer, --compare or --benchmark";
  if (options.mpi && options.settings.tolerance > 0)
    return "--mpi sums over all pairs: give no --tolerance, which is for one process, on one or several GPUs too";
  if (options.settings.energy_tolerance && options.settings.tolerance == 0)
    return "--energy-tolerance needs a --tolerance above 0: without one the energy is summed over all pairs";
  if (options.settings.energy_tolerance && (options.benchmark || options.compare || options.viewer))
    return "--energy-tolerance is for reports of the energy: give no --benchmark, --compare or --viewer";
  if (!options.pipeline.file.empty()) {
    if (options.mpi || options.compare || options.benchmark || options.restart || !options.checkpoint.empty() ||
        !options.snapshots.empty())
      return "--pipeline is for pictures: give no --mpi, --compare, --benchmark, --restart, --checkpoint or "
             "--snapshots";
    if (!options.pipeline.range.empty() && !(options.pipeline.range[0] < options.pipeline.range[1]))
      return "--colour-range: expected two rising numbers";
    if (!options.pipeline.factor.empty() && options.pipeline.as == "velocity")
      return "--factor multiplies accelerations and forces: give no --as velocity, or no --factor";
  }
  if (options.benchmark) {
    const bool runs = !options.bodies.empty() || options.restart || options.viewer || options.wants_frames();
    return runs ? "--benchmark runs no simulation: give no bodies, and nothing to write" : "";
  }
  if (options.bodies.empty() != options.restart) return "give bodies to start with, or a checkpoint and --restart";
  const bool writes = !options.snapshots.empty() || (!options.checkpoint.empty() && !options.restart);
  if (options.viewer && (writes || options.wants_frames()))
    return "--viewer writes nothing but --screenshot: give no --frames, --movie, --snapshots or new --checkpoint";
  if (options.compare && (writes || options.viewer || options.wants_frames()))
    return "--compare writes nothing: give no --viewer, --frames, --movie, --snapshots or new --checkpoint";
  if (!options.viewer && !options.restart && options.end > 0 && options.end < options.dt / 2)
    return "--dt is longer than --end";
  return "";
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  declare_run(app, options);
  declare_pictures(app, options);
  declare_pipeline(app, options.pipeline);
  declare_viewer(app, options);
  declare_benchmark(app, options);
}

void complete(Options& options) {
  if (options.frame_every == 0) options.frame_every = options.every;
  if (const std::string problem = conflict(options); !problem.empty()) throw UsageError(problem);
}

}  // namespace examples
