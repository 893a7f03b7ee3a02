// Source -> EditorFacts by `check`, and EditorFacts -> JSON and back. Entry points: facts_of(), read_facts().
#include "cli/lsp/editor_facts.h"

#include "cli/report/pipeline_check.h"

namespace nbcc {
namespace {

LspJson json_of(const Location& where) { return {where.line, where.column}; }
Location location_in(const LspJson& json) { return {json.at(0), json.at(1)}; }

LspJson json_of(const TextSpan& span) { return {json_of(span.begin), json_of(span.end)}; }
TextSpan span_in(const LspJson& json) { return {location_in(json.at(0)), location_in(json.at(1))}; }

LspJson json_of(const DeclaredName& name) {
  return {{"name", name.name},
          {"kind", int(name.kind)},
          {"type", name.type},
          {"role", name.role},
          {"parameters", name.parameters},
          {"where", json_of(name.where)},
          {"extent", json_of(name.extent)},
          {"scope", name.scope ? json_of(*name.scope) : LspJson()},
          {"binding", name.binding ? LspJson(int(*name.binding)) : LspJson()}};
}

DeclaredName name_in(const LspJson& json) {
  DeclaredName name{json.at("name"),
                    NameKind(json.at("kind").get<int>()),
                    json.at("type"),
                    json.at("role"),
                    json.at("parameters"),
                    location_in(json.at("where")),
                    span_in(json.at("extent")),
                    {},
                    {}};
  if (!json.at("scope").is_null()) name.scope = span_in(json.at("scope"));
  if (!json.at("binding").is_null()) name.binding = Binding(json.at("binding").get<int>());
  return name;
}

}  // namespace

EditorFacts facts_of(const Source& source) {
  EditorFacts facts;
  try {
    const PipelineCheck found = check_pipeline(source, KernelChoice(), &facts.names);
    facts.diagnostics = found.diagnostics;
    facts.compiles = true;
    facts.neighbours = found.neighbours;
    facts.search_cost = found.search_cost();
    facts.far_field = found.far_field;
    facts.symmetry = found.symmetry;
    facts.operations_per_pair = found.counts.per_pair;
    facts.operations_per_i = found.counts.per_i;
    facts.operations_per_j = found.counts.per_j;
  } catch (const CompileError& error) {
    facts.diagnostics = error.diagnostics;
  }
  facts.has_names = facts.compiles || !facts.names.declared.empty();
  return facts;
}

std::string written_facts(const EditorFacts& facts) {
  LspJson diagnostics = LspJson::array(), declared = LspJson::array(), uses = LspJson::array(),
          built_ins = LspJson::array();
  for (const Diagnostic& one : facts.diagnostics)
    diagnostics.push_back({int(one.severity), json_of(one.where), one.message});
  for (const DeclaredName& one : facts.names.declared) declared.push_back(json_of(one));
  for (const NameUse& one : facts.names.uses) uses.push_back({json_of(one.where), one.declared});
  for (const BuiltInUse& one : facts.names.built_ins) built_ins.push_back({json_of(one.where), one.name});
  const LspJson json{{"diagnostics", diagnostics},
                     {"has_names", facts.has_names},
                     {"declared", declared},
                     {"uses", uses},
                     {"built_ins", built_ins},
                     {"compiles", facts.compiles},
                     {"neighbours", facts.neighbours},
                     {"search_cost", facts.search_cost},
                     {"far_field", facts.far_field},
                     {"symmetry", facts.symmetry},
                     {"operations", {facts.operations_per_pair, facts.operations_per_i, facts.operations_per_j}}};
  return json.dump(-1, ' ', false, LspJson::error_handler_t::replace);
}

EditorFacts read_facts(const std::string& text) {
  const LspJson json = LspJson::parse(text);
  EditorFacts facts;
  for (const LspJson& one : json.at("diagnostics"))
    facts.diagnostics.push_back({Severity(one.at(0).get<int>()), location_in(one.at(1)), one.at(2)});
  facts.has_names = json.at("has_names");
  for (const LspJson& one : json.at("declared")) facts.names.declared.push_back(name_in(one));
  for (const LspJson& one : json.at("uses")) facts.names.uses.push_back({location_in(one.at(0)), one.at(1)});
  for (const LspJson& one : json.at("built_ins")) facts.names.built_ins.push_back({location_in(one.at(0)), one.at(1)});
  facts.compiles = json.at("compiles");
  facts.neighbours = json.at("neighbours");
  facts.search_cost = json.at("search_cost");
  facts.far_field = json.at("far_field");
  facts.symmetry = json.at("symmetry");
  facts.operations_per_pair = json.at("operations").at(0);
  facts.operations_per_i = json.at("operations").at(1);
  facts.operations_per_j = json.at("operations").at(2);
  return facts;
}

}  // namespace nbcc
