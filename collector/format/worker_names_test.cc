#include "collector/format/worker_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace crema {
namespace {

std::vector<std::string> Short(const std::vector<std::string>& names) {
  const WorkerNames shown({names.begin(), names.end()});
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(shown.Of(name));
  return result;
}

using Names = std::vector<std::string>;

TEST(WorkerNames, LoseTheSchemeAndTheDomainThatAllShare) {
  EXPECT_EQ(Short({"tcp://lxb2101.cern.ch:4000", "tcp://lxb2102.cern.ch:4000"}),
            (Names{"lxb2101:4000", "lxb2102:4000"}));
  EXPECT_EQ(Short({"a.cern.ch:1", "b.desy.de:1"}), (Names{"a.cern.ch:1", "b.desy.de:1"}));
}

TEST(WorkerNames, LoseWhatAllBeginWithUpToASign) {
  EXPECT_EQ(Short({"tcp://127.0.0.1:4000", "tcp://127.0.0.1:4011"}), (Names{"4000", "4011"}));
  EXPECT_EQ(Short({"10.0.0.1:80", "10.0.0.2:80"}), (Names{"1:80", "2:80"}));
  EXPECT_EQ(Short({"worker1", "worker2"}), (Names{"worker1", "worker2"}));
}

TEST(WorkerNames, OfOneWorkerStayWhole) { EXPECT_EQ(Short({"node-1"}), (Names{"node-1"})); }

TEST(WorkerNames, AreNeverNothing) { EXPECT_EQ(Short({"n:", "n:1"}), (Names{"n:", "n:1"})); }

TEST(WorkerNames, OfAWorkerThatIsNotListedStayAsTheyAre) {
  EXPECT_EQ(WorkerNames({}).Of("w.cern.ch:1"), "w.cern.ch:1");
}

TEST(WorkerName, IsWithoutTheSchemeOfAnAddress) {
  EXPECT_EQ(WorkerName("tcp://127.0.0.1:4711"), "127.0.0.1:4711");
  EXPECT_EQ(WorkerName("node1:4711"), "node1:4711");
}

TEST(WorkerNames, StandInTheOrderOfTheirNumbers) {
  EXPECT_TRUE(IsBefore("w2", "w10"));
  EXPECT_FALSE(IsBefore("w10", "w2"));
  EXPECT_TRUE(IsBefore("n1:9", "n1:10"));
  EXPECT_TRUE(IsBefore("a", "b"));
  EXPECT_FALSE(IsBefore("a1", "a1"));
  EXPECT_TRUE(IsBefore("a", "a1"));
  EXPECT_NE(IsBefore("a01", "a1"), IsBefore("a1", "a01"));
}

}  // namespace
}  // namespace crema
