// Plug-ins that have the SDK linked into them, and are unloaded. The test itself has no SDK.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/sanitized.h"

namespace crema {
namespace testing {
namespace {

struct Plugin {
  void* handle = dlopen("sdk/c_api/recording_plugin.so", RTLD_NOW | RTLD_LOCAL);
  void (*chunk)(const char*) = reinterpret_cast<void (*)(const char*)>(dlsym(handle, "plugin_chunk"));
};

/// Fault [plug-ins]: `dlclose` of a plug-in that used guards
/// Program: nothing; the plug-in's code stays in memory
/// Recorded: everything, with the `end` of the log at exit
TEST(PluginFault, UnloadedAfterItUsedGuards) {
  const RecordLog log = LogWithFault([] {
    const Plugin plugin;
    plugin.chunk("plug-in");
    Require(dlclose(plugin.handle) == 0);
  });
  EXPECT_EQ(ChunkOf(log, "plug-in").status, "ok");
  EXPECT_TRUE(log.end.has_value());
}

/// Fault [plug-ins]: `dlclose` of a plug-in while threads live that used its guards, and the sampler runs
/// Program: nothing; the plug-in's code stays in memory
/// Recorded: everything, with the `end` of the log at exit
TEST(PluginFault, UnloadedWhileThreadsLiveThatUsedItsGuards) {
  const RecordLog log = LogWithFault(
      [] {
        const Plugin plugin;
        std::atomic<bool> used{false};
        std::atomic<bool> unloaded{false};
        std::thread thread([&] {
          plugin.chunk("thread");
          used = true;
          while (!unloaded) std::this_thread::yield();
        });
        while (!used) std::this_thread::yield();
        Require(dlclose(plugin.handle) == 0);
        unloaded = true;
        thread.join();
      },
      {{"CREMA_INTERVAL", "0.01"}});
  EXPECT_EQ(ChunkOf(log, "thread").status, "ok");
  EXPECT_TRUE(log.end.has_value());
}

/// Fault [plug-ins]: a plug-in unloaded and loaded again
/// Program: nothing
/// Recorded: everything, in one log
TEST(PluginFault, UnloadedAndLoadedAgain) {
  const RecordLog log = LogWithFault([] {
    for (const char* dataset : {"first", "second", "third"}) {
      const Plugin plugin;
      plugin.chunk(dataset);
      Require(dlclose(plugin.handle) == 0);
    }
  });
  EXPECT_EQ(log.chunks.size(), 3u);
  EXPECT_EQ(log.end->chunks, 3);
}

/// Fault [plug-ins]: a thread with the smallest stack (16 kB) begins the recording in a plug-in
/// Program: nothing
/// Recorded: everything
TEST(PluginFault, ASmallStack) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes frames larger";
  const RecordLog log = LogWithFault([] {
    static const Plugin kPlugin;
    pthread_attr_t attributes;
    Require(pthread_attr_init(&attributes) == 0);
    Require(pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)) == 0);
    pthread_t thread{};
    const auto record = [](void*) -> void* { return kPlugin.chunk("small"), nullptr; };
    Require(pthread_create(&thread, &attributes, record, nullptr) == 0);
    Require(pthread_join(thread, nullptr) == 0);
  });
  EXPECT_EQ(ChunkOf(log, "small").status, "ok");
}

}  // namespace
}  // namespace testing
}  // namespace crema
