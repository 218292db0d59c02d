#include "collector/format/worker_names.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/sequences.h"

namespace crema {
namespace {

/// `.cern.ch` of `n1.cern.ch:4000`; empty where the name has none, and for a number of the internet protocol.
std::string_view DomainOf(std::string_view name) {
  const std::string_view host = name.substr(0, name.find_first_of(":/"));
  const size_t dot = host.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == host.size()) return "";
  return absl::c_all_of(host, [](char c) { return absl::ascii_isdigit(c) || c == '.'; }) ? "" : host.substr(dot);
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

constexpr std::string_view kUnnamed = "(anonymous namespace)::";
constexpr std::string_view kOperator = "operator";

bool IsPartOfAWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

bool BeginsAt(std::string_view text, size_t at, std::string_view what) { return text.substr(at, what.size()) == what; }

// The longest first.
constexpr std::string_view kOperators[] = {
    "<<=", ">>=", "<=>", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",  "!=", "&&",
    "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+",   "-",  "*",
    "/",   "%",   "&",   "|",   "^",  "~",  "!",  "=",  "<",  ">",  ",",  "\"\""};

/// Behind `operator<<`, `operator()` and their like, if one begins at `at`; else `at`.
size_t BehindOperator(std::string_view name, size_t at) {
  if (!BeginsAt(name, at, kOperator) || (at > 0 && IsPartOfAWord(name[at - 1]))) return at;
  const size_t end = at + kOperator.size();
  for (const std::string_view symbol : kOperators) {
    if (BeginsAt(name, end, symbol)) return end + symbol.size();
  }
  return at;
}

/// Behind the bracket that the one at `at` opens; npos: it is not closed.
size_t BehindBracket(std::string_view name, size_t at) {
  const char open = name[at], close = open == '<' ? '>' : ')';
  int depth = 0;
  for (; at < name.size(); ++at) {
    if (const size_t behind = BehindOperator(name, at); behind > at) {
      at = behind - 1;
      continue;
    }
    const bool is_arrow = name[at] == '>' && at > 0 && name[at - 1] == '-';
    if (name[at] == open) ++depth;
    if (name[at] == close && !is_arrow && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

constexpr size_t kMostSimilar = 5;

/// Edits (insert, delete, replace) between two short words: Levenshtein's distance.
size_t Distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t at = 0; at <= right.size(); ++at) row[at] = at;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view WorkerName(std::string_view name) {
  const size_t scheme = name.find("://");
  return scheme == std::string_view::npos ? name : name.substr(scheme + 3);
}

bool IsBefore(std::string_view a, std::string_view b) {
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!absl::ascii_isdigit(a[i]) || !absl::ascii_isdigit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i;
      ++k;
      continue;
    }
    const auto number = [](std::string_view text, size_t* at) {
      while (*at + 1 < text.size() && text[*at] == '0' && absl::ascii_isdigit(text[*at + 1])) ++*at;
      const size_t from = *at;
      while (*at < text.size() && absl::ascii_isdigit(text[*at])) ++*at;
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
  std::set<std::string> domains, without;
  for (const std::string& name : names) domains.emplace(DomainOf(WorkerName(name)));
  if (domains.size() == 1) domain_ = *domains.begin();
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

size_t CodePointBytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) >= 0xA0))) return 0;
  if (length == 4 && ((first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) >= 0x90))) return 0;
  return length;
}

std::string ShortFunctionName(std::string_view name) {
  if (BeginsAt(name, 0, "(") && !BeginsAt(name, 0, kUnnamed)) return std::string(name);  // crema's own: `(other)`
  std::string text;
  for (size_t at = 0; at < name.size();) {
    if (BeginsAt(name, at, kUnnamed)) {
      at += kUnnamed.size();
      continue;
    }
    if (const size_t behind = BehindOperator(name, at); behind > at) {
      text += name.substr(at, behind - at);
      at = behind;
      continue;
    }
    const char c = name[at];
    // not so `fit.<locals>.chi2` of Python
    if (c == '<' && at > 0 && (IsPartOfAWord(name[at - 1]) || text.find(kOperator) != std::string::npos)) {
      const size_t behind = BehindBracket(name, at);
      if (behind == std::string_view::npos) return std::string(name);
      text += "<…>";
      at = behind;
      continue;
    }
    // what it takes; a function inside goes on behind it: `main::{lambda(int)#1}`, `f(int)::g`
    if (c == '(' && at > 0) {
      const size_t behind = BehindBracket(name, at);
      if (behind == std::string_view::npos) return std::string(name);
      const size_t inner = BeginsAt(name, behind, " const::") ? behind + 6 : behind;
      // the type of the result was `decltype(…)`
      const bool is_of_type = BeginsAt(name, behind, " ") && name.find('(', behind) != std::string_view::npos;
      if (!BeginsAt(name, inner, "::") && !BeginsAt(name, inner, "#") && !is_of_type) break;
      at = inner;
      continue;
    }
    // what is before a blank is the type of the result
    if (c == ' ' && text.find(kOperator) == std::string::npos) {
      text.clear();
    } else {
      text += c;
    }
    ++at;
  }
  return text.empty() ? std::string(name) : text;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& names) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    const bool contains = !word.empty() && name.find(word) != std::string_view::npos;
    const size_t distance = contains ? 0 : Distance(name, word);
    const std::pair<size_t, std::string_view> near = {distance, name};
    const bool is_near = distance <= std::max<size_t>(2, word.size() / 3) && name != word;
    if (is_near && absl::c_count(ranked, near) == 0) ranked.push_back(near);
  }
  absl::c_stable_sort(ranked, [](const auto& left, const auto& right) { return left.first < right.first; });
  std::string text;
  for (size_t at = 0; at < std::min(ranked.size(), kMostSimilar); ++at) {
    text.append(at == 0 ? "; did you mean " : ", ").append(ranked[at].second);
  }
  return text.empty() ? text : text + "?";
}

std::string DidYouMeanEntry(const std::string& path) {
  std::filesystem::path wanted = std::filesystem::path(path).lexically_normal();
  if (!wanted.has_filename()) wanted = wanted.parent_path();
  const auto name_of = [](const std::filesystem::path& entry) { return entry.filename().string(); };
  std::vector<std::string> beside = Mapped<std::string>(EntriesOf("." / wanted.parent_path()), name_of);
  absl::c_sort(beside);
  return DidYouMean(name_of(wanted), {beside.begin(), beside.end()});
}

}  // namespace crema
