// nbcc completion: prints a completion script for bash, zsh or fish. The subcommands and options are read from the
// CLI::App, so that the scripts always match the command. Names of fields are those of the pipeline in the command
// line: the scripts ask for them by `nbcc completion --fields FILE`.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/machine/programs.h"
#include "cli/options/option_choices.h"
#include "cli/report/standard_output.h"
#include "compiler/source/parse.h"
#include "compiler/text/pipeline_library.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

struct OptionWord {
  std::vector<std::string> names;  // "--output", "-o"; none for a positional argument
  std::string choices;             // the possible values, separated by blanks, if they are known
  std::string description;
  bool takes_value = false;
  bool is_pipeline = false;  // a positional argument that may name a pipeline of the library
  std::string roles;         // of the fields that the value names, separated by blanks; empty: it names none
};

// Options whose values begin with the name of a field.
constexpr std::pair<std::string_view, std::string_view> kFieldOptions[] = {
    {"--param", "param"},
    {"--box", "param"},
    {"--bind", "input_i input_j"},
    {"--of", "output"},
    {"--by", "input_i input_j input_pair param"}};

OptionWord option_word(const CLI::Option& option) {
  OptionWord word;
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  word.choices = fmt::format("{}", fmt::join(choices_of(option), " "));
  word.description = option.get_description();
  word.takes_value = option.get_items_expected_max() > 0;
  word.is_pipeline = word.names.empty() && word.description.find("`nbcc list`") != std::string::npos;
  for (const auto& [name, roles] : kFieldOptions)
    if (std::ranges::find(word.names, name) != word.names.end()) word.roles = roles;
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
                             : !word.roles.empty() ? fmt::format(" -x -a '(__nbcc_fields {})'", word.roles)
                             : word.takes_value    ? " -r"
                                                   : "";
  return fmt::format("{}{} -d '{}'", names, values, quoted(word.description));
}

// The scripts complete subcommands, the options of each subcommand, the options of `nbcc` without a subcommand, such as
// --version, pipelines of the library and names of fields. Other values are completed as files.
std::string bash_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    std::string plain, values;
    std::vector<OptionWord> options;
    for (const OptionWord& word : option_words(*command)) {
      if (word.names.empty()) {
        plain = word.is_pipeline ? "words=$pipelines; files=yes" : fmt::format("words='{}'", word.choices);
        continue;
      }
      options.push_back(word);
      if (!word.choices.empty())
        values += fmt::format("        {}) words='{}' ;;\n", fmt::join(word.names, "|"), word.choices);
      else if (!word.roles.empty())
        values += fmt::format("        {}) _nbcc_fields '{}'; return ;;\n", fmt::join(word.names, "|"), word.roles);
      else if (word.takes_value)
        values += fmt::format("        {}) ;;\n", fmt::join(word.names, "|"));
    }
    cases += fmt::format(
        "    {})\n"
        "      case $previous in\n{}"
        "        *) if [[ $current == -* ]]; then words='{}'; else {}; fi ;;\n"
        "      esac ;;\n",
        command->get_name(), values, joined_names(options), plain.empty() ? "words=''" : plain);
  }
  return fmt::format(
      "# Completion of nbcc for bash: source <(nbcc completion bash)\n"
      "_nbcc_fields() {{\n"
      "  local word role name names=''\n"
      "  for word in \"${{COMP_WORDS[@]:2}}\"; do\n"
      "    [[ $word == -* || -z $word ]] && continue\n"
      "    while read -r role name; do\n"
      "      [[ \" $1 \" != *\" $role \"* ]] || names+=\" $name\"\n"
      "    done < <(\"${{COMP_WORDS[0]}}\" completion --fields \"$word\" 2>/dev/null)\n"
      "    [[ -z $names ]] || break\n"
      "  done\n"
      "  COMPREPLY=($(compgen -W \"$names\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "  compopt -o nospace 2>/dev/null\n"
      "}}\n"
      "_nbcc() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words='' files=''\n"
      "  local pipelines='{3}'\n"
      "  if (( COMP_CWORD == 1 )); then\n"
      "    COMPREPLY=($(compgen -W '{0} {1}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "    -*) words='{1}' ;;\n"
      "{2}"
      "  esac\n"
      "  [[ -z $words ]] || COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  if [[ -z $words || -n $files ]]; then\n"
      "    local IFS=$'\\n'\n"
      "    COMPREPLY+=($(compgen -f -- \"$current\"))\n"
      "    compopt -o filenames 2>/dev/null\n"
      "  fi\n"
      "}}\n"
      "complete -F _nbcc nbcc\n",
      names, joined_names(option_words(app)), cases, fmt::join(library_pipelines(), " "));
}

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description()));
    cases += fmt::format("    {})\n      _arguments", command->get_name());
    bool has_plain = false;
    for (const OptionWord& word : option_words(*command)) {
      const std::string values = word.is_pipeline       ? "_nbcc_pipelines"
                                 : !word.roles.empty()  ? "_nbcc_fields " + word.roles
                                 : word.choices.empty() ? "_files"
                                                        : fmt::format("({})", word.choices);
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
      "_nbcc_pipelines() {{ _alternative 'pipelines:pipeline:({})' 'files:file:_files'; }}\n"
      "_nbcc_fields() {{\n"
      "  local word role name\n"
      "  local -a names\n"
      "  for word in ${{words[2,-1]}}; do\n"
      "    [[ $word == -* || -z $word ]] && continue\n"
      "    while read -r role name; do\n"
      "      [[ \" $* \" == *\" $role \"* ]] && names+=($name)\n"
      "    done < <(nbcc completion --fields $word 2>/dev/null)\n"
      "    (( $#names )) && break\n"
      "  done\n"
      "  compadd -S '' -a names\n"
      "}}\n"
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
      fmt::join(library_pipelines(), " "), names, options, cases);
}

std::string fish_script(const CLI::App& app) {
  std::string script =
      "# Completion of nbcc for fish: nbcc completion fish | source\n"
      "function __nbcc_fields\n"
      "  for word in (commandline -opc)[3..-1]\n"
      "    string match -q -- '-*' $word; and continue\n"
      "    set -l lines (nbcc completion --fields $word 2>/dev/null)\n"
      "    for line in $lines\n"
      "      set -l parts (string split ' ' $line)\n"
      "      contains -- $parts[1] $argv; and echo $parts[2]\n"
      "    end\n"
      "    test (count $lines) -gt 0; and break\n"
      "  end\n"
      "end\n";
  for (const OptionWord& word : option_words(app))
    script += "complete -c nbcc -n __fish_use_subcommand" + fish_option(word) + "\n";
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    script += fmt::format("complete -c nbcc -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                          quoted(command->get_description()));
    const std::string here = fmt::format("complete -c nbcc -n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const OptionWord& word : option_words(*command)) {
      if (word.names.empty()) {
        if (word.is_pipeline) script += fmt::format("{} -a '{}'\n", here, fmt::join(library_pipelines(), " "));
        if (!word.choices.empty()) script += fmt::format("{} -f -a '{}'\n", here, word.choices);
        continue;
      }
      script += here + fish_option(word) + "\n";
    }
  }
  return script;
}

// "param eps2\n" for each field.
std::string fields_of_file(const std::string& file) {
  std::string text;
  for (const Field& field : parse(read_source(file)).fields)
    text += fmt::format("{} {}\n", name(field.role), field.name);
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Invocation&) {
  const auto shell = std::make_shared<std::string>(), file = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print a script that completes nbcc's words in a shell");
  command.add_option("SHELL", *shell, "The shell")->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.add_option("--fields", *file, "Instead: the fields of this pipeline, each with its role before it");
  command.footer(
      "Examples:\n"
      "  source <(nbcc completion bash)\n"
      "  nbcc completion fish > ~/.config/fish/completions/nbcc.fish");
  command.callback([=, &app] {
    if (shell->empty() == file->empty()) throw UsageError("expected a shell (bash, zsh or fish), or --fields FILE");
    if (!file->empty()) return write_standard_output(fields_of_file(*file));
    const auto script = *shell == "bash" ? bash_script : *shell == "zsh" ? zsh_script : fish_script;
    write_standard_output(script(app));
  });
}

}  // namespace nbcc
