#include "sdk/tests/recorded.h"

#include <gtest/gtest.h>

#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {

RecordLog Recorded(const std::function<void()>& body, const Environment& environment) {
  const std::string directory = NewDirectory();
  Environment all = {{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}};
  all.insert(all.end(), environment.begin(), environment.end());
  const ChildResult child = RunInChild(all, body);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.output, "");
  EXPECT_EQ(child.errors, "");
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  EXPECT_EQ(logs.size(), 1u);
  if (logs.empty()) return {};
  EXPECT_TRUE(logs[0].malformed.empty()) << logs[0].malformed[0];
  EXPECT_TRUE(logs[0].ends_with_newline);
  EXPECT_TRUE(logs[0].end.has_value());
  return logs[0];
}

ChunkLine RecordedChunk(const std::function<void()>& body, const Environment& environment) {
  const RecordLog log = Recorded(body, environment);
  EXPECT_EQ(log.chunks.size(), 1u);
  return log.chunks.empty() ? ChunkLine() : log.chunks[0];
}

}  // namespace testing
}  // namespace crema
