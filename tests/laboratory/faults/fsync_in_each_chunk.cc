// Each chunk writes ten lines into a log and waits for the disk after each.
//
// expected: Most of the time threads were blocked in section select, in the file system.
// names: in section select|fsync|disk
// leads: waiting-bound
// wrong: chunks-too|oversubscribed|cpu-contention
#include <fcntl.h>

#include "tests/laboratory/laboratory.h"

int main() {
  char name[] = "/var/tmp/crema-laboratory-XXXXXX";
  const int log = mkstemp(name);
  if (log < 0) return 2;
  unlink(name);
  laboratory::OnThreads(4, laboratory::Cut("ttbar", 8, 80), [log](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      laboratory::Rest(2);
    }
    crema::TrackSection select("select");
    laboratory::Compute(1);
    for (int i = 0; i < 10; ++i) {
      if (write(log, "a line of a log\n", 16) != 16 || fsync(log) != 0) std::exit(2);
    }
    chunk.SetEvents(piece.events);
  });
}
