// nbcc run: sums a pipeline over particles from files and writes the results. bind_particles.cpp maps columns to
// fields; particle_sum.cpp runs the sums.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/commands/commands.h"
#include "cli/options/option_choices.h"
#include "cli/report/output_totals.h"
#include "cli/report/progress_bar.h"
#include "cli/report/provenance.h"
#include "cli/report/save_table.h"
#include "cli/report/search_statistics.h"
#include "cli/report/standard_output.h"
#include "cli/sum/file_box.h"
#include "cli/sum/particle_source.h"
#include "cli/sum/particle_sum.h"
#include "cli/sum/precision_of_particles.h"
#include "compiler/source/parse.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

struct RunOptions {
  std::string file;
  ParticleSourceOptions particles;
  std::vector<std::string> params;
  KernelChoice kernel;
  OutputChoice output;
  std::string box;  // --box: params that are set from the file's box
  bool single_output = false, update = false, total = false;
  bool statistics = false, json = false, plan = false;
  std::vector<std::pair<std::string, std::string>> frame_attributes{};  // of the frame that is summed
};

void run_with_progress(ParticleSum& sum) {
  ProgressBar bar;
  if (bar.wanted()) sum.set_progress([&](double done) { bar.show(done); });
  sum.run();
  sum.set_progress(nullptr);
}

// Prints warnings about the results to standard error, because the results may go to standard output. `shown`: the
// warnings about earlier frames, which are not repeated.
void show_warnings(const ParticleSum& sum, const ParticleSource& particles, std::set<std::string>& shown) {
  std::vector<std::string> warnings = sum.warnings();
  for (const ParticleSide& side : {particles.i(), particles.j()}) {
    std::string of_box = sum.box_warning(*side.table, side.path);
    if (const std::string fault = box_fault(*side.table); !fault.empty())
      of_box = fmt::format("{}: {}", side.path, fault);
    if (!of_box.empty() && std::ranges::find(warnings, of_box) == warnings.end()) warnings.push_back(std::move(of_box));
  }
  for (const std::string& warning : warnings)
    if (shown.insert(warning).second) fmt::print(stderr, "nbcc: warning: {}\n", warning);
}

// Params with more values than this are recorded in the file's attributes as "N values".
constexpr std::size_t kMaxValuesShown = 64;

bool is_npy(const RunOptions& options) {
  const std::string& format = options.output.write.format;
  return format.empty() ? options.output.path.ends_with(".npy") : format == "npy";
}

const std::vector<std::string>& files_of_i(const RunOptions& options) {
  return options.particles.i.empty() ? options.particles.j : options.particles.i;
}

// An .npy file holds one array, so the outputs become its columns, in order of declaration.
ParticleColumn side_by_side(const std::vector<ParticleColumn>& outputs, std::int64_t rows) {
  ParticleColumn all{"data", 0, {}};
  for (const ParticleColumn& output : outputs) all.components += output.components;
  std::vector<double> values(std::size_t(rows * all.components));
  int first = 0;
  for (const ParticleColumn& output : outputs) {
    for (int c = 0; c < output.components; ++c, ++first) {
      const ColumnComponent from{&output, c};
      for (std::int64_t row = 0; row < rows; ++row) values[std::size_t(row * all.components + first)] = from.at(row);
    }
  }
  all.data = std::move(values);
  return all;
}

// The totals of a pipeline without other outputs: a table of them, with a row for each element of an array.
ParticleTable table_of_totals(std::vector<ParticleColumn> totals, const RunOptions& options) {
  ParticleTable table;
  table.rows = totals.front().rows();
  for (const ParticleColumn& total : totals)
    if (total.rows() != table.rows)
      throw UsageError(
          fmt::format("the totals '{}' and '{}' have {} and {} elements, so that no table has both: say "
                      "--total, without -o",
                      totals.front().name, total.name, table.rows, total.rows()));
  if (is_npy(options) && totals.size() > 1) {
    table.columns.push_back(side_by_side(totals, table.rows));
    table.unnamed = true;
  } else {
    table.columns = std::move(totals);
  }
  return table;
}

// A table of the outputs, with the record of the run as attributes. Totals of a pipeline that has other outputs are
// attributes, too.
ParticleTable result_table(const ParticleSum& sum, std::vector<ParticleColumn> outputs, const ParticleTable& i_table,
                           const RunOptions& options) {
  ParticleTable table;
  table.rows = i_table.rows;
  std::vector<ParticleColumn> totals;
  for (std::size_t k = sum.totals().size(); k-- > 0;) {
    if (!sum.totals()[k]) continue;
    totals.insert(totals.begin(), std::move(outputs[k]));
    outputs.erase(outputs.begin() + std::ptrdiff_t(k));
  }
  if (outputs.empty()) {
    if (options.update)
      throw UsageError(fmt::format("--update: {}: all outputs are totals, which the i-particles have no column for",
                                   files_of_i(options)[0]));
    table = table_of_totals(std::move(totals), options);
    totals.clear();
  } else if (is_npy(options) && outputs.size() > 1) {
    table.columns.push_back(side_by_side(outputs, table.rows));
    table.unnamed = true;
  } else {
    // A file that is updated already has its column id.
    const ParticleColumn* const id = is_npy(options) || options.update ? nullptr : i_table.find("id");
    if (id && id->components == 1) table.columns.push_back(*id);
    for (ParticleColumn& output : outputs) table.columns.push_back(std::move(output));
  }
  for (ParticleColumn& column : table.columns) {
    if (options.single_output && column.type() == ElementType::Double) column = convert(column, ElementType::Float);
  }
  table.attributes = record_of(sum, options.kernel);
  for (const ParamValue& param : sum.params())
    table.attributes.emplace_back("param " + param.name, param.values.size() <= kMaxValuesShown
                                                             ? fmt::format("{}", fmt::join(param.values, ", "))
                                                             : fmt::format("{} values", param.values.size()));
  table.attributes.insert(table.attributes.end(), options.frame_attributes.begin(), options.frame_attributes.end());
  for (const ParticleColumn& total : totals)
    table.attributes.emplace_back("total " + total.name, fmt::format("{}", fmt::join(numbers_of(total), ", ")));
  return table;
}

// True if both paths lead to the same file. A path that does not exist yet is equal only to itself.
bool is_one_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return a == b || std::filesystem::equivalent(a, b, unknown);
}

// An update in the format of the i-particles' file; nothing if options change how that file is read.
std::optional<ParticleUpdate> update_of(const RunOptions& options) {
  const ParticleSourceOptions& given = options.particles;
  const bool as_it_is = files_of_i(options).size() == 1 && given.columns.empty() && given.columns_i.empty() &&
                        given.types.empty() && given.skip_lines.empty();
  if (!options.update || !as_it_is) return std::nullopt;
  return ParticleUpdate::of(files_of_i(options)[0], options.output.path, options.output.write);
}

// Refuses an update that would lose data of the file which the table does not hold.
void check_update(const ParticleTable& particles, const RunOptions& options, bool keeps_all) {
  const std::string& path = options.output.path;
  if (particles.unnamed)
    throw UsageError(fmt::format("--update: {}: its columns have no names; give names with --columns",
                                 fmt::join(files_of_i(options), ", ")));
  if (!keeps_all && !particles.rounded.empty())
    throw UsageError(
        fmt::format("--update: {}: {}, which no number of another format is: say -o FILE of the format that the "
                    "particles have",
                    fmt::join(files_of_i(options), ", "), particles.rounded));
  const auto reads = [&](const std::vector<std::string>& paths) {
    return std::ranges::any_of(paths,
                               [&](const std::string& each) { return is_one_file(particle_file_of(each), path); });
  };
  const bool in_place = reads(options.particles.i) || reads(options.particles.j);
  if (in_place && particles.of_other_format)
    throw UsageError(fmt::format("--update: {} is of a format that nbcc reads but does not write: say -o FILE", path));
  const bool is_hdf5 = path.find(".h5") != std::string::npos || path.find(".hdf5") != std::string::npos;
  if (in_place && is_hdf5 && !particles.find_attribute("made by"))
    throw UsageError(fmt::format(
        "--update: {} was not written by nbcc, which overwrites only HDF5 files of its own: say -o FILE", path));
  if (in_place && (!keeps_all || !reads(files_of_i(options))))
    throw UsageError(fmt::format("--update: some data of {} would be lost: say -o with another FILE", path));
}

// The table of the i-particles with the outputs added; an output replaces a column of the same name.
ParticleTable updated_table(const ParticleTable& particles, ParticleTable results) {
  ParticleTable table = particles;
  for (ParticleColumn& output : results.columns) {
    const auto same = std::ranges::find(table.columns, output.name, &ParticleColumn::name);
    if (same == table.columns.end())
      table.columns.push_back(std::move(output));
    else
      *same = std::move(output);
  }
  const std::string* const made_by = particles.find_attribute("made by");
  const bool is_ours = made_by && made_by->starts_with("nbcc ");
  const auto is_of_record = [&](const std::string& key) {
    return key == "made by" || key == "command" || results.find_attribute(key);
  };
  if (is_ours) std::erase_if(table.attributes, [&](const auto& attribute) { return is_of_record(attribute.first); });
  // The file's own words may have the names of the record's keys.
  for (auto& [key, value] : table.attributes)
    if (!is_ours && is_of_record(key)) key = "file " + key;
  table.attributes.insert(table.attributes.end(), results.attributes.begin(), results.attributes.end());
  return table;
}

// "acc.07.npz" for "acc.npz", frame 7 of 12 or more: numbers of the same width sort in the order of the frames.
std::string path_of_frame(const std::string& path, std::size_t frame, std::size_t count) {
  const std::filesystem::path whole(path);
  const std::size_t width = std::to_string(count - 1).size();
  const std::string name = fmt::format("{}.{:0{}}{}", whole.stem().string(), frame, width, whole.extension().string());
  return (whole.parent_path() / name).string();
}

// The file of the results; the path is "" if no file is written.
OutputChoice output_of(const RunOptions& options) {
  if (options.plan) return {};
  OutputChoice output = options.output;
  if (options.json && !options.statistics && !options.total) throw UsageError("--json needs --statistics or --total");
  if (options.update && output.path.empty()) {
    const std::vector<std::string>& of_i = files_of_i(options);
    if (of_i.empty()) throw UsageError("no particles: say --i FILE, --j FILE or both");
    if (of_i.size() > 1)
      throw UsageError(fmt::format("--update: {}: the particles come from {} files: say -o FILE", fmt::join(of_i, ", "),
                                   of_i.size()));
    if (of_i[0] == "-") throw UsageError("--update: standard input cannot be written to: say -o FILE");
    if (!options.particles.columns.empty() || !options.particles.columns_i.empty())
      throw UsageError(
          fmt::format("--update: data of {} may be lost, because it is read with --columns: say -o FILE", of_i[0]));
    if (!options.particles.skip_lines.empty() || !options.particles.types.empty())
      throw UsageError(fmt::format(
          "--update: lines that are skipped and names of types would not be kept in {}: say -o FILE", of_i[0]));
    output.path = particle_file_of(of_i[0]);
    output.write.force = true;
  }
  if (output.path.empty() && !options.total)
    throw UsageError("no output is chosen for the results: say -o FILE, --update or --total");
  if (output.path == "-" && options.total) throw UsageError("--total prints where -o - does: say -o FILE");
  if (output.path == "-" && options.particles.all_frames)
    throw UsageError("--frames writes a file for each frame: say -o FILE");
  if (options.json && options.statistics && options.particles.all_frames)
    throw UsageError("--frames: the statistics of several frames are printed as text, without --json");
  return output;
}

// Sums the frame that `particles` holds, and writes its results. `shown`: warnings about earlier frames.
void run_frame(ParticleSum& sum, const ParticleSource& particles, const std::optional<ParticleUpdate>& update,
               RunOptions& options, const std::string& command_line, std::set<std::string>& shown,
               FrameTotals& totals_of_frames) {
  const ParticleTable& i_table = *particles.i().table;
  if (options.update) check_update(i_table, options, update.has_value());
  if (!options.box.empty()) {
    const std::vector<ParamValue> params = params_of_box(options.box, i_table, particles.i().path);
    for (const ParamValue& param : params)
      for (const ParamValue& other : parse_params(options.params))
        if (param.name == other.name)
          throw UsageError(fmt::format("param '{}' is set by --box and by --param: leave out one", param.name));
    sum.set_params(params);
  }
  options.frame_attributes = particles.frame_attributes();
  sum.bind(particles.bind(sum.inputs()), i_table.rows, particles.j().table->rows);
  if (options.plan)
    return write_standard_output(fmt::format("arithmetic: {}\n{}", describe(options.kernel), sum.plan()));
  if (update) {  // check the update with outputs of zeros, before a run that may take long
    ParticleTable results = result_table(sum, sum.outputs(), i_table, options);
    if (options.total) add_totals(results, totals_of(sum, sum.outputs()));
    add_origin(results, command_line);
    update->check(results);
  }
  const bool has_totals_only = std::ranges::find(sum.totals(), false) == sum.totals().end();
  if (has_totals_only && !options.output.path.empty()) result_table(sum, sum.outputs(), i_table, options);  // a check
  run_with_progress(sum);
  show_warnings(sum, particles, shown);
  // On standard error, because the results may go to standard output.
  if (options.statistics && options.particles.all_frames) fmt::print(stderr, "frame {}:\n", particles.frame());
  if (options.statistics)
    fmt::print(stderr, "{}", options.json ? json_of(sum.statistics()).dump(2) + "\n" : text_of(sum.statistics()));
  const std::vector<Total> totals = options.total ? totals_of(sum, sum.outputs()) : std::vector<Total>();
  if (!options.output.path.empty()) {
    ParticleTable results = result_table(sum, std::move(sum.outputs()), i_table, options);
    add_totals(results, totals);
    if (update)
      save_update(*update, std::move(results), command_line);
    else
      save_table(options.output, options.update ? updated_table(i_table, std::move(results)) : std::move(results),
                 command_line);
  }
  if (options.total && options.particles.all_frames)
    totals_of_frames.add(particles, totals);
  else if (options.total)
    write_standard_output(options.json ? json_of(totals).dump(2) + "\n" : text_of(totals));
}

void run_run(RunOptions options, const std::string& command_line) {
  if (options.plan) options.update = options.total = false;  // nothing is written
  options.output = output_of(options);
  if (!options.output.path.empty() && !options.particles.all_frames)
    check_writable(options.output.path, options.output.write);
  const std::optional<ParticleUpdate> update = update_of(options);
  options.particles.all_of_i = options.update && !update;
  // The particles decide the precision, in which the pipeline is then compiled. Its file may be a pipe, which can be
  // read once.
  const Source text = read_source(options.file);
  const std::vector<ParamValue> params = parse_params(options.params);
  const std::vector<InputField> fields = inputs_of(parse(text));
  ParticleSource particles(options.particles, fields);
  take_precision_of_environment(options.kernel);
  follow_particles(options.kernel, fields, particles.bound_without_notes(fields));
  ParticleSum sum(ParticleSum::Text{text.path, text.text}, options.kernel, params);
  if (const std::string note = note_of_slow_double(sum, options.kernel); !note.empty())
    fmt::print(stderr, "nbcc: note: {}\n", note);
  const OutputChoice output = options.output;
  const auto set_output = [&](std::size_t frame) {
    options.output = output;
    if (options.particles.all_frames && !output.path.empty())
      options.output.path = path_of_frame(output.path, frame, particles.frames().size());
  };
  for (const std::size_t frame : particles.frames()) {
    set_output(frame);
    if (!options.output.path.empty() && options.particles.all_frames)
      check_writable(options.output.path, options.output.write);
  }
  FrameTotals totals_of_frames(options.json);
  std::set<std::string> shown;
  for (const std::size_t frame : particles.frames()) {
    set_output(frame);
    try {
      particles.read_frame(frame);
      run_frame(sum, particles, update, options, command_line, shown, totals_of_frames);
    } catch (...) {
      if (!options.particles.all_frames) throw;
      fmt::print(stderr, "nbcc: frame {} of {} failed; the results of the frames before it are kept\n", frame,
                 particles.frames().size());
      if (options.total && frame > 0) write_standard_output(totals_of_frames.text());
      throw;
    }
    if (options.plan) return;
  }
  if (options.total && options.particles.all_frames) write_standard_output(totals_of_frames.text());
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& command = *app.add_subcommand("run", "Sum a pipeline over particles from files");
  command.add_option("FILE", options->file, "A pipeline, or its name in `nbcc list`")->required()->type_name("");
  declare_particle_source(command, options->particles);
  declare_all_frames(command, options->particles);
  command
      .add_option(
          "--box", options->box,
          "Set this vec3 param to the lengths of the periodic box that the file of --i states, or three params, "
          "as a,b,c, to its vectors")
      ->type_name("PARAM")
      ->check(not_empty());
  declare_params(command, options->params);
  declare_kernel_options(command, options->kernel, "that of the particles");
  declare_tolerance(command, options->kernel);
  declare_output_options(command, options->output)->required(false);
  command.add_flag("--update", options->update,
                   "Write the i-particles with the outputs among their columns; without -o into their own file");
  command.add_flag("--total", options->total,
                   "Print the total, the least and the greatest value of each output over all i");
  command.add_flag("--single-output", options->single_output, "Write the sums as 32-bit numbers (default: 64)");
  command.add_flag(
      "--statistics", options->statistics,
      "Say on standard error what the search for neighbours or the far field did, and how long it took; and how "
      "many terms of histograms named no element");
  command.add_flag("--plan", options->plan,
                   "Print how the sum would be done, and do not run it: the pair method and why, launches and working "
                   "memory of each device");
  command.add_flag("--json", options->json, "Statistics and totals as objects");
  command.footer(
      "Particle files are .npz, .npy, HDF5 (.h5, or file.h5:group; snapshots of GADGET), text tables, .xyz and "
      ".extxyz,\n"
      "data files of LAMMPS (.lmp, .lammps, .data) and dump files (.lammpstrj, .dump). A field takes the column of its "
      "name, or of its name without\n"
      "the trailing i or j. A plain array without names gives its columns to the fields in order of declaration. The\n"
      "result has a row for each i, with its id where the file has one; an .npy result is one array with the outputs\n"
      "side by side.\n"
      "\nExamples:\n"
      "  nbcc make-ic plummer --n 4096 -o plummer.npz\n"
      "  nbcc run pipelines/gravity.pipe --i plummer.npz -o forces.npz\n"
      "  nbcc run pipelines/gravity.pipe --i plummer.npz --param eps2=0 --precision double -o forces.txt\n"
      "  nbcc run pipelines/gravity.pipe --i plummer.npz --bind xi=x,xj=x,mj=m -o - | head\n"
      "  nbcc run pipelines/sph_density.pipe --i gas.npz --update\n"
      "  nbcc run pipelines/lennard_jones.pipe --i dump.lammpstrj --frames --box box --total\n"
      "  nbcc run pipelines/gravity.pipe --i - --columns x[3],m -o forces.h5 < table.txt");
  command.callback([=, &invocation] { run_run(*options, invocation.command_line); });
}

}  // namespace nbcc
