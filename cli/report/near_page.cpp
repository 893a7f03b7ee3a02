// The words of an error's message -> a section of docs/reference/language.md. Entry points: near_page(), help_line().
#include "cli/report/near_page.h"

#include <algorithm>
#include <array>

namespace nbcc {
namespace {

struct Topic {
  std::string_view words, section;
};

// The first row counts whose words are in the message: specific words are above general ones.
constexpr std::array kTopics = std::to_array<Topic>({
    {"#define IDIM", "the-dialect-of-cunbody-1"},
    {"#define JDIM", "the-dialect-of-cunbody-1"},
    {"#define FDIM", "the-dialect-of-cunbody-1"},
    {"INPUT_I", "the-dialect-of-cunbody-1"},
    {"INPUT_J", "the-dialect-of-cunbody-1"},
    {"OUTPUT", "the-dialect-of-cunbody-1"},
    {"#", "directives"},
    {"directive", "directives"},
    {"did you mean", "built-in-functions-and-constants"},
    {"every_image", "every-periodic-image"},
    {"image_index", "every-periodic-image"},
    {"histogram", "histograms"},
    {"input_pair", "results-of-pairs"},
    {"output(pair)", "results-of-pairs"},
    {"finish", "finish"},
    {"total", "totals"},
    {"payload", "several-slots-and-payloads"},
    {"output(at)", "several-slots-and-payloads"},
    {"several indices", "several-slots-and-payloads"},
    {"grad", "derivatives"},
    {"ddt", "derivatives"},
    {"derivative", "derivatives"},
    {"differentia", "derivatives"},
    {"table", "tables"},
    {"spline", "tables"},
    {"index", "tables"},
    {"complex", "complex-numbers"},
    {"reduction", "reductions"},
    {"output(", "reductions"},
    {"output '", "reductions"},
    {"argmin", "reductions"},
    {"argmax", "reductions"},
    {"logsumexp", "reductions"},
    {"softmax", "reductions"},
    {"is not in the language", "what-is-not-in-the-language"},
    {"is reserved", "what-is-not-in-the-language"},
    {"operator", "operators"},
    {"array", "arrays"},
    {"element", "arrays"},
    {"vec", "types"},
    {"matri", "types"},
    {"mat2", "types"},
    {"mat3", "types"},
    {"mat4", "types"},
    {"scalar", "types"},
    {"type", "types"},
    {"the arguments do not fit", "built-in-functions-and-constants"},
    {"is built in", "built-in-functions-and-constants"},
    {"input_i", "fields"},
    {"input_j", "fields"},
    {"param", "fields"},
    {"field", "fields"},
    {"at most", "limits"},
    {"limit", "limits"},
    {"function", "statements"},
    {"statement", "statements"},
    {"loop", "statements"},
    {"unset here", "statements"},
    {"a for", "statements"},
    {"the if", "statements"},
    {"a cast", "types"},
    {"bool", "types"},
});

}  // namespace

std::string near_page(const std::vector<Diagnostic>& diagnostics) {
  const auto error = std::ranges::find(diagnostics, Severity::Error, &Diagnostic::severity);
  if (error == diagnostics.end()) return "";
  std::string_view section = "diagnostics";
  for (const Topic& topic : kTopics) {
    if (error->message.find(topic.words) == std::string::npos) continue;
    section = topic.section;
    break;
  }
  return "docs/reference/language.md#" + std::string(section);
}

std::string help_line(const std::vector<Diagnostic>& diagnostics) {
  const std::string page = near_page(diagnostics);
  return page.empty() ? "" : "help: " + page + "\n";
}

}  // namespace nbcc
