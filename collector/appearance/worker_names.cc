#include "collector/appearance/worker_names.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace crema {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// `.cern.ch` of `n1.cern.ch:4000`; empty where the name has none, and for a number of the internet protocol.
std::string_view DomainOf(std::string_view name) {
  const std::string_view host = name.substr(0, name.find_first_of(":/"));
  const size_t dot = host.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == host.size()) return "";
  return std::all_of(host.begin(), host.end(), [](char c) { return IsDigit(c) || c == '.'; }) ? "" : host.substr(dot);
}

/// What all names begin with, up to a sign between words; no name is nothing but that.
std::string SharedBeginning(const std::set<std::string>& names) {
  if (names.size() < 2) return "";
  std::string shared = *names.begin();
  for (const std::string& name : names) {
    const auto end = std::mismatch(shared.begin(), shared.end(), name.begin(), name.end()).first;
    shared.erase(end, shared.end());
  }
  const size_t sign = shared.find_last_of(":/-.");
  shared.resize(sign == std::string::npos ? 0 : sign + 1);
  return names.count(shared) != 0 ? "" : shared;
}

}  // namespace

std::string_view WorkerName(std::string_view name) {
  const size_t scheme = name.find("://");
  return scheme == std::string_view::npos ? name : name.substr(scheme + 3);
}

bool IsBefore(std::string_view a, std::string_view b) {
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i;
      ++k;
      continue;
    }
    const auto number = [](std::string_view text, size_t* at) {
      while (*at + 1 < text.size() && text[*at] == '0' && IsDigit(text[*at + 1])) ++*at;
      const size_t from = *at;
      while (*at < text.size() && IsDigit(text[*at])) ++*at;
      return text.substr(from, *at - from);
    };
    const std::string_view one = number(a, &i), two = number(b, &k);
    if (one.size() != two.size()) return one.size() < two.size();
    if (one != two) return one < two;
  }
  const size_t left_of_a = a.size() - i, left_of_b = b.size() - k;
  return left_of_a != left_of_b ? left_of_a < left_of_b : a < b;
}

WorkerNames::WorkerNames(const std::set<std::string>& names) {
  std::optional<std::string> domain;
  for (const std::string& name : names) {
    const std::string own(DomainOf(WorkerName(name)));
    if (domain.value_or(own) != own) domain = "";
    if (!domain.has_value()) domain = own;
  }
  domain_ = domain.value_or("");
  std::set<std::string> without;
  for (const std::string& name : names) without.insert(WithoutDomain(name));
  beginning_ = SharedBeginning(without);
}

std::string WorkerNames::WithoutDomain(std::string_view name) const {
  std::string without(WorkerName(name));
  const size_t at = domain_.empty() || DomainOf(without) != domain_ ? std::string::npos : without.find(domain_);
  return at == std::string::npos ? without : without.erase(at, domain_.size());
}

std::string WorkerNames::Of(std::string_view name) const {
  const std::string without = WithoutDomain(name);
  const bool is_longer = without.size() > beginning_.size() && without.compare(0, beginning_.size(), beginning_) == 0;
  return is_longer ? without.substr(beginning_.size()) : without;
}

}  // namespace crema
