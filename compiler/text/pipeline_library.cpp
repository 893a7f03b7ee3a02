// Entry points: library_pipelines(), library_text(). The texts are embedded by compiler/CMakeLists.txt.
#include "compiler/text/pipeline_library.h"

#include <fmt/core.h>

#include "compiler/text/nearest_word.h"

namespace nbcc {

// For the empty name all names, one in a line (cmake/embed.cmake).
std::string_view embedded_pipeline(std::string_view name);

std::vector<std::string_view> library_pipelines() {
  std::vector<std::string_view> names;
  for (std::string_view rest = embedded_pipeline(""); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return names;
}

std::string_view library_text(std::string_view name) {
  return name.empty() ? std::string_view() : embedded_pipeline(name);
}

bool is_library_name(std::string_view word) {
  return !word.empty() && word.find_first_of("./\\") == std::string_view::npos;
}

std::string no_such_pipeline(std::string_view name) {
  const std::string meant = did_you_mean(name, library_pipelines());
  return fmt::format("there is no pipeline '{}' in the library{}", name,
                     meant.empty() ? "; `nbcc list` shows what there is" : meant);
}

}  // namespace nbcc
