// Event logs of HTCondor in the form of ClassAds, as JSON objects or XML elements one after the other.
#ifndef CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_ADS_H_
#define CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_ADS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace crema {

class CondorAds {
 public:
  using OnAd = std::function<void(const std::map<std::string, std::string>&)>;

  /// Takes the next line; calls `on_ad` for each ad that ends in it. One that cannot be read has no attributes.
  void Add(std::string_view line, const OnAd& on_ad);
  /// An ad has begun and not ended.
  bool is_inside() const { return !text_.empty(); }

 private:
  void AddJson(std::string_view line, const OnAd& on_ad);
  void AddXml(std::string_view line, const OnAd& on_ad);

  std::string text_;  // of the ad, as far as it was read
  int depth_ = 0;     // of JSON's braces
  bool in_string_ = false;
  bool is_xml_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_ADS_H_
