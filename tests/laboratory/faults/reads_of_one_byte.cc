// Each chunk reads a file byte by byte, with a system call for each.
//
// expected: Section read takes most of the chunks' time, with tens of thousands of small reads.
// names: small|section read
// leads: compute-bound
// wrong: cpu-contention|chunks-too
// needs: number and size of reads
#include <fcntl.h>

#include "tests/laboratory/laboratory.h"

int main(int, char** names) {
  const int file = open(names[0], O_RDONLY | O_CLOEXEC);
  if (file < 0) return 2;
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 10), [file](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      crema::TrackIo io("read");
      char byte = 0;
      for (off_t i = 0; i < 30'000; ++i) {
        if (pread(file, &byte, 1, i * 7919 % 20'000) != 1) std::exit(2);
      }
    }
    crema::TrackSection select("select");
    laboratory::Compute(3);
    chunk.SetEvents(piece.events);
  });
}
