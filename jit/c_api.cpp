// The functions of nbcc.h that need a compiler ([jit]): pipelines from texts, diagnostics, compilation stages, adjoints
// and virials. All other functions are in runtime/api.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/passes/facts/text_facts.h"
#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"
#include "compiler/text/own_stack.h"
#include "compiler/text/pipeline_library.h"
#include "jit/build_kernel.h"
#include "jit/columns_api.h"
#include "runtime/api/handles.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/derived/for_callers.h"

struct nbcc_report {
  std::string text;
  std::vector<nbcc::Diagnostic> diagnostics;
  std::vector<std::string> rendered;               // parallel to diagnostics
  std::vector<nbcc::AdjointField> adjoint_fields;  // empty unless the text is an adjoint pipeline
  std::vector<nbcc::FieldLayout> fields;           // of nbcc_check_text
  std::vector<std::string> types;                  // parallel to fields; as declared
  std::vector<bool> is_read;                       // parallel to fields
};

namespace nbcc {
namespace {

// Converts the compiler's exceptions as well as the runtime's.
nbcc_status fail_with_compilers_exception(nbcc_error** error) noexcept {
  try {
    throw;
  } catch (const CompileError& e) {
    return fail(error, NBCC_ERROR_INPUT, e.what());
  } catch (const SourceUnreadable& e) {
    return fail(error, NBCC_ERROR_USAGE, e.what());
  } catch (const StackRefused& e) {
    return fail(error, NBCC_ERROR_DEVICE, e.what());
  } catch (...) {
    return fail_with_current_exception(error);
  }
}

template <typename Body>
nbcc_status compiling(nbcc_error** error, Body body) noexcept {
  return guarded(error, body, fail_with_compilers_exception);
}

// Throws UsageError for an invalid precision, math or root. null means the defaults.
Options compile_options(const nbcc_pipeline_options* given) {
  const nbcc_pipeline_options o = read_options(
      given, nbcc_pipeline_options{sizeof(nbcc_pipeline_options), NBCC_SINGLE, NBCC_FAST, NBCC_ROOT_REFINED});
  // Read enumerations as integers: a C caller may have stored any number.
  const int precision = number_of(o.precision), math = number_of(o.math), root = number_of(o.root);
  if (precision < NBCC_SINGLE || precision > NBCC_DOUBLE) throw UsageError("options: no such precision");
  if (math < NBCC_FAST || math > NBCC_PRECISE) throw UsageError("options: no such math");
  if (root < NBCC_ROOT_REFINED || root > NBCC_ROOT_EXACT) throw UsageError("options: no such root");
  constexpr RootMode kRoots[] = {RootMode::Refined, RootMode::Estimate, RootMode::Exact};
  return {Precision(precision), Math(math), kRoots[root]};
}

Source source_of(const char* text, const char* name) {
  checked(text, "text");
  return {name ? name : "pipeline.pipe", text};
}

nbcc_pipeline* compile(nbcc_device* device, const Source& source, const nbcc_pipeline_options* options) {
  KernelDevice& opened = *device->device;
  const Backend& backend = backend_named(opened.backend());
  backend.provide_compiler(opened);
  TextFacts facts;
  KernelSource kernel =
      build_kernel(backend, source, compile_options(options), opened.isa(), opened.dump_folder(), facts);
  return new nbcc_pipeline{for_callers(opened.load(std::move(kernel))), std::move(facts)};
}

void add(nbcc_report& report, const Source& source, const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    report.diagnostics.push_back(diagnostic);
    report.rendered.push_back(render(source, diagnostic));
  }
}

}  // namespace
}  // namespace nbcc

using namespace nbcc;

extern "C" {

nbcc_status nbcc_pipeline_from_text(nbcc_device* device, const char* text, const char* name,
                                    const nbcc_pipeline_options* options, nbcc_pipeline** pipeline,
                                    nbcc_error** error) {
  return compiling(error, [&] {
    checked(device, "device");
    checked(pipeline, "pipeline");
    *pipeline = compile(device, source_of(text, name), options);
  });
}

nbcc_status nbcc_pipeline_from_file(nbcc_device* device, const char* path, const nbcc_pipeline_options* options,
                                    nbcc_pipeline** pipeline, nbcc_error** error) {
  return compiling(error, [&] {
    checked(device, "device");
    checked(path, "path");
    checked(pipeline, "pipeline");
    *pipeline = compile(device, read_source(path), options);
  });
}

const char* nbcc_library_names() {
  static const std::string names = fmt::format("{}\n", fmt::join(nbcc::library_pipelines(), "\n"));
  return names.c_str();
}

// Embedded texts end with a NUL.
const char* nbcc_library_text(const char* name) {
  const std::string_view text = name ? nbcc::library_text(name) : std::string_view();
  return text.empty() ? nullptr : text.data();
}

nbcc_status nbcc_check_text(const char* text, const char* name, nbcc_report** report, nbcc_error** error) {
  return compiling(error, [&] {
    checked(report, "report");
    *report = nullptr;
    const Source source = source_of(text, name);
    auto made = std::make_unique<nbcc_report>();
    try {
      std::vector<Diagnostic> warnings;
      const Pipeline pipeline = parse(source, &warnings);
      add(*made, source, warnings);
      for (const Field& field : pipeline.fields) {
        made->fields.push_back(field);
        made->types.push_back(type_name(field));
      }
      made->is_read = text_facts(pipeline).is_read;
    } catch (const CompileError& e) {
      add(*made, source, e.diagnostics);
      made->text = e.what();
      *report = made.release();
      throw;
    }
    for (const std::string& one : made->rendered) made->text += one;
    *report = made.release();
  });
}

nbcc_status nbcc_emit_text(const char* text, const char* name, const char* stage, const nbcc_pipeline_options* options,
                           const char* isa, nbcc_report** report, nbcc_error** error) {
  return compiling(error, [&] {
    checked(report, "report");
    *report = nullptr;
    checked(stage, "stage");
    const Source source = source_of(text, name);
    const Options chosen = compile_options(options);
    const Isa vectors = isa ? isa_from_name(isa) : detect_isa();
    auto made = std::make_unique<nbcc_report>();
    std::vector<Diagnostic> warnings;
    const Pipeline pipeline = parse(source, &warnings);
    add(*made, source, warnings);
    made->text = stage_text(pipeline, stage, chosen, vectors);
    *report = made.release();
  });
}

nbcc_status nbcc_adjoint_text(const char* text, const char* name, nbcc_adjoint_side side, const char* of,
                              const char* by, nbcc_report** report, nbcc_error** error) {
  return compiling(error, [&] {
    checked(report, "report");
    *report = nullptr;
    const int number = number_of(side);
    if (number < NBCC_ADJOINT_I || number > NBCC_ADJOINT_EACH_J) throw UsageError("side: no such side");
    const Source source = source_of(text, name);
    auto made = std::make_unique<nbcc_report>();
    std::vector<Diagnostic> warnings;
    const Pipeline pipeline = parse(source, &warnings);
    AdjointText adjoint = adjoint_text(pipeline, kAdjointSides[number], of ? of : "", by ? by : "");
    if (adjoint.warning) warnings.push_back(*adjoint.warning);
    add(*made, source, warnings);
    made->text = std::move(adjoint.text);
    made->adjoint_fields = std::move(adjoint.fields);
    *report = made.release();
  });
}

nbcc_status nbcc_virial_text(const char* text, const char* name, const char* force, const char* place_i,
                             const char* place_j, nbcc_report** report, nbcc_error** error) {
  return compiling(error, [&] {
    checked(report, "report");
    *report = nullptr;
    const Source source = source_of(text, name);
    auto made = std::make_unique<nbcc_report>();
    std::vector<Diagnostic> warnings;
    const Pipeline pipeline = parse(source, &warnings);
    add(*made, source, warnings);
    checked(force, "force");
    checked(place_i, "place_i");
    checked(place_j, "place_j");
    made->text = virial_text(pipeline, force, place_i, place_j);
    *report = made.release();
  });
}

nbcc_status nbcc_columns_text(const char* text, const char* name, const char* vector, const char* output, int count,
                              nbcc_report** report, nbcc_error** error) {
  return compiling(error, [&] {
    checked(report, "report");
    *report = nullptr;
    checked(vector, "vector");
    checked(output, "output");
    auto made = std::make_unique<nbcc_report>();
    made->text = columns_text(parse(source_of(text, name)), vector, output, count);
    *report = made.release();
  });
}

const char* nbcc_report_text(const nbcc_report* report) { return report ? report->text.c_str() : ""; }

int nbcc_report_diagnostic_count(const nbcc_report* report) { return report ? int(report->diagnostics.size()) : 0; }

int nbcc_report_diagnostic(const nbcc_report* report, int k, nbcc_diagnostic* diagnostic) {
  if (!diagnostic || k < 0 || k >= nbcc_report_diagnostic_count(report)) return -1;
  const Diagnostic& one = report->diagnostics[std::size_t(k)];
  *diagnostic = {nbcc_severity(one.severity), one.where.line, one.where.column, one.message.c_str(),
                 report->rendered[std::size_t(k)].c_str()};
  return 0;
}

int nbcc_report_field(const nbcc_report* report, int k, nbcc_field* field) {
  return report ? describe_field(report->fields, report->types, report->is_read, k, field) : -1;
}
int nbcc_report_adjoint_field_count(const nbcc_report* report) {
  return report ? int(report->adjoint_fields.size()) : 0;
}

int nbcc_report_adjoint_field(const nbcc_report* report, int k, nbcc_adjoint_field* field) {
  if (!field || k < 0 || k >= nbcc_report_adjoint_field_count(report)) return -1;
  const AdjointField& one = report->adjoint_fields[std::size_t(k)];
  *field = {one.field.name.c_str(), nbcc_adjoint_meaning(one.meaning), one.of.c_str(), one.partner.c_str()};
  return 0;
}

void nbcc_report_free(nbcc_report* report) { delete report; }

}  // extern "C"
