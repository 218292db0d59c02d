// Which arguments of a command line are shown.
#include "sdk/src/log/secret_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crema {
namespace internal {
namespace {

using Arguments = std::vector<std::string>;

Arguments WithoutSecrets(const Arguments& arguments) {
  Arguments shown;
  SecretFilter filter;
  for (const std::string& argument : arguments) {
    const SecretFilter::Shown next = filter.Next(argument);
    shown.push_back(std::string(next.text) + (next.hides_value ? "***" : "") + std::string(next.rest));
  }
  return shown;
}

TEST(SecretFilter, LeavesOrdinaryArgumentsAlone) {
  const Arguments arguments = {"./analysis", "--input=a.root", "-j", "8", "--cut", "pt>20", "--", "-x", ""};
  EXPECT_EQ(WithoutSecrets(arguments), arguments);
}

TEST(SecretFilter, MasksTheValueAfterAnEqualsSign) {
  EXPECT_EQ(WithoutSecrets({"--token=abc", "API_KEY=abc", "-password=", "--my-Credentials=a=b"}),
            (Arguments{"--token=***", "API_KEY=***", "-password=***", "--my-Credentials=***"}));
}

TEST(SecretFilter, MasksTheNextArgument) {
  EXPECT_EQ(WithoutSecrets({"--token", "abc", "--secret", "-starts-with-a-dash", "--passphrase", "a b", "next"}),
            (Arguments{"--token", "***", "--secret", "***", "--passphrase", "***", "next"}));
}

TEST(SecretFilter, DoesNotLetAMaskedNameHideTheNext) {
  EXPECT_EQ(WithoutSecrets({"--use-key", "--password", "abc"}), (Arguments{"--use-key", "***", "***"}));
}

TEST(SecretFilter, MasksBehindALaterEqualsSign) {
  EXPECT_EQ(WithoutSecrets({"--url=https://host/f?a=1&token=abc&b=2", "--option=key=abc"}),
            (Arguments{"--url=https://host/f?a=1&token=***", "--option=key=***"}));
}

TEST(SecretFilter, MasksHeaders) {
  EXPECT_EQ(WithoutSecrets({"-H", "Authorization: Bearer abc", "-H", "Authorization:", "Bearer", "abc", "x Basic abc"}),
            (Arguments{"-H", "Authorization: ***", "-H", "Authorization:", "***", "***", "x Basic ***"}));
  EXPECT_EQ(WithoutSecrets({"--cookie", "a=b", "--auth=abc", "X-Api-Key: abc"}),
            (Arguments{"--cookie", "***", "--auth=***", "X-Api-Key: ***"}));
}

TEST(SecretFilter, MasksBehindQuotedNames) {
  EXPECT_EQ(
      WithoutSecrets({"--config={\"api-token\": \"abc\"}", "a,token:abc", "{'x': 1, 'pwd':'abc'}", "--jwt", "abc"}),
      (Arguments{"--config={\"api-token\": ***", "a,token:***", "{'x': 1, 'pwd':***", "--jwt", "***"}));
  const Arguments addresses = {"key://host/file", "root://author:1094//data"};
  EXPECT_EQ(WithoutSecrets(addresses), addresses);
}

TEST(SecretFilter, MasksPasswords) {
  EXPECT_EQ(WithoutSecrets({"https://me:abc@host/file", "root://host:1094//data", "-u", "me:abc", "--user=me:abc"}),
            (Arguments{"https://me:***@host/file", "root://host:1094//data", "-u", "me:***", "--user=me:***"}));
  EXPECT_EQ(WithoutSecrets({"https://me:abc@host/,https://you:def@host/"}), (Arguments{"https://me:***"}));
}

TEST(SecretFilter, AnAuthorIsNoSecret) {
  const Arguments arguments = {"--author", "Ada", "--authors=Ada"};
  EXPECT_EQ(WithoutSecrets(arguments), arguments);
}

TEST(SecretFilter, AnOptionAtTheEndNeedsNoValue) {
  EXPECT_EQ(WithoutSecrets({"--token"}), (Arguments{"--token"}));
  EXPECT_EQ(WithoutSecrets({}), Arguments());
}

}  // namespace
}  // namespace internal
}  // namespace crema
