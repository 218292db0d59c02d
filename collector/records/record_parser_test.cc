#include "collector/records/record_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>

namespace crema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kProcess[] =
    R"({"type":"process","schema":"crema.records/1","schema_minor":0,"run_id":"r1","host":"node1","pid":42,)"
    R"("parent_pid":1,"pid_namespace":4026531836,"start_ns":1000,"boot_id":"b","recorder":0,"executable":"/bin/a",)"
    R"("arguments":["a","--token","***"],"cores":2.5,"threads":4,"memory_limit_bytes":null,"clock":"tsc","sdk":"c++",)"
    R"("attributes":{"site":"x"}})";

constexpr char kChunk[] =
    R"({"type":"chunk","chunk":7,"start_ns":100,"stop_ns":300,"status":"ok","events":10,"bytes_read":5,)"
    R"("bytes_uncompressed":9,"cpu_ns":150,"helper_cpu_ns":20,"cpu_wait_ns":3,"helper_wait_ns":1,"helper_scope_ns":25,)"
    R"("helper_union_ns":24,"rss_start_bytes":4096,"rss_stop_bytes":8192,"rss_peak_bytes":null,"io_read_bytes":0,)"
    R"("open_chunks":1,"lanes_peak":2,"thread":18446744073709551615,"tid":43,"dataset":"ttbar","file":"f.root",)"
    R"("tree":"Events","entry_start":0,"entry_stop":10,"pass":"p","span":"s","error":null,"columns":["pt","eta"],)"
    R"("sections":[{"path":"read","count":1,"total_ns":50,"self_ns":40,"min_ns":50,"max_ns":50},)"
    R"({"path":"read/zip","helper":true,"count":2,"total_ns":10,"self_ns":10,"min_ns":4,"max_ns":6,"cpu_ns":9,)"
    R"("failed":1}],"memory_sections":[{"path":"jets","count":1,"delta_bytes":-4096,"min_bytes":-4096,)"
    R"("max_bytes":-4096,"rss_start_bytes":8192,"rss_stop_bytes":4096,"peak_bytes":8192}],)"
    R"("metrics":[{"name":"jets","unit":"count","count":1,"sum":4,"min":4,"max":4}],)"
    R"("cuts":[{"name":"all","events":10,"weights":9.5},{"name":"pt","events":3,"weights":null}],)"
    R"("activities":[{"label":"gpu","unit":"seconds","value":0.5}],"sections_dropped":2,"attributes":{}})";

// One parser reads all lines of a log into one record.
TEST(RecordParser, ReadsWhatTheKernelCounted) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":9,"status":"ok","cpu_ns":8,)"
                             R"("io_read_bytes":0,"system_cpu_ns":5,"minor_faults":6,"major_faults":7,)"
                             R"("unannounced_cpu_ns":null,"children_cpu_ns":9})"),
            ParseOutcome::kRecord)
      << parser.reason();
  const ChunkFact& chunk = parser.record().chunk;
  EXPECT_EQ(chunk.system_cpu_ns, 5);
  EXPECT_EQ(chunk.minor_faults, 6);
  EXPECT_EQ(chunk.major_faults, 7);
  EXPECT_EQ(chunk.unannounced_cpu_ns, std::nullopt);
  EXPECT_EQ(chunk.children_cpu_ns, 9);
  std::string counts;
  int64_t value = 100;
  for (const auto& [key, member] : kProcessCounts) {
    counts += ",\"" + std::string(key) + "\":" + std::to_string(++value);
  }
  const auto check = [](const ProcessCounts& read) {
    int64_t expected = 100;
    for (const auto& [key, member] : kProcessCounts) EXPECT_EQ(read.*member, ++expected) << key;
  };
  ASSERT_EQ(parser.ParseCopy(R"({"type":"sample","time_ns":1,"rss_bytes":2)" + counts + "}"), ParseOutcome::kRecord);
  check(parser.record().sample.counts);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"end","time_ns":1)" + counts + "}"), ParseOutcome::kRecord);
  check(parser.record().end.counts);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"end","time_ns":1,"major_faults":-1})"), ParseOutcome::kMalformed);
}

TEST(RecordParser, APlainLineKeepsNothingOfTheTracedOneBeforeIt) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":9,"status":"ok",)"
                             R"("trace":[[0,2,3,43]],"trace_dropped":5})"),
            ParseOutcome::kRecord)
      << parser.reason();
  ASSERT_EQ(parser.record().chunk.trace.size(), 1u);
  ASSERT_EQ(parser.record().chunk.trace_dropped, 5);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"chunk","chunk":2,"start_ns":1,"stop_ns":9,"status":"ok"})"),
            ParseOutcome::kRecord)
      << parser.reason();
  EXPECT_TRUE(parser.record().chunk.trace.empty());
  EXPECT_EQ(parser.record().chunk.trace_dropped, 0);
}

TEST(RecordParser, ReadsEveryFieldOfAProcessLine) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(kProcess), ParseOutcome::kRecord) << parser.reason();
  ASSERT_EQ(parser.record().type, RecordType::kProcess);
  const ProcessFact& process = parser.record().process;
  EXPECT_EQ(process.run_id, "r1");
  EXPECT_EQ(process.host, "node1");
  EXPECT_EQ(process.pid, 42);
  EXPECT_EQ(process.parent_pid, 1);
  EXPECT_EQ(process.start_ns, 1000);
  EXPECT_EQ(process.recorder, 0);
  EXPECT_EQ(process.executable, "/bin/a");
  EXPECT_THAT(process.arguments, ElementsAre("a", "--token", "***"));
  EXPECT_EQ(process.cores, 2.5);
  EXPECT_EQ(process.threads, 4);
  EXPECT_EQ(process.memory_limit_bytes, std::nullopt);
}

TEST(RecordParser, ReadsTheEngineOfAProcess) {
  RecordParser parser;
  const std::string begin = R"({"type":"process","schema":"crema.records/1","host":"h","pid":1,"start_ns":2,"engine":)";
  ASSERT_EQ(parser.ParseCopy(begin + R"({"name":"slurm","job":"81422","step":"0","rank":3,"slot":null,"cpus":2,)"
                                     R"("memory_bytes":4096,"later":[1]}})"),
            ParseOutcome::kRecord)
      << parser.reason();
  const ProcessEngineFact& engine = parser.record().process.engine;
  EXPECT_EQ(engine.name, "slurm");
  EXPECT_EQ(engine.step, "0");
  EXPECT_EQ(engine.rank, 3);
  EXPECT_EQ(engine.slot, "");
  EXPECT_EQ(engine.cpus, 2);
  EXPECT_EQ(engine.memory_bytes, 4096);
  EXPECT_EQ(JobOf(engine), "slurm 81422");
  ASSERT_EQ(parser.ParseCopy(begin + "null}"), ParseOutcome::kRecord) << parser.reason();
  EXPECT_EQ(parser.record().process.engine.name, "") << "the line before is forgotten";
  EXPECT_EQ(parser.ParseCopy(begin + R"({"name":"slurm","rank":-1}})"), ParseOutcome::kMalformed);
}

TEST(RecordParser, ReadsEveryFieldOfAChunkLine) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(kChunk), ParseOutcome::kRecord) << parser.reason();
  ASSERT_EQ(parser.record().type, RecordType::kChunk);
  const ChunkFact& chunk = parser.record().chunk;
  EXPECT_EQ(chunk.number, 7);
  EXPECT_EQ(chunk.start_ns, 100);
  EXPECT_EQ(chunk.stop_ns, 300);
  EXPECT_FALSE(chunk.failed);
  EXPECT_EQ(chunk.events, 10);
  EXPECT_EQ(chunk.bytes_read, 5);
  EXPECT_EQ(chunk.bytes_uncompressed, 9);
  EXPECT_EQ(chunk.cpu_ns, 150);
  EXPECT_EQ(chunk.helper_cpu_ns, 20);
  EXPECT_EQ(chunk.cpu_wait_ns, 3);
  EXPECT_EQ(chunk.helper_wait_ns, 1);
  EXPECT_EQ(chunk.helper_scope_ns, 25);
  EXPECT_EQ(chunk.helper_union_ns, 24);
  EXPECT_EQ(chunk.rss_start_bytes, 4096);
  EXPECT_EQ(chunk.rss_stop_bytes, 8192);
  EXPECT_EQ(chunk.rss_peak_bytes, std::nullopt);
  EXPECT_EQ(chunk.io_read_bytes, 0);
  EXPECT_EQ(chunk.open_chunks, 1);
  EXPECT_EQ(chunk.lanes_peak, 2);
  EXPECT_EQ(chunk.thread, 18446744073709551615u);
  EXPECT_EQ(chunk.tid, 43);
  EXPECT_EQ(chunk.input.dataset, "ttbar");
  EXPECT_EQ(chunk.input.file, "f.root");
  EXPECT_EQ(chunk.input.tree, "Events");
  EXPECT_EQ(chunk.input.entry_start, 0);
  EXPECT_EQ(chunk.input.entry_stop, 10);
  EXPECT_EQ(chunk.input.pass, "p");
  EXPECT_EQ(chunk.span, "s");
  EXPECT_EQ(chunk.error, "");
  EXPECT_THAT(chunk.columns, ElementsAre("pt", "eta"));
  ASSERT_EQ(chunk.sections.size(), 2u);
  EXPECT_EQ(chunk.sections[0].path, "read");
  EXPECT_FALSE(chunk.sections[0].helper);
  EXPECT_EQ(chunk.sections[0].self_ns, 40);
  EXPECT_EQ(chunk.sections[0].cpu_ns, std::nullopt);
  EXPECT_TRUE(chunk.sections[1].helper);
  EXPECT_EQ(chunk.sections[1].cpu_ns, 9);
  EXPECT_EQ(chunk.sections[1].failed, 1);
  ASSERT_EQ(chunk.memory_sections.size(), 1u);
  EXPECT_EQ(chunk.memory_sections[0].delta_bytes, -4096);
  ASSERT_EQ(chunk.metrics.size(), 1u);
  EXPECT_EQ(chunk.metrics[0].sum, 4.0);
  ASSERT_EQ(chunk.cuts.size(), 2u);
  EXPECT_EQ(chunk.cuts[0].weights, 9.5);
  EXPECT_EQ(chunk.cuts[1].weights, std::nullopt);
  ASSERT_EQ(chunk.activities.size(), 1u);
  EXPECT_EQ(chunk.activities[0].value, 0.5);
  EXPECT_EQ(chunk.sections_dropped, 2);
  EXPECT_EQ(chunk.attributes, "");
}

TEST(RecordParser, KeepsTheNotesOfAChunkAsTheyStand) {
  RecordParser parser;
  const auto attributes_of = [&parser](const std::string& value) {
    EXPECT_EQ(parser.ParseCopy(R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","attributes":)" +
                               value + "}"),
              ParseOutcome::kRecord)
        << value;
    return std::string(parser.record().chunk.attributes);
  };
  for (const char* value : {R"({"site":"x"})", R"({"site":"x","note":"\u00e9"})", R"({"a":[1,{"b":2}]})"}) {
    EXPECT_EQ(attributes_of(value), value);
  }
  for (const char* value : {"{}", "null", "7", R"("text")"}) EXPECT_EQ(attributes_of(value), "") << value;
}

TEST(RecordParser, ReadsTheOtherTypes) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"begin","chunk":1,"time_ns":5,"thread":9,"tid":4,"dataset":"d","file":null,)"
                             R"("entry_start":-3,"attributes":{"a":[1,{"b":2}]}})"),
            ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().begin.time_ns, 5);
  EXPECT_EQ(parser.record().begin.input.dataset, "d");
  EXPECT_EQ(parser.record().begin.input.file, "");
  EXPECT_EQ(parser.record().begin.input.entry_start, -3);
  EXPECT_EQ(parser.record().begin.attributes, R"({"a":[1,{"b":2}]})");
  ASSERT_EQ(
      parser.ParseCopy(R"({"type":"task","key":"k","prefix":"process","start_ns":1,"stop_ns":2,"engine":"dask"})"),
      ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().task.engine, "dask");
  ASSERT_EQ(parser.ParseCopy(R"({"type":"sample","time_ns":8,"realtime_offset_ns":-2,"rss_bytes":3,)"
                             R"("sections":[{"path":"setup","count":1,"total_ns":2,"self_ns":2}]})"),
            ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().sample.realtime_offset_ns, -2);
  ASSERT_EQ(parser.record().sample.sections.size(), 1u);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"file","file":"f","branches":100,"bytes":5000})"), ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().file.branches, 100);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"span","name":"process","path":"a/process","start_ns":1,"stop_ns":9})"),
            ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().span.path, "a/process");
  ASSERT_EQ(parser.ParseCopy(R"({"type":"end","time_ns":9,"chunks":3,"dropped":1,"overhead_ns":77})"),
            ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().end.overhead_ns, 77);
}

TEST(RecordParser, ReadsStacks) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"stacks","time_ns":9,"dataset":null,"section":"select/jets","hertz":100.0,)"
                             R"("functions":[["process","/a.py",12],["<module>",null,null]],)"
                             R"("stacks":[[3,5,0,0],[2,4,1]]})"),
            ParseOutcome::kRecord)
      << parser.reason();
  ASSERT_EQ(parser.record().type, RecordType::kStacks);
  const StacksFact& stacks = parser.record().stacks;
  EXPECT_EQ(stacks.dataset, "");
  EXPECT_EQ(stacks.section, "select/jets");
  EXPECT_EQ(stacks.hertz, 100);
  ASSERT_EQ(stacks.functions.size(), 2u);
  EXPECT_EQ(stacks.functions[0].name, "process");
  EXPECT_EQ(stacks.functions[0].file, "/a.py");
  EXPECT_EQ(stacks.functions[0].line, 12);
  EXPECT_EQ(stacks.functions[1].line, std::nullopt);
  ASSERT_EQ(stacks.stacks.size(), 2u);
  EXPECT_EQ(stacks.stacks[0].samples, 3);
  EXPECT_EQ(stacks.stacks[0].squares, 5);
  EXPECT_EQ(stacks.stacks[0].functions, (std::vector<int64_t>{0, 0}));
  for (const char* bad : {"[[3,5]]", "[[3,5,2]]", "[[3,5,-1]]", "[[3,-5,0]]", "[3,5,0]", "[[3,5,\"0\"]]"}) {
    EXPECT_EQ(parser.ParseCopy(R"({"type":"stacks","time_ns":9,"section":"","hertz":1,"functions":[["f",null,null],)"
                               R"(["g",null,1]],"stacks":)" +
                               std::string(bad) + "}"),
              ParseOutcome::kMalformed)
        << bad;
  }
  for (const char* bad : {"[[]]", "[[\"f\"]]", "[[1,null,null]]", "[[\"f\",null,-1]]", "[[\"f\",2,1]]"}) {
    EXPECT_EQ(parser.ParseCopy(R"({"type":"stacks","time_ns":9,"section":"","hertz":1,"stacks":[],"functions":)" +
                               std::string(bad) + "}"),
              ParseOutcome::kMalformed)
        << bad;
  }
}

TEST(RecordParser, ReadsSums) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"sums","time_ns":99,"reason":"log_share","dataset":"zjets","file":"a.root",)"
                             R"("pass":"process","status":"failed","chunks":3,"begun":[7,12],"first_start_ns":10,)"
                             R"("last_stop_ns":90,"duration_ns":60,"min_duration_ns":10,"max_duration_ns":30,)"
                             R"("chunks_with_events":2,"events":200,"bytes_read":5,"bytes_uncompressed":9,"cpu_ns":50,)"
                             R"("helper_cpu_ns":4,"cpu_wait_ns":null,"helper_wait_ns":0,"helper_scope_ns":6,)"
                             R"("helper_union_ns":5,"helper_joined_ns":3,"rss_peak_bytes":4096,"io_read_bytes":0,)"
                             R"("lanes_peak":2,"sections":[{"path":"read","count":3,"total_ns":9,"self_ns":9}],)"
                             R"("memory_sections":[],"metrics":[{"name":"jets","count":3,"sum":6}],)"
                             R"("cuts":[{"name":"all","events":200}],"activities":[{"label":"baskets","value":2}],)"
                             R"("requests":[{"server":"root://one","operation":"readv","count":4,"bytes":80,)"
                             R"("total_ns":70,"max_ns":60,"errors":1}],)"
                             R"("sections_dropped":1})"),
            ParseOutcome::kRecord)
      << parser.reason();
  ASSERT_EQ(parser.record().type, RecordType::kSums);
  const SumsFact& sums = parser.record().sums;
  EXPECT_EQ(sums.reason, "log_share");
  EXPECT_EQ(sums.input.file, "a.root");
  EXPECT_EQ(sums.input.pass, "process");
  EXPECT_TRUE(sums.failed);
  EXPECT_EQ(sums.chunks, 3);
  EXPECT_EQ(sums.begun, (std::vector<int64_t>{7, 12}));
  EXPECT_EQ(sums.last_stop_ns, 90);
  EXPECT_EQ(sums.duration_ns, 60);
  EXPECT_EQ(sums.max_duration_ns, 30);
  EXPECT_EQ(sums.events, 200);
  EXPECT_EQ(sums.cpu_wait_ns, std::nullopt);
  EXPECT_EQ(sums.helper_joined_ns, 3);
  EXPECT_EQ(sums.sections.size() + sums.metrics.size() + sums.cuts.size() + sums.activities.size(), 4u);
  ASSERT_EQ(sums.requests.size(), 1u);
  EXPECT_EQ(sums.requests[0].server, "root://one");
  EXPECT_EQ(sums.requests[0].operation, "readv");
  EXPECT_EQ(sums.requests[0].count, 4);
  EXPECT_EQ(sums.requests[0].bytes, 80);
  EXPECT_EQ(sums.requests[0].total_ns, 70);
  EXPECT_EQ(sums.requests[0].max_ns, 60);
  EXPECT_EQ(sums.requests[0].errors, 1);
  EXPECT_EQ(sums.sections_dropped, 1);
  ASSERT_EQ(
      parser.ParseCopy(
          R"({"type":"end","time_ns":9,"dropped":5,"summed_chunks":3,"misused":1,"unwritten":2,"outside_chunks":1,"tasks_left_out":7})"),
      ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().end.summed_chunks, 3);
  EXPECT_EQ(parser.record().end.misused, 1);
  EXPECT_EQ(parser.record().end.unwritten, 2);
  EXPECT_EQ(parser.record().end.outside_chunks, 1);
  EXPECT_EQ(parser.record().end.tasks_left_out, 7);
}

TEST(RecordParser, TakesFieldsInAnyOrderAndIgnoresUnknownOnes) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"( { "future" : [1,{"x":null}], "status":"failed", "stop_ns":20, "dataset":"d",)"
                             R"("chunk":1, "type":"chunk", "start_ns":10, "cuts":[{"events":2,"name":"a","n":1}] } )"),
            ParseOutcome::kRecord)
      << parser.reason();
  EXPECT_TRUE(parser.record().chunk.failed);
  EXPECT_EQ(parser.record().chunk.start_ns, 10);
  EXPECT_EQ(parser.record().chunk.input.dataset, "d");
  EXPECT_EQ(parser.record().chunk.cuts[0].events, 2);
}

TEST(RecordParser, ForgetsThePreviousLine) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(kChunk), ParseOutcome::kRecord);
  ASSERT_EQ(parser.ParseCopy(R"({"type":"chunk","chunk":8,"start_ns":1,"stop_ns":2,"status":"ok"})"),
            ParseOutcome::kRecord);
  const ChunkFact& chunk = parser.record().chunk;
  EXPECT_EQ(chunk.events, std::nullopt);
  EXPECT_EQ(chunk.input.dataset, "");
  EXPECT_TRUE(chunk.sections.empty());
  EXPECT_TRUE(chunk.cuts.empty());
  EXPECT_EQ(chunk.sections_dropped, 0);
}

TEST(RecordParser, ReadsNumbersOfAnyLength) {
  RecordParser parser;
  // The field out of place has the general parser read it.
  ASSERT_EQ(parser.ParseCopy(R"({"chunk":8,"type":"chunk","start_ns":1,"stop_ns":2,"status":"ok",)"
                             R"("cuts":[{"name":"a","events":1,"weights":0.69998253701971803956}]})"),
            ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().chunk.cuts[0].weights, 0.69998253701971803956);
}

TEST(RecordParser, UndoesEscapesInNames) {
  RecordParser parser;
  ASSERT_EQ(parser.ParseCopy(R"({"type":"file","file":"a\"b\\c\u00e9\n"})"), ParseOutcome::kRecord);
  EXPECT_EQ(parser.record().file.file, "a\"b\\c\u00e9\n");
}

TEST(RecordParser, RefusesAnotherMajorSchemaAndTakesAnyMinor) {
  RecordParser parser;
  EXPECT_EQ(parser.ParseCopy(R"({"type":"process","schema":"crema.records/2","host":7})"), ParseOutcome::kOtherSchema);
  EXPECT_EQ(parser.reason(), "crema.records/2");
  EXPECT_EQ(parser.ParseCopy(
                R"({"type":"process","schema":"crema.records/1","schema_minor":10,"host":"h","pid":1,"start_ns":2})"),
            ParseOutcome::kRecord);
}

TEST(RecordParser, TellsAnUnknownTypeFromAMalformedLine) {
  RecordParser parser;
  EXPECT_EQ(parser.ParseCopy(R"({"type":"hologram","chunk":"x"})"), ParseOutcome::kUnknownType);
  EXPECT_EQ(parser.ParseCopy(R"({"chunk":1})"), ParseOutcome::kMalformed);
}

TEST(RecordParser, CallsAnyBeginningOfALineTornUntilItIsWhole) {
  RecordParser parser;
  const std::string line = kChunk;
  for (size_t length = 1; length < line.size(); ++length) {
    ASSERT_EQ(parser.ParseCopy(line.substr(0, length)), ParseOutcome::kTorn) << length;
  }
  EXPECT_EQ(parser.ParseCopy(line), ParseOutcome::kRecord);
}

TEST(RecordParser, SurvivesAnyDamageToALine) {
  RecordParser parser;
  std::mt19937 random(5);
  const std::string pieces[] = {
      "{", "}", "[", "]", "\"", ",", ":", "\\", "null", "-1", "1e999", "\x80", std::string(1, '\0')};
  for (int trial = 0; trial < 20000; ++trial) {
    std::string line = trial % 2 == 0 ? kChunk : kProcess;
    for (unsigned damage = 0; damage <= random() % 3; ++damage) {
      const size_t at = random() % line.size();
      line.replace(at, random() % 4, pieces[random() % std::size(pieces)]);
    }
    parser.ParseCopy(line.substr(random() % 8 == 0 ? random() % line.size() : 0));
    ASSERT_EQ(parser.ParseCopy(kChunk), ParseOutcome::kRecord) << line;
  }
}

TEST(RecordParser, IsNotImpressedByDepth) {
  RecordParser parser;
  const std::string deep(100000, '[');
  EXPECT_EQ(parser.ParseCopy(R"({"type":"file","x":)" + deep), ParseOutcome::kTorn);
  const std::string closed = deep + std::string(deep.size(), ']');
  parser.ParseCopy(R"({"type":"file","x":)" + closed + R"(,"file":"f"})");
  EXPECT_EQ(parser.ParseCopy(kChunk), ParseOutcome::kRecord);
}

struct BadLine {
  const char* line;
  const char* reason;
};

class RecordParserRefuses : public ::testing::TestWithParam<BadLine> {};

TEST_P(RecordParserRefuses, TheLineAndSaysWhy) {
  RecordParser parser;
  EXPECT_EQ(parser.ParseCopy(GetParam().line), ParseOutcome::kMalformed);
  EXPECT_THAT(parser.reason(), HasSubstr(GetParam().reason));
  EXPECT_EQ(parser.ParseCopy(kChunk), ParseOutcome::kRecord) << "a bad line spoils no other";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, RecordParserRefuses,
    ::testing::Values(
        BadLine{"", "not a JSON object"}, BadLine{"hello", "not a JSON object"}, BadLine{"[1]", "not a JSON object"},
        BadLine{"42", "not a JSON object"}, BadLine{"{\"type\":\"file\",\"file\":\"\xff\"}", "UTF-8"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":2,"stop_ns":1,"status":"ok"})", "`stop_ns` is before"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":2,"status":"ok"})", "`stop_ns` is missing"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":2,"stop_ns":null,"status":"ok"})", "`stop_ns` is missing"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"maybe"})", "`status`"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","events":-1})",
                "`events` is negative"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","cpu_ns":-5})",
                "`cpu_ns` is negative"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","events":"9"})",
                "`events` is not an integer"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","events":1.5})",
                "`events` is not an integer"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","events":9223372036854775808})",
                "`events` is not an integer"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":99999999999999999999,"status":"ok"})",
                "`stop_ns` is not an integer of 64 bits"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","dataset":5})",
                "`dataset` is not a string"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","sections":{"path":"a"}})",
                "`sections` is not a list"},
        BadLine{R"({"type":"chunk","chunk":1,"start_ns":1,"stop_ns":2,"status":"ok","sections":[{"path":"a"}]})",
                "`sections` holds a row"},
        BadLine{R"({"type":"begin","chunk":1,"time_ns":1}{"type":"begin","chunk":2,"time_ns":1})",
                "more than one JSON object"},
        BadLine{R"({"type":"process","schema":1,"host":"h","pid":1,"start_ns":2})", "schema"},
        BadLine{R"({"type":"end","time_ns":tru})", "`time_ns`"}));

}  // namespace
}  // namespace crema
