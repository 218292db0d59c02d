#include "collector/metrics/attempts/input_table.h"

#include <cstring>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

constexpr uint64_t kOrdinary = uint64_t{1} << 63;  // ranks after every stand-in

void Encode(const InputName& input, std::string& name) {
  const auto dataset_bytes = static_cast<uint32_t>(input.dataset.size());
  const auto file_bytes = static_cast<uint32_t>(input.file.size());
  name.assign(reinterpret_cast<const char*>(&dataset_bytes), sizeof(dataset_bytes));
  name.append(reinterpret_cast<const char*>(&file_bytes), sizeof(file_bytes));
  name.append(input.dataset).append(input.file).append(input.tree);
}

InputName Decode(std::string_view name) {
  uint32_t dataset_bytes;
  uint32_t file_bytes;
  std::memcpy(&dataset_bytes, name.data(), sizeof(dataset_bytes));
  std::memcpy(&file_bytes, name.data() + sizeof(dataset_bytes), sizeof(file_bytes));
  name.remove_prefix(sizeof(dataset_bytes) + sizeof(file_bytes));
  return {name.substr(0, dataset_bytes), name.substr(dataset_bytes, file_bytes),
          name.substr(dataset_bytes + file_bytes)};
}

}  // namespace

InputName InputTable::name(uint32_t index) const { return Decode(names_.name(index)); }

uint32_t InputTable::Intern(const InputName& input) {
  Encode(input, name_);
  const bool stands_in = input.file == kOtherName;
  uint32_t index = names_.Intern(name_, HashOf(name_) >> 1 | (stands_in ? 0 : kOrdinary));
  if (index != BoundedNames::kRefused) return index;
  if (!stands_in) return Intern({input.dataset, kOtherName, ""});
  Encode({kOtherName, kOtherName, ""}, name_);  // more datasets than room
  return names_.Intern(name_, 0);
}

std::vector<uint32_t> InputTable::Prune() {
  std::vector<uint32_t> result(names_.size());
  for (uint32_t i = 0; i < result.size(); ++i) result[i] = i;
  // A stand-in may push out another input, so this goes on until all have a place; stand-ins rank first, so it ends.
  while (names_.size() > kMaxInputs) {
    std::vector<std::string> names;
    names.reserve(names_.size());
    for (uint32_t i = 0; i < names_.size(); ++i) names.push_back(names_.name(i));
    std::vector<uint32_t> renumbering = names_.Prune();
    for (uint32_t i = 0; i < renumbering.size(); ++i) {
      if (renumbering[i] != BoundedNames::kRefused) continue;
      const InputName refused = Decode(names[i]);
      renumbering[i] = Intern({refused.file == kOtherName ? kOtherName : refused.dataset, kOtherName, ""});
    }
    for (uint32_t& index : result) index = renumbering[index];
  }
  return result;
}

}  // namespace crema
