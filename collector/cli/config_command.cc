// `crema config`: how code is built with the SDK that was installed together with the program, and files for shells.
#include <cerrno>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "collector/cli/doctor_command.h"
#include "collector/cli/subcommand.h"
#include "collector/idioms/sequences.h"
#include "collector/records/json_fields.h"
#include "crema/version.h"

namespace crema {
namespace {

// The commands and options of the program, as its parser knows them: for shells and manual pages.

struct OptionEntry {
  std::vector<std::string> names;    ///< with their dashes, short ones first
  std::string text;                  ///< what the help says of it
  std::string value;                 ///< the kind of its value, as in the help; empty for a flag
  std::vector<std::string> choices;  ///< the only values there are; empty where there are others
};

struct CommandEntry {
  std::string name;  ///< `run`; for the program itself `crema`
  std::string text;
  std::vector<std::string> usage;        ///< a line each
  std::vector<OptionEntry> options;      ///< with --help
  std::vector<OptionEntry> positionals;  ///< with one name each
  std::string footer;                    ///< explanations, examples
  bool runs_another = false;             ///< a command of the user's follows `--`
};

OptionEntry ShownOf(const CLI::Option& option) {
  OptionEntry shown;
  for (const std::string& name : option.get_snames()) shown.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shown.names.push_back("--" + name);
  if (option.get_positional()) shown.names = {option.get_name()};
  shown.text = option.get_description();
  // CLI::IsMember writes the choices into it: `TEXT:{auto,always,never}`
  const std::string type = option.get_type_name();
  if (const size_t brace = type.find('{'); brace != type.npos) {
    shown.choices = absl::StrSplit(type.substr(brace + 1, type.size() - brace - 2), ',');
  }
  shown.value = KindOfValue(option);
  return shown;
}

// A command may have a usage of its own, which only its help shows.
std::vector<std::string> UsageOf(const CLI::App& command, const std::string& program) {
  const auto formatter = std::static_pointer_cast<CLI::Formatter>(command.get_formatter());
  const std::string name = program.empty() ? command.get_name() : program + " " + command.get_name();
  std::vector<std::string> usage =
      absl::StrSplit(formatter->make_usage(&command, name).substr(sizeof("Usage:")), '\n', absl::SkipEmpty());
  for (std::string& line : usage) absl::StripLeadingAsciiWhitespace(&line);
  return usage;
}

CommandEntry ShownOf(const CLI::App& command, const std::string& program) {
  CommandEntry shown;
  shown.name = command.get_name();
  shown.text = command.get_description();
  shown.footer = command.get_footer();
  shown.usage = UsageOf(command, program);
  for (const std::string& line : shown.usage) shown.runs_another |= absl::StrContains(line, " -- ");
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? shown.positionals : shown.options).push_back(ShownOf(*option));
  }
  return shown;
}

/// The program first, then its commands in the order of its help.
std::vector<CommandEntry> CommandTable(const CLI::App& program) {
  std::vector<CommandEntry> shown = {ShownOf(program, "")};
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    shown.push_back(ShownOf(*command, program.get_name()));
  }
  return shown;
}

// Manual pages: crema(1), and one for each command.

// Plain text as man(7) shows it: a dash that can be copied, no line that is taken for a request.
std::string Shown(absl::string_view text) {
  std::string shown = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  const bool is_request = absl::StartsWith(shown, ".") || absl::StartsWith(shown, "'");
  return absl::StrCat(is_request ? "\\&" : "", shown);
}

std::string PageName(const std::string& program, const CommandEntry& command) {
  return command.name == program ? program : absl::StrCat(program, "-", command.name);
}

void AppendOptions(const char* heading, const std::vector<OptionEntry>& options, std::string* text) {
  if (options.empty()) return;
  absl::StrAppend(text, ".SH ", heading, "\n");
  for (const OptionEntry& option : options) {
    absl::StrAppend(text, ".TP\n\\fB", Shown(absl::StrJoin(option.names, ", ")), "\\fR");
    const bool is_positional = !absl::StartsWith(option.names.front(), "-");
    if (!option.value.empty() && !is_positional) absl::StrAppend(text, " \\fI", Shown(option.value), "\\fR");
    absl::StrAppend(text, "\n", Shown(option.text), "\n");
  }
}

void AppendFooter(const std::string& footer, std::string* text) {
  if (footer.empty()) return;
  absl::StrAppend(text, ".SH NOTES\n.nf\n");
  for (const absl::string_view line : absl::StrSplit(footer, '\n')) absl::StrAppend(text, Shown(line), "\n");
  absl::StrAppend(text, ".fi\n");
}

std::vector<CommandEntry> WithoutProgram(const std::vector<CommandEntry>& commands) {
  return {commands.begin() + 1, commands.end()};
}

void AppendCommands(const std::vector<CommandEntry>& commands, std::string* text) {
  absl::StrAppend(text, ".SH COMMANDS\n");
  for (const CommandEntry& command : WithoutProgram(commands)) {
    absl::StrAppend(text, ".TP\n\\fB", PageName(commands.front().name, command), "\\fR(1)\n", Shown(command.text),
                    "\n");
  }
}

/// In the language of man(7). It names no date, so that equal programs write equal pages.
std::string PageOf(const CommandEntry& command, const std::vector<CommandEntry>& commands) {
  const CommandEntry& program = commands.front();
  const std::string name = PageName(program.name, command);
  std::string text = absl::StrCat(".TH ", absl::AsciiStrToUpper(name), " 1 \"\" \"", program.name,
                                  " " CREMA_VERSION_STRING "\" \"\"\n.SH NAME\n", name, " \\- ", Shown(command.text),
                                  "\n.SH SYNOPSIS\n");
  for (const std::string& line : command.usage) absl::StrAppend(&text, ".nf\n", Shown(line), "\n.fi\n");
  AppendOptions("ARGUMENTS", command.positionals, &text);
  AppendOptions("OPTIONS", command.options, &text);
  if (&command == &program) AppendCommands(commands, &text);
  AppendFooter(command.footer, &text);
  if (&command != &program) absl::StrAppend(&text, ".SH SEE ALSO\n\\fB", program.name, "\\fR(1)\n");
  return text;
}

// What a shell completes after `crema`, written as a script in its language.

struct ShellCompletion {
  const char* shell;  ///< its name
  const char* path;   ///< where the shell looks for it, below a `share` directory
  std::string (*write)(const std::vector<CommandEntry>& commands);
};

std::string QuotedInFish(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string NamesOf(const std::vector<OptionEntry>& options) {
  return absl::StrJoin(options, " ", [](std::string* text, const OptionEntry& option) {
    absl::StrAppend(text, absl::StrJoin(option.names, " "));
  });
}

// An empty COMPREPLY has bash complete names of files.
std::string BashOptions(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    if (option.value.empty()) continue;
    absl::StrAppend(&text, "        ", absl::StrJoin(option.names, " | "),
                    ") choices=", ShellWord(absl::StrJoin(option.choices, " ")), " ;;\n");
  }
  const std::string names = ShellWord(NamesOf(command.options));
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
  absl::StrAppend(&text, "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W ",
                  ShellWord(absl::StrJoin(Mapped<std::string>(subcommands, &CommandEntry::name), " ") + " " +
                            NamesOf(program.options)),
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
      absl::StrAppend(&text, " \\\n        ", ShellWord(spec));
    }
  }
  const char* rest = command.runs_another ? "*::command:_normal" : "*:file:_files";
  return absl::StrCat(text, " \\\n        ", ShellWord(rest));
}

std::string ZshCompletion(const std::vector<CommandEntry>& commands) {
  std::string text =
      "#compdef crema\n"
      "_crema() {\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a commands=(\n";
  for (const CommandEntry& command : WithoutProgram(commands)) {
    absl::StrAppend(&text, "      ", ShellWord(absl::StrCat(command.name, ":", command.text)), "\n");
  }
  absl::StrAppend(&text, "    )\n    _describe command commands\n    compadd -- ", NamesOf(commands.front().options),
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

/// One for each shell that has a script.
constexpr ShellCompletion kShellCompletions[] = {
    {"bash", "bash-completion/completions/crema", BashCompletion},
    {"zsh", "zsh/site-functions/_crema", ZshCompletion},
    {"fish", "fish/vendor_completions.d/crema.fish", FishCompletion},
};

namespace fs = std::filesystem;
struct ConfigOptions {
  bool of_c = false;
  bool root_macro = false;
  std::string shell;
  std::string share;
  OutputOptions output;
};

struct Setting {
  const char* option;
  const char* text;
  fs::path InstalledSdk::*path;  ///< nullptr: it is a field of a pkg-config module
  const char* field = "";
};

// In the order in which they are printed.
constexpr Setting kSettings[] = {
    {"prefix", "Print the directory in which crema is installed, for CMAKE_PREFIX_PATH", &InstalledSdk::prefix},
    {"cmake-dir", "Print the directory of the CMake package, for crema_DIR", &InstalledSdk::cmake_dir},
    {"pkg-config-dir", "Print the directory of crema.pc, crema_cpp.pc and crema_c.pc, for PKG_CONFIG_PATH",
     &InstalledSdk::pkg_config_dir},
    {"include-dir", "Print the directory of the headers", &InstalledSdk::include_dir},
    {"cflags", "Print the flags for the compiler", nullptr, "Cflags"},
    {"libs", "Print the flags for the linker", nullptr, "Libs"},
};

void WriteWhole(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) OrFail(absl::UnavailableError(absl::StrCat(path.parent_path().string(), ": ", error.message())));
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) OrFail(absl::ErrnoToStatus(errno, path.string()));
}

void WriteShare(const fs::path& share, const std::vector<CommandEntry>& commands) {
  for (const CommandEntry& command : commands) {
    WriteWhole(share / "man/man1" / (PageName(commands.front().name, command) + ".1"), PageOf(command, commands));
  }
  for (const ShellCompletion& completion : kShellCompletions) {
    WriteWhole(share / completion.path, completion.write(commands));
  }
}

// What a macro of ROOT has to run before those that use crema, interpreted or compiled by ACLiC, which links with all
// libraries that are loaded.
std::string RootMacro(const InstalledSdk& sdk) {
  const std::string include = JsonText(sdk.include_dir.string());
  const std::string include_flag = JsonText(absl::StrCat("-I\"", sdk.include_dir.string(), "\""));
  const std::string library = JsonText((sdk.pkg_config_dir.parent_path() / "libcrema_cpp.so").string());
  return absl::StrCat("// Lets macros use crema: root crema.C macro.C\n{\n  gInterpreter->AddIncludePath(", include,
                      ");\n  gSystem->AddIncludePath(", include_flag, ");\n  gSystem->Load(", library, ");\n}\n");
}

constexpr char kHowGuardsLook[] =
    "\nguards in C++, each until the end of its scope (docs/start.md):\n"
    "  #include \"crema/crema.h\"\n"
    "  crema::TrackMetrics chunk({\"ttbar\", \"events.root\", first, last});  // dataset, file, events [first, last)\n"
    "  crema::TrackSection select(\"select\");  // in a chunk: a part of its work\n"
    "guards of a ROOT::RDataFrame called frame (docs/root.md):\n"
    "  #include \"crema/root.h\"\n"
    "  auto tracked = crema::TrackDataFrame(frame, {\"ttbar\"});\n"
    "guards in Python (docs/python.md):\n"
    "  from crema_hep import MetricsCollector, track_metrics\n";

// Those that were asked for, a line each; where none was, all of them with their names, and what they are for.
int PrintSettings(const CLI::App& config, const ConfigOptions& options) {
  const InstalledSdk sdk = OrFail(FindInstalledSdk(RunningProgram()));
  if (options.root_macro) return PrintOut(RootMacro(sdk));
  const char* module = options.of_c ? "crema_c.pc" : "crema.pc";
  std::string asked;
  std::string all;
  Json document = {{"schema", "crema.config/1"}, {"version", CREMA_VERSION_STRING}};
  for (const Setting& setting : kSettings) {
    const std::string value = setting.path != nullptr
                                  ? (sdk.*setting.path).string()
                                  : OrFail(PkgConfigField(sdk.pkg_config_dir / module, setting.field));
    if (config.count(absl::StrCat("--", setting.option)) > 0) absl::StrAppend(&asked, value, "\n");
    absl::StrAppend(&all, setting.option, ": ", value, "\n");
    document[absl::StrCat(setting.option)] = value;
  }
  if (options.output.json) return PrintOut(JsonText(document, 1) + "\n");
  return PrintOut(asked.empty() ? all + kHowGuardsLook : asked);
}

int Configure(const CLI::App& program, const CLI::App& config, const ConfigOptions& options) {
  if (const ShellCompletion* shell = FindBy(kShellCompletions, &ShellCompletion::shell, options.shell)) {
    return PrintOut(shell->write(CommandTable(program)));
  }
  if (options.share.empty()) return PrintSettings(config, options);
  WriteShare(options.share, CommandTable(program));
  return kExitDone;
}

}  // namespace

void AddConfigCommand(CLI::App* program, int* status) {
  CLI::App* config = program->add_subcommand("config", "Say how to build code with crema; set up shells");
  config->footer(
      "Without options, crema prints all settings. They belong to the SDK that the wheel or CMake installed together\n"
      "with this program.\n\n"
      "Example:\n  cmake -B build -DCMAKE_PREFIX_PATH=\"$(crema config --prefix)\"\n"
      "  c++ -std=c++17 analysis.cc $(crema config --cflags --libs)\n"
      "  cc analysis.c $(crema config --c --cflags --libs)\n"
      "  crema config --root-macro > crema.C && root crema.C macro.C+\n"
      "  source <(crema config --completion bash)\n"
      "  crema config --write-share ~/.local/share");
  auto options = std::make_shared<ConfigOptions>();
  for (const Setting& setting : kSettings) config->add_flag(absl::StrCat("--", setting.option), setting.text);
  config->add_flag("--c", options->of_c, "Flags of the C API (crema_c.h) instead of the C++ SDK's");
  config->add_flag("--root-macro", options->root_macro, "Print a macro of ROOT that lets those after it use crema");
  config->add_flag("--json", options->output.json, "Print all settings as JSON");
  config->add_option("--completion", options->shell, "Print the completions of this shell")
      ->check(CLI::IsMember(Mapped<std::string>(kShellCompletions, &ShellCompletion::shell)));
  config
      ->add_option("--write-share", options->share,
                   "Write the manual pages and all completions below this directory, the `share` of a prefix")
      ->option_text("DIR");
  AddOutputOptions(config, &options->output);
  config->callback([program, config, options, status] { *status = Configure(*program, *config, *options); });
}

}  // namespace crema
