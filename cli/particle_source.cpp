// The options that name particle files -> tables, and fields bound to them. The door is ParticleSource.
#include "cli/particle_source.h"

#include <fmt/core.h>

#include <cstdio>

#include "particles/particle_files.h"
#include "runtime/error.h"

namespace nbcc {

void declare_particle_source(CLI::App& app, ParticleSourceOptions& options) {
  app.add_option("--i", options.i, "File of the particles that receive; '-' is standard input (default: that of --j)")
      ->type_name("FILE");
  app.add_option("--j", options.j, "File of the particles that act (default: that of --i)")->type_name("FILE");
  app.add_option("--columns", options.columns, "Names for the columns of both files, as id,m,x[3],v[3]; '_' skips one")
      ->type_name("LIST");
  app.add_option("--columns-i", options.columns_i, "The same for the file of --i")->type_name("LIST");
  app.add_option("--columns-j", options.columns_j, "The same for the file of --j")->type_name("LIST");
  app.add_option("--bind", options.bindings,
                 "field=column,... where the names do not match; column[k] begins at its number k, field[k] at the "
                 "field's component k")
      ->type_name("LIST")
      ->take_all();
}

ParticleSource::ParticleSource(const ParticleSourceOptions& options, const std::vector<InputField>& fields)
    : i_path_(options.i.empty() ? options.j : options.i),
      j_path_(options.j.empty() ? options.i : options.j),
      bindings_(options.bindings) {
  if (i_path_.empty()) throw UsageError("no particles: say --i FILE, --j FILE or both");
  const std::string& i_columns = options.columns_i.empty() ? options.columns : options.columns_i;
  const std::string& j_columns = options.columns_j.empty() ? options.columns : options.columns_j;
  if (i_path_ == "-" && j_path_ == "-" && i_columns != j_columns) {
    throw UsageError("standard input can be read once only: --columns-i and --columns-j need files");
  }
  const bool shared = i_path_ == j_path_ && i_columns == j_columns;
  ColumnChoice of_i = columns_asked_for(fields, false, bindings_), of_j = columns_asked_for(fields, true, bindings_);
  if (shared) of_i.names.insert(of_i.names.end(), of_j.names.begin(), of_j.names.end());
  of_i.welcome = "id";
  if (options.all_of_i) of_i = {};
  i_table_ = read_particles(i_path_, {i_columns, "", of_i});
  if (!shared) j_table_ = read_particles(j_path_, {j_columns, "", of_j});
  for (std::string* path : {&i_path_, &j_path_})
    if (*path == "-") *path = "standard input";
}

std::vector<BoundField> ParticleSource::bind(const std::vector<InputField>& fields) const {
  std::vector<BoundField> bound = bind_particles(fields, i(), j(), bindings_);
  const int unused = bindings_.empty() ? unused_numbers(fields, i(), j()) : 0;
  if (unused > 0) {
    fmt::print(stderr,
               "nbcc: note: the last {} of each row are bound to no field; --columns or --bind tell which is "
               "which\n",
               unused == 1 ? "number" : fmt::format("{} numbers", unused));
  }
  return bound;
}

}  // namespace nbcc
