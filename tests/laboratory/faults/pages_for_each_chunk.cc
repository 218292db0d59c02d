// Each chunk maps 64 MB, touches every page, and gives it back: the kernel clears pages all the time.
//
// expected: Most of the time went into page faults in section build arrays.
// names: page fault|kernel|build arrays
// leads: compute-bound
// wrong: chunks-too|waiting-bound
// needs: kernel time and page faults of chunks
#include "tests/laboratory/laboratory.h"

int main() {
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 8), [](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection build("build arrays");
      constexpr std::size_t kBytes = 64 << 20;
      void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) std::exit(2);
      madvise(memory, kBytes, MADV_NOHUGEPAGE);
      for (std::size_t i = 0; i < kBytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
      munmap(memory, kBytes);
    }
    crema::TrackSection select("select");
    laboratory::Compute(4);
    chunk.SetEvents(piece.events);
  });
}
