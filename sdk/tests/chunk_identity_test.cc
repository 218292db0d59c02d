// Which part of the data a chunk says it is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/crema.h"
#include "sdk/tests/child_process.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"

namespace crema {
namespace testing {
namespace {

TEST(Chunk, TakesAnyIntegralRange) {
  const RecordLog log = Recorded([] {
    const std::string file = "/data/ttbar.root";
    { TrackMetrics metrics({"int", file, 0, 1000}); }
    { TrackMetrics metrics({"size_t", file, std::size_t{5}, std::size_t{10}}); }
    { TrackMetrics metrics({"mixed", file, std::uint16_t{7}, 5000000000LL}); }
    { TrackMetrics metrics({"whole file", file}); }
  });
  EXPECT_EQ(ChunkOf(log, "int").entry_start, 0);
  EXPECT_EQ(ChunkOf(log, "int").entry_stop, 1000);
  EXPECT_EQ(ChunkOf(log, "size_t").entry_start, 5);
  EXPECT_EQ(ChunkOf(log, "mixed").entry_stop, 5000000000);
  EXPECT_EQ(ChunkOf(log, "whole file").file, "/data/ttbar.root");
  EXPECT_EQ(ChunkOf(log, "whole file").entry_start, std::nullopt);
}

/// Built from temporaries, and used after they are gone: under AddressSanitizer a borrowed text ends the test.
TEST(Chunk, OwnsItsText) {
  const std::string directory = "/data/a/directory/whose/name/is/longer/than/what/fits/in/place";
  const RecordLog log = Recorded([&] {
    Chunk where(std::string("tt") + "bar", directory + "/x.root", 0, 1000);
    where.tree = std::string("Ev") + "ents";
    where.pass = directory + "/pass";
    where.AddAttribute(std::string("si") + "te", directory + "/value");
    Chunk copy = where;
    const Chunk moved = std::move(where);
    where = Chunk("other");
    const internal::OwnedText& same = copy.file;
    copy.file = same;
    { TrackMetrics metrics(copy); }
    { TrackMetrics metrics(moved); }
    { TrackMetrics metrics(where); }
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(log.chunks[i].dataset, "ttbar");
    EXPECT_EQ(log.chunks[i].file, directory + "/x.root");
    EXPECT_EQ(log.chunks[i].tree, "Events");
    EXPECT_EQ(log.chunks[i].pass, directory + "/pass");
    EXPECT_EQ(log.chunks[i].attributes.at("site"), directory + "/value");
  }
  EXPECT_EQ(log.chunks[2].dataset, "other");
  EXPECT_EQ(log.chunks[2].file, std::nullopt);
}

TEST(Chunk, TextIsReadAndPrintedAsText) {
  const Chunk chunk("ttbar", std::string(60, 'x'));
  std::ostringstream printed;
  printed << chunk.dataset << ':' << chunk.file;
  EXPECT_EQ(printed.str(), "ttbar:" + std::string(60, 'x'));
  EXPECT_EQ(chunk.dataset.view().substr(2), "bar");
}

TEST(Chunk, TextThatFindsNoMemoryIsLostWithoutAWord) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer ends a program that asks for so much";
  const ChildResult result = RunInChild({}, [] {
    std::set_new_handler([] { _exit(1); });  // the host's own
    const char first = 'x';
    const volatile std::size_t size = std::size_t{1} << 50;  // more than there are addresses; no compiler sees it
    const std::string_view huge(&first, size);
    errno = EDOM;
    const internal::OwnedText text = huge;
    _exit(errno == EDOM && text.is_lost() && text.empty() ? 0 : 2);
  });
  EXPECT_EQ(result.exit_status, 0) << result.errors;
}

static_assert(std::is_nothrow_copy_constructible_v<Chunk> && std::is_nothrow_move_assignable_v<Chunk>);
static_assert(!std::is_same_v<decltype(Chunk::file), std::string_view>, "a borrowed text dangles");

TEST(Chunk, CarriesTreeAndAttributes) {
  const RecordLog log = Recorded([] {
    Chunk chunk("ttbar", "/data/ttbar.root", 0, 1000);
    chunk.tree = "Events";
    chunk.AddAttribute("site", "T2").AddAttribute("retry", "1");
    TrackMetrics metrics(chunk);
    metrics.SetAttribute("retry", "2");
    SetAttribute("note", "a \"quoted\" one");
  });
  EXPECT_EQ(log.chunks.at(0).tree, "Events");
  EXPECT_EQ(log.begins.at(0).attributes, (std::map<std::string, std::string>{{"site", "T2"}, {"retry", "1"}}));
  EXPECT_EQ(log.chunks.at(0).attributes,
            (std::map<std::string, std::string>{{"site", "T2"}, {"retry", "2"}, {"note", "a \"quoted\" one"}}));
}

TEST(Chunk, CountsAttributesBeyondItsLimit) {
  const RecordLog log = Recorded([] {
    Chunk chunk("ttbar");
    const std::string names = "0123456789";
    for (int i = 0; i < 10; ++i) chunk.AddAttribute(std::string_view(names).substr(i, 1), "x");
    TrackMetrics metrics(chunk);
  });
  EXPECT_EQ(log.chunks.at(0).attributes.size(), 8u);
  EXPECT_EQ(log.end->dropped, 2);
}

TEST(Chunk, TextNeedNotOutliveItsConstructor) {
  const ChunkLine chunk = RecordedChunk([] {
    std::string dataset = "ttbar";
    std::string file = "/data/ttbar.root";
    TrackMetrics metrics({dataset, file, 0, 1});
    dataset.assign(dataset.size(), 'x');
    file.assign(file.size(), 'x');
  });
  EXPECT_EQ(chunk.dataset, "ttbar");
  EXPECT_EQ(chunk.file, "/data/ttbar.root");
}

TEST(Chunk, LongOrBrokenTextIsCutAndMended) {
  const ChunkLine chunk = RecordedChunk([] { TrackMetrics metrics({"\xff\xfe", std::string(10000, 'f'), 0, 1}); });
  EXPECT_EQ(chunk.dataset, "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(chunk.file, std::string(4096, 'f'));
}

TEST(ChunkPass, IsItsOwnThenTheEnvironmentsThenTheSpans) {
  const auto body = [] {
    Span span("process");
    Chunk chunk("own");
    chunk.pass = "second";
    { TrackMetrics metrics(chunk); }
    { TrackMetrics metrics("default"); }
  };
  const RecordLog with_variable = Recorded(body, {{"CREMA_PASS", "nightly"}});
  EXPECT_EQ(ChunkOf(with_variable, "own").pass, "second");
  EXPECT_EQ(ChunkOf(with_variable, "default").pass, "nightly");
  EXPECT_EQ(ChunkOf(with_variable, "default").span, "process");
  const RecordLog without = Recorded(body);
  EXPECT_EQ(ChunkOf(without, "own").pass, "second");
  EXPECT_EQ(ChunkOf(without, "default").pass, "process");
}

}  // namespace
}  // namespace testing
}  // namespace crema
