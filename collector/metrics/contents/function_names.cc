#include "collector/metrics/contents/function_names.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace crema {
namespace {

// `prog+0x1139`.
std::optional<uint64_t> AddressOf(std::string_view name) {
  const size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  name.remove_prefix(plus + 3);
  uint64_t address = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), address, 16);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return address;
}

}  // namespace

std::string FunctionNamer::NameOf(const std::string& function, const std::string& file, const std::string& build_id) {
  if (file.empty() || file.front() != '/') return function;  // the kernel's has no path
  const std::optional<uint64_t> address = AddressOf(function);
  if (!address.has_value()) return function;
  auto [known, is_new] = files_.try_emplace({file, build_id});
  if (is_new) {
    absl::StatusOr<SymbolTable> symbols = SymbolTable::Read(file, build_id);
    if (symbols.ok()) {
      known->second = *std::move(symbols);
    } else {
      problems_.push_back(std::string(symbols.status().message()));
    }
  }
  const std::optional<std::string_view> symbol =
      known->second.has_value() ? known->second->NameAt(*address) : std::nullopt;
  return symbol.has_value() ? ReadableName(*symbol) : function;
}

std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows) {
  FunctionNamer namer;
  bool is_changed = false;
  for (FunctionRow& row : *rows) {
    if (row.line.has_value()) continue;
    std::string name = namer.NameOf(row.function, row.file, row.build_id);
    if (name == row.function) continue;
    row.function = std::move(name);
    row.build_id.clear();
    is_changed = true;
  }
  if (is_changed) FinishFunctionRows(last_is_other, rows);
  return namer.problems();
}

}  // namespace crema
