// A pipeline in CUNBODY-1's dialect -> cunbody_api.h, the C text of its functions, and what the library's other files
// say of them. Doors: cunbody_of(), check_cunbody_names(), cunbody_header(), cunbody_source(), cunbody_prototypes(),
// cunbody_interfaces(). Compiles nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"
#include "jit/callers.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Arrays of so many particles that programs make one of each kind: 2^18, of which pages that are not touched cost
// nothing.
constexpr int kMostParticles = 262144;

struct Place {
  const char *array, *macro, *side;
};

Place place_of(Role role) {
  if (role == Role::InputI) return {"INPUT_I", "IDIM", "i-particles"};
  if (role == Role::InputJ) return {"INPUT_J", "JDIM", "j-particles"};
  return {"OUTPUT", "FDIM", "results"};
}

std::string misfit(const Field& field) {
  if (field.role == Role::Param) {
    return fmt::format(
        "param '{}' has no place in cunbody_api(), which takes no params; expected an element of INPUT_I, or a "
        "constant",
        field.name);
  }
  const Place place = place_of(field.role);
  const bool one = field.components() == 1;
  return fmt::format(
      "field '{}' does not fit cunbody_api(), which takes {} as rows of {}; expected {} {} of {} in its place",
      field.name, place.side, place.array, one ? "an" : std::to_string(field.components()),
      one ? "element" : "elements", place.array);
}

std::map<std::string, std::string> values_of(const LibraryText& library) {
  const CunbodyApi& api = *library.cunbody;
  return {{"pipeline", library.signatures.front().pipeline},
          {"idim", std::to_string(api.idim)},
          {"jdim", std::to_string(api.jdim)},
          {"fdim", std::to_string(api.fdim)}};
}

}  // namespace

CunbodyApi cunbody_of(const Source& source, const Pipeline& pipeline) {
  std::vector<Diagnostic> diagnostics;
  if (pipeline.dialect != Dialect::Cunbody) {
    for (const Field& field : pipeline.fields) diagnostics.push_back({Severity::Error, field.where, misfit(field)});
    throw CompileError(source, std::move(diagnostics));
  }
  const auto width = [&](Role role) {
    const auto field = std::find_if(pipeline.fields.begin(), pipeline.fields.end(),
                                    [&](const Field& one) { return one.role == role; });
    if (field != pipeline.fields.end()) return field->components();
    const Place place = place_of(role);
    diagnostics.push_back(
        {Severity::Error,
         {},
         fmt::format("the pipeline does not use {0}, of which cunbody_api() takes rows; expected its width, as "
                     "'#define {1} (4)'",
                     place.array, place.macro)});
    return 0;
  };
  const CunbodyApi api{width(Role::InputI), width(Role::InputJ), width(Role::Output)};
  if (!diagnostics.empty()) throw CompileError(source, std::move(diagnostics));
  return api;
}

std::vector<std::string> cunbody_names() { return {"cunbody_api", "cunbody_api_", "force", "force_"}; }

void check_cunbody_names(const std::string& pipeline) {
  const std::vector<std::string> taken = cunbody_names();
  for (std::string function : function_names(pipeline)) {
    for (char& c : function) c = char(std::tolower(static_cast<unsigned char>(c)));
    if (std::find(taken.begin(), taken.end(), function) == taken.end()) continue;
    throw UsageError(
        fmt::format("pipeline '{}' would have a function '{}', which programs for CUNBODY-1 have already; a pipeline's "
                    "name is that of its file",
                    pipeline, function));
  }
}

std::string cunbody_header(const LibraryText& library) {
  std::map<std::string, std::string> holes = values_of(library);
  holes["made"] = inside_comment(library.made);
  holes["nmax"] = std::to_string(kMostParticles);
  return fill_template("cunbody_api.h", holes);
}

std::string cunbody_source(const LibraryText& library) {
  const std::string force = library.cunbody->has_force() ? fill_template("library_cunbody_force.c", {}) : "";
  return fill_template("library_cunbody.c", {{"pipeline", library.signatures.front().pipeline}, {"force", force}});
}

std::string cunbody_prototypes(const LibraryText& library) {
  if (!library.cunbody->has_force()) return "";
  return "/* Gravity as CUNBODY-1's users call it, for a pipeline whose INPUT_I is a position and eps2, whose INPUT_J "
         "is a\n"
         " * position and a mass, and whose OUTPUT is an acceleration. A failure is told on standard error, and a is "
         "filled\n"
         " * with NaN. A program may have a force() of its own instead. */\n"
         "NBCC_API void force(double xj[][3], double mj[], double xi[][3], double eps2, double a[][3], int ni, int "
         "nj);";
}

std::string cunbody_interfaces(const LibraryText& library) {
  std::string text = fill_template("library_cunbody.f90", values_of(library));
  if (library.cunbody->has_force()) text += fill_template("library_cunbody_force.f90", {});
  return text;
}

}  // namespace nbcc
