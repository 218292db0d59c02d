// The names of native functions, from the files that ran.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_

#include <string>
#include <vector>

#include "collector/metrics/contents/function_table.h"

namespace crema {

/// Gives rows of native functions (`FunctionRow::build_id`) their names, where the files that they lie in are still
/// those that ran and tell them, and puts together the rows that become equal (`FinishFunctionRows`). Others stay
/// `file+0xaddress`. Returns what is wrong with files, a sentence each.
std::vector<std::string> NameFunctions(bool last_is_other, std::vector<FunctionRow>* rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_NAMES_H_
