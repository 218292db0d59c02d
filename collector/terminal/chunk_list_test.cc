#include <string>

#include "collector/terminal/terminal.h"
#include "collector/terminal/terminal_box.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

using testing::HasSubstr;

using Json = nlohmann::ordered_json;

ChunkListing Listing() {
  ChunkListing listing;
  listing.sorted_by = "rss_peak_bytes";
  listing.columns = {{"chunk", "chunk", Kind::kText},
                     {"rss_peak_bytes", "rss_peak_bytes", Kind::kText},
                     {"status", "status", Kind::kText, 1},
                     {"dataset", "dataset", Kind::kText, 1},
                     {"file", "file", Kind::kPath, 6},
                     {"worker", "worker", Kind::kText, 3},
                     {"start_ns", "start", Kind::kDuration, 5},
                     {"duration", "took", Kind::kDuration},
                     {"events", "events", Kind::kCount, 2},
                     {"error", "error", Kind::kText, 3},
                     {"attributes", "attributes", Kind::kText, 2, true}};
  listing.seen = 1000;
  listing.matched = 12;
  listing.run_start_ns = 1'790'000'000'000'000'000;
  listing.rows = Json::array();
  for (int64_t number = 0; number < 2; ++number) {
    listing.rows.push_back({{"chunk", number},
                            {"status", "failed"},
                            {"error", "no such branch: \u00fcber \u6f22\u5b57 \u001b[31m and so on, for a long while"},
                            {"dataset", "t\u0304tbar"},
                            {"file", "root://eos.cern.ch//very/long/path/of/a/file/that/is/read/0017.root"},
                            {"worker", "node17.example.org:4711"},
                            {"start_ns", 1'790'000'000'250'000'000 + number},
                            {"duration", 1.5},
                            {"events", 1000},
                            {"rss_peak_bytes", 123456789}});
  }
  return listing;
}

TEST(RenderChunkList, StaysWithinEveryWidthFrom40To200) {
  for (int width = 40; width <= 200; ++width) {
    for (bool ascii : {false, true}) {
      const std::string text = RenderChunkList(Listing(), {width, false, ascii});
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        ASSERT_LE(ColumnsOf(text.substr(at, end - at)), width) << text;
        at = end + 1;
      }
    }
  }
}

TEST(RenderChunkList, AlwaysShowsWhatItIsSortedBy) {
  EXPECT_THAT(RenderChunkList(Listing(), {40}), HasSubstr("123456789"));
}

TEST(RenderChunkList, HasEachErrorOnceAndAsAWhole) {
  const std::string text = RenderChunkList(Listing(), {200});
  const size_t first = text.find("chunk 0: no such branch");
  ASSERT_NE(first, std::string::npos);
  EXPECT_THAT(text.substr(first), HasSubstr("for a long while"));
  EXPECT_THAT(text, Not(HasSubstr("chunk 1: no such branch")));
}

TEST(RenderChunkList, ShowsAttributesWhereThereAreSome) {
  ChunkListing listing = Listing();
  EXPECT_THAT(RenderChunkList(listing, {400}), Not(HasSubstr("attributes")));
  listing.rows[0]["attributes"] = {{"file_kind", "merged"}, {"site", "x"}};
  listing.rows[1]["attributes"] = nullptr;
  EXPECT_THAT(RenderChunkList(listing, {400}), AllOf(HasSubstr("attributes"), HasSubstr("file_kind: merged; site: x")));
}

TEST(RenderChunkList, CountsStartsFromTheRunsStart) {
  ChunkListing listing = Listing();
  EXPECT_THAT(RenderChunkList(listing, {200}), HasSubstr("250 ms"));
  listing.run_start_ns.reset();
  EXPECT_THAT(RenderChunkList(listing, {200}), AllOf(Not(HasSubstr("250 ms")), HasSubstr("not measured: start")));
}

TEST(RenderChunkList, SaysHowManyThereAre) {
  EXPECT_THAT(RenderChunkList(Listing(), {100}), HasSubstr("2 of 12 attempts that match, of 1 000, by rss_peak_bytes"));
}

TEST(RenderChunkList, SaysWhyThereIsNothing) {
  ChunkListing listing = Listing();
  listing.rows = Json::array();
  EXPECT_EQ(RenderChunkList(listing, {100}), "none of 1 000 attempts meets the conditions\n");
  listing.near = "; did you mean ttbar?";
  EXPECT_EQ(RenderChunkList(listing, {100}), "none of 1 000 attempts meets the conditions; did you mean ttbar?\n");
  listing.seen = 0;
  EXPECT_EQ(RenderChunkList(listing, {100}), "no chunk was recorded; put TrackMetrics around a chunk of work\n");
}

TEST(RenderChunkList, SaysHowManyAreNotInIt) {
  ChunkListing listing = Listing();
  listing.summed = 25;
  EXPECT_THAT(RenderChunkList(listing, {100}), HasSubstr("25 more chunks were summed, and are not in this list"));
  listing.rows = Json::array();
  listing.seen = 0;
  EXPECT_EQ(RenderChunkList(listing, {100}), "25 more chunks were summed, and are not in this list\n");
}

}  // namespace
}  // namespace crema
