// The data that a program gives a chunk besides events and bytes: columns, its whole file, attributes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

using Names = std::vector<std::string>;

TEST(AddColumns, EachNameCountsOnceInTheOrderInWhichItCame) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    metrics.AddColumns({"Muon_pt", "Muon_eta"});
    metrics.AddColumns(Names{"Jet_pt", "Muon_pt"});
    metrics.AddColumn("Jet_eta");
    metrics.AddColumn("Jet_eta");
  });
  EXPECT_EQ(chunk.columns, (Names{"Muon_pt", "Muon_eta", "Jet_pt", "Jet_eta"}));
}

TEST(AddColumns, NotToldIsNullAndForgottenInTheNextChunk) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("with");
      metrics.AddColumn("Muon_pt");
    }
    TrackMetrics metrics("without");
  });
  EXPECT_EQ(ChunkOf(log, "with").columns, Names{"Muon_pt"});
  EXPECT_EQ(ChunkOf(log, "without").columns, std::nullopt);
}

TEST(AddColumns, OfAWideFileAreAllKept) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 900; ++i) metrics.AddColumn("column_" + std::to_string(i));
  });
  EXPECT_EQ(chunk.columns.value_or(Names()).size(), 900u);
}

TEST(SetFileInfo, IsWrittenOncePerFile) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 6; ++i) {
      TrackMetrics metrics({"ttbar", i % 2 == 0 ? "a.root" : "b.root", i, i + 1});
      metrics.SetFileInfo(312, 91234567, 40123456);
      metrics.SetFileInfo(1, 1, 1);
    }
  });
  ASSERT_EQ(log.files.size(), 2u);
  EXPECT_EQ(log.files[0].file, "a.root");
  EXPECT_EQ(log.files[1].file, "b.root");
  for (const FileLine& file : log.files) {
    EXPECT_EQ(file.branches, 312);
    EXPECT_EQ(file.bytes, 91234567);
    EXPECT_EQ(file.compressed_bytes, 40123456);
  }
}

TEST(SetFileInfo, WithoutTheStoredSizeLeavesItUnknown) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics({"ttbar", "a.root", 0, 1});
    metrics.SetFileInfo(312, 91234567);
  });
  ASSERT_EQ(log.files.size(), 1u);
  EXPECT_EQ(log.files[0].bytes, 91234567);
  EXPECT_EQ(log.files[0].compressed_bytes, std::nullopt);
}

TEST(SetFileInfo, OfAChunkWithoutAFileSaysNothing) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    metrics.SetFileInfo(312, 91234567);
  });
  EXPECT_TRUE(log.files.empty());
}

TEST(SetAttribute, TheLastValueOfANameWins) {
  const ChunkLine chunk = RecordedChunk([] {
    Chunk described({"ttbar", "f", 0, 1});
    described.AddAttribute("generator", "pythia").AddAttribute("site", "here");
    TrackMetrics metrics(described);
    metrics.SetAttribute("generator", "sherpa");
    SetAttribute("generator", "madgraph");
    SetAttribute("tune", "CP5");
  });
  EXPECT_EQ(chunk.attributes,
            (std::map<std::string, std::string>{{"generator", "madgraph"}, {"site", "here"}, {"tune", "CP5"}}));
}

TEST(SetAttribute, OfALaterChunkStartsFromNone) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("with");
      metrics.SetAttribute("generator", "pythia");
    }
    TrackMetrics metrics("without");
  });
  EXPECT_EQ(ChunkOf(log, "with").attributes.size(), 1u);
  EXPECT_TRUE(ChunkOf(log, "without").attributes.empty());
}

}  // namespace
}  // namespace testing
}  // namespace crema
