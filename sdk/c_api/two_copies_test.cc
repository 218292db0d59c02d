// Several copies of the SDK in one process: libcrema.so.1, and those that are linked into plug-ins.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "crema_c.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

template <class Function>
Function* Symbol(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) std::abort();
  return reinterpret_cast<Function*>(symbol);
}

void* Open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  return library;
}

/// The C API, bound as Python binds it: this test itself is not linked to the library.
struct Library {
  void* handle = Open("sdk/c_api/libcrema.so.1");
  decltype(crema_chunk_begin)* chunk_begin = Symbol<decltype(crema_chunk_begin)>(handle, "crema_chunk_begin");
  decltype(crema_chunk_end)* chunk_end = Symbol<decltype(crema_chunk_end)>(handle, "crema_chunk_end");
  decltype(crema_section_enter)* section_enter = Symbol<decltype(crema_section_enter)>(handle, "crema_section_enter");
  decltype(crema_section_exit)* section_exit = Symbol<decltype(crema_section_exit)>(handle, "crema_section_exit");
  decltype(crema_chunk_get_handle)* get_handle =
      Symbol<decltype(crema_chunk_get_handle)>(handle, "crema_chunk_get_handle");
  decltype(crema_disable)* disable = Symbol<decltype(crema_disable)>(handle, "crema_disable");
  decltype(crema_end)* end = Symbol<decltype(crema_end)>(handle, "crema_end");
  decltype(crema_enable)* enable = Symbol<decltype(crema_enable)>(handle, "crema_enable");

  void EnableInto(const std::string& directory) const {
    crema_options options = {};
    options.size = sizeof options;
    options.directory = directory.c_str();
    options.interval_seconds = -1;
    if (enable(&options) != 1) std::abort();
  }

  crema_chunk* Begin(const char* dataset) const {
    const crema_chunk_info info = {sizeof info, dataset, "python.root", nullptr, nullptr, 0, 1};
    return chunk_begin(&info);
  }
};

struct Plugin {
  explicit Plugin(const char* path = "sdk/c_api/recording_plugin.so") : handle(Open(path)) {}

  void* handle;
  void (*section)(const char*) = Symbol<void(const char*)>(handle, "plugin_section");
  void (*chunk)(const char*) = Symbol<void(const char*)>(handle, "plugin_chunk");
  void (*helper)(const crema_chunk_handle*) = Symbol<void(const crema_chunk_handle*)>(handle, "plugin_helper");
  int (*records)() = Symbol<int()>(handle, "plugin_records");
  void (*call)(const char*, void (*)()) = Symbol<void(const char*, void (*)())>(handle, "plugin_call");
};

TEST(TwoCopies, SectionsOfThePluginNestInTheChunkThatTheLibraryBegan) {
  const RecordLog log = Recorded([] {
    const Library library;
    const Plugin plugin;
    crema_chunk* chunk = library.Begin("python");
    const crema_section section = library.section_enter("select");
    plugin.section("native");
    library.section_exit(section);
    library.chunk_end(chunk);
    plugin.chunk("native");
  });
  EXPECT_EQ(Paths(ChunkOf(log, "python").sections), (std::vector<std::string>{"select", "select/native"}));
  EXPECT_EQ(Metric(ChunkOf(log, "native"), "jets", "count").sum, 2);
  EXPECT_EQ(log.process->recorder, 0);
  EXPECT_EQ(log.end->chunks, 2);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(TwoCopies, ThePluginMayRecordFirst) {
  const RecordLog log = Recorded([] {
    const Library library;
    const Plugin plugin;
    plugin.chunk("native");
    library.chunk_end(library.Begin("python"));
  });
  EXPECT_EQ(log.chunks.size(), 2u);
}

TEST(TwoCopies, OtherThreadsOfThePluginHelpTheLibrarysChunk) {
  const ChunkLine chunk = RecordedChunk([] {
    const Library library;
    const Plugin plugin;
    crema_chunk* python = library.Begin("python");
    const crema_chunk_handle handle = library.get_handle(python);
    std::thread([&] { plugin.helper(&handle); }).join();
    std::thread([&] { plugin.section("outside"); }).join();
    library.chunk_end(python);
  });
  EXPECT_EQ(Section(chunk.sections, "helps", true).count, 1);
}

TEST(TwoCopies, AreSwitchedOffAndOnTogether) {
  const RecordLog log = Recorded([] {
    const Library library;
    const Plugin plugin;
    plugin.chunk("before");
    library.disable();
    plugin.chunk("off");
    if (plugin.records() != 0) std::abort();
    library.enable(nullptr);
    if (plugin.records() != 1) std::abort();
    plugin.chunk("after");
  });
  ASSERT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(log.chunks[1].dataset, "after");
}

/// The logs of a process that ran `body`, and of its children; the one with the first chunk of `dataset` first.
std::vector<RecordLog> Logs(const std::function<void()>& body) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, body);
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.output, "");
  EXPECT_EQ(child.errors, "");
  return ReadRecordLogs(directory);
}

TEST(TwoCopies, ThePluginFollowsALibraryThatIsSwitchedOnFromCode) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&directory] {
    const Library library;
    const Plugin plugin;
    library.chunk_end(library.Begin("off"));
    plugin.section("off");  // decides, where nothing records
    library.EnableInto(directory);
    crema_chunk* chunk = library.Begin("on");
    plugin.section("on");
    library.chunk_end(chunk);
    library.disable();
    plugin.chunk("off");
    library.enable(nullptr);
    plugin.chunk("on again");
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  ASSERT_EQ(logs.size(), 1u);
  ASSERT_EQ(logs[0].chunks.size(), 2u);
  EXPECT_EQ(Paths(ChunkOf(logs[0], "on").sections), std::vector<std::string>{"on"});
  EXPECT_EQ(logs[0].chunks[1].dataset, "on again");
}

TEST(TwoCopies, APluginDoesNotSwitchOnALibraryThatWasSwitchedOff) {
  const RecordLog log = Recorded([] {
    const Library library;
    library.chunk_end(library.Begin("before"));
    library.disable();
    const Plugin plugin;
    plugin.chunk("off");
  });
  EXPECT_EQ(log.chunks.size(), 1u);
}

TEST(TwoCopies, AForkedChildOfAPluginThatFollowsIsRecordedWhenItsLibraryIs) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({}, [&directory] {
    const Library library;
    const Plugin plugin;
    plugin.section("off");
    library.EnableInto(directory);
    library.disable();
    const pid_t pid = fork();
    if (pid == 0) {
      plugin.section("off");
      library.EnableInto(directory);
      plugin.chunk("child");
      std::exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  std::size_t chunks = 0;
  for (const RecordLog& log : ReadRecordLogs(directory)) chunks += log.chunks.size();
  EXPECT_EQ(chunks, 1u);
}

TEST(TwoCopies, AForkedChildHasOneLogOfItsOwnForBoth) {
  const std::vector<RecordLog> logs = Logs([] {
    const Library library;
    const Plugin plugin;
    crema_chunk* parents = library.Begin("parent");
    plugin.section("parent's");
    const pid_t pid = fork();
    if (pid == 0) {
      plugin.chunk("child native");
      crema_chunk* chunk = library.Begin("child python");
      plugin.section("child's");
      library.chunk_end(chunk);
      std::exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
    plugin.section("parent's");
    library.chunk_end(parents);
  });
  ASSERT_EQ(logs.size(), 2u);
  const RecordLog& parent = logs[0].chunks.size() == 1 ? logs[0] : logs[1];
  const RecordLog& child = logs[0].chunks.size() == 1 ? logs[1] : logs[0];
  EXPECT_EQ(Section(ChunkOf(parent, "parent").sections, "parent's").count, 2);
  EXPECT_EQ(child.chunks.size(), 2u);
  EXPECT_EQ(child.process->recorder, 0);
  EXPECT_EQ(Paths(ChunkOf(child, "child python").sections), std::vector<std::string>{"child's"});
  EXPECT_EQ(child.end->dropped, 0);
}

TEST(TwoCopies, WithoutTheLibraryThePluginRecordsAlone) {
  const RecordLog log = Recorded([] {
    const Plugin plugin;
    plugin.chunk("native");
  });
  EXPECT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(log.process->recorder, 0);
}

TEST(TwoCopies, ALibraryThatComesLaterRecordsWithThePlugin) {
  const RecordLog log = Recorded([] {
    const Plugin plugin;
    plugin.chunk("native");
    const Library library;
    crema_chunk* chunk = library.Begin("python");
    plugin.section("native");
    library.chunk_end(chunk);
  });
  EXPECT_EQ(log.end->chunks, 2);
  EXPECT_EQ(Paths(ChunkOf(log, "python").sections), std::vector<std::string>{"native"});
}

TEST(TwoCopies, ALibraryThatComesLaterEndsThePluginsLog) {
  const RecordLog log = Recorded([] {
    const Plugin plugin;
    plugin.chunk("native");
    const Library library;
    library.chunk_end(library.Begin("python"));
    library.end();  // as Python does before os._exit
    _exit(0);
  });
  EXPECT_EQ(log.end->chunks, 2);
}

TEST(TwoCopies, ALibraryThatIsTheSecondAndWantsAnotherDirectoryHasARecorderNumberOfItsOwn) {
  const std::string directory = NewDirectory();
  const std::vector<RecordLog> logs = Logs([&directory] {
    const Plugin plugin;
    plugin.chunk("native");
    const Library library;
    library.EnableInto(directory);
    library.chunk_end(library.Begin("python"));
    plugin.chunk("native");
  });
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.size(), 2u);
  const std::vector<RecordLog> others = ReadRecordLogs(directory);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].process->pid, logs[0].process->pid);
  EXPECT_EQ(logs[0].process->recorder, 0);
  EXPECT_EQ(others[0].process->recorder, 1) << "else collectors take the two for one log";
  EXPECT_EQ(ChunkOf(others[0], "python").status, "ok");
}

/// The SDK in each of two plug-ins, in the library libcrema_cpp.so that both link, or in both ways.
struct Plugins {
  const char* name;
  const char* first;
  const char* second;
};
class TwoPlugins : public ::testing::TestWithParam<Plugins> {};
constexpr Plugins kPlugins[] = {
    {"ACopyEach", "sdk/c_api/recording_plugin.so", "sdk/c_api/other_plugin.so"},
    {"OneLibrary", "sdk/c_api/sharing_plugin.so", "sdk/c_api/other_sharing_plugin.so"},
    {"CopyAndLibrary", "sdk/c_api/recording_plugin.so", "sdk/c_api/sharing_plugin.so"},
    {"LibraryAndCopy", "sdk/c_api/sharing_plugin.so", "sdk/c_api/recording_plugin.so"},
};
INSTANTIATE_TEST_SUITE_P(TwoCopies, TwoPlugins, ::testing::ValuesIn(kPlugins),
                         [](const auto& plugins) { return plugins.param.name; });

TEST_P(TwoPlugins, Nest) {
  const RecordLog log = Recorded([] {
    static const Plugin kOuter(GetParam().first);
    static const Plugin kInner(GetParam().second);
    kOuter.call("outer", [] {
      kInner.section("inner");
      kInner.chunk("nested");
    });
    std::thread([] { kInner.call("thread", [] { kOuter.section("inner"); }); }).join();
  });
  EXPECT_EQ(log.end->chunks, 3);
  EXPECT_EQ(log.end->dropped, 0);
  EXPECT_EQ(Paths(ChunkOf(log, "outer").sections), (std::vector<std::string>{"calls", "calls/inner"}));
  EXPECT_EQ(Paths(ChunkOf(log, "thread").sections), (std::vector<std::string>{"calls", "calls/inner"}));
  EXPECT_EQ(ChunkOf(log, "nested").status, "ok");
}

TEST_P(TwoPlugins, NestInTheChunkOfTheLibraryThatCameFirstOrLast) {
  for (const bool is_first : {true, false}) {
    const RecordLog log = Recorded([is_first] {
      const Plugin first(GetParam().first);
      if (!is_first) first.chunk("first");
      const Library library;
      const Plugin second(GetParam().second);
      crema_chunk* chunk = library.Begin("python");
      first.section("one");
      second.section("two");
      library.chunk_end(chunk);
    });
    EXPECT_EQ(Paths(ChunkOf(log, "python").sections), (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(log.end->dropped, 0);
  }
}

TEST_P(TwoPlugins, HaveOneLogInAForkedChild) {
  for (const bool is_first : {true, false}) {
    const std::vector<RecordLog> logs = Logs([is_first] {
      static const Plugin kFirst(GetParam().first);
      static const Plugin kSecond(GetParam().second);
      kFirst.call("parent", [] { kSecond.section("parent's"); });
      const pid_t pid = fork();
      if (pid == 0) {
        (is_first ? kFirst : kSecond).chunk("child");
        kFirst.call("child", [] { kSecond.section("child's"); });
        kSecond.call("child", [] { kFirst.section("child's"); });
        std::exit(0);
      }
      int status = 0;
      if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
    });
    ASSERT_EQ(logs.size(), 2u);
    EXPECT_EQ(logs[0].chunks.size() + logs[1].chunks.size(), 4u);
  }
}

TEST(TwoCopies, WhereNothingIsRecordedAPluginBesideTheLibraryChangesNoErrorAndMayBeUnloaded) {
  const ChildResult child = RunInChild({}, [] {
    const Library library;
    const Plugin plugin;
    if (dlopen("libmissing.so.9", RTLD_NOW) != nullptr) std::abort();
    plugin.section("off");
    const char* const error = dlerror();
    if (error == nullptr || std::string(error).find("libmissing.so.9") == std::string::npos) std::abort();
    dlclose(plugin.handle);
    library.EnableInto(NewDirectory());  // it must not write to the plug-in's memory
    library.disable();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
}

TEST(TwoCopies, APluginThatIsUnloadedLeavesTheLibraryRecording) {
  const RecordLog log = Recorded([] {
    const Library library;
    {
      const Plugin plugin;
      plugin.chunk("native");
      dlclose(plugin.handle);
    }
    library.chunk_end(library.Begin("python"));
    library.disable();
    library.enable(nullptr);
    library.chunk_end(library.Begin("python again"));
  });
  EXPECT_EQ(log.chunks.size(), 3u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
