#include "examples/zjets/gzip_range.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "examples/zjets/gzip_file_for_test.h"
#include "examples/zjets/random_bits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zjets {
namespace {

using testing::HasSubstr;

/// Text that compresses about as well as event files do: numbers, with repetitions near and far.
std::string SomeText(std::size_t size) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < size; ++i)
    text += std::to_string(MixBits(i % 5000) >> (i % 40)) + " 0.00E+00\n";
  text.resize(size);
  return text;
}

GzipIndex IndexOf(const std::string& path, std::string* text = nullptr) {
  return BuildGzipIndex(path, 100'000, [text](std::string_view bytes) {
    if (text != nullptr) text->append(bytes);
  });
}

std::string FailureOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(GzipIndex, HandsOverAllBytesAndNotesSeveralAccessPoints) {
  const std::string text = SomeText(3'000'000);
  std::string seen;
  const GzipIndex index = IndexOf(WriteGzipFile("whole.gz", text), &seen);
  EXPECT_TRUE(seen == text);
  EXPECT_GT(index.points.size(), 5U);
  EXPECT_EQ(index.points.front().uncompressed_offset, 0U);
  EXPECT_EQ(index.damage, "");
}

TEST(GzipRange, AnyRangeIsWhatTheWholeFileHoldsThere) {
  const std::string text = SomeText(3'000'000);
  const std::string path = WriteGzipFile("ranges.gz", text);
  const GzipIndex index = IndexOf(path);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t start = MixBits(i) % text.size();
    const std::uint64_t stop = start + MixBits(~i) % (text.size() - start + 1);
    ReadCosts costs;
    ASSERT_TRUE(ReadGzipRange(path, index, start, stop, &costs) == text.substr(start, stop - start))
        << start << " " << stop;
  }
}

TEST(GzipRange, StartsExactlyAtEachAccessPoint) {
  const std::string text = SomeText(3'000'000);
  const std::string path = WriteGzipFile("points.gz", text);
  const GzipIndex index = IndexOf(path);
  for (const AccessPoint& point : index.points) {
    ReadCosts costs;
    ASSERT_EQ(ReadGzipRange(path, index, point.uncompressed_offset, point.uncompressed_offset + 10, &costs),
              text.substr(point.uncompressed_offset, 10));
  }
}

TEST(GzipRange, ReadsAndUnzipsOnlyThePartOfTheFileThatIsNear) {
  const std::string text = SomeText(3'000'000);
  const std::string path = WriteGzipFile("costs.gz", text);
  const GzipIndex index = IndexOf(path);
  ReadCosts costs;
  ReadGzipRange(path, index, 2'900'000, 2'901'000, &costs);
  EXPECT_GE(costs.bytes_unzipped, 1000);
  EXPECT_LT(costs.bytes_unzipped, static_cast<std::int64_t>(text.size() / 4));
  EXPECT_LE(costs.bytes_needed, costs.bytes_read);
  EXPECT_LT(costs.bytes_read, static_cast<std::int64_t>(std::filesystem::file_size(path) / 4));
  EXPECT_GE(costs.read_calls, 1);
}

TEST(GzipRange, AnEmptyRangeReadsNothing) {
  const std::string path = WriteGzipFile("empty_range.gz", SomeText(1000));
  ReadCosts costs;
  EXPECT_EQ(ReadGzipRange(path, IndexOf(path), 500, 500, &costs), "");
  EXPECT_EQ(costs.read_calls, 0);
}

TEST(GzipRange, BeyondTheEndIsAnErrorThatNamesTheFile) {
  const std::string path = WriteGzipFile("short.gz", SomeText(1000));
  const GzipIndex index = IndexOf(path);
  ReadCosts costs;
  EXPECT_THAT(FailureOf([&] { ReadGzipRange(path, index, 0, 1001, &costs); }), HasSubstr(path));
}

TEST(GzipRange, AFileThatVanishedAfterIndexingIsAnErrorWithTheReason) {
  const std::string path = WriteGzipFile("vanishes.gz", SomeText(1000));
  const GzipIndex index = IndexOf(path);
  std::filesystem::remove(path);
  ReadCosts costs;
  EXPECT_THAT(FailureOf([&] { ReadGzipRange(path, index, 0, 10, &costs); }), HasSubstr("No such file"));
}

TEST(GzipIndex, AFileThatIsCutOffGivesWhatStandsBeforeAndSaysSo) {
  const std::string text = SomeText(3'000'000);
  const std::string path = WriteGzipFile("cut.gz", text);
  CutFile(path, std::filesystem::file_size(path) / 2);
  std::string seen;
  const GzipIndex index = IndexOf(path, &seen);
  EXPECT_THAT(index.damage, HasSubstr("ends in the middle"));
  EXPECT_GT(seen.size(), text.size() / 4);
  EXPECT_TRUE(seen == text.substr(0, seen.size()));
}

TEST(GzipIndex, AChangedByteIsFoundByTheChecksumAtTheLatest) {
  const std::string path = WriteGzipFile("flipped.gz", SomeText(500'000));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  file.seekg(middle);
  const char byte = static_cast<char>(file.get());
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 0x55));
  file.close();
  EXPECT_THAT(IndexOf(path).damage, HasSubstr("damaged near byte"));
}

TEST(GzipIndex, ASecondMemberIsRefusedAndNotForgotten) {
  WriteGzipFile("members.gz", "first\n");
  const std::string path = WriteGzipFile("members.gz", "second\n", "ab");
  EXPECT_THAT(IndexOf(path).damage, HasSubstr("first gzip member"));
}

TEST(GzipIndex, PlainTextIsRefused) {
  const std::string path = testing::TempDir() + "/plain.lhe";
  std::ofstream(path) << "<LesHouchesEvents>\n";
  EXPECT_THAT(FailureOf([&] { IndexOf(path); }), HasSubstr("not a gzip file"));
}

TEST(GzipIndex, SurvivesTheWayToAnotherProcess) {
  const std::string text = SomeText(1'000'000);
  const std::string path = WriteGzipFile("sent.gz", text);
  ByteWriter out;
  Write(IndexOf(path), out);
  ByteReader in(out.bytes());
  const GzipIndex index = ReadGzipIndex(in);
  EXPECT_TRUE(in.empty());
  ReadCosts costs;
  EXPECT_EQ(ReadGzipRange(path, index, 900'000, 900'000 + 50, &costs), text.substr(900'000, 50));
}

}  // namespace
}  // namespace zjets
