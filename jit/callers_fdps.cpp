// Pipelines and the members of a user's classes -> NAME_fdps.hpp, functors for FDPS over the header for C. Doors:
// class_map_from(), fdps_functor(), check_class_map(), fdps_header(). Knows no user's class: whether a member is there
// and holds the right numbers is for the compiler of the user's program, which the text tells what to say.
#include "jit/callers_fdps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/text/diagnostic.h"
#include "compiler/text/fill_template.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What of `text` from `at` on is a name; nothing if it begins with none.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  if (at == text.size() || !is_letter(text[at])) return at;
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) ++at;
  return at;
}

// "pos", "state.pos", "moments.q[0]".
bool is_member(std::string_view text) {
  std::size_t at = end_of_name(text, 0);
  if (at == 0) return false;
  while (at < text.size()) {
    const std::size_t begin = at + 1;
    std::size_t end = begin;
    if (text[at] == '.') {
      end = at = end_of_name(text, begin);
    } else if (text[at] == '[') {
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == text.size() || text[end] != ']') return false;
      at = end + 1;
    }
    if (end == begin) return false;
  }
  return true;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
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

// Sums of parts of the j-particles, of which a tree gives several for one i and none of which says which j these are.
void check_parts(const Source& source, const Pipeline& pipeline, const KernelSource& kernel) {
  std::vector<Diagnostic> diagnostics;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output) continue;
    if (field.reduction != Reduction::ArgMin && field.reduction != Reduction::ArgMax) continue;
    diagnostics.push_back({Severity::Error, field.where,
                           fmt::format("output '{}' is an {}, which FDPS cannot use: it hands over a part of the "
                                       "j-particles at a time, and the index in a part tells nothing",
                                       field.name, name(field.reduction))});
  }
  if (kernel.uses_i_index || kernel.uses_j_index) {
    diagnostics.push_back({Severity::Error, first_index(pipeline),
                           "i_index and j_index cannot be used with FDPS, whose lists hold particles in an order of "
                           "its own; compare ids or positions instead"});
  }
  if (!diagnostics.empty()) throw CompileError(source, std::move(diagnostics));
}

std::string members_in_words(const FdpsField& field) { return fmt::format("{}", fmt::join(field.members, " or ")); }

// at_mj(p): a pointer to the member of *p, which place_mj() makes sure of.
std::string accessor(const FdpsFunctor& functor, const FdpsField& field) {
  const std::string& name = field.layout.name;
  const std::size_t choices = field.members.size();
  std::string text;
  for (std::size_t k = 0; k < choices; ++k) {
    text += fmt::format(
        "  template <class P>\n"
        "  static auto at_{0}(P* p, nbcc_fdps::Choice<{1}>) -> decltype(&p->{2}) {{\n"
        "    return &p->{2};\n"
        "  }}\n",
        name, choices - k, field.members[k]);
  }
  const int count = field.layout.components();
  const bool whole = field.layout.integral;
  const std::string numbers = fmt::format("{} {}{}", count, whole ? "32- or 64-bit integer" : "float or double",
                                          count == 1 ? "" : (whole ? "s" : " numbers"));
  return text + fmt::format(
                    "  static nbcc_fdps::NoMember* at_{name}(const void*, nbcc_fdps::Choice<0>) {{ return nullptr; }}\n"
                    "  template <class P>\n"
                    "  static auto place_{name}(P* p, nbcc_fdps::S32 n) {{\n"
                    "    const auto first = at_{name}(p, nbcc_fdps::Choice<{choices}>{{}});\n"
                    "    using Member = std::remove_pointer_t<std::remove_const_t<decltype(first)>>;\n"
                    "    static_assert(!nbcc_fdps::is_missing<Member>,\n"
                    "                  \"{pipeline}: a class has no public member {members}, which --class-map names "
                    "for '{name}'\");\n"
                    "    static_assert(nbcc_fdps::is_missing<Member> || nbcc_fdps::{kind}<Member, {count}>,\n"
                    "                  \"{pipeline}: the member {members} for '{name}' must hold {numbers}\");\n"
                    "    return nbcc_fdps::place_of(p, first, n);\n"
                    "  }}\n",
                    fmt::arg("name", name), fmt::arg("choices", choices),
                    fmt::arg("pipeline", functor.signature.pipeline), fmt::arg("members", members_in_words(field)),
                    fmt::arg("kind", whole ? "holds_whole" : "holds_real"), fmt::arg("count", count),
                    fmt::arg("numbers", numbers));
}

bool is_output(const FdpsField& field) { return field.argument.kind == Argument::Kind::Output; }
bool is_param(const FdpsField& field) { return field.argument.kind == Argument::Kind::Param; }

std::string binding(const FdpsField& field, const std::string& place) {
  return fmt::format("    sum.bind(\"{}\", {});\n", field.layout.name, place);
}

// What a walk's sums are kept in until FDPS asks for them.
std::string results_of(const FdpsFunctor& functor) {
  std::string text = "  struct Results {\n";
  for (const FdpsField& field : functor.fields) {
    if (!is_output(field)) continue;
    const char* const type = field.layout.integral ? "std::int32_t" : "double";
    text += fmt::format("    {} {}_[{}];\n", type, field.layout.name, field.layout.components());
  }
  return text + "  };\n";
}

std::string setting(const FdpsFunctor& functor, const FdpsField& field) {
  const FieldLayout& layout = field.layout;
  std::string value = "params." + field.argument.name;
  if (layout.defaults.empty()) {
    value = fmt::format("nbcc_fdps::given({}, \"{}: param '{}' has no default and was not set\")", value,
                        functor.signature.pipeline, layout.name);
  }
  if (layout.components() > 1) {
    return fmt::format("    sum.set(\"{}\", {}.data(), {});\n", layout.name, value, layout.components());
  }
  return fmt::format("    sum.set(\"{}\", &{}, 1);\n", layout.name, value);
}

std::string reduction_name(Reduction reduction) {
  if (reduction == Reduction::Min) return "Least";
  return reduction == Reduction::Max ? "Greatest" : "Plus";
}

// Where the fields of a pipeline are, in whatever classes.
std::string fields_of(const FdpsFunctor& functor) {
  std::string accessors, inputs, outputs, results, combinations;
  for (const FdpsField& field : functor.fields) {
    const std::string& name = field.layout.name;
    if (is_param(field)) {
      inputs += setting(functor, field);
      continue;
    }
    accessors += accessor(functor, field);
    if (!is_output(field)) {
      const char* const particles = field.argument.on_i() ? "ep_i, n_ip" : "ep_j, n_jp";
      inputs += binding(field, fmt::format("place_{}({})", name, particles));
      continue;
    }
    const std::string kept = fmt::format("nbcc_fdps::place_of(results, &results->{}_, n_ip)", name);
    outputs += binding(field, fmt::format("place_{}(force, n_ip)", name));
    results += binding(field, kept);
    combinations += fmt::format("    nbcc_fdps::combine(nbcc_fdps::{}{{}}, place_{}(force, n_ip), {});\n",
                                reduction_name(field.layout.reduction), name, kept);
  }
  const std::map<std::string, std::string> holes{{"pipeline", functor.signature.pipeline},
                                                 {"accessors", accessors},
                                                 {"results_struct", results_of(functor)},
                                                 {"inputs", inputs},
                                                 {"outputs", outputs},
                                                 {"results", results},
                                                 {"combinations", combinations}};
  return fill_template("library_fdps_fields.hpp", holes);
}

std::string params_of(const FdpsFunctor& functor) {
  std::string text;
  for (const FdpsField& field : functor.fields) {
    if (!is_param(field)) continue;
    const int count = field.layout.components();
    std::string type = count == 1 ? "double" : fmt::format("std::array<double, {}>", count);
    std::string value = fmt::format("{}", fmt::join(field.layout.defaults, ", "));
    if (value.empty()) {
      type = fmt::format("std::optional<{}>", type);
      value = "{}";
    } else {
      value = count == 1 ? " = " + value : fmt::format("{{{{{}}}}}", value);
    }
    const std::string& comment = field.layout.comment;
    text += fmt::format("  {} {}{};{}{}\n", type, field.argument.name, value, comment.empty() ? "" : "  // ", comment);
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

ClassMap class_map_from(const std::vector<std::string>& words) {
  ClassMap map;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string field = word.substr(0, equals);
    if (equals == std::string::npos || field.empty() || end_of_name(field, 0) != field.size()) {
      throw UsageError(fmt::format("--class-map: '{}' is not of the form FIELD=MEMBER, as xi=pos", word));
    }
    std::vector<std::string> members = split(word.substr(equals + 1), ':');
    for (const std::string& member : members) {
      if (!is_member(member)) {
        throw UsageError(
            fmt::format("--class-map: in '{}', '{}' is no member of a class, as pos, state.pos or m[0]", word, member));
      }
    }
    if (!map.emplace(field, std::move(members)).second) {
      throw UsageError(fmt::format(
          "--class-map: '{}' is given twice; several members to choose from are written {}=A:B", field, field));
    }
  }
  return map;
}

FdpsFunctor fdps_functor(const Source& source, const Pipeline& pipeline, const KernelSource& kernel,
                         const ClassMap& map) {
  check_parts(source, pipeline, kernel);
  FdpsFunctor functor{signature_of(source, kernel), {}};
  std::vector<std::string> missing;
  auto layout = kernel.fields.begin();
  for (const Argument& argument : functor.signature.arguments) {
    if (argument.kind == Argument::Kind::CountI || argument.kind == Argument::Kind::CountJ) continue;
    FdpsField field{argument, *layout++, {}};
    const auto given = map.find(field.layout.name);
    if (is_param(field)) {
      if (given != map.end()) {
        throw UsageError(
            fmt::format("--class-map: '{}' is a param of {}, and so a member of the functor, not of a user's class",
                        field.layout.name, functor.signature.pipeline));
      }
    } else if (given != map.end()) {
      field.members = given->second;
    } else {
      missing.push_back(field.layout.name);
    }
    functor.fields.push_back(std::move(field));
  }
  if (!missing.empty()) {
    throw UsageError(fmt::format("--class-map: {} has no member for {}; expected {}=MEMBER", functor.signature.pipeline,
                                 fmt::join(missing, ", "), fmt::join(missing, "=MEMBER,")));
  }
  return functor;
}

void check_class_map(const ClassMap& map, const std::vector<FdpsFunctor>& functors) {
  std::vector<std::string> known;
  for (const FdpsFunctor& functor : functors) {
    for (const FdpsField& field : functor.fields) {
      if (!is_param(field) && std::count(known.begin(), known.end(), field.layout.name) == 0) {
        known.push_back(field.layout.name);
      }
    }
  }
  for (const auto& [field, members] : map) {
    if (std::count(known.begin(), known.end(), field) > 0) continue;
    throw UsageError(
        fmt::format("--class-map: there is no field '{}'; the fields are {}", field, fmt::join(known, ", ")));
  }
}

std::string fdps_header(const LibraryText& library, const std::vector<FdpsFunctor>& functors) {
  std::string text;
  for (const FdpsFunctor& functor : functors) {
    const Signature& signature = functor.signature;
    const std::string title = signature.description.empty() ? signature.pipeline : signature.description.front();
    text += "\n" + fields_of(functor) + "\n";
    text += fill_template("library_fdps_functor.hpp",
                          {{"title", title}, {"pipeline", signature.pipeline}, {"params", params_of(functor)}});
  }
  std::string guard = library.name;
  for (char& c : guard) c = char(std::toupper(static_cast<unsigned char>(c)));
  return fill_template("library_fdps.hpp", {{"name", library.name},
                                            {"made", library.made},
                                            {"guard", guard},
                                            {"namespace", library.cxx_namespace},
                                            {"common", fill_template("library_fdps_common.hpp", {})},
                                            {"functors", text}});
}

}  // namespace nbcc
