// Which arguments of a command line are shown.
#include "sdk/src/process_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crema {
namespace internal {
namespace {

using Arguments = std::vector<std::string>;

TEST(WithoutSecrets, LeavesOrdinaryArgumentsAlone) {
  const Arguments arguments = {"./analysis", "--input=a.root", "-j", "8", "--cut", "pt>20", "--", "-x", ""};
  EXPECT_EQ(WithoutSecrets(arguments), arguments);
}

TEST(WithoutSecrets, MasksTheValueAfterAnEqualsSign) {
  EXPECT_EQ(WithoutSecrets({"--token=abc", "API_KEY=abc", "-password=", "--my-Credentials=a=b"}),
            (Arguments{"--token=***", "API_KEY=***", "-password=***", "--my-Credentials=***"}));
}

TEST(WithoutSecrets, MasksTheNextArgument) {
  EXPECT_EQ(WithoutSecrets({"--token", "abc", "--secret", "-starts-with-a-dash", "--passphrase", "a b", "next"}),
            (Arguments{"--token", "***", "--secret", "***", "--passphrase", "***", "next"}));
}

TEST(WithoutSecrets, DoesNotLetAMaskedNameHideTheNext) {
  EXPECT_EQ(WithoutSecrets({"--use-key", "--password", "abc"}), (Arguments{"--use-key", "***", "***"}));
}

TEST(WithoutSecrets, MasksBehindALaterEqualsSign) {
  EXPECT_EQ(WithoutSecrets({"--url=https://host/f?a=1&token=abc&b=2", "--option=key=abc"}),
            (Arguments{"--url=https://host/f?a=1&token=***", "--option=key=***"}));
}

TEST(WithoutSecrets, AnOptionAtTheEndNeedsNoValue) {
  EXPECT_EQ(WithoutSecrets({"--token"}), (Arguments{"--token"}));
  EXPECT_EQ(WithoutSecrets({}), Arguments());
}

}  // namespace
}  // namespace internal
}  // namespace crema
