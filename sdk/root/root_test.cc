#include "crema/root.h"

#include <TError.h>
#include <gtest/gtest.h>

#include <ROOT/RDataFrame.hxx>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

ErrorHandlerFunc_t g_below_program = nullptr;
int g_by_program = 0;
int g_by_root = 0;

void HandleInProgram(int level, Bool_t abort, const char* location, const char* message) {
  ++g_by_program;
  g_below_program(level, abort, location, message);
}

TEST(Root, AnErrorHandlerThatTheProgramPutsAboveOursInALoopIsCalledOnce) {
  const ErrorHandlerFunc_t before = ::SetErrorHandler([](int, Bool_t, const char*, const char*) { ++g_by_root; });
  {
    const crema::internal::ErrorNotes first;
    g_below_program = ::SetErrorHandler(&HandleInProgram);
  }
  {
    const crema::internal::ErrorNotes second;
    const crema::internal::ErrorNotes beside;
    ::Error("here", "text of %s", "events.root");
    EXPECT_EQ(crema::internal::ErrorNotes::About("events.root"), "here: text of events.root");
  }
  ::Error("here", "text");
  ::SetErrorHandler(before);
  EXPECT_EQ(g_by_program, 2);
  EXPECT_EQ(g_by_root, 2);
}

/// Calls the writer that it found.
class ChainedWriter final : public TVirtualMonitoringWriter {
 public:
  explicit ChainedWriter(TVirtualMonitoringWriter* found) : found_(found) {}
  Bool_t SendInfoTime() override { return ++calls_ < 10 && found_->SendInfoTime(); }
  int calls() const { return calls_; }

 private:
  TVirtualMonitoringWriter* const found_;
  int calls_ = 0;
};

TEST(Root, AWriterThatTheProgramPutsAboveOursInALoopIsCalledOnce) {
  TVirtualMonitoringWriter* const before = gMonitoringWriter;
  auto& ours = crema::internal::MemoryFileWrites::Instance();
  ours.Install();
  ChainedWriter chained(gMonitoringWriter);
  gMonitoringWriter = &chained;
  ours.Uninstall();
  ours.Install();
  gMonitoringWriter->SendInfoTime();
  ours.Uninstall();
  EXPECT_EQ(gMonitoringWriter, &chained);
  EXPECT_EQ(chained.calls(), 1);
  gMonitoringWriter = &ours;
  ours.Install();
  ours.Uninstall();
  EXPECT_EQ(gMonitoringWriter, before);
}

TEST(Root, ATrackedFrameIsRecorded) {
  const std::string directory = std::string(std::getenv("TEST_TMPDIR")) + "/records";
  crema::Options options;
  options.directory = directory;
  options.interval_seconds = 0;
  ASSERT_TRUE(crema::Enable(options));
  {
    ROOT::RDataFrame toys(1000);
    auto tracked = crema::TrackDataFrame(toys, {"toys"});
    EXPECT_EQ(*toys.Count(), 1000U);
  }
  std::stringstream log;
  for (const auto& file : std::filesystem::directory_iterator(directory)) log << std::ifstream(file.path()).rdbuf();
  EXPECT_NE(log.str().find(R"("status":"ok","events":1000,)"), std::string::npos) << log.str();
}

}  // namespace
