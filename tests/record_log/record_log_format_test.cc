// docs/record_log.md is the format: its examples and what the SDK writes have the fields of its tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/record_log/format_page.h"
#include "tests/record_log/written_log.h"

namespace crema {
namespace testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::ordered_json;

const FormatPage& Page() {
  static const auto* page = new FormatPage(ReadFormatPage("docs/record_log.md"));
  return *page;
}

std::vector<std::string> Log(const std::string& name, const WrittenAs& as = {}) {
  return WriteLog(std::string(getenv("TEST_TMPDIR")) + "/" + name, as);
}

constexpr WrittenAs kTrace{true, false};
constexpr WrittenAs kSums{false, true};

bool HasType(const Json& value, const std::string& type) {
  if (type == "text") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "list") return value.is_array();
  return type == "object" && value.is_object();
}

/// What is wrong with one object, as a sentence; empty if nothing.
std::string Complaint(const Json& object, const std::vector<FieldRule>& rules) {
  auto field = object.begin();
  for (const FieldRule& rule : rules) {
    if (field == object.end() || field.key() != rule.name) {
      if (rule.may_be_absent) continue;
      return "`" + rule.name + "` is missing or not in its place, where " +
             (field == object.end() ? "the end" : "`" + field.key() + "`") + " is";
    }
    if (field->is_null() ? !rule.may_be_null : !HasType(*field, rule.type)) {
      return "`" + rule.name + "` is " + field->dump() + ", not of type " + rule.type;
    }
    ++field;
  }
  return field == object.end() ? "" : "`" + field.key() + "` is not in the table";
}

std::string ComplaintOfLine(const std::string& text) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object() || !line.contains("type")) return "no object with a type: " + text;
  const auto rules = Page().lines.find(line["type"].get<std::string>());
  if (rules == Page().lines.end()) return "a type without a table: " + text;
  std::string complaint = Complaint(line, rules->second);
  for (const auto& [list, row_rules] : Page().rows) {
    if (!line.contains(list)) continue;
    for (const Json& row : line[list]) {
      if (complaint.empty()) complaint = Complaint(row, row_rules);
    }
  }
  return complaint.empty() ? "" : complaint + "\n" + text;
}

TEST(RecordLogFormat, HasATableAndAnExampleForEveryType) {
  const std::set<std::string> types = {"process", "begin",       "chunk",  "sums", "task",
                                       "fine",    "clock",       "sample", "file", "span",
                                       "stacks",  "allocations", "gpu",    "end",  "task_sums"};
  std::set<std::string> with_table;
  std::set<std::string> with_example;
  for (const auto& [type, rules] : Page().lines) {
    EXPECT_THAT(rules, Not(IsEmpty())) << type;
    with_table.insert(type);
  }
  for (const auto& [type, line] : Page().examples) with_example.insert(type);
  EXPECT_EQ(with_table, types);
  EXPECT_EQ(with_example, types);
}

TEST(RecordLogFormat, ExamplesAreLinesAsTheTablesSay) {
  for (const auto& [type, line] : Page().examples) {
    EXPECT_EQ(ComplaintOfLine(line), "");
    EXPECT_EQ(Json::parse(line)["type"], type);
  }
}

TEST(RecordLogFormat, TheExampleOfAChunkConservesTime) {
  const Json chunk = Json::parse(Page().examples.at("chunk"));
  std::int64_t in_sections = 0;
  for (const Json& row : chunk["sections"]) {
    if (!row.contains("helper")) in_sections += row["self_ns"].get<std::int64_t>();
  }
  EXPECT_LE(in_sections, chunk["stop_ns"].get<std::int64_t>() - chunk["start_ns"].get<std::int64_t>());
}

TEST(RecordLogFormat, TheSdkWritesLinesAsTheTablesSay) {
  const std::vector<std::string> lines = Log("plain");
  EXPECT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines) EXPECT_EQ(ComplaintOfLine(line), "");
}

TEST(RecordLogFormat, TheSdkInTraceModeWritesLinesAsTheTablesSay) {
  const std::vector<std::string> lines = Log("trace", kTrace);
  EXPECT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines) EXPECT_EQ(ComplaintOfLine(line), "");
}

TEST(RecordLogFormat, TheSdkThatSumsChunksWritesLinesAsTheTablesSay) {
  const std::vector<std::string> lines = Log("sums", kSums);
  EXPECT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines) EXPECT_EQ(ComplaintOfLine(line), "");
}

TEST(RecordLogFormat, NoFieldOfTheTablesIsUnknownToTheSdk) {
  std::set<std::string> written;
  std::vector<std::string> all = Log("all", kTrace);
  for (std::string& line : Log("all sums", kSums)) all.push_back(std::move(line));
  for (const std::string& text : all) {
    const Json line = Json::parse(text);
    const auto type = line["type"].get<std::string>();
    for (const auto& [key, value] : line.items()) {
      written.insert(type + "." + key);
      if (Page().rows.count(key) == 0) continue;
      for (const Json& row : value) {
        for (const auto& field : row.items()) written.insert(key + "." + field.key());
      }
    }
  }
  std::vector<std::string> unknown;
  const auto note = [&](const std::string& owner, const std::vector<FieldRule>& rules) {
    for (const FieldRule& rule : rules) {
      if (owner == "end" && rule.name == "tasks_left_out") continue;  // written by engines' plug-ins
      if (owner == "end" && rule.name == "lost_samples") continue;    // written where native stacks are taken
      // written where many threads write at once: sdk/tests/faults/several_logs_fault_test.cc
      if (owner == "process" && rule.name == "first_recorder") continue;
      // written where allocations are counted: tests/allocations looks at these
      if (owner == "chunk" && (rule.name == "allocations" || rule.name == "allocated_bytes")) continue;
      // written where a thread is seen at work: sdk/tests/waits_test.cc
      if (rule.name == "waits") continue;
      if (owner == "task_modules" && rule.name == "wait_ns") continue;  // written where a task had to wait
      if (written.count(owner + "." + rule.name) == 0) unknown.push_back(owner + "." + rule.name);
    }
  };
  for (const auto& [type, rules] : Page().lines) {
    // Written by engines' plug-ins, and by the packages of interpreted languages.
    const bool by_others = type == "task" || type == "fine" || type == "clock" || type == "stacks";
    // tests/allocations and tests/gpu look at these
    if (!by_others && type != "allocations" && type != "gpu") note(type, rules);
  }
  for (const auto& [list, rules] : Page().rows) {
    if (list != "sites" && list != "work" && list != "kernels" && list != "waits") note(list, rules);
  }
  EXPECT_THAT(unknown, IsEmpty());
}

}  // namespace
}  // namespace testing
}  // namespace crema
