// What this machine lets crema measure, and what to do about what is missing.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {

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

/// Reads /proc and /sys; asks the kernel for a performance counter. `filesystem_root` stands before all paths; empty
/// but in tests, and then the kernel is asked for nothing.
std::vector<DoctorCheck> CheckMachine(const std::string& filesystem_root = {});

}  // namespace crema
