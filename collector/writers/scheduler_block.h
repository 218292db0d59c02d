// What managers of TaskVine and Work Queue report, in the terminal.
#ifndef CREMA_COLLECTOR_WRITERS_SCHEDULER_BLOCK_H_
#define CREMA_COLLECTOR_WRITERS_SCHEDULER_BLOCK_H_

#include <string>

#include "collector/server/live_model.h"
#include "collector/writers/terminal_box.h"

namespace crema {

/// A block for each of them: its state, its finished tasks, and of `prefixes` kinds of tasks those that have finished
/// most. How many lines it took.
int AddSchedulers(const LiveModel& model, int prefixes, TerminalBox* box);

/// The same without the kinds, for files and pipes.
std::string SchedulersInOneLine(const LiveModel& model);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SCHEDULER_BLOCK_H_
