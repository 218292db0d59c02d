// Plain and compressed files, whole, in several pieces, and damaged.
#include "collector/compression/decompressed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace crema {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_EQ(ZSTD_isError(size), 0U);
  out.resize(size);
  return out;
}

// Text that compresses to more than one block of what is read at once.
std::string LongText() {
  std::string text;
  for (uint64_t i = 0; text.size() < 3'000'000; ++i) text += std::to_string(i * 0x9E3779B97F4A7C15U) + "\n";
  return text;
}

class DecompressedFileTest : public ::testing::Test {
 protected:
  ~DecompressedFileTest() override { fs::remove_all(path_); }

  const std::string& Write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return path_;
  }

  // All that is read; `status` says how it ended.
  static std::string ReadAll(DecompressedFile& file, size_t at_once = 10'007) {
    std::string text, block(at_once, '\0');
    for (int64_t got; (got = file.Read(block.data(), block.size())) > 0;) text.append(block, 0, got);
    return text;
  }

  const std::string path_ =
      (fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name()).string();
};

TEST_F(DecompressedFileTest, GivesWhatWasCompressedAndPlainFilesAsTheyAre) {
  const std::string text = LongText();
  for (const std::string& bytes : {text, Gzip(text), Zstd(text)}) {
    DecompressedFile file(Write(bytes));
    EXPECT_EQ(file.is_compressed(), bytes != text);
    EXPECT_EQ(IsCompressed(path_), bytes != text);
    EXPECT_TRUE(ReadAll(file) == text);
    EXPECT_TRUE(file.status().ok()) << file.status();
    EXPECT_EQ(DecompressedBytes(path_).value(), static_cast<int64_t>(text.size()));
  }
}

TEST_F(DecompressedFileTest, NothingIsNothing) {
  for (const std::string& bytes : {std::string(), Gzip(""), Zstd("")}) {
    DecompressedFile file(Write(bytes));
    EXPECT_EQ(ReadAll(file), "");
    EXPECT_TRUE(file.status().ok()) << file.status();
  }
}

TEST_F(DecompressedFileTest, PiecesOneAfterAnotherAreOneFile) {
  for (const std::string& bytes : {Gzip("one\n") + Gzip("two\n"), Zstd("one\n") + Zstd("two\n")}) {
    DecompressedFile file(Write(bytes));
    EXPECT_EQ(ReadAll(file), "one\ntwo\n");
    EXPECT_TRUE(file.status().ok()) << file.status();
  }
}

TEST_F(DecompressedFileTest, GoesToAByteAndBack) {
  const std::string text = LongText();
  for (const std::string& bytes : {text, Gzip(text), Zstd(text)}) {
    DecompressedFile file(Write(bytes));
    for (const size_t offset : {size_t{1'999'999}, size_t{17}, size_t{17}, size_t{600'000}}) {
      ASSERT_TRUE(file.SkipTo(static_cast<int64_t>(offset)));
      std::string got(100, '\0');
      ASSERT_EQ(file.Read(got.data(), got.size()), 100);
      EXPECT_EQ(got, text.substr(offset, 100));
    }
  }
}

TEST_F(DecompressedFileTest, ACutFileGivesWhatIsThereAndSaysThatItEndsEarly) {
  const std::string text = LongText();
  for (std::string bytes : {Gzip(text), Zstd(text)}) {
    bytes.resize(bytes.size() * 2 / 3);
    DecompressedFile file(Write(bytes));
    const std::string got = ReadAll(file);
    EXPECT_GT(got.size(), text.size() / 3);
    EXPECT_TRUE(text.compare(0, got.size(), got) == 0);
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("damaged: its compressed data ends early"));
    EXPECT_EQ(file.Read(bytes.data(), 10), -1);
  }
}

TEST_F(DecompressedFileTest, AllThatWasDecompressedIsGivenBeforeTheCutIsSaid) {
  const std::string text = LongText().substr(0, 100'000);  // less than a block
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in = {text.data(), text.size(), 0};
  ZSTD_outBuffer out = {bytes.data(), bytes.size(), 0};
  ASSERT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0U);  // a whole block, and no end
  ZSTD_freeCCtx(context);
  bytes.resize(out.pos);
  DecompressedFile file(Write(bytes));
  EXPECT_TRUE(ReadAll(file, 1000) == text);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("ends early"));
}

TEST_F(DecompressedFileTest, AWrongByteGivesWhatIsBeforeItAndSaysSo) {
  const std::string text = LongText();
  for (std::string bytes : {Gzip(text), Zstd(text)}) {
    for (size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] = static_cast<char>(0xff);
    DecompressedFile file(Write(bytes));
    const std::string got = ReadAll(file);
    EXPECT_EQ(got.substr(0, text.size() / 3), text.substr(0, text.size() / 3));
    EXPECT_NE(got, text);
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("damaged: its compressed data is wrong ("));
  }
}

TEST_F(DecompressedFileTest, MembersBeforeADamagedOneAreReadWhole) {
  const std::string text = LongText();
  std::string damaged = Gzip(text);
  damaged[20] = static_cast<char>(0xff);
  for (const std::string& bytes : {Gzip(text) + damaged, Gzip(text) + Gzip(text).substr(0, 9)}) {
    DecompressedFile file(Write(bytes));
    EXPECT_EQ(ReadAll(file).substr(0, text.size()), text);
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("damaged: its compressed data "));
  }
}

TEST_F(DecompressedFileTest, WhatComesBeforeDamageIsReadInBlocksOfAnySize) {
  const std::string text = LongText().substr(0, 300'000);  // some blocks of zstd's
  for (std::string bytes : {Gzip(text), Zstd(text)}) {
    for (size_t i = bytes.size() - 40; i < bytes.size(); ++i) bytes[i] = static_cast<char>(0xff);
    Write(bytes);
    std::vector<std::string> read;
    for (const size_t block_bytes : {size_t{1} << 20, size_t{1000}}) {
      DecompressedFile file(path_);
      std::string block(block_bytes, '\0'), got;
      for (int64_t bytes_got; (bytes_got = file.Read(block.data(), block.size())) > 0;) {
        got.append(block, 0, static_cast<size_t>(bytes_got));
      }
      EXPECT_FALSE(file.status().ok());
      read.push_back(got);
    }
    EXPECT_EQ(read[0], read[1]);
    EXPECT_EQ(read[0].substr(0, 250'000), text.substr(0, 250'000));
  }
}

TEST_F(DecompressedFileTest, PaddingBehindAMemberIsNone) {
  for (const std::string& padding : {std::string(512, '\0'), std::string(1, '\0'), std::string()}) {
    DecompressedFile file(Write(Gzip("a line\n") + padding));
    EXPECT_EQ(ReadAll(file), "a line\n");
    EXPECT_TRUE(file.status().ok()) << file.status();
  }
}

TEST_F(DecompressedFileTest, OtherDataBehindAMemberIsDamage) {
  for (const std::string& data : {std::string("\x1f"), std::string("\x1fxyz"), std::string("more lines\n")}) {
    DecompressedFile file(Write(Gzip("a line\n") + data));
    EXPECT_EQ(ReadAll(file), "a line\n");
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("is followed by other data"));
  }
}

TEST_F(DecompressedFileTest, TheBeginningIsThatOfWhatWasCompressed) {
  EXPECT_EQ(ReadBeginning(Write(Gzip("a line\n")), 6), "a line");
  EXPECT_EQ(ReadBeginning(Write("short"), 99), "short");
  EXPECT_EQ(ReadBeginning("/dev/null", 9), "");
  EXPECT_EQ(ReadBeginning("/no/such/file", 9), "");
}

TEST_F(DecompressedFileTest, AFileThatCannotBeOpenedSaysWhy) {
  DecompressedFile file("/no/such/file");
  EXPECT_EQ(std::string(file.status().message()), "cannot be opened (No such file or directory)");
  char byte;
  EXPECT_EQ(file.Read(&byte, 1), -1);
  EXPECT_FALSE(file.SkipTo(1));
  EXPECT_FALSE(DecompressedBytes("/no/such/file").ok());
  EXPECT_FALSE(IsCompressed("/no/such/file"));
}

TEST_F(DecompressedFileTest, AFifoDoesNotBlock) {
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  DecompressedFile file(path_);
  char byte;
  EXPECT_LE(file.Read(&byte, 1), 0);
}

TEST_F(DecompressedFileTest, AStreamHasTheSameLines) {
  const std::string text = LongText();
  for (const std::string& bytes : {text, Gzip(text), Zstd(text)}) {
    DecompressedStream stream(Write(bytes));
    std::string joined;
    for (std::string line; std::getline(stream, line);) joined += line + "\n";
    EXPECT_TRUE(joined == text);
    EXPECT_TRUE(stream.status().ok());
  }
  EXPECT_FALSE(DecompressedStream("/no/such/file"));
}

TEST(CompressedName, LosesTheLastEndingOnly) {
  EXPECT_EQ(NameBeforeCompression("a.jsonl.gz"), "a.jsonl");
  EXPECT_EQ(NameBeforeCompression("a.jsonl.zst"), "a.jsonl");
  EXPECT_EQ(NameBeforeCompression("a.jsonl"), "a.jsonl");
  EXPECT_EQ(NameBeforeCompression("a.gz.gz"), "a.gz");
  EXPECT_EQ(NameBeforeCompression(".gz"), ".gz");
  EXPECT_TRUE(HasSuffixBeforeCompression("a.jsonl.zst", ".jsonl"));
  EXPECT_TRUE(HasSuffixBeforeCompression("a.jsonl", ".jsonl"));
  EXPECT_FALSE(HasSuffixBeforeCompression("a.json.gz", ".jsonl"));
}

}  // namespace
}  // namespace crema
