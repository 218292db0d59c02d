// The names of native functions, from the files that ran.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/contents/function_table.h"
#include "collector/symbols/symbol_table.h"

namespace crema {

/// Reads each file once.
class FunctionNamer {
 public:
  /// The name of a function that a line `stacks` calls `file+0xaddress` (docs/record_log.md, "stacks"), if its file is
  /// still what ran and has a symbol there; else, and for all others, `function` itself.
  std::string NameOf(const std::string& function, const std::string& file, const std::string& build_id);
  /// What is wrong with files, a sentence each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::pair<std::string, std::string>, std::optional<SymbolTable>> files_;
  std::vector<std::string> problems_;
};

/// Gives rows of native functions (`FunctionRow::build_id`) their names, and puts together those that become equal
/// (`FinishFunctionRows`). Returns what is wrong with files.
std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
