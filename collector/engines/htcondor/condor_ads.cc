#include "collector/engines/htcondor/condor_ads.h"

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Ad = std::map<std::string, std::string>;

Ad ReadJson(const std::string& text) {
  Ad ad;
  const auto object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return ad;
  for (const auto& [name, value] : object.items()) {
    ad[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return ad;
}

/// `<a n="Cluster"><i>61</i></a>`, `<a n="TerminatedNormally"><b v="t"/></a>`.
Ad ReadXml(const std::string& text) {
  Ad ad;
  constexpr std::string_view kBegin = "<a n=\"";
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const size_t quote = text.find('"', at), end = text.find("</a>", at);
    const size_t open = text.find('>', text.find('<', quote));  // of the element with the value
    if (quote == text.npos || end == text.npos || open == text.npos || open > end) break;
    const std::string name = text.substr(at, quote - at);
    if (text[open - 1] == '/') {
      ad[name] = text.substr(quote, open - quote).find("v=\"t") != text.npos ? "true" : "false";
    } else {
      const size_t close = text.find('<', open);
      ad[name] = absl::StrReplaceAll(text.substr(open + 1, close - open - 1),
                                     {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}});
    }
    at = end;
  }
  return ad;
}

}  // namespace

void CondorAds::Add(std::string_view line, const OnAd& on_ad) {
  if (text_.empty()) {
    const size_t first = line.find_first_of("{<");
    if (first == line.npos) return;
    is_xml_ = line[first] == '<';
  }
  is_xml_ ? AddXml(line, on_ad) : AddJson(line, on_ad);
}

void CondorAds::AddJson(std::string_view line, const OnAd& on_ad) {
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (depth_ == 0 && c != '{') continue;
    text_ += c;
    if (in_string_) {
      if (c == '\\' && i + 1 < line.size()) text_ += line[++i];
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{') {
      ++depth_;
    } else if (c == '}' && --depth_ == 0) {
      on_ad(ReadJson(text_));
      text_.clear();
    }
  }
  if (depth_ > 0) text_ += '\n';
}

void CondorAds::AddXml(std::string_view line, const OnAd& on_ad) {
  constexpr std::string_view kBegin = "<c>", kEnd = "</c>";
  while (true) {
    if (text_.empty()) {
      const size_t begin = line.find(kBegin);
      if (begin == line.npos) return;
      line.remove_prefix(begin);
    }
    const size_t end = line.find(kEnd);
    text_ += line.substr(0, end);
    if (end == line.npos) return;
    on_ad(ReadXml(text_));
    text_.clear();
    line.remove_prefix(end + kEnd.size());
  }
}

}  // namespace crema
