#include "collector/cli/shell/completions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace crema {
namespace {

// In single quotes, which mean the same to all three shells but for a quote itself.
std::string Quoted(const std::string& text, const char* quote) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", quote}}), "'");
}

std::string QuotedInBash(const std::string& text) { return Quoted(text, "'\\''"); }

std::string QuotedInFish(const std::string& text) { return Quoted(absl::StrReplaceAll(text, {{"\\", "\\\\"}}), "\\'"); }

std::vector<std::string> NamesOf(const std::vector<OptionEntry>& options) {
  std::vector<std::string> names;
  for (const OptionEntry& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> NamesOf(const std::vector<CommandEntry>& commands) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands) names.push_back(command.name);
  return names;
}

std::vector<CommandEntry> WithoutProgram(const std::vector<CommandEntry>& commands) {
  return {commands.begin() + 1, commands.end()};
}

// An empty COMPREPLY has bash complete names of files.
std::string BashOptions(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    if (option.value.empty()) continue;
    absl::StrAppend(&text, "        ", absl::StrJoin(option.names, " | "),
                    ") choices=", QuotedInBash(absl::StrJoin(option.choices, " ")), " ;;\n");
  }
  const std::string names = QuotedInBash(absl::StrJoin(NamesOf(command.options), " "));
  return absl::StrCat(text, "        *) [[ $word != -* ]] || choices=", names, " ;;\n");
}

std::string BashCompletion(const std::vector<CommandEntry>& commands) {
  const CommandEntry& program = commands.front();
  const std::vector<CommandEntry> subcommands = WithoutProgram(commands);
  std::string text =
      "# bash completion for crema\n"
      "_crema() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} choices='' at\n"
      "  COMPREPLY=()\n";
  absl::StrAppend(
      &text, "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W ",
      QuotedInBash(absl::StrJoin(NamesOf(subcommands), " ") + " " + absl::StrJoin(NamesOf(program.options), " ")),
      " -- \"$word\"))\n    return\n  fi\n");
  absl::StrAppend(&text,
                  "  for ((at = 2; at < COMP_CWORD; ++at)); do\n"
                  "    [[ ${COMP_WORDS[at]} == -- ]] || continue\n"
                  "    ((COMP_CWORD > at + 1)) || COMPREPLY=($(compgen -c -- \"$word\"))\n"
                  "    return\n"
                  "  done\n"
                  "  case ${COMP_WORDS[1]} in\n");
  for (const CommandEntry& command : subcommands) {
    absl::StrAppend(&text, "    ", command.name, ")\n      case $before in\n", BashOptions(command),
                    "      esac\n      ;;\n");
  }
  absl::StrAppend(&text,
                  "  esac\n"
                  "  [[ -z $choices ]] || COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
                  "}\n"
                  "complete -o default -F _crema crema\n");
  return text;
}

// Inside [...] of _arguments, and after the colon of its values.
std::string EscapedForZsh(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string ZshValue(const OptionEntry& option) {
  if (option.value.empty()) return "";
  const std::string label = absl::StrCat(":", EscapedForZsh(option.value), ":");
  if (option.choices.empty()) return label + "_files";
  return absl::StrCat(label, "(", absl::StrJoin(option.choices, " "), ")");
}

std::string ZshArguments(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string spec = absl::StrCat("*", name, "[", EscapedForZsh(option.text), "]", ZshValue(option));
      absl::StrAppend(&text, " \\\n        ", QuotedInBash(spec));
    }
  }
  const char* rest = command.runs_another ? "*::command:_normal" : "*:file:_files";
  return absl::StrCat(text, " \\\n        ", QuotedInBash(rest));
}

std::string ZshCompletion(const std::vector<CommandEntry>& commands) {
  std::string text =
      "#compdef crema\n"
      "_crema() {\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a commands=(\n";
  for (const CommandEntry& command : WithoutProgram(commands)) {
    absl::StrAppend(&text, "      ", QuotedInBash(absl::StrCat(command.name, ":", command.text)), "\n");
  }
  absl::StrAppend(&text, "    )\n    _describe command commands\n    compadd -- ",
                  absl::StrJoin(NamesOf(commands.front().options), " "),
                  "\n    return\n  fi\n"
                  "  local name=$words[2]\n"
                  "  shift words\n"
                  "  ((CURRENT -= 1))\n"
                  "  case $name in\n");
  for (const CommandEntry& command : WithoutProgram(commands)) {
    absl::StrAppend(&text, "    ", command.name, ")\n      _arguments -S", ZshArguments(command), "\n      ;;\n");
  }
  // read from a file of $fpath it completes at once; sourced it only says what completes
  absl::StrAppend(&text,
                  "  esac\n}\n"
                  "if [[ $funcstack[1] == _crema ]]; then _crema \"$@\"; else compdef _crema crema; fi\n");
  return text;
}

std::string FishOption(const CommandEntry& command, const OptionEntry& option, const char* condition) {
  std::string text = absl::StrCat("complete -c crema -n ", QuotedInFish(condition + command.name));
  for (const std::string& name : option.names) {
    absl::StrAppend(&text, name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1));
  }
  if (!option.choices.empty()) {
    absl::StrAppend(&text, " -x -a ", QuotedInFish(absl::StrJoin(option.choices, " ")));
  } else if (!option.value.empty()) {
    absl::StrAppend(&text, " -r");
  }
  return absl::StrCat(text, " -d ", QuotedInFish(option.text), "\n");
}

std::string FishCompletion(const std::vector<CommandEntry>& commands) {
  std::string text = "# fish completion for crema\n";
  for (const CommandEntry& command : WithoutProgram(commands)) {
    absl::StrAppend(&text, "complete -c crema -f -n __fish_use_subcommand -a ", command.name, " -d ",
                    QuotedInFish(command.text), "\n");
  }
  for (const CommandEntry& command : WithoutProgram(commands)) {
    for (const OptionEntry& option : command.options) {
      absl::StrAppend(&text, FishOption(command, option, "__fish_seen_subcommand_from "));
    }
  }
  return text;
}

}  // namespace

const std::vector<ShellCompletion>& ShellCompletions() {
  static const auto* const kCompletions = new std::vector<ShellCompletion>{
      {"bash", "bash-completion/completions/crema", BashCompletion},
      {"zsh", "zsh/site-functions/_crema", ZshCompletion},
      {"fish", "fish/vendor_completions.d/crema.fish", FishCompletion},
  };
  return *kCompletions;
}

}  // namespace crema
