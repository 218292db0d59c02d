#include "examples/zjets/lhe_file.h"

#include <stdexcept>
#include <string>

#include "examples/zjets/gzip_file_for_test.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zjets {
namespace {

using testing::HasSubstr;

/// Event `number`: one electron whose px is the number.
std::string EventText(int number) {
  return fmt::format(
      "<event>\n 1 0 +1.5E+00 9.1E+01 7.5E-03 1.2E-01\n 11 1 0 0 0 0 {}. -.5E+00 +2.0E+00 1.E+02 0. 0. 1.\n"
      "<rwgt>\n<wgt id='1'> 2.0 </wgt>\n</rwgt>\n</event>\n",
      number);
}

std::string FileText(int events) {
  std::string text =
      "<LesHouchesEvents version=\"1.0\">\n<header>\n<event>\nnot an event: before init\n</header>\n<init>\n"
      "2212 2212 3.5E+03 3.5E+03 0 0 10800 10800 3 2\n1.5E+02 1.E+00 1.E+00 1\n.5E+02 1.E+00 1.E+00 2\n</init>\n";
  for (int i = 0; i < events; ++i) text += EventText(i);
  return text + "</LesHouchesEvents>\n";
}

std::vector<LheEvent> ReadAll(const LheFile& file, std::int64_t first, std::int64_t last) {
  ReadCosts costs;
  return ParseLheEvents(file, first, last, ReadLheText(file, first, last, &costs));
}

std::string FailureOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(LheEvent, ReadsTheNotationsThatGeneratorsUse) {
  const LheEvent event = ParseLheEvent(EventText(7));
  EXPECT_EQ(event.weight, 1.5);
  ASSERT_EQ(event.particles.size(), 1U);
  EXPECT_EQ(event.particles[0].pdg_id, 11);
  EXPECT_EQ(event.particles[0].status, kOutgoing);
  EXPECT_EQ(event.particles[0].px, 7);
  EXPECT_EQ(event.particles[0].py, -0.5);
  EXPECT_EQ(event.particles[0].pz, 2);
  EXPECT_EQ(event.particles[0].energy, 100);
}

TEST(LheEvent, SaysWhatItExpectedAndFound) {
  EXPECT_THAT(FailureOf([] { ParseLheEvent("<event>\n 1 0 heavy 0 0 0\n"); }), HasSubstr("weight, found 'heavy'"));
  EXPECT_THAT(FailureOf([] { ParseLheEvent("<event>\n 2 0 1. 0 0 0\n 11 1\n"); }), HasSubstr("a momentum, found ''"));
  EXPECT_THAT(FailureOf([] { ParseLheEvent("<event>\n -1 0 1. 0 0 0\n"); }), HasSubstr("found -1"));
  EXPECT_THAT(FailureOf([] { ParseLheEvent("<event>\n 999999999 0 1. 0 0 0\n"); }), HasSubstr("found 999999999"));
}

TEST(LheFile, FindsEventsAndCrossSection) {
  const LheFile file = IndexLheFile(WriteGzipFile("events.lhe.gz", FileText(25)));
  EXPECT_EQ(file.gzip.damage, "");
  EXPECT_EQ(file.events(), 25);
  EXPECT_EQ(file.init.weight_strategy, 3);
  EXPECT_EQ(file.init.cross_section_pb, 200);
}

TEST(LheFile, GivesTheEventsOfARangeAndNoOthers) {
  const LheFile file = IndexLheFile(WriteGzipFile("range.lhe.gz", FileText(5000)));
  for (const auto& [first, last] : {std::pair(0, 1), {0, 5000}, {2345, 2400}, {4999, 5000}, {17, 17}}) {
    const std::vector<LheEvent> events = ReadAll(file, first, last);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(last - first));
    for (int i = first; i < last; ++i) ASSERT_EQ(events[static_cast<std::size_t>(i - first)].particles[0].px, i);
  }
}

TEST(LheFile, NeedsNoNewlineAtItsEnd) {
  std::string text = FileText(3);
  text.resize(text.rfind("</event>") + 8);
  const LheFile file = IndexLheFile(WriteGzipFile("no_newline.lhe.gz", text));
  EXPECT_EQ(file.gzip.damage, "");
  EXPECT_EQ(ReadAll(file, 0, 3).size(), 3U);
}

TEST(LheFile, CountsTheEventInWhichTheFileBreaksOffSoThatReadingItFails) {
  const std::string path = WriteGzipFile("broken.lhe.gz", FileText(20000));
  CutFile(path, std::filesystem::file_size(path) / 3);
  const LheFile file = IndexLheFile(path);
  ASSERT_GT(file.events(), 1000);
  ASSERT_LT(file.events(), 20000);
  EXPECT_EQ(ReadAll(file, 0, file.events() - 1).size(), static_cast<std::size_t>(file.events()) - 1);
  EXPECT_THAT(FailureOf([&] { ReadAll(file, file.events() - 1, file.events()); }), HasSubstr("ends in the middle"));
}

TEST(LheFile, CountsTheEventThatHasNoEnd) {
  std::string text = FileText(3);
  text.resize(text.rfind("<rwgt>"));
  const LheFile file = IndexLheFile(WriteGzipFile("inside.lhe.gz", text));
  EXPECT_EQ(file.events(), 3);
  EXPECT_EQ(ReadAll(file, 0, 2).size(), 2U);
  EXPECT_THAT(FailureOf([&] { ReadAll(file, 2, 3); }), HasSubstr("ends inside an event"));
}

TEST(LheFile, AFileThatCannotBeReadAtAllHasNoEventsAndAReason) {
  const LheFile missing = IndexLheFile("/nonexistent.lhe.gz");
  EXPECT_EQ(missing.events(), 0);
  EXPECT_THAT(missing.gzip.damage, HasSubstr("/nonexistent.lhe.gz: cannot open: No such file"));
  const LheFile other = IndexLheFile(WriteGzipFile("other.gz", "hello\n"));
  EXPECT_EQ(other.events(), 0);
  EXPECT_THAT(other.gzip.damage, HasSubstr("no events"));
  const LheFile bad_init = IndexLheFile(WriteGzipFile("init.gz", "<init>\nnothing\n</init>\n" + EventText(1)));
  EXPECT_EQ(bad_init.events(), 0);
  EXPECT_THAT(bad_init.gzip.damage, HasSubstr("init.gz: <init> block: expected"));
}

TEST(LheFile, NamesTheEventThatCannotBeUnderstood) {
  std::string text = FileText(3);
  text.replace(text.find(" 11 1 0 0 0 0 2."), 3, " e-");
  const LheFile file = IndexLheFile(WriteGzipFile("bad_event.lhe.gz", text));
  EXPECT_THAT(FailureOf([&] { ReadAll(file, 1, 3); }),
              HasSubstr("event 2: expected a particle's identity, found 'e-'"));
}

}  // namespace
}  // namespace zjets
