// The subcommands, options and values are read from the CLI::App. Entry point: meant_words().
#include "cli/options/meant_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "cli/options/option_choices.h"
#include "compiler/text/nearest_word.h"

namespace nbcc {
namespace {

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  if (std::ranges::find(candidates, word) != candidates.end()) return "";
  const std::string_view nearest = nearest_word(word, candidates);
  return nearest.empty() ? "" : fmt::format("Did you mean '{}'?\n", nearest);
}

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options())
    if (option->check_name(name)) return option;
  return nullptr;
}

}  // namespace

std::string meant_words(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::vector<std::string> commands, options;
  for (const CLI::App* one : app.get_subcommands(nullptr)) {
    commands.push_back(one->get_name());
    if (!words.empty() && words[0] == one->get_name()) command = one;
  }
  std::string text;
  if (command == &app && !words.empty() && !words[0].starts_with('-')) return meant(words[0], commands);
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (!words[k].starts_with("--")) {
      // A positional argument, or the value of an option, which is looked at below.
      for (const CLI::Option* option : command->get_options())
        if (option->get_positional() && k == 1) text += meant(words[k], choices_of(*option));
      continue;
    }
    const std::size_t equal = words[k].find('=');
    const std::string name = words[k].substr(0, equal);
    const CLI::Option* const option = option_named(*command, name);
    if (!option) {
      text += meant(name, options);
      continue;
    }
    const std::vector<std::string> choices = choices_of(*option);
    if (choices.empty()) continue;
    if (equal != std::string::npos)
      text += meant(words[k].substr(equal + 1), choices);
    else if (k + 1 < words.size())
      text += meant(words[k + 1], choices);
  }
  return text;
}

}  // namespace nbcc
