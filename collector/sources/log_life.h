// Whether a log is still being written: the log itself, or the one of which it is a copy.
#ifndef CREMA_COLLECTOR_SOURCES_LOG_LIFE_H_
#define CREMA_COLLECTOR_SOURCES_LOG_LIFE_H_

#include <string>
#include <string_view>

namespace crema {

/// Whether a process holds the log open for writing (flock(2)); it still may write more.
bool IsHeldByItsProcess(const std::string& path);

/// Whether the log is a copy that was made while its process ran, as its name says: `x.live.jsonl`,
/// `x.live.tree.ndjson`. That it has no end tells nothing of the process.
bool IsLiveCopy(std::string_view path);

/// The name of such a copy, of a log's name; that of a copy is itself.
std::string LiveCopyName(std::string_view name);

/// Either of both: what it lacks is no loss.
bool MayLackItsEnd(const std::string& path);

/// `x.jsonl` is `x` and `.jsonl`, `x.live.tree.ndjson.gz` is `x` and `.live.tree.ndjson.gz`: where the name of a log
/// ends and what tells its kind begins.
std::string_view KindOfLog(std::string_view name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_LOG_LIFE_H_
