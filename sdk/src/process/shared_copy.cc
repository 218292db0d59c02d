#include "process/shared_copy.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "chunk/thread_state.h"
#include "crema/version.h"
#include "guards/span_state.h"
#include "process/exit_and_fork.h"
#include "process/process_recorder.h"
#include "tasks/task_table.h"

namespace crema {
namespace internal {
namespace {

/// Changes with the version, and with whatever compilers and their settings do to the objects that would be shared.
constexpr std::uint64_t Layout() {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : std::string_view(CREMA_VERSION_STRING)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  for (const std::size_t size :
       {sizeof(SharedCopy), sizeof(Recorder), sizeof(Settings), sizeof(ThreadState), sizeof(ChunkState),
        sizeof(HelperState), sizeof(SectionNode), sizeof(SpanState), sizeof(ThreadStacks), sizeof(StackTable),
        sizeof(MetricRow), sizeof(CutRow), sizeof(MemoryRow), sizeof(ActivityRow), sizeof(TaskTable),
        sizeof(TaskModule), sizeof(EventSlot), sizeof(EventNodes), sizeof(ThreadTasks)}) {
    hash = (hash ^ size) * 1099511628211u;
  }
  return hash;
}

}  // namespace

/// A C name, which the assembler of the note knows.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("hidden"), used)) const SharedCopy crema_own_copy = {
    Layout(),     EnableWith,          Enabled,    SwitchOff,  CurrentRecorder,
    OwnsRecorder, EnsureThreadContext, MirrorMode, ForgetMode, EndProcess,
};
CREMA_NOTE(CREMA_NOTE_OF_COPY);

namespace {

struct Search {
  std::string_view directory;
  const SharedCopy* found = nullptr;
  bool is_library = false;
  bool is_of_all = false;  ///< also of copies behind the library
  int recorders = 0;       ///< of other copies, in this process

  void Take(const SharedCopy* copy, std::uint32_t type) {
    if (copy == &crema_own_copy || copy->layout != Layout()) return;
    constexpr std::uint32_t kLibrary = CREMA_NOTE_OF_LIBRARY[0] - '0';
    if (type != kLibrary && copy->owns_recorder() && copy->recorder()->pid == getpid()) ++recorders;
    if (type != kLibrary && (found != nullptr || !Records(*copy))) return;
    found = copy;
    is_library = type == kLibrary;
  }

  bool Records(const SharedCopy& copy) const {
    return copy.owns_recorder() && (directory.empty() || copy.recorder()->settings.directory.view() == directory);
  }
};

void LookAtNotes(const char* at, const char* end, Search* search) {
  const auto rounded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (static_cast<std::size_t>(end - at) >= sizeof note) {
    std::memcpy(&note, at, sizeof note);
    at += sizeof note;
    const std::size_t name = rounded(note.n_namesz);
    const std::size_t size = name + rounded(note.n_descsz);
    if (size > static_cast<std::size_t>(end - at)) return;
    std::int32_t offset;
    const bool is_ours = note.n_namesz == sizeof "crema" && note.n_descsz == sizeof offset;
    if (is_ours && std::memcmp(at, "crema", sizeof "crema") == 0) {
      std::memcpy(&offset, at + name, sizeof offset);
      search->Take(reinterpret_cast<const SharedCopy*>(at + name + offset), note.n_type);
    }
    at += size;
  }
}

/// The file cannot be unloaded meanwhile: the list of files is locked.
int LookInto(dl_phdr_info* file, std::size_t, void* search_pointer) {
  auto* const search = static_cast<Search*>(search_pointer);
  for (std::size_t i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(file->dlpi_addr + segment.p_vaddr);
    LookAtNotes(notes, notes + segment.p_memsz, search);
  }
  return search->is_library && !search->is_of_all ? 1 : 0;
}

}  // namespace

const SharedCopy* OwnCopy() noexcept { return &crema_own_copy; }

const SharedCopy* FindSharedCopy(std::string_view directory) noexcept {
  Search search;
  search.directory = directory;
  dl_iterate_phdr(LookInto, &search);
  return search.found;
}

int RecordersOfOtherCopies() noexcept {
  Search search;
  search.is_of_all = true;
  dl_iterate_phdr(LookInto, &search);
  return search.recorders;
}

}  // namespace internal
}  // namespace crema
