// The lines of the process-tree log (`crema.tree/1`), from facts.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_LINES_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_LINES_H_

#include <string>

#include "collector/records/tree_facts.h"

namespace crema {

/// Each appends one JSON object and a newline. Text that is not UTF-8 (a command line may be anything) is mended with
/// U+FFFD. `with_rows`: the processes of the sample one by one, too.
void AppendLine(const TreeRunFact& run, std::string* out);
void AppendLine(const TreeSampleFact& sample, bool with_rows, std::string* out);
void AppendLine(const TreeReapFact& reaped, std::string* out);
void AppendLine(const TreeEndFact& end, std::string* out);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_LINES_H_
