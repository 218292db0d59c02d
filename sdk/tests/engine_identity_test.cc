// The engine of a process in the process line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

std::string Directory(const std::string& path) {
  std::string made = NewDirectory();
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    made += "/" + path.substr(begin, end - begin);
    EXPECT_EQ(mkdir(made.c_str(), 0755), 0) << made;
    begin = end + 1;
  }
  return made;
}

/// The line of a process with these variables and no other engine's; from `"engine":` on.
std::string EngineOf(const Environment& environment, const std::string& directory = ".") {
  const RecordLog log = Recorded(
      [&] {
        if (chdir(directory.c_str()) != 0) std::abort();
        TrackMetrics metrics("ttbar");
      },
      environment);
  const std::string& line = log.lines.at(0);
  const size_t engine = line.find("\"engine\":");
  return engine == std::string::npos ? line : line.substr(engine);
}

TEST(EngineIdentity, IsNullWhereTheEnvironmentNamesNone) {
  EXPECT_EQ(EngineOf({{"CORES", "4"}, {"MEMORY", "100"}}), R"("engine":null})");
}

TEST(EngineIdentity, ATaskOfTaskVineIsItsDirectory) {
  EXPECT_EQ(EngineOf({{"CORES", "2"}, {"MEMORY", "2000"}}, Directory("worker-0-12197/task.14")),
            R"("engine":{"name":"taskvine","job":"14","step":null,"rank":null,"slot":null,"cpus":2,)"
            R"("memory_bytes":2097152000}})");
  EXPECT_EQ(EngineOf({{"WORKER_TMPDIR", "/s/temp"}}, Directory("task.15/deeper")),
            R"("engine":{"name":"taskvine","job":"15","step":null,"rank":null,"slot":null,"cpus":null,)"
            R"("memory_bytes":null}})");
}

TEST(EngineIdentity, AProgramThatLeftItsTasksDirectoryIsStillToldByTheVariable) {
  EXPECT_EQ(EngineOf({{"VINE_SANDBOX", "/s/worker-0-1/task.7"}, {"CORES", "1"}}, Directory("elsewhere")),
            R"("engine":{"name":"taskvine","job":"7","step":null,"rank":null,"slot":null,"cpus":1,)"
            R"("memory_bytes":null}})");
}

TEST(EngineIdentity, ATaskOfWorkQueueHasTheOlderDirectory) {
  EXPECT_EQ(EngineOf({{"CORES", "1"}}, Directory("t.3")),
            R"("engine":{"name":"work_queue","job":"3","step":null,"rank":null,"slot":null,"cpus":1,)"
            R"("memory_bytes":null}})");
}

TEST(EngineIdentity, SlurmTellsJobStepAndRank) {
  EXPECT_EQ(EngineOf({{"SLURM_JOB_ID", "81422"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "3"},
                      {"SLURM_CPUS_PER_TASK", "2"},
                      {"SLURM_MEM_PER_NODE", "4096"}}),
            R"("engine":{"name":"slurm","job":"81422","step":"0","rank":3,"slot":null,"cpus":2,)"
            R"("memory_bytes":4294967296}})");
}

TEST(EngineIdentity, TheLaunchersRankGoesBeforeTheStepsAndNonsenseIsNotTold) {
  EXPECT_EQ(EngineOf({{"SLURM_JOB_ID", "1"},
                      {"SLURM_PROCID", "0"},
                      {"OMPI_COMM_WORLD_RANK", "5"},
                      {"SLURM_CPUS_PER_TASK", "two"},
                      {"SLURM_MEM_PER_NODE", "0"}}),
            R"("engine":{"name":"slurm","job":"1","step":null,"rank":5,"slot":null,"cpus":null,)"
            R"("memory_bytes":null}})");
  EXPECT_EQ(EngineOf({{"PMI_RANK", "2"}}),
            R"("engine":{"name":"mpi","job":null,"step":null,"rank":2,"slot":null,"cpus":null,"memory_bytes":null}})");
}

TEST(EngineIdentity, CondorsFilesTellJobAndSlot) {
  const std::string directory = NewDirectory();
  std::ofstream(directory + "/job.ad") << "Args = \"x\"\nClusterId = 41\nProcId = 7\nRequestCpus = 1\n";
  std::ofstream(directory + "/machine.ad") << "CpusProvisioned = 9\nCpus = 4\nMemory = 1024\n";
  EXPECT_EQ(EngineOf({{"_CONDOR_SLOT", "slot1_2"},
                      {"_CONDOR_JOB_AD", directory + "/job.ad"},
                      {"_CONDOR_MACHINE_AD", directory + "/machine.ad"}}),
            R"("engine":{"name":"htcondor","job":"41.7","step":null,"rank":null,"slot":"slot1_2","cpus":4,)"
            R"("memory_bytes":1073741824}})");
  EXPECT_EQ(EngineOf({{"_CONDOR_SLOT", "slot1"}, {"_CONDOR_JOB_AD", directory + "/is-not-there"}}),
            R"("engine":{"name":"htcondor","job":null,"step":null,"rank":null,"slot":"slot1","cpus":null,)"
            R"("memory_bytes":null}})");
}

TEST(EngineIdentity, OfTwoEnginesTheInnerIsTold) {
  EXPECT_EQ(EngineOf({{"SLURM_JOB_ID", "9"}, {"CORES", "1"}}, Directory("task.4")),
            R"("engine":{"name":"taskvine","job":"4","step":null,"rank":null,"slot":null,"cpus":1,)"
            R"("memory_bytes":null}})");
}

}  // namespace
}  // namespace testing
}  // namespace crema
