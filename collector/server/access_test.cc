#include "collector/server/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace crema {
namespace {

TEST(IsOwnHost, TakesAddressesLocalhostAndTheMachinesName) {
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "10.1.2.3"}) {
    EXPECT_TRUE(IsOwnHost(host)) << host;
  }
  char own[256] = "";
  ASSERT_EQ(gethostname(own, sizeof(own) - 1), 0);
  EXPECT_TRUE(IsOwnHost(std::string(own) + ":80"));
}

TEST(IsOwnHost, RefusesNamesThatOthersMayHavePointedHere) {
  for (const char* host :
       {"", "evil.example.org", "localhost.evil.example.org", "127.0.0.1.evil.example.org", "[::1"}) {
    EXPECT_FALSE(IsOwnHost(host)) << host;
  }
}

TEST(HasToken, TakesItFromEachPlaceAndNowhereElse) {
  const HttpTarget none = ParseTarget("/");
  EXPECT_TRUE(HasToken("", none, "", ""));
  EXPECT_FALSE(HasToken("abc", none, "", ""));
  EXPECT_TRUE(HasToken("abc", none, "Bearer abc", ""));
  EXPECT_TRUE(HasToken("abc", ParseTarget("/?token=abc"), "", ""));
  EXPECT_TRUE(HasToken("abc", none, "", "other=1; crema_token=abc"));
  EXPECT_FALSE(HasToken("abc", ParseTarget("/?token=abcabc"), "Bearer ab", "crema_token=abd; token=abc"));
}

TEST(ParseTarget, DecodesTheQuery) {
  const HttpTarget target = ParseTarget("/api/live?since=3&name=a%20b+c%2F&empty=&flag");
  EXPECT_EQ(target.path, "/api/live");
  EXPECT_EQ(target.query.at("since"), "3");
  EXPECT_EQ(target.query.at("name"), "a b c/");
  EXPECT_EQ(target.query.at("empty"), "");
  EXPECT_EQ(target.query.count("flag"), 1u);
  EXPECT_EQ(ParseTarget("/?a=%zz%4").query.at("a"), "%zz%4");
}

TEST(MakeToken, IsLongAndNeverTheSame) {
  EXPECT_EQ(MakeToken().size(), 32u);
  EXPECT_NE(MakeToken(), MakeToken());
}

TEST(IsLoopback, TellsThisMachineFromOthers) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("0.0.0.0"));
  EXPECT_FALSE(IsLoopback("10.0.0.1"));
}

}  // namespace
}  // namespace crema
