#include <optional>

#include "collector/sources/process_tree/proc_file.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TEST(ParseProcIo, TellsCancelledWritesFromWrites) {
  const std::optional<TreeIo> io = ParseProcIo(
      "rchar: 101\nwchar: 202\nsyscr: 3\nsyscw: 4\ncancelled_write_bytes: 9\nread_bytes: 303\nwrite_bytes: 404\n");
  ASSERT_TRUE(io.has_value());
  EXPECT_EQ(io->rchar_bytes, 101);
  EXPECT_EQ(io->wchar_bytes, 202);
  EXPECT_EQ(io->read_bytes, 303);
  EXPECT_EQ(io->write_bytes, 404);
}

TEST(ParseProcIo, AMissingFieldIsNoZero) {
  EXPECT_EQ(ParseReadCalls("rchar: 1\nsyscr: 17\nsyscw: 4\n"), 17);
  EXPECT_EQ(ParseReadCalls("rchar: 1\nsyscw: 4\n"), std::nullopt);
  EXPECT_FALSE(ParseProcIo("").has_value());
  EXPECT_FALSE(ParseProcIo("rchar: 1\nwchar: 2\nread_bytes: 3\ncancelled_write_bytes: 4\n").has_value());
}

}  // namespace
}  // namespace crema
