// The program `crema`: the command line. Its subcommands are in the files beside it, by what they do.
#include <cstdio>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "collector/cli/subcommand.h"
#include "collector/files/output_directory.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "crema/version.h"

namespace crema {
namespace {

// CLI11 would swallow a `--` that belongs to the command, and look for its options: what follows the first `--` of
// `crema run` never reaches it.
std::vector<std::string> TakeCommand(std::vector<std::string>* arguments) {
  if (arguments->empty() || arguments->front() != "run") return {};
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end()) return {};
  std::vector<std::string> command(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
  return command;
}

// What holds for the options of all commands. No place has the name "": an empty variable of a script, most likely. A
// named option takes one value each time that it is given, so that a SOURCE may follow it.
void SetRulesOfOptions(CLI::App* program) {
  constexpr std::string_view kPlaces[] = {"ADDRESS", "DIR", "FILE", "NAME", "PATH", "SOURCE"};
  const CLI::Validator is_given([](const std::string& text) { return text.empty() ? "is empty" : ""; }, "");
  for (CLI::App* command : program->get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      const bool is_named = !option->get_positional();
      const std::string text = option->get_option_text();
      const std::string kind = !is_named ? option->get_name() : text.empty() ? option->get_type_name() : text;
      if (absl::c_linear_search(kPlaces, kind)) option->check(is_given);
      if (is_named) option->allow_extra_args(false);
    }
  }
}

// What to type first; the help lists everything.
constexpr char kFirstSteps[] =
    "crema says where the time, the CPU and the memory of an analysis went. First steps:\n"
    "\n"
    "  crema run -- ./analysis input.root   runs a command of yours, and prints where its core-seconds went\n"
    "  crema show crema-<time>              prints that again; `crema report crema-<time>` writes a page\n"
    "  crema config                         says how to build your code with guards, and what they look like\n"
    "  crema doctor                         says what can be measured on this machine\n"
    "\n"
    "All commands: crema --help\n";

// `word`, which is none of `names`, and what it may stand for.
std::string NotOneOf(const std::string& word, const std::vector<std::string>& names) {
  return "`" + word + "`" + DidYouMean(word, {names.begin(), names.end()});
}

// A word that is too long for one line, like a number of 300 digits, is cut.
std::string WithShortWords(absl::string_view text) {
  constexpr size_t kLongWord = 100, kKept = 40;
  std::string shorter;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!shorter.empty()) shorter += ' ';
    shorter += word.size() > kLongWord ? std::string(word.substr(0, kKept)) + "..." : std::string(word);
  }
  return shorter;
}

constexpr std::string_view kNoSource = "SOURCE is required";

// The newest measurement in the working directory; empty where there is none.
std::string NewestMeasurementHere() {
  std::string newest;
  std::filesystem::file_time_type newest_time;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(".", error), end; !error && entry != end; entry.increment(error)) {
    std::error_code none;
    const std::filesystem::file_time_type time = std::filesystem::last_write_time(entry->path() / kDocumentName, none);
    if (none || (!newest.empty() && time <= newest_time)) continue;
    newest = entry->path().filename();
    newest_time = time;
  }
  return newest.rfind('-', 0) == 0 ? "./" + newest : newest;
}

// Whether this command, as a summary or an advice names it, is of the newest measurement where it names none. Gates and
// what writes files elsewhere are not.
bool TakesTheNewest(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.front();
  const bool is_gate =
      absl::c_any_of(arguments, [](const std::string& word) { return word.rfind("--fail-on", 0) == 0; });
  return !is_gate && (command == "show" || command == "verdict" || command == "report" || command == "predict");
}

// What CLI11 found, in the words of whoever typed it, with the name that was meant where one is near.
std::string WhatIsWrong(const CLI::ParseError& error, const CLI::App& program, const std::vector<std::string>& given) {
  const std::string& first = given.front();
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  std::vector<std::string> names;
  const auto is_option = [](const std::string& word) { return word.rfind('-', 0) == 0; };
  if (chosen.empty()) {
    std::error_code none;  // a name that no disk takes names nothing
    if (std::filesystem::exists(first, none)) return "name a command first, as in `crema show " + first + "`";
    names = {"--help", "--version"};
    for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
    return (is_option(first) ? "there is no option " : "there is no command ") + NotOneOf(first, names);
  }
  const std::vector<std::string> extra = chosen.front()->remaining();
  const bool lacks_option = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;  // it may be misspelt
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (lacks_option && absl::c_any_of(extra, is_option))) {
    if (extra.empty()) return "put `" + first + "` behind the command";
    if (first == "run" && !is_option(extra.front())) {
      std::vector<std::string> words = Mapped<std::string>(given, ShellWord);
      words.insert(std::find(words.begin() + 1, words.end(), ShellWord(extra.front())), "--");
      return "put `--` before the command, as in `crema " + absl::StrJoin(words, " ") + "`";
    }
    const auto option = std::find_if(extra.begin(), extra.end(), is_option);
    if (option == extra.end()) return "`" + extra.front() + "` is one argument too many";
    for (const CLI::Option* known : chosen.front()->get_options()) names.push_back(known->get_name());
    return "there is no option " + NotOneOf(*option, names);
  }
  if (error.what() == kNoSource) {
    const std::string newest = NewestMeasurementHere();
    return error.what() + (newest.empty() ? "" : ", for example " + newest);
  }
  std::string what = error.what();  // of a choice: `--to: perfeto not in {folded,perfetto}`
  const std::string name = what.substr(0, what.find(": "));
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (const CLI::Option* option = chosen.front()->get_option_no_throw(name); lacks_value && option != nullptr) {
    return name + (option->count() > 1 ? " is given twice" : " needs a value (" + KindOfValue(*option) + ")");
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {  // `Could not convert: --port = 70000`
    const std::string option = what.substr(what.find("--"), what.find(" = ") - what.find("--"));
    const CLI::Option* known = chosen.front()->get_option_no_throw(option);
    if (known != nullptr)
      return fmt::format("{}: give a number ({}), not {}", option, KindOfValue(*known), known->results().back());
  }
  const size_t at = what.find(": "), end = what.find(" not in {");
  if (at == what.npos || end == what.npos || what.back() != '}') return WithShortWords(what);
  const std::string all = what.substr(end + 9, what.size() - end - 10);
  const std::string near = NotOneOf(WithShortWords(what.substr(at + 2, end - at - 2)), CLI::detail::split(all, ','));
  return what.substr(0, at) + ": there is no " + near + " (" + what.substr(end + 8) + ")";
}

int Main(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    std::fputs(kFirstSteps, stderr);
    return kExitWrongUsage;
  }
  std::vector<std::string> given = arguments;
  const std::vector<std::string> command = TakeCommand(&arguments);
  CLI::App program("Where did the time, the CPU and the memory of an analysis go?", "crema");
  program.footer("Example:\n  crema run -- ./analysis input.root\n\nEach subcommand has a --help of its own.");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_version_flag("--version", "crema " CREMA_VERSION_STRING);
  program.require_subcommand(1);
  int status = kExitDone;
  AddRunCommand(&program, command, &status);
  for (const auto add : {AddCollectCommand, AddShowCommand, AddVerdictCommand, AddPredictCommand, AddScalingCommand,
                         AddMergeCommand, AddCompareCommand, AddHistoryCommand, AddPlotCommand, AddReportCommand,
                         AddExportCommand, AddServeCommand, AddTopCommand, AddDoctorCommand, AddConfigCommand}) {
    add(&program, &status);
  }
  SetRulesOfOptions(&program);
  try {
    std::reverse(arguments.begin(), arguments.end());  // what CLI11 wants of a vector
    program.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    const bool may_be_newest = error.what() == kNoSource && TakesTheNewest(given);
    if (const std::string newest = may_be_newest ? NewestMeasurementHere() : ""; !newest.empty()) {
      PrintError("no SOURCE was given: this is of " + newest + ", the newest measurement here");
      given.insert(given.begin() + 1, newest);
      return Main(std::move(given));
    }
    const std::vector<CLI::App*> chosen = program.get_subcommands();
    const std::string name = chosen.empty() ? "crema" : "crema " + chosen.front()->get_name();
    PrintError(WhatIsWrong(error, program, given) + "; see `" + name + " --help`");
    return kExitWrongUsage;
  } catch (const Failure& failure) {
    PrintError(failure.message);
    return kExitFailed;
  } catch (const std::bad_alloc&) {
    PrintError(
        "not enough memory: a chunk takes about 50 bytes; collect with --memory, give fewer record logs at once, or "
        "`ulimit -v` more");
    return kExitFailed;
  } catch (const std::filesystem::filesystem_error& error) {  // a disk that fails
    PrintError(error.path1().string() + ": " + error.code().message());
    return kExitFailed;
  } catch (const std::exception& error) {
    PrintError(std::string(error.what()) + "; this is a bug in crema, please report it");
    return kExitFailed;
  }
  return status;
}

}  // namespace
}  // namespace crema

int main(int count, char** values) { return crema::Main(std::vector<std::string>(values + 1, values + count)); }
