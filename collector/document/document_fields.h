// Reading the measurement document without trusting its shape: what is absent, null or of another type is "not there".
#ifndef CREMA_COLLECTOR_DOCUMENT_DOCUMENT_FIELDS_H_
#define CREMA_COLLECTOR_DOCUMENT_DOCUMENT_FIELDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace crema {

/// The member of an object; a null value where `object` is no object or has no such member.
const nlohmann::ordered_json& Field(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a finite number; nullopt where it is anything else.
std::optional<double> NumberField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as text; empty where it is anything else.
std::string TextField(const nlohmann::ordered_json& object, std::string_view key);

/// A member as a list; an empty list where it is anything else.
const nlohmann::ordered_json& ListField(const nlohmann::ordered_json& object, std::string_view key);

/// A number of the document's `metrics`, in the unit of docs/metrics.md.
std::optional<double> Metric(const nlohmann::ordered_json& document, std::string_view key);

/// The sentence of `quality.not_measured` on this key; "not measured" where there is none.
std::string WhyNotMeasured(const nlohmann::ordered_json& document, std::string_view key);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DOCUMENT_DOCUMENT_FIELDS_H_
