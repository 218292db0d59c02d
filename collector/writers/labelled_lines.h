// Names on the left, values on the right, values broken over as many lines as they need: nothing is cut.
#ifndef CREMA_COLLECTOR_WRITERS_LABELLED_LINES_H_
#define CREMA_COLLECTOR_WRITERS_LABELLED_LINES_H_

#include <string>
#include <utility>
#include <vector>

#include "collector/writers/terminal_style.h"

namespace crema {

/// One block of lines, `indent` columns from the left, the values aligned under each other.
std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_LABELLED_LINES_H_
