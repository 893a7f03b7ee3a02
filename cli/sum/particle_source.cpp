// Reads the particle files that the options name, and binds fields to their tables. Entry point: ParticleSource.
#include "cli/sum/particle_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "cli/options/option_choices.h"
#include "particles/files/hdf5/gadget_names.h"
#include "particles/files/particle_files.h"
#include "particles/files/text/text_rows.h"
#include "particles/join_tables.h"
#include "particles/numbers.h"
#include "particles/text_words.h"
#include "runtime/error.h"

namespace nbcc {

namespace {

void declare_files(CLI::App& app, ParticleSourceOptions& options) {
  app.add_option(
         "--i", options.i,
         "File of the particles that receive; '-' is standard input (default: the file of --j). If --i is given "
         "several times, the columns of the files are joined")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--j", options.j,
                 "File of the particles that act (default: the file of --i); may be given several times, like --i")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag(
      "--last-wins", options.last_wins,
      "If joined files have a column in common, take the column of the last file (default: the values must be equal)");
}

// Several files of one side have different columns, so that a list of names could describe only one of them.
void check_columns(const std::vector<std::string>& paths, const std::string& columns, const char* side) {
  if (paths.size() > 1 && !columns.empty()) {
    throw UsageError(
        fmt::format("--columns names the columns of one file, but --{} is given {} files; their headers must name them",
                    side, paths.size()));
  }
}

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string names_of(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) names += (names.empty() ? "" : ", ") + name_of(path);
  return names;
}

// "TIMESTEP 0 to 1000", in parentheses; "" if the frames have no time steps.
std::string timesteps_of(const std::vector<ParticleFrame>& frames) {
  if (frames.front().timestep.empty()) return "";
  return fmt::format(" (TIMESTEP {} to {})", frames.front().timestep, frames.back().timestep);
}

// An index from 0, or from -1 backwards. Throws UsageError.
std::size_t parse_frame(const std::string& text, std::size_t count, const std::string& name) {
  std::int64_t index = 0;
  if (read_digits(text, index) != std::errc())
    throw UsageError(fmt::format("--frame: '{}' is not a whole number", text));
  const auto frames = std::int64_t(count);
  if (index >= frames || index < -frames)
    throw UsageError(fmt::format("--frame {}: {} has {}, from 0 to {}, or from -1, the last, to -{}", index, name,
                                 counted(frames, "frame"), frames - 1, frames));
  return std::size_t(index < 0 ? index + frames : index);
}

}  // namespace

void declare_particle_source(CLI::App& app, ParticleSourceOptions& options) {
  declare_files(app, options);
  app.add_option("--columns", options.columns, "Names for the columns of both files, as id,m,x[3],v[3]; '_' skips one")
      ->type_name("LIST");
  app.add_option("--columns-i", options.columns_i, "The same for the file of --i")->type_name("LIST");
  app.add_option("--columns-j", options.columns_j, "The same for the file of --j")->type_name("LIST");
  app.add_option("--bind", options.bindings,
                 "field=column,... where the names do not match; column[k] begins at its number k, field[k] at the "
                 "field's component k; 0.5*column is the column times a number")
      ->type_name("LIST")
      ->take_all();
  app.add_option("--types", options.types, "Type names in text files, which are read as 0, 1, ...: O,H")
      ->type_name("LIST");
  app.add_option("--skip-lines", options.skip_lines, "Skip this number of lines at the beginning of text tables")
      ->type_name("N");
  app.add_option("--frame", options.frame,
                 "The frame to read of an .xyz, .extxyz or LAMMPS dump file with several: 0 is the first, -1 the last")
      ->type_name("N")
      ->check(not_empty());
}

void declare_all_frames(CLI::App& app, ParticleSourceOptions& options) {
  options.may_have_all_frames = true;
  app.add_flag("--frames", options.all_frames,
               "Sum every frame of a trajectory; the number of the frame is inserted before the ending of -o FILE")
      ->excludes("--frame");
}

bool ParticleSource::Side::has_frames() const {
  return std::ranges::any_of(files, [](const ParticleFile& file) { return file.frames().size() > 1; });
}

ParticleSource::Side ParticleSource::open(const std::vector<std::string>& paths, ReadOptions options) {
  if (paths.size() > 1 && !options.choice.all) options.choice.names.push_back("id");
  Side side;
  for (const std::string& path : paths) {
    side.files.emplace_back(path, options);
    side.names.push_back(name_of(path));
  }
  return side;
}

ParticleTable ParticleSource::Side::read(std::size_t frame, bool last_wins) const {
  std::vector<TableOfFile> tables;
  for (std::size_t k = 0; k < files.size(); ++k) {
    ParticleTable& table = tables.emplace_back(files[k].read(files[k].frames().size() > 1 ? frame : 0), names[k]).table;
    for (std::string& warning : table.warnings) warning = fmt::format("{}: {}", names[k], warning);
  }
  return join_tables(std::move(tables), last_wins);
}

// All files with several frames must have the same number of them.
std::vector<std::size_t> ParticleSource::choose_frames(const ParticleSourceOptions& options) {
  std::string name = i_side_.names.at(0);
  bool any = false;
  for (const Side* side : {&i_side_, &j_side_}) {
    for (std::size_t k = 0; k < side->files.size(); ++k) {
      const std::vector<ParticleFrame>& frames = side->files[k].frames();
      any = any || !frames.empty();
      if (frames.size() < 2) continue;
      if (of_file_ && of_file_->size() != frames.size())
        throw UsageError(
            fmt::format("{} has {} frames, but {} has {}: files with several frames must have the same "
                        "number",
                        name, of_file_->size(), side->names[k], frames.size()));
      for (std::size_t frame = 0; of_file_ && frame < frames.size(); ++frame) {
        const std::string &first = of_file_->at(frame).timestep, &other = frames[frame].timestep;
        const bool is_read = options.frame.empty() || frame == parse_frame(options.frame, frames.size(), name);
        if (is_read && !first.empty() && !other.empty() && first != other)
          throw UsageError(fmt::format("frame {} of {} is of TIMESTEP {}, that of {} of TIMESTEP {}", frame, name,
                                       first, side->names[k], other));
      }
      if (of_file_) continue;
      of_file_ = &frames;
      name = side->names[k];
    }
  }
  const bool chosen = options.all_frames || !options.frame.empty();
  if (chosen && !any)
    throw UsageError(fmt::format("{} is for .xyz, .extxyz and dump files of LAMMPS; {} has no frames",
                                 options.all_frames ? "--frames" : "--frame", name));
  if (!chosen && of_file_)
    throw FileError(name, fmt::format("it has {} frames{}: say --frame N, from 0 to {}, or --frame -1 for the last{}",
                                      of_file_->size(), timesteps_of(*of_file_), of_file_->size() - 1,
                                      options.may_have_all_frames ? ", or --frames for all" : ""));
  const std::size_t count = of_file_ ? of_file_->size() : 1;
  std::vector<std::size_t> frames;
  if (!options.frame.empty()) frames.push_back(parse_frame(options.frame, count, name));
  while (options.frame.empty() && frames.size() < (options.all_frames ? count : 1)) frames.push_back(frames.size());
  return frames;
}

ParticleSource::ParticleSource(const ParticleSourceOptions& options, const std::vector<InputField>& fields)
    : bindings_(options.bindings) {
  const std::vector<std::string>& i_paths = options.i.empty() ? options.j : options.i;
  const std::vector<std::string>& j_paths = options.j.empty() ? options.i : options.j;
  if (i_paths.empty()) throw UsageError("no particles: say --i FILE, --j FILE or both");
  const std::string& i_columns = options.columns_i.empty() ? options.columns : options.columns_i;
  const std::string& j_columns = options.columns_j.empty() ? options.columns : options.columns_j;
  const bool shared = i_paths == j_paths && i_columns == j_columns;
  const auto from_input = std::ranges::count(i_paths, "-") + (shared ? 0 : std::ranges::count(j_paths, "-"));
  if (from_input > 1) {
    throw UsageError(i_paths == j_paths ? "standard input can be read once only: --columns-i and --columns-j need files"
                                        : "standard input can be read once only");
  }
  check_columns(i_paths, i_columns, "i");
  check_columns(j_paths, j_columns, "j");
  ReadOptions of_i, of_j;
  of_i.columns = i_columns;
  of_i.types = options.types.empty() ? std::vector<std::string>() : parse_types(options.types);
  of_i.skip_lines = options.skip_lines.empty() ? 0 : parse_count(options.skip_lines, "--skip-lines");
  of_j = of_i;
  of_j.columns = j_columns;
  of_i.choice = columns_asked_for(fields, false, bindings_);
  of_j.choice = columns_asked_for(fields, true, bindings_);
  if (shared) of_i.choice.names.insert(of_i.choice.names.end(), of_j.choice.names.begin(), of_j.choice.names.end());
  of_i.choice.optional_name = "id";
  if (options.all_of_i) of_i.choice = {};
  i_name_ = names_of(i_paths);
  j_name_ = names_of(j_paths);
  last_wins_ = options.last_wins;
  i_side_ = open(i_paths, of_i);
  if (!shared) j_side_ = open(j_paths, of_j);
  frames_ = choose_frames(options);
  frame_ = frames_.at(0);
  i_table_ = i_side_.read(frame_, last_wins_);
  if (!shared) j_table_ = j_side_.read(frame_, last_wins_);
  if (!options.types.empty()) check_types_used(of_i.choice, of_j.choice);
  for (const std::string& warning : i_table_.warnings) fmt::print(stderr, "nbcc: warning: {}\n", warning);
  for (const std::string& warning : j_table_ ? j_table_->warnings : std::vector<std::string>())
    if (std::ranges::find(i_table_.warnings, warning) == i_table_.warnings.end())
      fmt::print(stderr, "nbcc: warning: {}\n", warning);
}

void ParticleSource::check_types_used(const ColumnChoice& of_i, const ColumnChoice& of_j) const {
  if (i_table_.types_used || (j_table_ && j_table_->types_used)) return;
  for (const bool acts : {false, true}) {
    const ParticleSide side = acts ? j() : i();
    const ParticleColumn* const column = side.table->find("type");
    if (column && column->rows() > 0 && (acts ? of_j : of_i).takes(column->name, column->name_in_file))
      throw UsageError(
          fmt::format("--types: '{}' of {} holds numbers, not names; leave out --types, or choose the "
                      "column of the names by --bind FIELD=COLUMN",
                      column->name_in_file.empty() ? column->name : column->name_in_file, side.path));
  }
}

void ParticleSource::read_frame(std::size_t frame) {
  if (frame == frame_) return;
  frame_ = frame;
  if (i_side_.has_frames()) i_table_ = i_side_.read(frame, last_wins_);
  if (j_side_.has_frames()) j_table_ = j_side_.read(frame, last_wins_);
}

std::vector<std::pair<std::string, std::string>> ParticleSource::frame_attributes() const {
  if (!of_file_) return {};
  std::vector<std::pair<std::string, std::string>> attributes = {{"frame", fmt::format("{}", frame_)}};
  const std::string& timestep = of_file_->at(frame_).timestep;
  if (!timestep.empty()) attributes.emplace_back("TIMESTEP", timestep);
  return attributes;
}

// One note for all fields that read a smoothing length of a snapshot, because its meaning differs between programs.
std::string ParticleSource::note_of_smoothing(const std::vector<BoundField>& bound) const {
  for (const BoundField& field : bound) {
    if (field.by_option || field.from.empty()) continue;
    const ParticleSide side = field.acts ? j() : i();
    std::string note = smoothing_note(field.field, field.from[0].column->name_in_file, side.path,
                                      side.table->find_attribute(kKernelOfSwift));
    if (!note.empty()) return note;
  }
  return "";
}

std::vector<BoundField> ParticleSource::bind(const std::vector<InputField>& fields) const {
  std::vector<BoundField> bound = bound_without_notes(fields);
  const int unused = bindings_.empty() ? unused_numbers(fields, i(), j()) : 0;
  if (unused > 0) {
    fmt::print(stderr,
               "nbcc: note: the last {} of each row are bound to no field; --columns or --bind choose the numbers\n",
               unused == 1 ? "number" : fmt::format("{} numbers", unused));
  }
  if (const std::string note = bound_by_order(bound, i(), j()); !note.empty() && frame_ == frames_.front())
    fmt::print(stderr, "nbcc: note: {}\n", note);
  if (const std::string note = note_of_smoothing(bound); !note.empty()) fmt::print(stderr, "nbcc: note: {}\n", note);
  return bound;
}

}  // namespace nbcc
