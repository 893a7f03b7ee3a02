// nbcc fmt: the texts of pipelines -> the same texts in one format, in their files, or on standard output. It does not
// compile them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/report/failure.h"
#include "compiler/editing/format.h"
#include "compiler/text/read_file.h"
#include "particles/files/replace_file.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// More than a pipeline may have (the prescan says how much); it ends the reading of an endless device.
constexpr std::size_t kMaxBytesToFormat = std::size_t(1) << 20;

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
};

std::string text_to_format(const std::string& file) {
  const FileContent content =
      file == "-" ? read_descriptor(STDIN_FILENO, kMaxBytesToFormat) : read_file(file, kMaxBytesToFormat);
  const std::string name = file == "-" ? "standard input" : file;
  if (!content.problem.empty()) throw UsageError(fmt::format("cannot read {}: {}", name, content.problem));
  if (!content.is_whole) throw UsageError(fmt::format("{} has more than {} bytes", name, kMaxBytesToFormat));
  if (content.bytes.find('\0') != std::string::npos)
    throw UsageError(fmt::format("{} is no text: it contains a zero byte", name));
  return content.bytes;
}

int run_fmt(const FmtOptions& options) {
  int code = kDone;
  for (const std::string& file : options.files) {
    const std::string text = text_to_format(file);
    const std::string result = formatted(text);
    if (options.check) {
      if (result == text) continue;
      fmt::print(stderr, "{} is not in the format of `nbcc fmt`\n", file == "-" ? "standard input" : file);
      code = kInputWrong;
    } else if (file == "-") {
      write_standard_output(result);
    } else if (result != text) {
      replace_file(file, result, true);
    }
  }
  return code;
}

}  // namespace

void add_fmt(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<FmtOptions>();
  CLI::App& command = *app.add_subcommand("fmt", "Format the texts of pipelines");
  command
      .add_option("FILE", options->files, "Pipelines, which are rewritten; '-': from standard input to standard output")
      ->required()
      ->type_name("");
  command.add_flag("--check", options->check, "Change nothing; exit code 1 if a text is not formatted");
  command.footer(
      "Examples:\n"
      "  nbcc fmt my_force.pipe\n"
      "  nbcc fmt --check *.pipe\n"
      "  nbcc fmt - < my_force.pipe");
  command.callback([=, &invocation] { invocation.exit_code = run_fmt(*options); });
}

}  // namespace nbcc
