// Decompression takes most of the CPU, inside the one section that the user has around reading.
//
// expected: Section read takes 90 % of the chunks' time, all of it on a CPU.
// names: section read
// leads: compute-bound
// wrong: waiting-bound|chunks-too|cpu-contention
#include <zlib.h>

#include "tests/laboratory/laboratory.h"

int main() {
  std::vector<unsigned char> plain(16 << 20);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<unsigned char>((i * 2654435761U >> 13) & 31);
  std::vector<unsigned char> stored(compressBound(plain.size()));
  uLongf bytes = stored.size();
  if (compress2(stored.data(), &bytes, plain.data(), plain.size(), 1) != Z_OK) return 2;
  laboratory::OnThreads(2, laboratory::Cut("ttbar", 8, 20), [&](const laboratory::Piece& piece, int) {
    crema::TrackMetrics chunk(piece.chunk());
    {
      crema::TrackSection read("read");
      std::vector<unsigned char> out(plain.size());
      uLongf size = out.size();
      if (uncompress(out.data(), &size, stored.data(), bytes) != Z_OK) std::exit(2);
      chunk.AddBytesRead(bytes, size);
    }
    crema::TrackSection select("select");
    laboratory::Compute(2);
    chunk.SetEvents(piece.events);
  });
}
