#include "collector/metrics/attempts/input_table.h"

#include <cstring>

namespace crema {
namespace {

// The kind of name, three lengths, dataset, file, tree and pass.
void Encode(char kind, const InputName& input, std::string& name) {
  name.assign(1, kind);
  for (const std::string_view part : {input.dataset, input.file, input.tree}) {
    const auto bytes = static_cast<uint32_t>(part.size());
    name.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  }
  name.append(input.dataset).append(input.file).append(input.tree).append(input.pass);
}

InputName Decode(std::string_view name) {
  uint32_t bytes[3];
  std::memcpy(bytes, name.data() + 1, sizeof(bytes));
  name.remove_prefix(1 + sizeof(bytes));
  const auto take = [&name](uint32_t count) {
    const std::string_view part = name.substr(0, count);
    name.remove_prefix(count);
    return part;
  };
  InputName input = {take(bytes[0]), take(bytes[1]), take(bytes[2])};
  input.pass = name;
  return input;
}

// The file `(other)` of the dataset and pass; where there are more of these than room, the file of all of them.
std::string StandInOf(std::string_view name) {
  const bool ordinary = name.front() == StandInNames::kOrdinary;
  const InputName input = ordinary ? Decode(name) : InputName{kOtherName};
  std::string stand_in;
  Encode(ordinary ? StandInNames::kStandIn : StandInNames::kLast, {input.dataset, kOtherName, "", input.pass},
         stand_in);
  return stand_in;
}

}  // namespace

InputTable::InputTable() : names_(kMaxInputs, StandInOf) {}

InputName InputTable::name(uint32_t index) const { return Decode(names_.name(index)); }

uint32_t InputTable::Intern(const InputName& input) {
  Encode(StandInNames::kOrdinary, input, name_);
  return names_.Intern(name_);
}

uint32_t InputTable::Take(const InputTable& other, uint32_t index) { return names_.Intern(other.names_.name(index)); }

}  // namespace crema
