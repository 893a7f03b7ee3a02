// The declared subcommands and options -> a completion script for bash, zsh or fish. Doors: declare_completion(),
// run_completion(). Everything is read off the CLI::App, so that the scripts know what the command knows.
#include "cli/command_completion.h"

#include <fmt/format.h>

#include <CLI/Validators.hpp>
#include <vector>

#include "cli/exit_code.h"
#include "cli/standard_output.h"

namespace nbcc {
namespace {

struct Word {
  std::vector<std::string> names;    // "--output", "-o"; none for a word that stands by itself
  std::vector<std::string> choices;  // the words that it takes, if these are known
  std::string description;
  bool takes_value = false;
};

struct Subcommand {
  std::string name, description;
  std::vector<Word> words;
};

// CLI11 shows the members of an IsMember as "TEXT:{a,b,c}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  std::vector<std::string> choices;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Word word_of(const CLI::Option& option) {
  Word word;
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  word.choices = choices_of(option);
  word.description = option.get_description();
  word.takes_value = option.get_items_expected_max() > 0;
  return word;
}

std::vector<Subcommand> subcommands_of(const CLI::App& app) {
  std::vector<Subcommand> subcommands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    Subcommand& subcommand = subcommands.emplace_back(Subcommand{command->get_name(), command->get_description(), {}});
    for (const CLI::Option* option : command->get_options()) subcommand.words.push_back(word_of(*option));
  }
  return subcommands;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// For the inside of single quotes; zsh's argument lists give brackets and colons a meaning as well.
std::string quoted(std::string text, bool for_zsh = false) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (for_zsh && (c == '[' || c == ']' || c == ':')) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string bash_script(const std::vector<Subcommand>& subcommands) {
  std::string names, cases;
  for (const Subcommand& subcommand : subcommands) {
    names += (names.empty() ? "" : " ") + subcommand.name;
    std::string options, plain, values;
    for (const Word& word : subcommand.words) {
      if (word.names.empty()) {
        plain = joined(word.choices);
        continue;
      }
      options += (options.empty() ? "" : " ") + joined(word.names);
      if (!word.choices.empty()) {
        values += fmt::format("        {}) words='{}' ;;\n", fmt::join(word.names, "|"), joined(word.choices));
      }
    }
    cases += fmt::format(
        "    {})\n"
        "      case $previous in\n{}"
        "        *) if [[ $current == -* ]]; then words='{}'; else words='{}'; fi ;;\n"
        "      esac ;;\n",
        subcommand.name, values, options, plain);
  }
  return fmt::format(
      "# Completion of nbcc for bash: source <(nbcc completion bash)\n"
      "_nbcc() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=''\n"
      "  if (( COMP_CWORD == 1 )); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
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
      names, cases);
}

std::string zsh_script(const std::vector<Subcommand>& subcommands) {
  std::string names, cases;
  for (const Subcommand& subcommand : subcommands) {
    names += fmt::format("    '{}:{}'\n", subcommand.name, quoted(subcommand.description));
    cases += fmt::format("    {})\n      _arguments", subcommand.name);
    bool has_plain = false;
    for (const Word& word : subcommand.words) {
      const std::string values = word.choices.empty() ? "_files" : fmt::format("({})", joined(word.choices));
      if (word.names.empty()) {
        has_plain = true;
        cases += fmt::format(" \\\n        '*:{}:{}'", quoted(word.description, true), values);
      }
      for (const std::string& name : word.names) {
        cases += fmt::format(" \\\n        '{}[{}]{}'", name, quoted(word.description, true),
                             word.takes_value ? fmt::format(":value:{}", values) : "");
      }
    }
    cases += (has_plain ? "" : " \\\n        '*:file:_files'") + std::string(" ;;\n");
  }
  return fmt::format(
      "#compdef nbcc\n"
      "# Completion of nbcc for zsh: source <(nbcc completion zsh), or put it as _nbcc into a folder of $fpath\n"
      "_nbcc() {{\n"
      "  local -a subcommands=(\n{}  )\n"
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
      names, cases);
}

std::string fish_script(const std::vector<Subcommand>& subcommands) {
  std::string script = "# Completion of nbcc for fish: nbcc completion fish | source\n";
  for (const Subcommand& subcommand : subcommands) {
    script += fmt::format("complete -c nbcc -n __fish_use_subcommand -f -a {} -d '{}'\n", subcommand.name,
                          quoted(subcommand.description));
    const std::string here = fmt::format("complete -c nbcc -n '__fish_seen_subcommand_from {}'", subcommand.name);
    for (const Word& word : subcommand.words) {
      if (word.names.empty()) {
        if (!word.choices.empty()) script += fmt::format("{} -f -a '{}'\n", here, joined(word.choices));
        continue;
      }
      std::string names;
      for (const std::string& name : word.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string values = !word.choices.empty() ? fmt::format(" -x -a '{}'", joined(word.choices))
                                 : word.takes_value    ? " -r"
                                                       : "";
      script += fmt::format("{}{}{} -d '{}'\n", here, names, values, quoted(word.description));
    }
  }
  return script;
}

}  // namespace

void declare_completion(CLI::App& app, CompletionOptions& options) {
  app.add_option("SHELL", options.shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "Examples:\n"
      "  source <(nbcc completion bash)\n"
      "  nbcc completion fish > ~/.config/fish/completions/nbcc.fish");
}

int run_completion(const CompletionOptions& options) {
  const std::vector<Subcommand> subcommands = subcommands_of(*options.application);
  write_standard_output(options.shell == "bash"  ? bash_script(subcommands)
                        : options.shell == "zsh" ? zsh_script(subcommands)
                                                 : fish_script(subcommands));
  return kDone;
}

}  // namespace nbcc
