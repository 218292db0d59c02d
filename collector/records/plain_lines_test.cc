// The short cut for plain lines says what the general parser says, or nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "collector/records/fact_text_fixture.h"
#include "collector/records/record_parser.h"

namespace crema {
namespace {

std::string Outcome(ParseOutcome outcome, const RecordParser& parser) {
  if (outcome != ParseOutcome::kRecord) {
    return std::to_string(static_cast<int>(outcome)) + ": " + parser.reason();
  }
  FactText text;
  if (parser.record().type == RecordType::kChunk) text.Put(parser.record().chunk);
  if (parser.record().type == RecordType::kBegin) text.Put(parser.record().begin);
  return text.text();
}

// A line as any writer may write it: mostly plain, now and then not.
class RandomLine {
 public:
  explicit RandomLine(uint32_t seed) : random_(seed) {}

  std::string Chunk() {
    text_ = R"({"type":"chunk")";
    Field("chunk", Count(), kRequired);
    const int64_t start = Below(2) == 0 ? 1795289028017896993 : Below(100);
    Field("start_ns", std::to_string(start), kRequired);
    Field("stop_ns", std::to_string(start + Below(100) - OneIn(50)), kRequired);
    Field("status", OneIn(4) ? R"("failed")" : R"("ok")", kRequired);
    for (const char* key :
         {"events", "bytes_read", "bytes_uncompressed", "cpu_ns", "helper_cpu_ns", "cpu_wait_ns", "helper_wait_ns",
          "helper_scope_ns", "helper_union_ns", "rss_start_bytes", "rss_stop_bytes", "rss_peak_bytes", "io_read_bytes",
          "system_cpu_ns", "minor_faults", "major_faults", "open_chunks", "lanes_peak"}) {
      Field(key, Count());
    }
    Identity();
    Field("error", Text());
    Field("columns", List([&] { return Text(); }));
    Field("sections", List([&] {
            return "{\"path\":" + Text() +
                   (OneIn(4)   ? R"(,"helper":true)"
                    : OneIn(9) ? R"(,"helper":false)"
                               : "") +
                   ",\"count\":" + Count() + ",\"total_ns\":" + Count() + ",\"self_ns\":" + Count() + Maybe("min_ns") +
                   Maybe("max_ns") + Maybe("cpu_ns") + Maybe("failed") + "}";
          }));
    Field("memory_sections", List([&] {
            return "{\"path\":" + Text() + ",\"count\":" + Count() + ",\"delta_bytes\":" + Signed() +
                   ",\"min_bytes\":" + Signed() + ",\"max_bytes\":" + Signed() + Maybe("rss_start_bytes") +
                   Maybe("rss_stop_bytes") + Maybe("peak_bytes") + "}";
          }));
    Field("metrics", List([&] {
            return "{\"name\":" + Text() + ",\"unit\":" + Text() + ",\"count\":" + Count() + ",\"sum\":" + Real() +
                   ",\"min\":" + Real() + ",\"max\":" + Real() + Maybe("invalid") + "}";
          }));
    Field("cuts", List([&] {
            return "{\"name\":" + Text() + ",\"events\":" + Count() + ",\"weights\":" + Real() + Maybe("seen") +
                   (OneIn(3) ? ",\"path\":" + Text() + ",\"flow\":" + Text() : "") + "}";
          }));
    Field("activities",
          List([&] { return "{\"label\":" + Text() + ",\"unit\":" + Text() + ",\"value\":" + Real() + "}"; }));
    if (OneIn(3)) {
      Field("requests", List([&] {
              return "{\"server\":" + Text() + ",\"operation\":" + Text() + ",\"count\":" + Count() + Maybe("bytes") +
                     ",\"total_ns\":" + Count() + Maybe("max_ns") + Maybe("errors") + "}";
            }));
    }
    Field("sections_dropped", Count());
    Attributes();
    return text_ + "}";
  }

  std::string Begin() {
    text_ = R"({"type":"begin")";
    Field("chunk", Count(), kRequired);
    Field("time_ns", Count(), kRequired);
    Identity();
    Attributes();
    return text_ + "}";
  }

  /// Damage of the kinds that disks, other writers and people do.
  void Damage(std::string& line) {
    static const std::string_view kPieces[] = {"{",
                                               "}",
                                               "[",
                                               "]",
                                               "\"",
                                               ",",
                                               ":",
                                               "\\",
                                               "null",
                                               "-",
                                               "1",
                                               "e999",
                                               "\xc3\xa9",
                                               "\x80",
                                               "\\u00e9",
                                               "\\n",
                                               " ",
                                               "\t",
                                               "\n",
                                               ".",
                                               "0",
                                               "true",
                                               "\x01",
                                               "\x7f",
                                               "-0",
                                               "1e5",
                                               "1.50",
                                               "\r",
                                               "\"\"",
                                               ",\"x\":{\"y\":[1,null]}",
                                               ",\"events\":5"};
    for (int64_t damage = Below(3); damage >= 0; --damage) {
      const size_t at = static_cast<size_t>(Below(static_cast<int64_t>(line.size()) + 1));
      switch (Below(5)) {
        case 0:
          line.resize(at);
          if (line.empty()) line = "{";
          break;
        case 1:
          line.insert(at, kPieces[static_cast<size_t>(Below(std::size(kPieces)))]);
          break;
        case 2:
          line.replace(at, static_cast<size_t>(Below(4)), kPieces[static_cast<size_t>(Below(std::size(kPieces)))]);
          break;
        case 3:
          SwapFields(line);
          break;
        default:
          if (at < line.size()) line[at] = static_cast<char>(Below(256));
      }
    }
  }

  /// The same JSON as another writer may write it: fields in any order, blanks between tokens.
  std::string Respelled(std::string_view value) {
    const bool is_object = value.front() == '{';
    if (!is_object && value.front() != '[') return std::string(value);
    std::vector<std::string_view> parts = PartsOf(value.substr(1, value.size() - 2), ',');
    if (is_object) std::shuffle(parts.begin(), parts.end(), random_);
    std::string text(1, value.front());
    for (const std::string_view part : parts) {
      text += (text.size() > 1 ? "," : "") + Blank();
      if (is_object) {
        const std::string_view key = PartsOf(part, ':').front();
        text += std::string(key) + Blank() + ":" + Blank();
        text += Respelled(part.substr(key.size() + 1));
      } else {
        text += Respelled(part);
      }
      text += Blank();
    }
    return text + Blank() + value.back();
  }

  /// The same JSON from one of four writers. Each has an order of its own (the first keeps the order), and blanks of
  /// its own.
  static std::string SpelledBy(size_t writer, std::string_view value) {
    static const std::string_view kCommas[] = {", ", ",", ",", " , "};
    static const std::string_view kColons[] = {": ", ":", ": ", " :\t"};
    const bool is_object = value.front() == '{';
    if (!is_object && value.front() != '[') return std::string(value);
    std::vector<std::string_view> parts = PartsOf(value.substr(1, value.size() - 2), ',');
    if (is_object && writer > 0) {
      const auto place = [writer](std::string_view part) {
        return std::hash<std::string>()(std::string(PartsOf(part, ':').front()) + std::string(writer, '.'));
      };
      std::sort(parts.begin(), parts.end(),
                [&place](std::string_view a, std::string_view b) { return place(a) < place(b); });
    }
    std::string text(1, value.front());
    for (const std::string_view part : parts) {
      if (text.size() > 1) text += kCommas[writer];
      const std::string_view key = is_object ? PartsOf(part, ':').front() : std::string_view();
      if (is_object) text += std::string(key) + std::string(kColons[writer]);
      text += SpelledBy(writer, is_object ? part.substr(key.size() + 1) : part);
    }
    return text + value.back();
  }

  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }

 private:
  static constexpr bool kRequired = true;

  void Field(const std::string& key, const std::string& value, bool required = false) {
    if (!required && OneIn(8)) return;
    const bool is_null = !required && OneIn(6);
    text_ += ",\"" + key + "\":" + (is_null ? "null" : value);
  }
  void Identity() {
    Field("thread", OneIn(20) ? "18446744073709551615" : Count());
    Field("tid", Count());
    for (const char* key : {"dataset", "file", "tree"}) Field(key, Text());
    Field("entry_start", Signed());
    Field("entry_stop", Signed());
    Field("pass", Text());
    Field("span", Text());
  }
  void Attributes() {
    std::string value = "{";
    for (int64_t i = Below(3); i > 0; --i) value += Text() + ":" + Text() + (i > 1 ? "," : "");
    Field("attributes", value + "}");
  }
  std::string Maybe(const char* key) {
    return OneIn(2) ? "" : ",\"" + std::string(key) + "\":" + (OneIn(6) ? "null" : Count());
  }
  template <class Make>
  std::string List(const Make& make) {
    std::string list = "[";
    for (int64_t i = Below(4); i > 0; --i) list += make() + (i > 1 ? "," : "");
    return list + "]";
  }
  std::string Digits(int64_t count) {
    std::string digits;
    for (int64_t i = 0; i < count; ++i)
      digits += static_cast<char>('0' + (i == 0 && count > 1 ? 1 + Below(9) : Below(10)));
    return digits;
  }
  std::string Count() {
    if (OneIn(100)) return OneIn(2) ? "9223372036854775807" : "9223372036854775808";
    return Digits(1 + Below(OneIn(60) ? 22 : 18));
  }
  std::string Signed() { return (OneIn(3) ? "-" : "") + Count(); }
  std::string Real() {
    if (OneIn(9)) return "null";
    std::string number = OneIn(3) ? "-" : "";
    number += Digits(1 + Below(OneIn(5) ? 19 : 7));
    if (!OneIn(3)) number += "." + Digits(1 + Below(OneIn(3) ? 20 : 6));
    if (OneIn(4)) number += (OneIn(2) ? "e-" : OneIn(2) ? "E+" : "e") + Digits(1 + Below(OneIn(9) ? 3 : 2));
    return number;
  }
  std::string Text() {
    static const std::string_view kTexts[] = {"",
                                              "a",
                                              "ttbar",
                                              "/data/a b/nano_0017.root",
                                              "select/jets",
                                              "sixteen bytes...",
                                              "eight...",
                                              "c\xc3\xa9",
                                              "quote \\\" ",
                                              "\\u00e9",
                                              "%2F",
                                              "\x7f",
                                              "a,\\\\",
                                              "\\ud83d\\ude00"};
    // Mostly plain texts, so that whole lines are.
    const size_t kind = static_cast<size_t>(OneIn(100) ? Below(std::size(kTexts)) : Below(7));
    return "\"" + std::string(kTexts[kind]) + "\"";
  }
  std::string Blank() { return OneIn(3) ? std::string(OneIn(9) ? "\t \r" : " ") : ""; }

  /// What is between the separators that are in no text, list or object.
  static std::vector<std::string_view> PartsOf(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    int depth = 0;
    bool is_text = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\\') ++i;
      if (c == '"') is_text = !is_text;
      if (is_text) continue;
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (c != separator || depth > 0) continue;
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
    if (begin < text.size()) parts.push_back(text.substr(begin));
    return parts;
  }

  // Exchanges two neighbouring fields, roughly: what is between three commas.
  void SwapFields(std::string& line) {
    const size_t first = line.find(",\"", static_cast<size_t>(Below(static_cast<int64_t>(line.size()) + 1)));
    if (first == std::string::npos) return;
    const size_t second = line.find(",\"", first + 1);
    if (second == std::string::npos) return;
    const size_t third = line.find(",\"", second + 1);
    if (third == std::string::npos) return;
    line = line.substr(0, first) + line.substr(second, third - second) + line.substr(first, second - first) +
           line.substr(third);
  }

  std::mt19937_64 random_;
  std::string text_;
};

class PlainLines : public ::testing::TestWithParam<uint32_t> {
 protected:
  // Both parsers on one line; what follows the line is the beginning of a line's rest, as after an unfinished one.
  void ExpectTheSame(const std::string& line) {
    const std::string rest = line.substr(line.size() - std::min<size_t>(line.size(), 7));
    const std::string padded = line + rest + std::string(RecordParser::kPadding, OneOf("}\"0 ,"));
    const std::string_view view = std::string_view(padded).substr(0, line.size());
    const ParseOutcome short_cut = quick_.Parse(view);
    const ParseOutcome general = thorough_.ParseGeneral(view);
    ASSERT_EQ(Outcome(short_cut, quick_), Outcome(general, thorough_)) << line;
    ChunkFact chunk;
    BeginFact begin;
    plain_ += ReadPlainChunk(view, chunk) || ReadPlainBegin(view, begin);
  }
  char OneOf(std::string_view choices) { return choices[plain_ % choices.size()]; }

  RecordParser quick_;
  RecordParser thorough_;
  size_t plain_ = 0;
};

TEST_P(PlainLines, AreReadAsTheGeneralParserReadsThem) {
  constexpr size_t kLines = 3000;
  RandomLine random(GetParam());
  for (size_t i = 0; i < kLines; ++i)
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(random.OneIn(3) ? random.Begin() : random.Chunk()));
  EXPECT_GT(plain_, kLines / 4) << "the short cut was hardly tried";
  EXPECT_LT(plain_, kLines) << "the way round it neither";
}

TEST_P(PlainLines, AreReadInAnyOrderAndWithBlanks) {
  constexpr size_t kLines = 3000;
  RandomLine random(GetParam());
  for (size_t i = 0; i < kLines; ++i) {
    const std::string line = random.OneIn(3) ? random.Begin() : random.Chunk();
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(random.Respelled(line)));
  }
  EXPECT_GT(plain_, kLines / 4) << "the short cut was hardly tried";
  EXPECT_LT(plain_, kLines) << "the way round it neither";
}

TEST_P(PlainLines, InAnyOrderAreReadOrRefusedAsTheGeneralParserDoesWhenDamaged) {
  RandomLine random(GetParam());
  for (int i = 0; i < 6000; ++i) {
    std::string line = random.Respelled(random.OneIn(3) ? random.Begin() : random.Chunk());
    random.Damage(line);
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(line));
  }
}

TEST_P(PlainLines, OfOtherWritersAreReadOrRefusedAsTheGeneralParserDoes) {
  constexpr size_t kLines = 6000;
  RandomLine random(GetParam());
  size_t writer = 0;
  for (size_t i = 0; i < kLines; ++i) {
    if (random.OneIn(50)) writer = static_cast<size_t>(random.Below(4));  // long enough that its spelling is known
    std::string line = RandomLine::SpelledBy(writer, random.OneIn(3) ? random.Begin() : random.Chunk());
    if (random.OneIn(8)) random.Damage(line);
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(line));
  }
  EXPECT_GT(plain_, kLines / 4) << "the short cut was hardly tried";
  EXPECT_LT(plain_, kLines) << "the way round it neither";
}

// As a newer minor number of the format brings them.
constexpr std::string_view kUnknownFields[] = {
    R"("newer":17)",
    R"("newer":null)",
    R"("newer" : "a text")",
    R"("newer":{"a":[1,-2.5e3,{}],"b":{"c":true,"d":[]}})",
    R"("newer":[ false , "x" ])",
    R"("newer":"\u00e9")",
    R"("newer":[[[[[[[[[[1]]]]]]]]]])",
    R"("newer":[1,)",
    R"("newer":01)",
};

TEST_P(PlainLines, WithFieldsOfANewerFormatAreReadOrRefusedAsTheGeneralParserDoes) {
  constexpr size_t kLines = 6000;
  RandomLine random(GetParam());
  for (size_t i = 0; i < kLines; ++i) {
    std::string line = random.OneIn(3) ? random.Begin() : random.Chunk();
    do {
      const size_t comma = line.find(",\"", static_cast<size_t>(random.Below(static_cast<int64_t>(line.size()) / 2)));
      if (comma == std::string::npos) break;
      const auto kind = static_cast<size_t>(random.Below(random.OneIn(9) ? std::size(kUnknownFields) : 5));
      line.insert(comma, "," + std::string(kUnknownFields[kind]));
    } while (random.OneIn(3));
    if (random.OneIn(20)) random.Damage(line);
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(line));
  }
  EXPECT_GT(plain_, kLines / 4) << "the short cut was hardly tried";
  EXPECT_LT(plain_, kLines) << "the way round it neither";
}

TEST_P(PlainLines, AreReadOrRefusedAsTheGeneralParserDoesWhenDamaged) {
  RandomLine random(GetParam());
  for (int i = 0; i < 6000; ++i) {
    std::string line = random.OneIn(3) ? random.Begin() : random.Chunk();
    random.Damage(line);
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(line));
  }
}

TEST_P(PlainLines, AreNotReadBeyondTheirEnd) {
  RandomLine random(GetParam());
  const std::string line = random.Chunk();
  for (size_t length = 1; length <= line.size(); ++length)
    ASSERT_NO_FATAL_FAILURE(ExpectTheSame(line.substr(0, length)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlainLines, ::testing::Range(1u, 6u));

TEST(PlainLine, OfTheSdkTakesTheShortCut) {
  // Or nothing would be gained: fields, order and spelling are those of sdk/src/chunk/chunk_line.cc.
  const std::string chunk =
      R"({"type":"chunk","chunk":0,"start_ns":1795289408652494566,"stop_ns":1795289408875900896,"status":"ok",)"
      R"("events":100,"bytes_read":null,"bytes_uncompressed":null,"cpu_ns":52005157,"helper_cpu_ns":0,)"
      R"("cpu_wait_ns":171398079,"helper_wait_ns":0,"helper_scope_ns":0,"helper_union_ns":0,"rss_start_bytes":3444736,)"
      R"("rss_stop_bytes":7651328,"rss_peak_bytes":7651328,"io_read_bytes":0,"open_chunks":1,"lanes_peak":1,)"
      R"("thread":139924532246336,"tid":4415,"dataset":"ttbar","file":"f.root","tree":null,"entry_start":0,)"
      R"("entry_stop":100,"pass":null,"span":null,"error":null,"columns":["pt"],)"
      R"("sections":[{"path":"select","count":1,"total_ns":215498995,"self_ns":215498995,"min_ns":215498995,)"
      R"("max_ns":215498995}],"memory_sections":[{"path":"jets","count":1,"delta_bytes":-4096,"min_bytes":-4096,)"
      R"("max_bytes":-4096,"rss_start_bytes":8192,"rss_stop_bytes":4096,"peak_bytes":8192}],)"
      R"("metrics":[{"name":"jets","unit":"count","count":2,"sum":6.25,"min":3,"max":3.25,"sketch":[65568,1,65576,1],"sketch_shift":0}],)"
      R"("cuts":[{"name":"all","events":10,"weights":9.5}],"activities":[{"label":"gpu","unit":"s","value":0.1}],)"
      R"("requests":[{"server":"root://one","operation":"readv","count":2,"bytes":9,"total_ns":7,"max_ns":5,"errors":1}],)"
      R"("sections_dropped":0,"attributes":{"site":"x"}})" +
      std::string(RecordParser::kPadding, ' ');
  ChunkFact fact;
  EXPECT_TRUE(ReadPlainChunk(std::string_view(chunk).substr(0, chunk.size() - RecordParser::kPadding), fact));
  const std::string begin =
      R"({"type":"begin","chunk":0,"time_ns":1795289028017896993,"thread":139837011388224,"tid":19567,)"
      R"("dataset":"ttbar","file":null,"tree":null,"entry_start":null,"entry_stop":null,"pass":null,"span":null,)"
      R"("attributes":{"site":"x"}})" +
      std::string(RecordParser::kPadding, ' ');
  BeginFact begun;
  EXPECT_TRUE(ReadPlainBegin(std::string_view(begin).substr(0, begin.size() - RecordParser::kPadding), begun));
  EXPECT_EQ(begun.attributes, R"({"site":"x"})");
}

TEST(PlainLine, WithAFieldOfANewerFormatTakesTheShortCut) {
  for (size_t kind = 0; kind < 5; ++kind) {
    const std::string text = R"({"type":"chunk","chunk":0,)" + std::string(kUnknownFields[kind]) +
                             R"(,"start_ns":5,"stop_ns":9,"status":"ok","sections":[{"path":"read","count":1,)" +
                             std::string(kUnknownFields[kind]) + R"(,"total_ns":4,"self_ns":3}]})";
    const std::string line = text + std::string(RecordParser::kPadding, ' ');
    ChunkFact fact;
    EXPECT_TRUE(ReadPlainChunk(std::string_view(line).substr(0, text.size()), fact)) << text;
    EXPECT_EQ(fact.stop_ns, 9);
    ASSERT_EQ(fact.sections.size(), 1u);
    EXPECT_EQ(fact.sections[0].self_ns, 3);
  }
}

TEST(PlainLine, OfAnotherWriterTakesTheShortCut) {
  const std::string in_order =
      R"({"type": "chunk", "chunk": 0, "start_ns": 5, "stop_ns": 9, "status": "ok", "events": null, "dataset": "a", )"
      R"("sections": [{"path": "read", "count": 1, "total_ns": 4, "self_ns": 4}]})";
  const std::string sorted =
      R"({"chunk" : 0,"dataset" : "a","events" : null,"sections" : [{"count" : 1,"path" : "read","self_ns" : 4,)"
      R"("total_ns" : 4}],"start_ns" : 5,"status" : "ok","stop_ns" : 9,"type" : "chunk"})";
  for (const std::string& text : {in_order, in_order, sorted, sorted, in_order}) {
    const std::string line = text + std::string(RecordParser::kPadding, ' ');
    ChunkFact fact;
    EXPECT_TRUE(ReadPlainChunk(std::string_view(line).substr(0, text.size()), fact)) << text;
    EXPECT_EQ(fact.stop_ns, 9);
    ASSERT_EQ(fact.sections.size(), 1u);
    EXPECT_EQ(fact.sections[0].self_ns, 4);
  }
}

}  // namespace
}  // namespace crema
