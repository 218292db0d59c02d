// The names of native functions, from the files that ran.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/contents/function_table.h"
#include "collector/symbols/symbol_table.h"

namespace crema {

/// A function of native code, and where it begins in its file.
struct NamedFunction {
  std::string name;
  std::string file;
  std::string build_id;
  uint64_t begin = 0;
};

/// Reads each file once.
class FunctionNamer {
 public:
  /// The function that a line `stacks` calls `file+0xaddress` (docs/record_log.md, "stacks"), if its file is still what
  /// ran and has a symbol there; nullopt: it is not, or `function` has a name already.
  std::optional<NamedFunction> Find(const std::string& function, const std::string& file, const std::string& build_id);
  /// The lines on which they begin; nullopt: their files do not say. Reads each file at most once more.
  std::vector<std::optional<SourceLine>> LinesOf(const std::vector<NamedFunction>& functions);
  /// What is wrong with files, a sentence each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::pair<std::string, std::string>, std::optional<SymbolTable>> files_;
  std::vector<std::string> problems_;
};

/// Gives rows of native functions (`FunctionRow::build_id`) their names, and their sources where these are known. Puts
/// together those that become equal (`FinishFunctionRows`). Returns what is wrong with files.
std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
