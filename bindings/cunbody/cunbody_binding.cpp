// Writes cunbody_api.h for a pipeline in CUNBODY-1's dialect, the C source of its functions, and their declarations in
// the library's other files. Entry point: cunbody_binding().
#include "bindings/cunbody/cunbody_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"
#include "runtime/error.h"

namespace nbcc {

std::string_view cunbody_template(std::string_view name);

namespace {

const std::vector<std::string> kFunctions{"cunbody_api", "cunbody_api_", "force", "force_"};

struct Rows {
  const char *array, *macro, *side;
};

Rows rows_of(Role role) {
  if (role == Role::InputI) return {"INPUT_I", "IDIM", "i-particles"};
  if (role == Role::InputJ) return {"INPUT_J", "JDIM", "j-particles"};
  return {"OUTPUT", "FDIM", "results"};
}

std::string misfit(const Field& field) {
  if (field.role == Role::Param) {
    return fmt::format(
        "param '{}' cannot be used with cunbody_api(), which takes no params; expected an element of INPUT_I, or a "
        "constant",
        field.name);
  }
  if (field.is_of_pair())
    return fmt::format("{} '{}' cannot be used with cunbody_api(), which sums over all pairs",
                       field.is_pair_result() ? "output(pair)" : "input_pair", field.name);
  const Rows rows = rows_of(field.role);
  const bool one = field.components() == 1;
  return fmt::format(
      "field '{}' does not fit cunbody_api(), which takes {} as rows of {}; expected {} {} of {} instead", field.name,
      rows.side, rows.array, one ? "an" : std::to_string(field.components()), one ? "element" : "elements", rows.array);
}

// Numbers per row of cunbody_api()'s arrays.
struct Widths {
  int i = 0, j = 0, output = 0;
  // True if the rows have the sizes of softened gravity, for which CUNBODY-1 has force().
  bool has_force() const { return i == 4 && j == 4 && output == 3; }
};

// Throws CompileError that names the fields that do not fit, and the expected ones.
Widths widths_of(const LibraryPipeline& one) {
  std::vector<Diagnostic> diagnostics;
  const std::vector<Field>& fields = one.pipeline.fields;
  if (one.pipeline.dialect != Dialect::Cunbody) {
    for (const Field& field : fields) diagnostics.push_back({Severity::Error, field.where, misfit(field)});
    throw CompileError(one.source, std::move(diagnostics));
  }
  const auto width = [&](Role role) {
    const auto field = std::ranges::find(fields, role, &Field::role);
    if (field != fields.end()) return field->components();
    const Rows rows = rows_of(role);
    diagnostics.push_back(
        {Severity::Error,
         {},
         fmt::format("the pipeline does not use {0}, of which cunbody_api() takes rows; expected its width, as "
                     "'#define {1} (4)'",
                     rows.array, rows.macro)});
    return 0;
  };
  const Widths widths{width(Role::InputI), width(Role::InputJ), width(Role::Output)};
  if (!diagnostics.empty()) throw CompileError(one.source, std::move(diagnostics));
  return widths;
}

// Throws UsageError where a function of the pipeline would be called as one of CUNBODY-1's.
void check_names(const std::string& pipeline) {
  for (std::string function : function_names(pipeline)) {
    for (char& c : function) c = char(std::tolower(static_cast<unsigned char>(c)));
    if (std::ranges::find(kFunctions, function) == kFunctions.end()) continue;
    throw UsageError(
        fmt::format("pipeline '{}' would have a function '{}', which programs for CUNBODY-1 have already; a pipeline's "
                    "name is that of its file",
                    pipeline, function));
  }
}

std::string fill(const char* name, const LibraryText& library, std::map<std::string, std::string> more = {}) {
  const LibraryPipeline& one = library.pipelines.front();
  const Widths widths = widths_of(one);
  more.insert({{"pipeline", one.signature.pipeline},
               {"idim", std::to_string(widths.i)},
               {"jdim", std::to_string(widths.j)},
               {"fdim", std::to_string(widths.output)}});
  return fill_text(name, cunbody_template(name), more);
}

constexpr const char* kForcePrototype =
    "\n/* CUNBODY-1's function for gravity, for a pipeline whose INPUT_I is a position and eps2, whose INPUT_J is a\n"
    " * position and a mass, and whose OUTPUT is an acceleration. A failure is printed to standard error, and a is\n"
    " * filled with NaN. A program may define its own force() instead. */\n"
    "NBCC_API void force(double xj[][3], double mj[], double xi[][3], double eps2, double a[][3], int ni, int nj);";

void extend(LibraryText& library) {
  if (library.pipelines.size() != 1) {
    throw UsageError(
        fmt::format("a library with CUNBODY-1's interface is of one pipeline, got {}: a program has one "
                    "cunbody_api()",
                    library.pipelines.size()));
  }
  const LibraryPipeline& one = library.pipelines.front();
  check_names(one.signature.pipeline);
  const bool has_force = widths_of(one).has_force();
  library.more_functions = kFunctions;
  library.more_source =
      fill_text("functions.c", cunbody_template("functions.c"), {{"pipeline", one.signature.pipeline}});
  library.more_interfaces = "\n" + fill("cunbody_api.f90", library);
  if (!has_force) return;
  library.more_prototypes = kForcePrototype;
  library.more_interfaces += cunbody_template("force.f90");
}

std::string header(const LibraryText& library) {
  return fill("cunbody_api.h", library, {{"made", inside_comment(library.made)}});
}

}  // namespace

LanguageBinding cunbody_binding() { return {"cunbody_api.h", header, extend}; }

}  // namespace nbcc
