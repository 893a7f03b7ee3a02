// Words of the command line -> Options. Its entry points are add_options() and require_sense().
#include "examples/hermite/options.h"

#include "examples/support/chart_file.h"
#include "examples/support/failure.h"
#include "examples/support/program.h"

namespace examples {

void add_options(CLI::App& app, Options& options) {
  HermiteSettings& settings = options.settings;
  ExperimentSettings& experiment = options.of_experiment;
  const auto add_positive = [&](const char* name, double& value, const char* text) {
    return app.add_option(name, value, text)->check(positive());
  };
  auto* const bodies =
      app.add_option("BODIES", options.bodies, "A text file of bodies, as `nbcc make-ic` or NBabel make it");
  add_positive("--end", options.end, "Time to stop at")->capture_default_str();
  add_positive("--every", options.every, "Time between reports, made to divide --end [--end]");
  add_positive("--eta", settings.eta, "Accuracy of the steps")->capture_default_str();
  add_positive("--eta-start", settings.eta_start, "Of the first ones: this times |a| / |jerk| [a tenth of eta]");
  add_positive("--largest-step", settings.largest, "No step is longer")->capture_default_str();
  add_positive("--smallest-step", options.smallest_step, "No step is shorter [2^-30 of the largest]");
  add_positive("--fixed-step", options.fixed_step, "All bodies take this step, or one that divides --every");
  app.add_option("--eps", settings.eps, "Softening length")->check(not_negative())->capture_default_str();
  auto* const constant =
      app.add_option("--G", options.G, "Gravitational constant [that of the file, else 1]")->check(positive());
  app.add_option("--order", settings.order, "4: acceleration and jerk; 6: snap too")
      ->check(CLI::IsMember({4, 6}))
      ->capture_default_str();
  add_precision(app, settings.precision, "Of the force");
  add_device(app, options.device);
  app.add_flag("--rest", options.at_rest, "Let the centre of mass rest in the origin");
  app.add_flag("--json", options.is_json, "Report in JSON");
  app.add_flag("--statistics", options.is_long, "Blocks, steps and seconds, too");
  app.add_flag("--return", options.tells_return, "Tell how far the bodies end from where they began");
  app.add_flag("--forces", options.tells_forces, "Print accelerations and their derivatives at the start, no more");
  app.add_option("--output", options.output, "A text file for the bodies at the end");
  auto* const mpi = app.add_flag("--mpi", options.mpi, "Spread the bodies over the processes that mpirun has started");
  app.add_option("--experiment", options.experiment,
                 "Of the paper, on Plummer spheres: table2, phases of its time, figure2 or model")
      ->check(CLI::IsMember({"table2", "phases", "figure2", "model"}))
      ->excludes(bodies)
      ->excludes(constant)
      ->excludes(mpi);
  app.add_option("--largest", experiment.largest, "table2, phases, model: bodies in the last run, the first has 256")
      ->check(CLI::Range(256, 1 << 24))
      ->capture_default_str();
  app.add_option("--sizes", experiment.sizes, "figure2: numbers of bodies")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 24))
      ->capture_default_str();
  app.add_option("--etas", experiment.etas, "figure2: accuracies")
      ->delimiter(',')
      ->check(positive())
      ->capture_default_str();
  app.add_option("--runs", experiment.runs, "table2: runs of different Plummer spheres, whose means are printed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--begin", experiment.begin,
                 "table2: time at which the quarter of a unit of time that is measured begins")
      ->check(not_negative())
      ->capture_default_str();
  app.add_option("--picture", experiment.picture, "figure2, model: an SVG file with a chart")->check(chart_file());
}

void require_sense(const Options& options) {
  if (options.bodies.empty() == options.experiment.empty())
    throw UsageError("give bodies to start with, or an experiment");
  if (!options.of_experiment.picture.empty() && options.experiment != "figure2" && options.experiment != "model")
    throw UsageError("--picture: expected --experiment figure2 or model, got " +
                     (options.experiment.empty() ? "bodies" : options.experiment));
  if ((options.of_experiment.runs != 1 || options.of_experiment.begin != 0) && options.experiment != "table2")
    throw UsageError("--runs, --begin: expected --experiment table2, got " +
                     (options.experiment.empty() ? "bodies" : options.experiment));
}

}  // namespace examples
