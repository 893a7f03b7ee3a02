// nbcc inspect: prints a summary of the pipelines in a compiled library, as text or JSON. Reads the file's sections
// only and does not load it, so that libraries for other machines can be inspected.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/report/field_list.h"
#include "cli/report/standard_output.h"
#include "jit/library_text.h"
#include "jit/read_library.h"
#include "particles/file_error.h"
#include "particles/files/read_input.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/error.h"
#include "runtime/image/image.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string file;
  bool json = false;
};

std::string isa_of(const KernelSource& kernel) { return kernel.target.substr(kernel.target.find('-') + 1); }

// The GPU code of one architecture, cubin or PTX: number of programs, total bytes, CUDA version.
struct Code {
  int programs = 0;
  std::size_t bytes = 0;
  std::string toolkit;
};
std::map<std::pair<bool, std::string>, Code> codes_of(const PipelineImage& image) {
  std::map<std::pair<bool, std::string>, Code> codes;
  for (const CudaImage& one : image.cuda_images) {
    Code& code = codes[{one.ptx, one.architecture}];
    ++code.programs;
    code.bytes += one.bytes.size();
    code.toolkit = cuda_version_text(one.toolkit);
  }
  return codes;
}

std::string text_of(const PipelineImage& image) {
  std::string text = fmt::format("{}: {}, {} precision, {} math, {} roots\n", image.cuda.pipeline, image.made_by,
                                 image.precision, image.math, image.root);
  text += field_lines(image.cuda.caller_fields());
  std::vector<std::string> isas;
  for (const KernelSource& kernel : image.cpu) isas.push_back(isa_of(kernel));
  text += fmt::format("  CPU: {}\n", isas.empty() ? "none" : fmt::format("{}", fmt::join(isas, ", ")));
  for (const auto& [what, code] : codes_of(image)) {
    text += fmt::format("  GPU: {}{}, {} program{}, {} bytes, by CUDA {}\n", what.first ? "PTX of " : "", what.second,
                        code.programs, code.programs == 1 ? "" : "s", code.bytes, code.toolkit);
  }
  return text + fmt::format("  GPU: text, {} bytes\n", image.cuda.first().source.size());
}

Json json_of(const PipelineImage& image) {
  Json cpu = Json::array(), cuda = Json::array();
  for (const KernelSource& kernel : image.cpu) cpu.push_back(isa_of(kernel));
  for (const CudaImage& one : image.cuda_images) {
    Json config;
    for (const LaunchNumber& number : kLaunchNumbers)
      if (number.member != &LaunchConfig::j_splits) config[number.name] = one.config.*number.member;
    cuda.push_back({{"architecture", one.architecture},
                    {"form", one.ptx ? "ptx" : "cubin"},
                    {"launch_configuration", config},
                    {"bytes", one.bytes.size()},
                    {"cuda", cuda_version_text(one.toolkit)}});
  }
  return {{"pipeline", image.cuda.pipeline},
          {"made_by", image.made_by},
          {"precision", image.precision},
          {"math", image.math},
          {"root", image.root},
          {"operations", image.cuda.operations},
          {"fields", json_of(image.cuda.caller_fields())},
          {"cpu", cpu},
          {"cuda", cuda},
          {"cuda_text_bytes", image.cuda.first().source.size()}};
}

std::vector<PipelineImage> images_of(const std::string& path, const std::string& bytes) {
  std::vector<PipelineImage> images;
  try {
    for (const std::string& section : sections_of_library(bytes, kImageSectionPrefix)) {
      images.push_back(read_image(section));
    }
  } catch (const UsageError& e) {
    throw FileError(path, e.what());
  }
  if (images.empty()) throw FileError(path, "holds no pipelines");
  return images;
}

void run_inspect(const InspectOptions& options) {
  const std::string bytes = read_input(options.file, "a library");
  const std::vector<PipelineImage> images = images_of(options.file, bytes);
  if (options.json) {
    Json pipelines = Json::array();
    for (const PipelineImage& image : images) pipelines.push_back(json_of(image));
    return write_json({{"file", options.file}, {"bytes", bytes.size()}, {"pipelines", pipelines}});
  }
  std::string text = fmt::format("{}: {} bytes, {} pipeline{}\n", options.file, bytes.size(), images.size(),
                                 images.size() == 1 ? "" : "s");
  for (const PipelineImage& image : images) text += "\n" + text_of(image);
  write_standard_output(text);
}

}  // namespace

void add_inspect(CLI::App& app, Invocation&) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App& command = *app.add_subcommand("inspect", "Show what a library made by compile holds");
  command.add_option("FILE", options->file, "A library, shared or static, or a program that a static one is part of")
      ->required()
      ->type_name("");
  command.add_flag("--json", options->json, "An object on standard output");
  command.footer(
      "Examples:\n"
      "  nbcc inspect libforces.so\n"
      "  nbcc inspect --json libforces.a");
  command.callback([=] { run_inspect(*options); });
}

}  // namespace nbcc
