#include "collector/metrics/attempts/input_table.h"

#include <cstring>

namespace crema {
namespace {

// The kind of name, two lengths, dataset, file and tree.
void Encode(char kind, const InputName& input, std::string& name) {
  const auto dataset_bytes = static_cast<uint32_t>(input.dataset.size());
  const auto file_bytes = static_cast<uint32_t>(input.file.size());
  name.assign(1, kind);
  name.append(reinterpret_cast<const char*>(&dataset_bytes), sizeof(dataset_bytes));
  name.append(reinterpret_cast<const char*>(&file_bytes), sizeof(file_bytes));
  name.append(input.dataset).append(input.file).append(input.tree);
}

InputName Decode(std::string_view name) {
  uint32_t dataset_bytes;
  uint32_t file_bytes;
  name.remove_prefix(1);
  std::memcpy(&dataset_bytes, name.data(), sizeof(dataset_bytes));
  std::memcpy(&file_bytes, name.data() + sizeof(dataset_bytes), sizeof(file_bytes));
  name.remove_prefix(sizeof(dataset_bytes) + sizeof(file_bytes));
  return {name.substr(0, dataset_bytes), name.substr(dataset_bytes, file_bytes),
          name.substr(dataset_bytes + file_bytes)};
}

// The dataset's file `(other)`; where there are more datasets than room, the file of all of them.
std::string StandInOf(std::string_view name) {
  const bool ordinary = name.front() == StandInNames::kOrdinary;
  std::string stand_in;
  Encode(ordinary ? StandInNames::kStandIn : StandInNames::kLast,
         {ordinary ? Decode(name).dataset : kOtherName, kOtherName, ""}, stand_in);
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
