// `crema config`: how code is built with the SDK that was installed together with the program, and files for shells.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "collector/cli/installed_sdk.h"
#include "collector/cli/output_options.h"
#include "collector/cli/shell/command_table.h"
#include "collector/cli/shell/completions.h"
#include "collector/cli/shell/manual_pages.h"
#include "collector/cli/subcommand.h"
#include "crema/version.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ConfigOptions {
  bool of_c = false;
  bool json = false;
  std::string shell;
  std::string share;
  OutputOptions output;
};

struct Setting {
  const char* option;
  const char* text;
  absl::StatusOr<std::string> (*of)(const InstalledSdk& sdk, const std::string& module);
};

// In the order in which they are printed.
constexpr Setting kSettings[] = {
    {"prefix", "Print the directory in which crema is installed, for CMAKE_PREFIX_PATH",
     [](const InstalledSdk& sdk, const std::string& /*module*/) -> absl::StatusOr<std::string> {
       return sdk.prefix.string();
     }},
    {"cmake-dir", "Print the directory of the CMake package, for crema_DIR",
     [](const InstalledSdk& sdk, const std::string& /*module*/) -> absl::StatusOr<std::string> {
       return sdk.cmake_dir.string();
     }},
    {"pkg-config-dir", "Print the directory of crema.pc and crema_c.pc, for PKG_CONFIG_PATH",
     [](const InstalledSdk& sdk, const std::string& /*module*/) -> absl::StatusOr<std::string> {
       return sdk.pkg_config_dir.string();
     }},
    {"include-dir", "Print the directory of the headers",
     [](const InstalledSdk& sdk, const std::string& /*module*/) -> absl::StatusOr<std::string> {
       return sdk.include_dir.string();
     }},
    {"cflags", "Print the flags for the compiler",
     [](const InstalledSdk& sdk, const std::string& module) {
       return PkgConfigField(sdk.pkg_config_dir / module, "Cflags");
     }},
    {"libs", "Print the flags for the linker",
     [](const InstalledSdk& sdk, const std::string& module) {
       return PkgConfigField(sdk.pkg_config_dir / module, "Libs");
     }},
};

absl::Status WriteWhole(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return absl::UnavailableError(absl::StrCat(path.parent_path().string(), ": ", error.message()));
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) return absl::ErrnoToStatus(errno, path.string());
  return absl::OkStatus();
}

absl::Status WriteShare(const fs::path& share, const std::vector<CommandEntry>& commands) {
  for (const ManualPage& page : ManualPages(commands, CREMA_VERSION_STRING)) {
    absl::Status written = WriteWhole(share / page.path, page.text);
    if (!written.ok()) return written;
  }
  for (const ShellCompletion& completion : ShellCompletions()) {
    absl::Status written = WriteWhole(share / completion.path, completion.write(commands));
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

int PrintCompletion(const std::string& shell, const std::vector<CommandEntry>& commands) {
  for (const ShellCompletion& completion : ShellCompletions()) {
    if (shell == completion.shell) return PrintOut(completion.write(commands));
  }
  return kDone;
}

// Those that were asked for, a line each; all of them with their names where none was.
int PrintSettings(const CLI::App& config, const ConfigOptions& options) {
  const absl::StatusOr<InstalledSdk> sdk = FindInstalledSdk(RunningProgram());
  if (!sdk.ok()) return ReportFailure(sdk.status());
  std::string asked;
  std::string all;
  Json document = {{"schema", "crema.config/1"}, {"version", CREMA_VERSION_STRING}};
  for (const Setting& setting : kSettings) {
    const absl::StatusOr<std::string> value = setting.of(*sdk, options.of_c ? "crema_c.pc" : "crema.pc");
    if (!value.ok()) return ReportFailure(value.status());
    if (config.count(absl::StrCat("--", setting.option)) > 0) absl::StrAppend(&asked, *value, "\n");
    absl::StrAppend(&all, setting.option, ": ", *value, "\n");
    document[absl::StrCat(setting.option)] = *value;
  }
  if (options.json) return PrintOut(document.dump(1) + "\n");
  return PrintOut(asked.empty() ? all : asked);
}

int Configure(const CLI::App& program, const CLI::App& config, const ConfigOptions& options) {
  if (!options.shell.empty()) return PrintCompletion(options.shell, CommandTable(program));
  if (options.share.empty()) return PrintSettings(config, options);
  const absl::Status written = WriteShare(options.share, CommandTable(program));
  return written.ok() ? kDone : ReportFailure(written);
}

std::vector<std::string> Shells() {
  std::vector<std::string> shells;
  for (const ShellCompletion& completion : ShellCompletions()) shells.push_back(completion.shell);
  return shells;
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
      "  source <(crema config --completion bash)\n"
      "  crema config --write-share ~/.local/share");
  auto options = std::make_shared<ConfigOptions>();
  for (const Setting& setting : kSettings) config->add_flag(absl::StrCat("--", setting.option), setting.text);
  config->add_flag("--c", options->of_c, "Flags of the C API (crema_c.h) instead of the C++ SDK's");
  config->add_flag("--json", options->json, "Print all settings as JSON");
  config->add_option("--completion", options->shell, "Print the completions of this shell")
      ->check(CLI::IsMember(Shells()));
  config
      ->add_option("--write-share", options->share,
                   "Write the manual pages and all completions below this directory, the `share` of a prefix")
      ->option_text("DIR");
  AddOutputOptions(config, &options->output);
  config->callback([program, config, options, status] { *status = Configure(*program, *config, *options); });
}

}  // namespace crema
