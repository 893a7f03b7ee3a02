// Words of the command line -> Options. Its door is parse_options().
#include "examples/hermite/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

namespace examples {
namespace {

void describe(CLI::App& app, Options& options) {
  static const std::map<std::string, nbcc_precision> precisions{
      {"single", NBCC_SINGLE}, {"mixed", NBCC_MIXED}, {"double", NBCC_DOUBLE}};
  HermiteSettings& settings = options.settings;
  ExperimentSettings& experiment = options.of_experiment;
  const auto positive = [&](const char* name, double& value, const char* text) {
    return app.add_option(name, value, text)->check(CLI::PositiveNumber);
  };
  auto* const bodies =
      app.add_option("BODIES", options.bodies, "A text file of bodies, as `nbcc make-ic` or NBabel make it");
  positive("--end", options.end, "Time to stop at")->capture_default_str();
  positive("--every", options.every, "Time between reports [--end]");
  positive("--eta", settings.eta, "Accuracy of the steps")->capture_default_str();
  positive("--eta-start", settings.eta_start, "Of the first ones: this times |a| / |jerk| [a tenth of eta]");
  positive("--largest-step", settings.largest, "No step is longer")->capture_default_str();
  positive("--smallest-step", options.smallest_step, "No step is shorter [2^-30 of the largest]");
  positive("--fixed-step", options.fixed_step, "All bodies take this step, or one that divides --every");
  app.add_option("--eps", settings.eps, "Softening length")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--order", settings.order, "4: acceleration and jerk; 6: snap too")
      ->check(CLI::IsMember({4, 6}))
      ->capture_default_str();
  app.add_option("--precision", settings.precision, "Of the force: single, mixed or double [mixed]")
      ->transform(CLI::CheckedTransformer(precisions).description(""));
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_flag("--rest", options.at_rest, "Let the centre of mass rest in the origin");
  app.add_flag("--json", options.is_json, "Report in JSON");
  app.add_flag("--statistics", options.is_long, "Blocks, steps and seconds, too");
  app.add_flag("--return", options.tells_return, "Tell how far the bodies end from where they began");
  app.add_flag("--forces", options.tells_forces, "Print accelerations and their derivatives at the start, no more");
  app.add_option("--output", options.output, "A text file for the bodies at the end");
  app.add_option("--experiment", options.experiment, "Of the paper, on Plummer spheres: table2, figure2 or model")
      ->check(CLI::IsMember({"table2", "figure2", "model"}))
      ->excludes(bodies);
  app.add_option("--largest", experiment.largest, "table2, model: bodies in the last run, the first has 256")
      ->check(CLI::Range(256, 1 << 24))
      ->capture_default_str();
  app.add_option("--sizes", experiment.sizes, "figure2: numbers of bodies")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 24))
      ->capture_default_str();
  app.add_option("--etas", experiment.etas, "figure2: accuracies")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--picture", experiment.picture, "figure2, model: draw this PNG file");
}

}  // namespace

std::optional<Options> parse_options(int count, char** words, int& exit_code) {
  Options options;
  CLI::App app("Direct N-body simulation with the Hermite scheme and block time steps");
  describe(app, options);
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return {};
  }
  if (options.bodies.empty() != options.experiment.empty()) return options;
  std::fprintf(stderr, "hermite: give bodies to start with, or an experiment\n");
  exit_code = 2;
  return {};
}

}  // namespace examples
