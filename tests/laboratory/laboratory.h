// Shared by the programs of the laboratory: pieces of work, workers that take them in order, and known times.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace laboratory {

struct Piece {
  std::string dataset, file;
  std::int64_t first = 0, events = 0;
  int number = 0;  ///< among all
  int of_file = 0;

  crema::Chunk chunk() const { return {dataset, file, first, first + events}; }
};

/// `files` files of a dataset, each cut into `pieces` equal pieces.
inline std::vector<Piece> Cut(const std::string& dataset, int files, int pieces, std::int64_t events = 1000) {
  std::vector<Piece> all;
  for (int file = 0; file < files; ++file) {
    for (int i = 0; i < pieces; ++i) {
      all.push_back(
          {dataset, dataset + "/part" + std::to_string(file) + ".root", i * events, events, file * pieces + i, file});
    }
  }
  return all;
}

inline std::vector<Piece> operator+(std::vector<Piece> left, const std::vector<Piece>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// A factor within 10 % of 1: the same one for the same number.
inline double Scatter(int number) { return 0.9 + 0.2 * (static_cast<unsigned>(number) * 2654435761U % 1024) / 1023; }

/// Sleeps, as a thread does that waits for a device.
inline void Rest(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

/// Computes until this thread has had so much CPU time.
inline void Compute(double milliseconds) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  static std::atomic<std::uint64_t> result{0};
  std::uint64_t sum = 1;
  for (const double until = now() + milliseconds; now() < until;) {
    for (int i = 0; i < 5000; ++i) sum = sum * 6364136223846793005ULL + 1442695040888963407ULL;
  }
  result.store(sum, std::memory_order_relaxed);
}

/// `count` threads take pieces in order; `work(piece, thread)`.
template <class Work>
void OnThreads(int count, const std::vector<Piece>& pieces, Work&& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t i = next++; i < pieces.size(); i = next++) work(pieces[i], thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The same with processes. `begin(process)` runs first in each.
template <class Work, class Begin>
void OnProcesses(int count, const std::vector<Piece>& pieces, Work&& work, Begin&& begin) {
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::exit(2);
  auto* next = new (shared) std::atomic<std::size_t>(0);
  for (int process = 0; process < count; ++process) {
    if (fork() > 0) continue;
    begin(process);
    for (std::size_t i = (*next)++; i < pieces.size(); i = (*next)++) work(pieces[i], process);
    std::exit(0);
  }
  while (wait(nullptr) > 0) {
  }
}

/// A process that answers one request after another, each after so many milliseconds. One request at a time.
class Server {
 public:
  explicit Server(double milliseconds) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::exit(2);
    if (fork() == 0) {
      close(ends[0]);
      for (char byte = 0; read(ends[1], &byte, 1) == 1;) {
        Rest(milliseconds);
        if (write(ends[1], &byte, 1) != 1) break;
      }
      _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
  }
  ~Server() { close(socket_); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void Ask() {
    const std::lock_guard<std::mutex> lock(mutex_);
    char byte = 0;
    if (write(socket_, &byte, 1) != 1 || read(socket_, &byte, 1) != 1) std::exit(2);
  }

 private:
  int socket_ = -1;
  std::mutex mutex_;
};

}  // namespace laboratory
