#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/records/facts.h"
#include "collector/server/live_sources.h"

namespace crema {
namespace {

class FileTailTest : public ::testing::Test {
 protected:
  FileTailTest() : path_(std::filesystem::path(::testing::TempDir()) / "tail.jsonl") { std::filesystem::remove(path_); }
  void Append(const std::string& text) { std::ofstream(path_, std::ios::app | std::ios::binary) << text; }
  std::string Read(FileTail& tail) {
    std::string text;
    EXPECT_TRUE(tail.Read(1 << 20, [&](std::string_view bytes) { text += bytes; }).ok());
    return text;
  }
  std::filesystem::path path_;
};

TEST_F(FileTailTest, ReadsWhatWasAppendedAndNothingTwice) {
  Append("one\n");
  FileTail tail(path_.string());
  EXPECT_EQ(Read(tail), "one\n");
  EXPECT_EQ(Read(tail), "");
  Append("two\nth");
  EXPECT_EQ(Read(tail), "two\nth");
  Append("ree\n");
  EXPECT_EQ(Read(tail), "ree\n");
}

TEST_F(FileTailTest, StopsWhereItWasToldAndSaysThatMoreIsThere) {
  Append(std::string(3 << 20, 'x'));
  FileTail tail(path_.string());
  size_t read = 0;
  const auto more = tail.Read(1 << 20, [&](std::string_view bytes) { read += bytes.size(); });
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(*more);
  EXPECT_EQ(read, size_t{1} << 20);
}

TEST_F(FileTailTest, SaysThatAFileIsGoneAndGoesOnWhenItIsBack) {
  Append("one\n");
  FileTail tail(path_.string());
  EXPECT_EQ(Read(tail), "one\n");
  std::filesystem::rename(path_, path_.string() + ".away");
  EXPECT_TRUE(absl::IsNotFound(tail.Read(100, [](std::string_view) {}).status()));
  std::filesystem::rename(path_.string() + ".away", path_);
  Append("two\n");
  EXPECT_EQ(Read(tail), "two\n");
}

TEST_F(FileTailTest, SaysThatAFileBecameShorter) {
  Append("one\ntwo\n");
  FileTail tail(path_.string());
  EXPECT_EQ(Read(tail), "one\ntwo\n");
  std::filesystem::resize_file(path_, 4);
  EXPECT_TRUE(absl::IsOutOfRange(tail.Read(100, [](std::string_view) {}).status()));
  EXPECT_EQ(Read(tail), "one\n") << "from its beginning: what was read before may have been written anew";
  Append("new\n");
  EXPECT_EQ(Read(tail), "new\n");
}

TEST_F(FileTailTest, SaysThatAnotherFileTookItsPlace) {
  Append("one\n");
  FileTail tail(path_.string());
  EXPECT_EQ(Read(tail), "one\n");
  std::filesystem::rename(path_, path_.string() + ".away");
  Append("first of a longer file\n");
  EXPECT_TRUE(absl::IsOutOfRange(tail.Read(100, [](std::string_view) {}).status()));
  EXPECT_EQ(Read(tail), "first of a longer file\n");
}

struct Lines {
  std::vector<std::string> lines;
  int too_long = 0;
  void Add(LineAssembler& assembler, std::string_view bytes) {
    assembler.Add(
        bytes, [this](std::string_view line) { lines.emplace_back(line); }, [this] { ++too_long; });
  }
};

TEST(LineAssembler, PutsLinesTogetherHoweverTheyWereCut) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\n" + std::string(200, 'x') + "\nlast\n";
  for (size_t cut = 1; cut < text.size(); ++cut) {
    LineAssembler assembler;
    Lines got;
    got.Add(assembler, std::string_view(text).substr(0, cut));
    got.Add(assembler, std::string_view(text).substr(cut));
    EXPECT_EQ(got.lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}", std::string(200, 'x'), "last"})) << cut;
  }
}

TEST(LineAssembler, DropsALineThatIsTooLongAndHoldsNoneOfIt) {
  LineAssembler assembler;
  Lines got;
  const std::string piece(1 << 16, 'x');
  for (size_t bytes = 0; bytes < 3 * kMaxLineBytes; bytes += piece.size()) got.Add(assembler, piece);
  got.Add(assembler, "y\nnext\n");
  EXPECT_EQ(got.too_long, 1);
  EXPECT_EQ(got.lines, std::vector<std::string>{"next"});
}

}  // namespace
}  // namespace crema
