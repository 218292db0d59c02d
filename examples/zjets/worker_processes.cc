#include "examples/zjets/worker_processes.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "fmt/format.h"

namespace zjets {
namespace {

/// False when the other side is gone.
bool SendBytes(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool ReceiveBytes(int socket, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t received = recv(socket, bytes, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

/// Sends the size first, so that half a message is not taken for a whole one.
bool SendMessage(int socket, std::string_view message) {
  const std::size_t size = message.size();
  return SendBytes(socket, reinterpret_cast<const char*>(&size), sizeof(size)) &&
         SendBytes(socket, message.data(), size);
}

std::optional<std::string> ReceiveMessage(int socket) {
  std::size_t size = 0;
  if (!ReceiveBytes(socket, reinterpret_cast<char*>(&size), sizeof(size))) return std::nullopt;
  std::string message(size, '\0');
  if (!ReceiveBytes(socket, message.data(), size)) return std::nullopt;
  return message;
}

int RunInChild(int socket, const WorkerFunction& function) {
  const std::optional<std::string> message = ReceiveMessage(socket);
  if (!message.has_value()) return 0;  // the parent found that there is nothing to do
  try {
    return SendMessage(socket, function(*message)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zjets: a worker gave up: %s\n", error.what());
    return 1;
  }
}

std::string DescribeEnd(std::size_t number, pid_t pid, int status) {
  const std::string worker = fmt::format("worker {} (process {})", number + 1, pid);
  if (WIFSIGNALED(status)) return fmt::format("{} was killed by signal {}", worker, WTERMSIG(status));
  return fmt::format("{} ended with status {}", worker, WEXITSTATUS(status));
}

}  // namespace

WorkerProcesses::WorkerProcesses(int count, const WorkerFunction& function) {
  const pid_t parent = getpid();
  for (int i = 0; i < count; ++i) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      Close();
      throw std::runtime_error(fmt::format("cannot start worker {}: {}", i + 1, std::strerror(errno)));
    }
    const pid_t pid = fork();
    if (pid < 0) {
      const int reason = errno;
      close(sockets[0]);
      close(sockets[1]);
      Close();
      throw std::runtime_error(fmt::format("cannot start worker {}: {}", i + 1, std::strerror(reason)));
    }
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);  // it died before the line above
      close(sockets[0]);
      for (const Worker& sibling : workers_) close(sibling.socket);
      // exit, not _exit: what runs at the end of a process is to run in this one too
      std::exit(RunInChild(sockets[1], function));
    }
    close(sockets[1]);
    workers_.push_back({pid, sockets[0]});
  }
}

WorkerProcesses::~WorkerProcesses() { Close(); }

void WorkerProcesses::Close() {
  for (const Worker& worker : workers_) close(worker.socket);
  for (const Worker& worker : workers_) {
    while (waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  workers_.clear();
}

void WorkerProcesses::SendToAll(std::string_view message) {
  for (const Worker& worker : workers_) SendMessage(worker.socket, message);
}

std::vector<WorkerProcesses::Answer> WorkerProcesses::Receive() {
  std::vector<Answer> answers;
  for (const Worker& worker : workers_) {
    Answer answer;
    answer.message = ReceiveMessage(worker.socket);
    close(worker.socket);
    int status = 0;
    while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    answer.worker = DescribeEnd(answers.size(), worker.pid, status);
    answers.push_back(std::move(answer));
  }
  workers_.clear();
  return answers;
}

}  // namespace zjets
