// `crema doctor`: what this machine lets crema measure, and what to do about the rest; the SDK beside the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace crema {

struct InstalledSdk {
  std::filesystem::path prefix;
  std::filesystem::path include_dir;
  std::filesystem::path cmake_dir;       ///< holds cremaConfig.cmake
  std::filesystem::path pkg_config_dir;  ///< holds crema.pc and crema_c.pc
};

/// The SDK in the prefix of a program PREFIX/bin/NAME: what the wheel and `cmake --install` leave there. Errors:
/// NotFound where there is none, with what to do.
absl::StatusOr<InstalledSdk> FindInstalledSdk(const std::filesystem::path& program);

/// The path of the running program, without symbolic links. Empty where /proc cannot be read.
std::filesystem::path RunningProgram();

/// A field (`Libs`, `Cflags`) of a pkg-config module, with its variables filled in (pc(5)): what a program is built
/// with where there is no pkg-config. Errors: the file cannot be read; it has no such field.
absl::StatusOr<std::string> PkgConfigField(const std::filesystem::path& module, const std::string& field);

/// A library that commands load: installed with the program, or in `sdk/<folder>` where Bazel builds both. Errors:
/// NotFound.
absl::StatusOr<std::string> FindLibraryToLoad(const std::filesystem::path& program, const std::string& name,
                                              const std::string& folder);

enum class CheckState {
  kGood,
  kLimited,  ///< crema measures less, or at a higher cost
  kMissing,  ///< figures will be null
};

/// One finding. `value` is what was found, for programs; `text` says it in words.
struct DoctorCheck {
  std::string id;
  std::string label;
  CheckState state = CheckState::kGood;
  nlohmann::ordered_json value;
  std::string text;
  std::string remedy;  ///< empty where nothing is to be done
};

/// Reads /proc and /sys; asks the kernel for a performance counter. `filesystem_root` precedes all paths; empty
/// but in tests, and then the kernel is asked for nothing.
std::vector<DoctorCheck> CheckMachine(const std::string& filesystem_root = {});

}  // namespace crema
