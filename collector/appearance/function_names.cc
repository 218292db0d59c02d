#include "collector/appearance/function_names.h"

#include <algorithm>
#include <cstddef>

namespace crema {
namespace {

constexpr std::string_view kUnnamed = "(anonymous namespace)::";
constexpr std::string_view kOperator = "operator";

bool IsPartOfAWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

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

}  // namespace

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
    if (c == '(' &&
        at > 0) {  // what it takes; a function inside goes on behind it: `main::{lambda(int)#1}`, `f(int)::g`
      const size_t behind = BehindBracket(name, at);
      if (behind == std::string_view::npos) return std::string(name);
      const size_t inner = BeginsAt(name, behind, " const::") ? behind + 6 : behind;
      // the type of the result was `decltype(…)`
      const bool is_of_type = BeginsAt(name, behind, " ") && name.find('(', behind) != std::string_view::npos;
      if (!BeginsAt(name, inner, "::") && !BeginsAt(name, inner, "#") && !is_of_type) break;
      at = inner;
      continue;
    }
    // what stands before a blank is the type of the result
    if (c == ' ' && text.find(kOperator) == std::string::npos) {
      text.clear();
    } else {
      text += c;
    }
    ++at;
  }
  return text.empty() ? std::string(name) : text;
}

}  // namespace crema
