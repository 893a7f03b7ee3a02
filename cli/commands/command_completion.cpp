// nbcc completion: prints a completion script for bash, zsh or fish. The subcommands and options are read from the
// CLI::App, so that the scripts always match the command.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/machine/programs.h"
#include "cli/options/option_choices.h"
#include "cli/report/standard_output.h"

namespace nbcc {
namespace {

struct OptionWord {
  std::vector<std::string> names;  // "--output", "-o"; none for a positional argument
  std::string choices;             // the possible values, separated by blanks, if they are known
  std::string description;
  bool takes_value = false;
};

OptionWord option_word(const CLI::Option& option) {
  OptionWord word;
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  word.choices = fmt::format("{}", fmt::join(choices_of(option), " "));
  word.description = option.get_description();
  word.takes_value = option.get_items_expected_max() > 0;
  return word;
}

std::vector<OptionWord> option_words(const CLI::App& command) {
  std::vector<OptionWord> words;
  for (const CLI::Option* option : command.get_options()) words.push_back(option_word(*option));
  return words;
}

// Escapes a text for single quotes; for zsh's argument lists also brackets and colons.
std::string quoted(const std::string& text, bool for_zsh = false) {
  std::string result;
  for (const char c : text) {
    if (for_zsh && (c == '[' || c == ']' || c == ':')) result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

std::string joined_names(const std::vector<OptionWord>& words) {
  std::string names;
  for (const OptionWord& word : words)
    names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(word.names, " "));
  return names;
}

// An option as zsh's _arguments takes it, for each of its names.
std::string zsh_arguments(const OptionWord& word, const std::string& values) {
  std::string arguments;
  for (const std::string& name : word.names)
    arguments += fmt::format(" \\\n        '{}[{}]{}'", name, quoted(word.description, true),
                             word.takes_value ? fmt::format(":value:{}", values) : "");
  return arguments;
}

// An option as the command `complete` of fish takes it.
std::string fish_option(const OptionWord& word) {
  std::string names;
  for (const std::string& name : word.names)
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  const std::string values = !word.choices.empty() ? fmt::format(" -x -a '{}'", word.choices)
                             : word.takes_value    ? " -r"
                                                   : "";
  return fmt::format("{}{} -d '{}'", names, values, quoted(word.description));
}

// The scripts complete subcommands, the options of each subcommand, and the options of `nbcc` without a subcommand,
// such as --version. They do not complete values.
std::string bash_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    std::string plain, values;
    std::vector<OptionWord> options;
    for (const OptionWord& word : option_words(*command)) {
      if (word.names.empty()) {
        plain = word.choices;
        continue;
      }
      options.push_back(word);
      if (!word.choices.empty()) {
        values += fmt::format("        {}) words='{}' ;;\n", fmt::join(word.names, "|"), word.choices);
      }
    }
    cases += fmt::format(
        "    {})\n"
        "      case $previous in\n{}"
        "        *) if [[ $current == -* ]]; then words='{}'; else words='{}'; fi ;;\n"
        "      esac ;;\n",
        command->get_name(), values, joined_names(options), plain);
  }
  return fmt::format(
      "# Completion of nbcc for bash: source <(nbcc completion bash)\n"
      "_nbcc() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=''\n"
      "  if (( COMP_CWORD == 1 )); then\n"
      "    COMPREPLY=($(compgen -W '{0} {1}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "    -*) words='{1}' ;;\n"
      "{2}"
      "  esac\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  else\n"
      "    local IFS=$'\\n'\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "    compopt -o filenames 2>/dev/null\n"
      "  fi\n"
      "}}\n"
      "complete -F _nbcc nbcc\n",
      names, joined_names(option_words(app)), cases);
}

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description()));
    cases += fmt::format("    {})\n      _arguments", command->get_name());
    bool has_plain = false;
    for (const OptionWord& word : option_words(*command)) {
      const std::string values = word.choices.empty() ? "_files" : fmt::format("({})", word.choices);
      if (word.names.empty()) {
        has_plain = true;
        cases += fmt::format(" \\\n        '*:{}:{}'", quoted(word.description, true), values);
      }
      cases += zsh_arguments(word, values);
    }
    cases += (has_plain ? "" : " \\\n        '*:file:_files'") + std::string(" ;;\n");
  }
  std::string options;
  for (const OptionWord& word : option_words(app)) options += zsh_arguments(word, "");
  return fmt::format(
      "#compdef nbcc\n"
      "# Completion of nbcc for zsh: source <(nbcc completion zsh), or put it as _nbcc into a folder of $fpath\n"
      "_nbcc() {{\n"
      "  local -a subcommands=(\n{}  )\n"
      "  if [[ $words[2] == -* ]]; then\n"
      "    _arguments{}\n"
      "    return\n"
      "  fi\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe 'subcommand' subcommands\n"
      "    return\n"
      "  fi\n"
      "  local subcommand=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $subcommand in\n{}"
      "  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _nbcc ]]; then _nbcc \"$@\"; else compdef _nbcc nbcc; fi\n",
      names, options, cases);
}

std::string fish_script(const CLI::App& app) {
  std::string script = "# Completion of nbcc for fish: nbcc completion fish | source\n";
  for (const OptionWord& word : option_words(app))
    script += "complete -c nbcc -n __fish_use_subcommand" + fish_option(word) + "\n";
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    script += fmt::format("complete -c nbcc -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                          quoted(command->get_description()));
    const std::string here = fmt::format("complete -c nbcc -n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const OptionWord& word : option_words(*command)) {
      if (word.names.empty()) {
        if (!word.choices.empty()) script += fmt::format("{} -f -a '{}'\n", here, word.choices);
        continue;
      }
      script += here + fish_option(word) + "\n";
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, Invocation&) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print a script that completes nbcc's words in a shell");
  command.add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer(
      "Examples:\n"
      "  source <(nbcc completion bash)\n"
      "  nbcc completion fish > ~/.config/fish/completions/nbcc.fish");
  command.callback([=, &app] {
    const auto script = *shell == "bash" ? bash_script : *shell == "zsh" ? zsh_script : fish_script;
    write_standard_output(script(app));
  });
}

}  // namespace nbcc
