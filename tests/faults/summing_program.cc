// An analysis of a given number of chunks, with the same totals each time. If it gets a path and a size, it writes a
// result of this size there.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "crema/crema.h"

namespace {

void Process(std::int64_t number) {
  const std::string dataset = number % 3 == 0 ? "zjets" : "ttbar";
  const std::string file = "/store/data/Run2018A/" + dataset + std::to_string(number / 1500 % 2) + ".root";
  crema::TrackMetrics chunk({dataset, file, number * 100, number * 100 + 100});
  chunk.SetEvents(100 + number % 7);
  chunk.AddBytesRead(1000, 3000);
  {
    const crema::TrackSection read("read");
    const crema::TrackSection unzip("unzip");
  }
  {
    const crema::TrackMemory memory("fill");
    const crema::TrackSection select("select");
    crema::RecordMetric("jets", static_cast<double>(number % 11), "count");
  }
  crema::RecordCut("all", 100, 100);
  crema::RecordCut("two leptons", static_cast<std::uint64_t>(number % 50), 0.5 * static_cast<double>(number % 50));
  crema::RecordActivity("baskets", 2, "count");
  if (number % 97 == 0) chunk.Fail("bad basket");
}

bool WriteResult(const char* path, std::size_t size) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return false;
  const std::vector<char> bytes(size, 'r');
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && is_written;
}

}  // namespace

int main(int argc, char** argv) {
  const long chunks = argc > 1 ? std::atol(argv[1]) : 0;
  for (long number = 0; number < chunks; ++number) Process(number);
  if (argc > 3 && !WriteResult(argv[2], static_cast<std::size_t>(std::atol(argv[3])))) {
    std::perror("the result is lost");
    return 1;
  }
}
