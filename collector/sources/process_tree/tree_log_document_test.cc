// Holds docs/tree_log.md to the code: its example lines are read, and written again as they are.
#include <fstream>
#include <string>
#include <vector>

#include "collector/sources/process_tree/fake_root_fixture.h"
#include "collector/sources/process_tree/tree_log.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

std::vector<std::string> ExampleLines() {
  std::ifstream document("docs/tree_log.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("{\"type\":", 0) == 0) lines.push_back(line + "\n");
  }
  return lines;
}

std::vector<std::string> FieldNames(const std::string& line) {
  std::vector<std::string> names;
  const nlohmann::ordered_json object = nlohmann::ordered_json::parse(line);
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(TreeLogDocument, ItsExamplesAreReadWithoutAWord) {
  FakeRoot root;
  std::string text;
  for (const std::string& line : ExampleLines()) text += line;
  root.Write("/x.tree.ndjson", text);
  const auto reading = ReadTreeLog(root.path() + "/x.tree.ndjson");
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->lines, 4);
  EXPECT_EQ(reading->malformed + reading->torn + reading->unknown, 0);
  EXPECT_EQ(reading->run.run.memory_limit_bytes, 8589934592);
  EXPECT_EQ(reading->run.run.commit, "9d3c1f0a5b7e42c68f10d2a4b6c8e0f1a3b5c7d9");
  EXPECT_EQ(reading->run.run.commit_source, "git");
  EXPECT_EQ(reading->run.samples, 1);
  EXPECT_EQ(reading->run.processes.size(), 2u);
  ASSERT_EQ(reading->run.gpus.size(), 1u);
  EXPECT_EQ(reading->run.gpus.at(0).name, "NVIDIA H200");
  EXPECT_EQ(reading->run.gpus.at(0).utilization_sum, 77);
  EXPECT_EQ(reading->run.gpus.at(0).peak_memory_bytes, 849346560);
  EXPECT_EQ(reading->run.gpus.at(0).energy_mj, 1312000);
  ASSERT_TRUE(reading->run.end.has_value());
  EXPECT_EQ(reading->run.totals.tree_peak_rss_bytes, 83886080);
}

TEST(TreeLogDocument, NamesTheFieldsThatAreWrittenInTheirOrder) {
  const std::vector<std::string> examples = ExampleLines();
  ASSERT_EQ(examples.size(), 4u);
  std::string run, sample, reaped, end;
  AppendLine(TreeRunFact(), &run);
  TreeSampleFact with_gpu;
  with_gpu.gpus.emplace_back();
  AppendLine(with_gpu, true, &sample);
  AppendLine(TreeReapFact(), &reaped);
  TreeEndFact end_with_gpu;
  end_with_gpu.gpus.emplace_back();
  AppendLine(end_with_gpu, &end);
  EXPECT_EQ(FieldNames(examples[0]), FieldNames(run));
  EXPECT_EQ(FieldNames(examples[1]), FieldNames(sample));
  EXPECT_EQ(FieldNames(examples[2]), FieldNames(reaped));
  EXPECT_EQ(FieldNames(examples[3]), FieldNames(end));
}

}  // namespace
}  // namespace crema
