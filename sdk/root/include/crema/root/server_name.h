// ServerName: where a file is, in the words of a request to storage.
#ifndef CREMA_ROOT_SERVER_NAME_H_
#define CREMA_ROOT_SERVER_NAME_H_

#include <TFile.h>
#include <TUrl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// `eos.example.org` of `root://user@eos.example.org:1094//path`; empty where the path is one of this machine.
inline std::string_view HostOf(std::string_view path) {
  const std::size_t scheme = path.find("://");
  if (scheme == path.npos || path.substr(0, scheme) == "file") return {};
  std::string_view host = path.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (const std::size_t user = host.rfind('@'); user != host.npos) host.remove_prefix(user + 1);
  const std::size_t bracket = host.rfind(']');  // of an address of IPv6
  return host.substr(0, host.find(':', bracket != host.npos ? bracket : 0));
}

/// The mount that holds the file of this machine; "/" where it is not there any more.
inline std::string MountOf(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path, nullptr), &std::free);
  std::string place = real != nullptr ? real.get() : "/";
  struct stat here {};
  struct stat above {};
  if (stat(place.c_str(), &here) != 0) return "/";
  while (place.size() > 1) {
    const std::size_t slash = place.rfind('/');
    const std::string parent = slash == 0 ? "/" : place.substr(0, slash);
    if (stat(parent.c_str(), &above) != 0 || above.st_dev != here.st_dev) break;
    place = parent;
  }
  return place;
}

/// `root://eos.example.org`, with the port where it is not the protocol's own; for a file of this machine its mount.
/// Where a server sent ROOT on to another one, it is that one.
inline std::string ServerName(const TFile& file) {
  const TUrl* const url = file.GetEndpointUrl();
  if (url == nullptr) return MountOf(file.GetName());
  if (std::strcmp(url->GetProtocol(), "file") == 0 || *url->GetHost() == '\0') return MountOf(url->GetFile());
  const std::string server = std::string(url->GetProtocol()) + "://" + url->GetHost();
  const bool is_usual = TUrl(server.c_str()).GetPort() == url->GetPort();
  return is_usual ? server : server + ":" + std::to_string(url->GetPort());
}

/// The last answer of `ServerName` on this thread: a thread reads a file chunk after chunk.
inline const std::string& KeptServerName(const TFile& file) {
  struct Kept {
    std::string file;
    std::string server;
  };
  thread_local Kept kept;
  if (kept.server.empty() || kept.file != file.GetName()) kept = {file.GetName(), ServerName(file)};
  return kept.server;
}

}  // namespace crema::internal

#endif  // CREMA_ROOT_SERVER_NAME_H_
