#include "crema/root.h"

#include <gtest/gtest.h>

#include <ROOT/RDataFrame.hxx>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

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
