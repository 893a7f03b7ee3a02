// Writes NAME_fdps.hpp from pipelines and the names of members of a user's classes. Entry points: class_map_from(),
// fdps_binding(). The user's classes are not known here: static assertions in the header check, in the user's program,
// that the members exist and hold the right numbers.
#include "bindings/fdps/fdps_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"
#include "runtime/error.h"

namespace nbcc {

std::string_view fdps_template(std::string_view name);

namespace {

std::string fill(const char* name, const std::map<std::string, std::string>& holes) {
  return fill_text(name, fdps_template(name), holes);
}

Location first_index(const Pipeline& pipeline) {
  for (const Graph* graph : {&pipeline.pair, &pipeline.finish}) {
    for (NodeId id = 0; id < graph->size(); ++id) {
      const Node& node = (*graph)[id];
      if (node.op == Op::IIndex || node.op == Op::JIndex) return node.where;
    }
  }
  return {};
}

// FDPS's tree gives several lists of j-particles for one i, without the indices of these j among all j.
void check_sums_over_parts(const LibraryPipeline& one) {
  std::vector<Diagnostic> diagnostics;
  for (const Field& field : one.pipeline.fields) {
    if (field.is_of_pair())
      diagnostics.push_back({Severity::Error, field.where,
                             fmt::format("FDPS's lists have no pairs: an {} cannot be used with it",
                                         field.is_pair_result() ? "output(pair)" : "input_pair")});
    if (field.is_total())
      diagnostics.push_back({Severity::Error, field.where,
                             fmt::format("output '{}' is a total, which FDPS has no place for: it keeps results with "
                                         "their i-particles; declare it as output({}) and reduce it over these",
                                         field.name, name(field.reduction))});
    if (field.role == Role::Output && field.reduction == Reduction::Softmax)
      diagnostics.push_back({Severity::Error, field.where,
                             fmt::format("output '{}' is a softmax, which FDPS cannot use: it passes a subset of the "
                                         "j-particles at a time, and the mean over all does not follow from the means "
                                         "over subsets",
                                         field.name)});
    if (field.role != Role::Output || !keeps_index(field.reduction)) continue;
    diagnostics.push_back({Severity::Error, field.where,
                           fmt::format("output '{}' is an {}, which FDPS cannot use: it passes a subset of the "
                                       "j-particles at a time, and the index in a subset has no meaning",
                                       field.name, name(field.reduction))});
  }
  if (one.cuda.uses.i_index || one.cuda.uses.j_index) {
    diagnostics.push_back({Severity::Error, first_index(one.pipeline),
                           "i_index and j_index cannot be used with FDPS, whose lists hold particles in an order of "
                           "its own; compare ids or positions instead"});
  }
  if (!diagnostics.empty()) throw CompileError(one.source, std::move(diagnostics));
}

bool is_output(const Argument& argument) { return argument.kind == Argument::Kind::Output; }
bool is_param(const Argument& argument) { return argument.kind == Argument::Kind::Param; }

// Writes at_mj(p), which returns a pointer to the member of *p, and column_mj(p), which checks the member's type.
std::string accessor(const std::string& pipeline, const FieldLayout& field, const std::vector<std::string>& members) {
  const std::string& name = field.name;
  const std::size_t choices = members.size();
  std::string text;
  for (std::size_t k = 0; k < choices; ++k) {
    text += fmt::format(
        "  template <class P>\n"
        "  static auto at_{0}(P* p, nbcc_fdps::Choice<{1}>) -> decltype(&p->{2}) {{\n"
        "    return &p->{2};\n"
        "  }}\n",
        name, choices - k, members[k]);
  }
  const int count = field.components();
  const bool whole = field.integral();
  const std::string numbers = fmt::format("{} {}{}", count, whole ? "32- or 64-bit integer" : "float or double",
                                          count == 1 ? "" : (whole ? "s" : " numbers"));
  return text + fmt::format(
                    "  static nbcc_fdps::NoMember* at_{name}(const void*, nbcc_fdps::Choice<0>) {{ return nullptr; }}\n"
                    "  template <class P>\n"
                    "  static auto column_{name}(P* p, nbcc_fdps::S32 n) {{\n"
                    "    const auto first = at_{name}(p, nbcc_fdps::Choice<{choices}>{{}});\n"
                    "    using Member = std::remove_pointer_t<std::remove_const_t<decltype(first)>>;\n"
                    "    static_assert(!nbcc_fdps::is_missing<Member>,\n"
                    "                  \"{pipeline}: a class has no public member {members}, which --class-map names "
                    "for '{name}'\");\n"
                    "    static_assert(nbcc_fdps::is_missing<Member> || nbcc_fdps::{kind}<Member, {count}>,\n"
                    "                  \"{pipeline}: the member {members} for '{name}' must hold {numbers}\");\n"
                    "    return nbcc_fdps::column_of(p, first, n);\n"
                    "  }}\n",
                    fmt::arg("name", name), fmt::arg("choices", choices), fmt::arg("pipeline", pipeline),
                    fmt::arg("members", fmt::join(members, " or ")),
                    fmt::arg("kind", whole ? "holds_whole" : "holds_real"), fmt::arg("count", count),
                    fmt::arg("numbers", numbers));
}

std::string binding(const Argument& argument, const std::string& at) {
  return fmt::format("    sum.bind(\"{}\", {});\n", argument.field.name, at);
}

// The struct in which the sums of a walk are stored until FDPS retrieves them.
std::string results_of(const Signature& signature) {
  std::string text = "  struct Results {\n";
  for (const Argument& argument : signature.arguments) {
    if (!is_output(argument)) continue;
    const char* const type = argument.field.integral() ? "std::int32_t" : "double";
    text += fmt::format("    {} {}_[{}];\n", type, argument.field.name, argument.width());
  }
  return text + "  };\n";
}

std::string setting(const std::string& pipeline, const Argument& argument) {
  const FieldLayout& field = argument.field;
  std::string value = "params." + argument.name;
  if (field.defaults.empty()) {
    value = fmt::format("nbcc_fdps::given({}, \"{}: param '{}' has no default and was not set\")", value, pipeline,
                        field.name);
  }
  value = argument.width() > 1 ? value + ".data()" : "&" + value;
  return fmt::format("    sum.set(\"{}\", {}, {});\n", field.name, value, argument.width());
}

std::string reduction_name(Reduction reduction) {
  if (reduction == Reduction::Min) return "Least";
  if (reduction == Reduction::LogSumExp) return "LogAdded";
  if (reduction == Reduction::Product) return "Times";
  return reduction == Reduction::Max ? "Greatest" : "Plus";
}

// Writes the struct of accessors to a pipeline's fields in any classes.
std::string fields_of(const Signature& signature, const ClassMap& map) {
  std::string accessors, inputs, outputs, results, combinations;
  for (const Argument& argument : signature.arguments) {
    if (argument.is_count()) continue;
    const std::string& name = argument.field.name;
    if (is_param(argument)) {
      inputs += setting(signature.pipeline, argument);
      continue;
    }
    accessors += accessor(signature.pipeline, argument.field, map.at(name));
    if (!is_output(argument)) {
      const char* const particles = argument.on_i() ? "ep_i, n_ip" : "ep_j, n_jp";
      inputs += binding(argument, fmt::format("column_{}({})", name, particles));
      continue;
    }
    const std::string in_force = fmt::format("column_{}(force, n_ip)", name);
    const std::string partial = fmt::format("nbcc_fdps::column_of(results, &results->{}_, n_ip)", name);
    outputs += binding(argument, in_force);
    results += binding(argument, partial);
    combinations += fmt::format("    nbcc_fdps::combine(nbcc_fdps::{}{{}}, {}, {});\n",
                                reduction_name(argument.field.reduction), in_force, partial);
  }
  const std::map<std::string, std::string> holes{{"pipeline", signature.pipeline},
                                                 {"accessors", accessors},
                                                 {"results_struct", results_of(signature)},
                                                 {"inputs", inputs},
                                                 {"outputs", outputs},
                                                 {"results", results},
                                                 {"combinations", combinations}};
  return fill("fields.hpp", holes);
}

std::string params_of(const Signature& signature) {
  std::string text;
  for (const Argument& argument : signature.arguments) {
    if (!is_param(argument)) continue;
    const int count = argument.width();
    std::string type = count == 1 ? "double" : fmt::format("std::array<double, {}>", count);
    std::string value = fmt::format("{}", fmt::join(argument.field.defaults, ", "));
    if (value.empty()) {
      type = fmt::format("std::optional<{}>", type);
      value = "{}";
    } else {
      value = count == 1 ? " = " + value : fmt::format("{{{{{}}}}}", value);
    }
    const std::string& comment = argument.field.comment;
    text += fmt::format("  {} {}{};{}{}\n", type, argument.name, value, comment.empty() ? "" : "  // ", comment);
  }
  return text.empty() ? text : text + "\n";
}

// Checks that each field has members, and that each entry of the map is a field.
void check_class_map(const LibraryText& library, const ClassMap& map) {
  std::vector<std::string> known;
  for (const LibraryPipeline& one : library.pipelines) {
    std::vector<std::string> missing;
    for (const Argument& argument : one.signature.arguments) {
      const std::string& name = argument.field.name;
      if (argument.is_count()) continue;
      if (!is_param(argument)) {
        if (std::ranges::find(known, name) == known.end()) known.push_back(name);
        if (!map.contains(name)) missing.push_back(name);
      } else if (map.contains(name)) {
        throw UsageError(
            fmt::format("--class-map: '{}' is a param of {}, and so a member of the functor, not of a user's class",
                        name, one.signature.pipeline));
      }
    }
    if (!missing.empty()) {
      throw UsageError(fmt::format("--class-map: {} has no member for {}; expected {}=MEMBER", one.signature.pipeline,
                                   fmt::join(missing, ", "), fmt::join(missing, "=MEMBER,")));
    }
  }
  for (const auto& [field, members] : map) {
    if (std::ranges::find(known, field) != known.end()) continue;
    throw UsageError(
        fmt::format("--class-map: there is no field '{}'; the fields are {}", field, fmt::join(known, ", ")));
  }
}

std::string fdps_header(const LibraryText& library, const ClassMap& map) {
  for (const LibraryPipeline& one : library.pipelines) check_sums_over_parts(one);
  check_class_map(library, map);
  std::string text;
  for (const LibraryPipeline& one : library.pipelines) {
    const Signature& signature = one.signature;
    text += "\n" + fields_of(signature, map) + "\n";
    text += fill("functor.hpp",
                 {{"title", title(signature)}, {"pipeline", signature.pipeline}, {"params", params_of(signature)}});
  }
  return fill("library_fdps.hpp", {{"name", library.name},
                                   {"made", library.made},
                                   {"guard", capitals(library.name)},
                                   {"namespace", library.cxx_namespace},
                                   {"functors", text}});
}

}  // namespace

ClassMap class_map_from(const std::vector<std::string>& entries) {
  ClassMap map;
  const std::regex name(R"([A-Za-z_]\w*)"), member_of_class(R"([A-Za-z_]\w*(\.[A-Za-z_]\w*|\[\d+\])*)");
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    const std::string field = entry.substr(0, equals);
    if (equals == std::string::npos || !std::regex_match(field, name)) {
      throw UsageError(fmt::format("--class-map: '{}' is not of the form FIELD=MEMBER, as xi=pos", entry));
    }
    std::vector<std::string> members;
    std::istringstream rest(entry.substr(equals + 1) + ":");
    for (std::string member; std::getline(rest, member, ':'); members.push_back(member)) {
      if (std::regex_match(member, member_of_class)) continue;
      throw UsageError(
          fmt::format("--class-map: in '{}', '{}' is no member of a class, as pos, state.pos or m[0]", entry, member));
    }
    if (!map.emplace(field, std::move(members)).second) {
      throw UsageError(fmt::format(
          "--class-map: '{}' is given twice; several members to choose from are written {}=A:B", field, field));
    }
  }
  return map;
}

LanguageBinding fdps_binding(const std::string& library, const ClassMap& map) {
  return {library + "_fdps.hpp", [map](const LibraryText& text) { return fdps_header(text, map); }};
}

}  // namespace nbcc
