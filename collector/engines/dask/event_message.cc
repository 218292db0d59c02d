#include "collector/engines/dask/event_message.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNoPrefix = "Other";  // as Dask calls it

const Json* Find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::string> Text(const Json& object, const char* key) {
  const Json* field = Find(object, key);
  return field != nullptr && field->is_string() ? std::optional(field->get<std::string>()) : std::nullopt;
}

std::optional<double> Number(const Json& object, const char* key) {
  const Json* field = Find(object, key);
  return field != nullptr && field->is_number() ? std::optional(field->get<double>()) : std::nullopt;
}

/// A key may be a tuple, which is a list here: its first part counts.
std::optional<std::string> PrefixOfKey(const Json& message) {
  const Json* key = Find(message, "key");
  while (key != nullptr && key->is_array()) key = key->empty() ? nullptr : &key->front();
  if (key == nullptr) return std::nullopt;
  return key->is_string() ? TaskPrefix(key->get_ref<const std::string&>()) : std::string(kNoPrefix);
}

std::optional<SchedulerEvent> FinishedTask(const Json& message) {
  if (Text(message, "action") != "compute") return SchedulerEvent{};
  if (Text(message, "status").value_or("OK") != "OK") return SchedulerEvent{};
  const std::optional<std::string> worker = Text(message, "worker");
  const std::optional<std::string> prefix = PrefixOfKey(message);
  const std::optional<double> start = Number(message, "start");
  const std::optional<double> stop = Number(message, "stop");
  if (!worker.has_value() || !prefix.has_value() || !start.has_value() || !stop.has_value()) return std::nullopt;
  const double seconds = *stop - *start;
  if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
  return SchedulerEvent{SchedulerEventKind::kFinishedTask, *worker, *prefix, seconds};
}

// Letters of any other script count as letters.
bool IsLetter(char character) {
  return absl::ascii_isalpha(static_cast<unsigned char>(character)) || (static_cast<unsigned char>(character) & 0x80);
}

bool IsLowerHex(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view Stripped(std::string_view text, std::string_view of) {
  const size_t first = text.find_first_not_of(of);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(of) - first + 1);
}

}  // namespace

std::optional<SchedulerEvent> ParseEventMessage(std::string_view text) {
  const Json message = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return std::nullopt;
  const std::optional<std::string> name = Text(message, "name");
  if (!name.has_value()) return std::nullopt;
  if (*name == "transition") return FinishedTask(message);
  if (*name != "add_worker" && *name != "remove_worker") return SchedulerEvent{};
  const std::optional<std::string> worker = Text(message, "worker");
  if (!worker.has_value()) return std::nullopt;
  SchedulerEvent event;
  event.kind = *name == "add_worker" ? SchedulerEventKind::kAddWorker : SchedulerEventKind::kRemoveWorker;
  event.worker = *worker;
  return event;
}

std::string TaskPrefix(std::string_view key) {
  constexpr size_t kShortHash = 8;
  constexpr size_t kLongHash = 32;
  std::string prefix(key.substr(0, key.find('-')));
  if (prefix.empty()) return std::string(kNoPrefix);
  key.remove_prefix(prefix.size());
  if (!IsLetter(prefix[0])) prefix = std::string(Stripped(prefix.substr(0, prefix.find(',')), "_'()\""));
  while (!key.empty()) {
    key.remove_prefix(1);  // the dash
    const std::string_view word = key.substr(0, key.find('-'));
    const bool is_name = !word.empty() && std::all_of(word.begin(), word.end(), IsLetter);
    // Dask takes any word of this length that begins like a hash for one, also "function"
    if (!is_name || (word.size() == kShortHash && IsLowerHex(word.substr(0, 1)))) break;
    prefix += "-" + std::string(word);
    key.remove_prefix(word.size());
  }
  if (prefix.empty()) return std::string(kNoPrefix);
  if (prefix.size() == kLongHash && IsLowerHex(prefix)) return "data";
  if (prefix[0] != '<') return prefix;
  // `<function inc at 0x…>` and the like
  const std::string_view inner = Stripped(Stripped(prefix, "<>"), " \t\n");
  const std::string_view first = inner.substr(0, inner.find(' '));
  return std::string(first.empty() ? kNoPrefix : first.substr(first.rfind('.') + 1));
}

}  // namespace crema
