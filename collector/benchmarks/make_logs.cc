// Writes made-up record logs, to try the collector on.
//
//     bazel run //collector/benchmarks:make_logs -- --records 1000000 --files 1000 --shape short /tmp/logs
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "collector/benchmarks/made_logs.h"

int main(int argc, char** argv) {
  crema_benchmarks::LogsToMake logs;
  std::string shape = "short";
  std::string directory;
  CLI::App app("Writes made-up record logs into a directory.");
  app.add_option("directory", directory, "where to")->required();
  app.add_option("--records", logs.records, "begin and chunk lines, in all files together")->capture_default_str();
  app.add_option("--files", logs.files, "logs, one for each process")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--shape", shape, "of the records")
      ->capture_default_str()
      ->check(CLI::IsMember({"short", "full", "other", "sdk"}));
  app.add_option("--seed", logs.seed, "the same options make the same bytes")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  logs.shape = *crema_benchmarks::ShapeNamed(shape);
  const absl::StatusOr<crema_benchmarks::MadeLogs> made = crema_benchmarks::MakeLogs(logs, directory);
  if (!made.ok()) {
    std::fprintf(stderr, "make_logs: %s\n", std::string(made.status().message()).c_str());
    return 1;
  }
  std::printf("%lld bytes, %lld chunks, %lld events\n", static_cast<long long>(made->bytes),
              static_cast<long long>(made->chunks), static_cast<long long>(made->events));
  return 0;
}
