// Reading JSON without trusting its shape: what is absent, null or of another type is "not there".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json_fwd.hpp"

namespace crema {

/// The member of an object; a null value where `object` is no object or has no such member.
const nlohmann::ordered_json& Field(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a finite number; nullopt where it is anything else.
std::optional<double> NumberField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as text; empty where it is anything else.
std::string TextField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a list; an empty list where it is anything else.
const nlohmann::ordered_json& ListField(const nlohmann::ordered_json& object, std::string_view key);

/// As text, each level further in by so much; -1: in one line. What is not UTF-8, as a path may be, becomes U+FFFD.
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace crema
