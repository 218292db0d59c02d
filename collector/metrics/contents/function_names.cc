#include "collector/metrics/contents/function_names.h"

#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "collector/symbols/symbol_table.h"

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

std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows) {
  std::map<std::pair<std::string, std::string>, std::optional<SymbolTable>> files;
  std::vector<std::string> problems;
  bool is_changed = false;
  for (FunctionRow& row : *rows) {
    const std::optional<uint64_t> address = row.line.has_value() ? std::nullopt : AddressOf(row.function);
    if (!address.has_value() || row.file.empty() || row.file.front() != '/') continue;  // the kernel's has no path
    auto [file, is_new] = files.try_emplace({row.file, row.build_id});
    if (is_new) {
      absl::StatusOr<SymbolTable> symbols = SymbolTable::Read(row.file, row.build_id);
      if (symbols.ok()) {
        file->second = *std::move(symbols);
      } else {
        problems.push_back(std::string(symbols.status().message()));
      }
    }
    if (!file->second.has_value()) continue;
    if (const std::optional<std::string_view> symbol = file->second->NameAt(*address); symbol.has_value()) {
      row.function = ReadableName(*symbol);
      row.build_id.clear();
      is_changed = true;
    }
  }
  if (is_changed) FinishFunctionRows(last_is_other, rows);
  return problems;
}

}  // namespace crema
