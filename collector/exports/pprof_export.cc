// `crema export --to pprof`: https://github.com/google/pprof/blob/main/proto/profile.proto.
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "collector/exports/formats.h"
#include "collector/exports/sampled_stacks.h"
#include "crema/version.h"

namespace crema {
namespace {

/// A message of protocol buffers: https://protobuf.dev/programming-guides/encoding.
class Message {
 public:
  /// A field of an integer. Zero is the default, and is left out.
  Message& Integer(int field, int64_t value) {
    if (value == 0) return *this;
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }
  /// A field of text, or of a message.
  Message& Bytes(int field, std::string_view bytes) {
    Varint(static_cast<uint64_t>(field) << 3 | 2);
    Varint(bytes.size());
    text_ += bytes;
    return *this;
  }
  /// An integer of a list that is packed.
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The profile's texts, which other messages name by their places. The first is empty.
class Texts {
 public:
  Texts() { PlaceOf(""); }
  int64_t PlaceOf(const std::string& text) {
    const auto [known, is_new] = places_.try_emplace(text, static_cast<int64_t>(places_.size()));
    if (is_new) table_.Bytes(6, text);
    return known->second;
  }
  /// As the profile's fields.
  const std::string& table() const { return table_.text(); }

 private:
  std::map<std::string, int64_t> places_;
  Message table_;
};

std::string ValueType(Texts* texts, const char* type, const char* unit) {
  return Message().Integer(1, texts->PlaceOf(type)).Integer(2, texts->PlaceOf(unit)).text();
}

std::string Label(Texts* texts, const char* key, const std::string& value) {
  return Message().Integer(1, texts->PlaceOf(key)).Integer(2, texts->PlaceOf(value)).text();
}

}  // namespace

absl::Status WritePprof(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  Texts texts;
  // First what it is: a file of crema is known by it. A comment is a place in the table of texts, the second.
  const int64_t comment = texts.PlaceOf("crema " CREMA_VERSION_STRING);
  Message profile;
  profile.Integer(13, comment);
  profile.Bytes(1, ValueType(&texts, "samples", "count")).Bytes(1, ValueType(&texts, "cpu", "nanoseconds"));
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string dataset = Label(&texts, "dataset", DatasetFrame(place.dataset));
    const std::string section = Label(&texts, "section", place.section.empty() ? "(no section)" : place.section);
    for (const auto& [functions, weight] : by_stack) {
      Message locations;
      for (auto function = functions.rbegin(); function != functions.rend(); ++function)
        locations.Varint(*function + 1);
      Message values;
      values.Varint(static_cast<uint64_t>(weight.samples));
      values.Varint(static_cast<uint64_t>(std::llround(weight.cpu_seconds * 1e9)));
      Message sample;
      sample.Bytes(1, locations.text()).Bytes(2, values.text()).Bytes(3, dataset).Bytes(3, section);
      profile.Bytes(2, sample.text());
    }
  }
  for (size_t place = 0; place < stacks->functions.size(); ++place) {
    const SampledFunction& function = stacks->functions[place];
    const auto id = static_cast<int64_t>(place) + 1;
    const int64_t line = function.line.value_or(0);
    const std::string in_function = Message().Integer(1, id).Integer(2, line).text();
    profile.Bytes(4, Message().Integer(1, id).Bytes(4, in_function).text());
    Message described;
    described.Integer(1, id).Integer(2, texts.PlaceOf(function.name)).Integer(3, texts.PlaceOf(function.name));
    described.Integer(4, texts.PlaceOf(function.file)).Integer(5, line);
    profile.Bytes(5, described.text());
  }
  sink->Write(texts.table());
  sink->Write(profile.text());
  return absl::OkStatus();
}

}  // namespace crema
