#include "collector/metrics/contents/function_names.h"

#include <charconv>
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

std::optional<NamedFunction> FunctionNamer::Find(const std::string& function, const std::string& file,
                                                 const std::string& build_id) {
  if (file.empty() || file.front() != '/') return std::nullopt;  // the kernel's has no path
  const std::optional<uint64_t> address = AddressOf(function);
  if (!address.has_value()) return std::nullopt;
  auto [known, is_new] = files_.try_emplace({file, build_id});
  if (is_new) {
    absl::StatusOr<SymbolTable> symbols = SymbolTable::Read(file, build_id);
    if (symbols.ok()) {
      known->second = *std::move(symbols);
    } else {
      problems_.push_back(std::string(symbols.status().message()) + "; its functions have no names");
    }
  }
  if (!known->second.has_value()) return std::nullopt;
  const std::optional<NativeFunction> found = known->second->FunctionAt(*address);
  if (!found.has_value()) return std::nullopt;
  return NamedFunction{ReadableName(found->symbol), file, build_id, found->begin};
}

std::vector<std::optional<SourceLine>> FunctionNamer::LinesOf(const std::vector<NamedFunction>& functions) {
  std::map<std::string, std::vector<size_t>> of_file;
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto known = files_.find({functions[i].file, functions[i].build_id});
    if (known == files_.end() || !known->second.has_value()) continue;
    const std::string& file = known->second->file_with_lines();
    if (!file.empty()) of_file[file].push_back(i);
  }
  std::vector<std::optional<SourceLine>> lines(functions.size());
  for (const auto& [file, asked] : of_file) {
    std::vector<uint64_t> addresses;
    addresses.reserve(asked.size());
    for (const size_t i : asked) addresses.push_back(functions[i].begin);
    const absl::StatusOr<std::vector<std::optional<SourceLine>>> found = FindSourceLines(file, addresses);
    if (!found.ok()) {
      problems_.push_back(std::string(found.status().message()) + "; functions have no lines");
      if (absl::IsUnavailable(found.status())) break;
      continue;
    }
    for (size_t at = 0; at < asked.size(); ++at) lines[asked[at]] = (*found)[at];
  }
  return lines;
}

std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows) {
  FunctionNamer namer;
  std::vector<NamedFunction> named;
  std::vector<FunctionRow*> rows_of_named;
  for (FunctionRow& row : *rows) {
    if (row.line.has_value()) continue;
    std::optional<NamedFunction> found = namer.Find(row.function, row.file, row.build_id);
    if (!found.has_value()) continue;
    row.function = found->name;
    row.build_id.clear();
    named.push_back(*std::move(found));
    rows_of_named.push_back(&row);
  }
  const std::vector<std::optional<SourceLine>> lines = namer.LinesOf(named);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].has_value()) continue;
    rows_of_named[i]->file = lines[i]->file;
    rows_of_named[i]->line = lines[i]->line;
  }
  if (!named.empty()) FinishFunctionRows(last_is_other, rows);
  return namer.problems();
}

}  // namespace crema
