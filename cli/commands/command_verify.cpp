// nbcc verify: compares a device's sums with the oracle's. error_bound.cpp computes the allowed errors;
// particle_sum.cpp runs the device's sums.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/report/failure.h"
#include "cli/report/provenance.h"
#include "cli/report/standard_output.h"
#include "cli/sum/particle_source.h"
#include "cli/sum/particle_sum.h"
#include "cli/sum/precision_of_particles.h"
#include "compiler/made_inputs.h"
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/pair_values.h"
#include "compiler/passes/facts/int_operations.h"
#include "compiler/source/parse.h"
#include "particles/error_bounds/error_bound.h"
#include "particles/initial_conditions/random_particles.h"
#include "particles/numbers.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::string file;
  ParticleSourceOptions particles;
  std::string random;
  std::vector<std::string> params;
  KernelChoice kernel;
  PairsChoice pairs;
  bool json = false;
};

// The oracle and the error analysis process about 10 million pairs in ten seconds. So at most 256 i are compared, and
// fewer if there are very many j; they are evenly spread.
constexpr std::int64_t kMaxSample = 256, kMinSample = 16, kMaxPairs = 10'000'000;

std::vector<std::int64_t> sample_of(std::int64_t ni, std::int64_t nj) {
  const std::int64_t count =
      std::min(ni, std::clamp(kMaxPairs / std::max<std::int64_t>(nj, 1), kMinSample, kMaxSample));
  std::vector<std::int64_t> which;
  for (std::int64_t k = 0; k < count; ++k) which.push_back(k * ni / count);
  return which;
}

OracleInput oracle_input(const Pipeline& pipeline, const std::vector<BoundField>& bound,
                         const std::vector<ParamValue>& params, std::int64_t ni, std::int64_t nj) {
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  for (const BoundField& field : bound) {
    for (const ColumnComponent& from : field.from) {
      std::vector<double>& column = (field.acts ? input.j : input.i).emplace_back();
      const std::int64_t rows = field.acts ? nj : ni;
      column.reserve(std::size_t(rows));
      for (std::int64_t row = 0; row < rows; ++row) column.push_back(from.at(row));
    }
  }
  input.params.resize(std::size_t(pipeline.components(Role::Param)));
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Param) continue;
    for (const ParamValue& param : params)
      if (param.name == field.name) std::ranges::copy(param.values, input.params.begin() + field.first);
  }
  return input;
}

// The inputs of the kernel of results per pair (passes/derived/pair_values.h): its i are the listed pairs in `which`.
OracleInput inputs_of_pairs(const Pipeline& values, const OracleInput& input, std::span<const std::int64_t> which) {
  OracleInput made;
  made.ni = std::int64_t(which.size());
  made.nj = 1;
  made.params = input.params;
  std::vector<std::int64_t> i_of, j_of;
  for (const std::int64_t pair : which) {
    const auto next = std::ranges::upper_bound(input.pairs->first, pair);
    i_of.push_back(next - input.pairs->first.begin() - 1);
    j_of.push_back(input.pairs->j[std::size_t(pair)]);
  }
  const auto add = [&](const std::vector<std::vector<double>>& columns, std::span<const std::int64_t> rows) {
    for (const std::vector<double>& column : columns) {
      std::vector<double>& gathered = made.i.emplace_back();
      for (const std::int64_t row : rows) gathered.push_back(column[std::size_t(row)]);
    }
  };
  add(input.i, i_of);
  add(input.j, j_of);
  add(input.pair, which);
  for (const Field& field : values.fields) {
    if (field.name == kIndexOfI) made.i.emplace_back(i_of.begin(), i_of.end());
    if (field.name == kIndexOfJ) made.i.emplace_back(j_of.begin(), j_of.end());
  }
  return made;
}

// The largest bound, relative to the sum of |term|, that is accepted: wrong sums may be within a larger one.
constexpr double kMaxBound = 1e-3;

// The comparison of one output. Errors of real numbers are relative to their scale; errors of integers are absolute.
struct OutputReport {
  std::string name;
  bool integral = false;           // an integer output
  bool to_tolerance = false;       // the rms is compared with the bound, instead of each error with its own
  bool summed = false;             // an integer output whose reduction is a sum or a count: totals are shown
  double largest = 0, rms = 0;     // errors
  double bound = 0;                // error bound of the number with the largest error
  double max_bound = 0;            // the largest error bound
  double bound_ratio = 0;          // the largest ratio of an error to its bound; above 1 is a failure
  double total = 0, expected = 0;  // sums over all compared numbers: the device's, the oracle's
  std::int64_t worst = -1;         // the i with the largest ratio
  std::int64_t wrong = 0;          // how many numbers are beyond their bound
  std::int64_t differ = 0;         // how many numbers differ from the oracle's
  std::int64_t undecided = 0;      // how many numbers have no bound, because rounding decides them
  std::int64_t pairs = 0;          // pairs in which rounding decides something
  // Where the number with the largest error is: its index in Expectation's arrays.
  std::size_t component = 0, number = 0;
  bool is_too_coarse() const { return !integral && !to_tolerance && bound > kMaxBound; }
};

// 0 for equal infinities and for NaN if NaN is expected; infinite for any other non-finite error.
double error_of(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const double error = std::fabs(got - expected);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

double ratio(double error, double scale) {
  return error == 0 ? 0 : scale > 0 ? error / scale : std::numeric_limits<double>::infinity();
}

// A run to a tolerance measures the rms error of its own sample of i: that of other i may be a little larger.
constexpr double kOfTolerance = 2;

OutputReport compare(const Field& field, std::size_t output, const ParticleColumn& got, const Expectation& expected,
                     std::span<const std::int64_t> which, double tolerance) {
  OutputReport report;
  report.name = field.name;
  report.integral = got.type() == ElementType::Int64;
  report.summed = report.integral && is_sum(field.reduction);
  double squares = 0, squares_of_bounds = 0;
  for (const std::vector<std::int64_t>& pairs : expected.undecided_pairs) report.pairs += pairs[output];
  for (int c = 0; c < field.components(); ++c) {
    const auto component = std::size_t(field.first + c);
    for (std::size_t k = 0; k < expected.values[component].size(); ++k) {
      // A histogram of each i has [k][element] for its first component; a total has a row for each element.
      const std::size_t elements = field.kind == FieldKind::HistogramOfI ? std::size_t(field.length) : 1;
      const std::int64_t row = !field.is_total() ? which[k / elements] : field.is_histogram() ? std::int64_t(k) : 0;
      const double value = ColumnComponent{&got, elements > 1 ? int(k % elements) : c}.at(row),
                   wanted = expected.values[component][k];
      const double scale = report.integral ? 1 : expected.scale[component][k], bound = expected.bound[component][k];
      const double error = error_of(value, wanted), relative = ratio(error, scale), used = ratio(error, bound);
      report.differ += error != 0;
      report.total += value;
      report.expected += wanted;
      if (std::isinf(bound)) {
        ++report.undecided;
        continue;
      }
      report.max_bound = std::max(report.max_bound, bound);
      if (k + std::size_t(c) == 0 || relative > report.largest) {
        report.largest = relative;
        report.bound = scale > 0 ? bound / scale : 0;
        report.component = component;
        report.number = k;
      }
      squares += relative * relative;
      if (scale > 0) squares_of_bounds += bound / scale * (bound / scale);
      if (used > 1) ++report.wrong;
      if (report.worst < 0 || used > report.bound_ratio) {
        report.bound_ratio = used;
        report.worst = field.is_total() ? -1 : row;
      }
    }
  }
  // If all integers are exact, the largest bound is shown.
  if (report.integral && report.largest == 0) report.bound = report.max_bound;
  const double count = double(field.is_total() ? 1 : which.size()) * field.numbers();
  report.rms = count > 0 ? std::sqrt(squares / count) : 0;
  if (tolerance > 0 && !report.integral) {
    report.to_tolerance = true;
    report.bound = kOfTolerance * tolerance + (count > 0 ? std::sqrt(squares_of_bounds / count) : 0);
    report.bound_ratio = report.rms / report.bound;
    report.wrong = report.rms <= report.bound ? 0 : std::int64_t(which.size());
  }
  return report;
}

std::string verdict_on(const OutputReport& report) {
  std::string verdict = report.wrong > 0 && report.to_tolerance ? "WRONG: the rms is beyond the bound"
                        : report.wrong > 0
                            ? fmt::format("WRONG: {} beyond the bound, worst at i = {}", report.wrong, report.worst)
                        : report.is_too_coarse() ? "TOO COARSE"
                                                 : "ok";
  std::string notes;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
  if (report.integral && report.differ > 0)
    note(report.summed ? fmt::format("total {}, the oracle's {}", report.total, report.expected)
                       : fmt::format("{} not the oracle's", report.differ));
  if (report.pairs > 0) note(fmt::format("{} undecided", counted(report.pairs, "pair")));
  if (report.undecided > 0) note(fmt::format("{} left to rounding", report.undecided));
  return notes.empty() ? verdict : fmt::format("{} ({})", verdict, notes);
}

std::string line_of(const OutputReport& report) {
  const std::string verdict = verdict_on(report);
  const bool exact = report.integral && report.max_bound == 0 && report.largest == 0;
  if (exact)
    return fmt::format("{:<12} {:>10} {:>10} {:>10} {:>7}  {}\n", report.name, "-", "-",
                       report.undecided > 0 ? "-" : "exact", "", verdict);
  if (report.integral)
    return fmt::format("{:<12} {:>10} {:>10.3g} {:>10.4g} {:>6.1f}%  {}\n", report.name, report.largest, report.rms,
                       report.bound, 100 * report.bound_ratio, verdict);
  return fmt::format("{:<12} {:>10.2e} {:>10.2e} {:>10.2e} {:>6.1f}%  {}\n", report.name, report.largest, report.rms,
                     report.bound, 100 * report.bound_ratio, verdict);
}

bool is_right(const OutputReport& report) { return report.wrong == 0 && !report.is_too_coarse(); }

std::string text_of(const std::vector<OutputReport>& reports, const ParticleSum& sum, const KernelChoice& kernel,
                    std::int64_t ni, std::int64_t nj, std::size_t compared) {
  std::string text = fmt::format("{} on {}, {}, {} x {}", sum.pipeline_name(), sum.device_name(), describe(kernel), ni,
                                 counted(nj, "particle"));
  text += std::int64_t(compared) < ni ? fmt::format(": {} of the i compared, evenly spread\n", compared)
                                      : std::string(": all i compared\n");
  text +=
      "errors relative to the sum of |term| (of integers: absolute); bound: of the largest error; share: the largest "
      "ratio of an error to its bound:\n";
  if (kernel.tolerance > 0)
    text += fmt::format(
        "with the tolerance {}: bound: of the rms, {} times the tolerance and the roundings; share: the "
        "ratio of the rms to it\n",
        kernel.tolerance, kOfTolerance);
  text += fmt::format("{:<12} {:>10} {:>10} {:>10} {:>7}\n", "output", "max", "rms", "bound", "share");
  for (const OutputReport& report : reports) text += line_of(report);
  return text;
}

Json json_of(const std::vector<OutputReport>& reports, const ParticleSum& sum, const KernelChoice& kernel,
             std::int64_t ni, std::int64_t nj, std::size_t compared) {
  Json outputs = Json::array();
  bool ok = true;
  for (const OutputReport& report : reports) {
    ok = ok && is_right(report);
    outputs.push_back({{"output", report.name},
                       {"whole", report.integral},
                       {"max_error", report.largest},
                       {"rms_error", report.rms},
                       {"bound", report.bound},
                       {"share_of_bound", report.bound_ratio},
                       {"wrong", report.wrong},
                       {"too_coarse", report.is_too_coarse()},
                       {"differ", report.differ},
                       {"undecided", report.undecided},
                       {"undecided_pairs", report.pairs},
                       {"worst_i", report.worst}});
    if (!report.summed) continue;
    outputs.back()["total"] = report.total;
    outputs.back()["expected_total"] = report.expected;
  }
  Json object = {{"pipeline", sum.pipeline_name()},
                 {"device", sum.device_name()},
                 {"precision", name(kernel.options.precision)},
                 {"ni", ni},
                 {"nj", nj},
                 {"compared", compared},
                 {"ok", ok},
                 {"outputs", outputs}};
  add_provenance(object, sum);
  return object;
}

// The outputs whose bounds are too large to say anything, why, and the precision that would do; "" if there are none.
std::string note_of_bounds(const std::vector<OutputReport>& reports, const Pipeline& pipeline, const OracleInput& input,
                           std::span<const std::int64_t> which, Options options, const Target& target) {
  std::vector<OutputReport> coarse;
  std::string names;
  for (const OutputReport& report : reports) {
    if (!report.is_too_coarse()) continue;
    coarse.push_back(report);
    names += fmt::format("{}'{}' ({:.2g})", names.empty() ? "" : ", ", report.name, report.bound);
  }
  if (coarse.empty()) return "";
  struct Remedy {
    std::string words;
    Options options;
  };
  std::vector<Remedy> remedies;
  if (options.root == RootMode::Estimate) {
    options.root = RootMode::Refined;
    remedies.push_back({"--root refined", options});
  }
  for (const Precision precision : {Precision::Mixed, Precision::Double})
    if (precision > options.precision)
      remedies.push_back({fmt::format("--precision {}", name(precision)), {precision, options.math, options.root}});
  const auto is_enough = [&](const Remedy& remedy) {
    const Expectation expected = expect(pipeline, input, which, remedy.options, target);
    return std::ranges::all_of(coarse, [&](const OutputReport& report) {
      return expected.bound[report.component][report.number] <=
             kMaxBound * expected.scale[report.component][report.number];
    });
  };
  const auto enough = std::ranges::find_if(remedies, is_enough);
  return fmt::format(
      "in {} precision the roundings of inputs and terms may change these outputs by more than {} of the sum of "
      "|term|, "
      "so that the comparison proves nothing: {}; {}",
      name(options.precision), kMaxBound, names,
      enough == remedies.end() ? "no precision would do" : enough->words + " would do");
}

struct Compared {
  std::vector<OutputReport> reports;
  std::vector<std::string> notes;  // "": none
};

// Compares all outputs with the oracle's; those of pairs are the sums of a kernel over the pairs of the i in `which`.
Compared compare_outputs(const Pipeline& pipeline, const OracleInput& input, const std::vector<std::int64_t>& which,
                         ParticleSum& sum, const KernelChoice& kernel) {
  const Target target = compiler_target(kernel);
  Compared compared{{}, {note_of_slow_double(sum, kernel)}};
  // `rows`: of the outputs that the oracle's i are.
  const auto add = [&](const Pipeline& part, const OracleInput& of_part, std::span<const std::int64_t> asked,
                       std::span<const std::int64_t> rows) {
    const Expectation expected = expect(part, of_part, asked, kernel.options, target);
    std::vector<OutputReport> reports;
    for (const Field& field : part.fields) {
      if (field.role != Role::Output) continue;
      const auto got = std::ranges::find(sum.outputs(), field.name, &ParticleColumn::name);
      reports.push_back(compare(field, reports.size(), *got, expected, rows, kernel.tolerance));
    }
    compared.notes.push_back(note_of_bounds(reports, part, of_part, asked, kernel.options, target));
    std::ranges::move(reports, std::back_inserter(compared.reports));
  };
  if (!pipeline.has_pair_values()) {
    add(pipeline, input, which, which);
    return compared;
  }
  const PairValuesPipelines parts = pair_values_pipelines(pipeline);
  if (parts.sums) add(*parts.sums, input, which, which);
  std::vector<std::int64_t> rows;
  for (const std::int64_t i : which)
    for (std::int64_t p = input.pairs->first[std::size_t(i)]; p < input.pairs->first[std::size_t(i) + 1]; ++p)
      rows.push_back(p);
  std::vector<std::int64_t> asked(rows.size());
  std::iota(asked.begin(), asked.end(), std::int64_t(0));
  add(parts.values, inputs_of_pairs(parts.values, input, rows), asked, rows);
  return compared;
}

// Parses N or N,SEED and makes the particles.
RandomSides random_sides(const std::vector<InputField>& fields, const std::string& words) {
  const std::vector<std::string_view> parts = split(words, ',');
  if (parts.empty() || parts.size() > 2) {
    throw UsageError(fmt::format("--random: '{}' is not of the form N or N,SEED", words));
  }
  const std::int64_t seed = parts.size() == 2 ? parse_count(parts[1], "--random") : 1;
  return random_particles(fields, parse_count(parts[0], "--random"), std::uint64_t(seed));
}

int run_verify(VerifyOptions options) {
  const bool from_files = !options.particles.i.empty() || !options.particles.j.empty();
  if (from_files && !options.random.empty()) throw UsageError("--random replaces --i and --j; give only one of these");
  const std::vector<ParamValue> params = parse_params(options.params);

  const Source text = read_source(options.file);
  const Pipeline pipeline = parse(text);
  if (has_images(pipeline))
    throw UsageError(fmt::format(
        "verify has no oracle for every_image(), which pipeline '{}' has: compare it with a pipeline that names the "
        "images by shifts of the particles",
        pipeline.name));
  list_pairs_if_needed(options.pairs, std::ranges::any_of(pipeline.fields, &Field::is_of_pair));
  const std::vector<InputField> fields = inputs_of(pipeline);
  std::optional<ParticleSource> source;
  std::optional<RandomSides> random;
  std::vector<BoundField> bound;
  std::int64_t ni = 0, nj = 0;
  if (from_files) {
    source.emplace(options.particles, fields);
    bound = source->bind(fields);
    ni = source->i().table->rows;
    nj = source->j().table->rows;
  } else {
    random = random_sides(fields, options.random.empty() ? "1024" : options.random);
    bound = bind_particles(fields, {&random->i, "random particles"}, {&random->j, "random particles"}, {});
    ni = nj = random->i.rows;
  }
  take_precision_of_environment(options.kernel);
  follow_particles(options.kernel, fields, bound);
  ParticleSum sum(ParticleSum::Text{text.path, text.text}, options.kernel, params);
  if (random) sum.particles_are_random();

  const RandomPairs pairs = random_pairs(options.pairs, ni, nj);
  sum.set_pairs(pairs);
  const RandomSides of_pairs = random_particles(sum.pair_inputs(), pairs.pairs(), 3);
  const std::vector<BoundField> bound_of_pairs =
      bind_particles(sum.pair_inputs(), {&of_pairs.i, "pairs"}, {&of_pairs.i, "pairs"}, {});
  std::vector<BoundField> all_bound = bound;
  all_bound.insert(all_bound.end(), bound_of_pairs.begin(), bound_of_pairs.end());

  const std::vector<std::int64_t> which = sample_of(ni, nj);
  sum.bind(all_bound, ni, nj);
  // A far field of a few i would be summed over all pairs.
  options.kernel.tolerance > 0 ? sum.run() : sum.run(which);
  for (const std::string& warning : sum.warnings()) fmt::print(stderr, "nbcc: warning: {}\n", warning);
  OracleInput input = oracle_input(pipeline, bound, sum.params(), ni, nj);
  if (const auto acting = pairs.acting(which)) input.pairs = {acting->first, acting->j};
  if (pairs.excluded) input.excluded = {pairs.excluded->first, pairs.excluded->j};
  for (const BoundField& field : bound_of_pairs)
    for (const ColumnComponent& from : field.from) {
      std::vector<double>& column = input.pair.emplace_back();
      for (std::int64_t row = 0; row < pairs.pairs(); ++row) column.push_back(from.at(row));
    }
  bool wraps = false;
  for (const IntOperation& one : int_operations(pipeline)) {
    const std::optional<std::string> pair = wrapping_pair(pipeline, one, input);
    if (pair) fmt::print(stderr, "nbcc: {}\n", *pair);
    wraps = wraps || pair;
  }
  const Compared compared = compare_outputs(pipeline, input, which, sum, options.kernel);
  const std::vector<OutputReport>& reports = compared.reports;
  options.json ? write_json(json_of(reports, sum, options.kernel, ni, nj, which.size()))
               : write_standard_output(text_of(reports, sum, options.kernel, ni, nj, which.size()));
  for (const std::string& note : compared.notes)
    if (!note.empty()) fmt::print(stderr, "nbcc: note: {}\n", note);
  return std::ranges::all_of(reports, is_right) && !wraps ? kDone : kInputWrong;
}

}  // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App& command = *app.add_subcommand("verify", "Compare a device's sums with the double-precision oracle");
  command.add_option("FILE", options->file, "A pipeline, or its name in `nbcc list`")->required()->type_name("");
  declare_particle_source(command, options->particles);
  command
      .add_option("--random", options->random,
                  "Random particles made from the field list instead, N of i and N of j (default: 1024,1)")
      ->type_name("N[,SEED]");
  declare_params(command, options->params);
  declare_kernel_options(command, options->kernel, "that of the particles; of random ones double");
  declare_tolerance(command, options->kernel);
  declare_random_pairs(command, options->pairs);
  command.add_flag("--json", options->json, "An object on standard output");
  command.footer(
      "The bound of an error is the sum of the possible roundings of all operations, followed term by term, and of\n"
      "the effect of rounding the inputs to the working precision. The exit code is 1 if an error exceeds its bound,\n"
      "if a bound exceeds 1e-3 of the sum of |term|, or if an operation of int inputs wraps around. At most 256 i are\n"
      "compared; with more than 40,000 j fewer, but at least 16. With a tolerance the root mean square of the errors\n"
      "must be within twice the tolerance and the roundings. Inputs of pairs are random.\n"
      "\nExamples:\n"
      "  nbcc verify pipelines/gravity.pipe\n"
      "  nbcc verify pipelines/lennard_jones.pipe --random 4096,7 --precision double\n"
      "  nbcc verify pipelines/gravity.pipe --random 20000 --tolerance 1e-4\n"
      "  nbcc verify pipelines/gravity.pipe --i plummer.npz --param eps2=0.01 --excluded 3");
  command.callback([=, &invocation] { invocation.exit_code = run_verify(*options); });
}

}  // namespace nbcc
