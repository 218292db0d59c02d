#include "collector/sources/process_tree/proc_net.h"

#include <sys/stat.h>

#include <array>
#include <charconv>
#include <utility>

namespace crema {
namespace {

// Received bytes are the first number after the colon, sent bytes the ninth.
constexpr int kSentColumn = 8;

int64_t Gained(int64_t now, int64_t before) { return now >= before ? now - before : now; }

}  // namespace

InterfaceBytes ParseProcNetDev(std::string_view text) {
  InterfaceBytes interfaces;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of headings
    const size_t name = line.find_first_not_of(' ');
    const std::string_view interface = line.substr(name, colon - name);
    if (interface == "lo") continue;
    std::array<int64_t, kSentColumn + 1> number{};
    const char* at = line.data() + colon + 1;
    const char* end = line.data() + line.size();
    bool whole = true;
    for (int64_t& value : number) {
      while (at < end && *at == ' ') ++at;
      const auto [next, error] = std::from_chars(at, end, value);
      whole = whole && error == std::errc();
      at = next;
    }
    if (whole) interfaces[std::string(interface)] = TreeNet{number[0], number[kSentColumn]};
  }
  return interfaces;
}

std::optional<TreeNet> NetCounter::Add(std::string_view proc_net_dev) {
  if (proc_net_dev.empty()) return has_first_ ? std::optional<TreeNet>(sum_) : std::nullopt;
  InterfaceBytes now = ParseProcNetDev(proc_net_dev);
  if (has_first_) {
    for (const auto& [interface, bytes] : now) {
      const TreeNet before = last_.count(interface) != 0 ? last_.at(interface) : TreeNet();
      sum_.rx_bytes += Gained(bytes.rx_bytes, before.rx_bytes);
      sum_.tx_bytes += Gained(bytes.tx_bytes, before.tx_bytes);
    }
  }
  has_first_ = true;
  last_ = std::move(now);
  return sum_;
}

bool NetworkIsShared(const std::string& process) {
  struct stat mine {};
  struct stat first {};
  if (stat(("/proc/" + process + "/ns/net").c_str(), &mine) != 0 || stat("/proc/1/ns/net", &first) != 0) return true;
  return mine.st_ino == first.st_ino && mine.st_dev == first.st_dev;
}

}  // namespace crema
