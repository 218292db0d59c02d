#include <gtest/gtest.h>
#include <unistd.h>

#include "collector/server/live_service.h"

namespace crema {
namespace {

TEST(IsOwnHost, TakesLoopbackTheAddressThatWasReachedAndNamesOfThisMachine) {
  const std::vector<std::string> names = OwnHostNames({"Node17.Cluster.example"});
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "10.1.2.3", "10.1.2.3:80",
                           "node17.cluster.example:9464"}) {
    EXPECT_TRUE(IsOwnHost(host, "10.1.2.3", names)) << host;
  }
  EXPECT_TRUE(IsOwnHost("10.1.2.3", "::ffff:10.1.2.3", names)) << "a socket for both kinds of addresses";
  EXPECT_TRUE(IsOwnHost("[2001:db8::7]:80", "2001:db8:0::7", names));
  char own[256] = "";
  ASSERT_EQ(gethostname(own, sizeof(own) - 1), 0);
  EXPECT_TRUE(IsOwnHost(std::string(own) + ":80", "127.0.0.1", names));
}

TEST(IsOwnHost, RefusesNamesThatOthersMayHavePointedHere) {
  const std::vector<std::string> names = OwnHostNames({"node17"});
  char own[256] = "";
  ASSERT_EQ(gethostname(own, sizeof(own) - 1), 0);
  for (const std::string& host :
       {std::string(), std::string("evil.example.org"), std::string("localhost.evil.example.org"),
        std::string("localhost."), std::string("127.0.0.1.evil.example.org"), std::string("[::1"),
        std::string("node17.evil.example.org"), std::string(own) + ".evil.example.org", std::string("10.9.9.9"),
        std::string("localhost:80@evil.example.org"), std::string("localhost:evil"), std::string("evil@localhost"),
        std::string(" localhost"), std::string("[::1]x"), std::string("localhost,evil"), std::string("2130706433")}) {
    EXPECT_FALSE(IsOwnHost(host, "10.1.2.3", names)) << host;
  }
}

TEST(HasToken, TakesItFromEachPlaceAndNowhereElse) {
  const HttpTarget none = ParseTarget("/");
  const std::string cookie = TokenCookie("abc");
  EXPECT_TRUE(HasToken("", none, "", ""));
  EXPECT_FALSE(HasToken("abc", none, "", ""));
  EXPECT_TRUE(HasToken("abc", none, "Bearer abc", ""));
  EXPECT_TRUE(HasToken("abc", none, "bearer abc", ""));
  EXPECT_TRUE(HasToken("abc", ParseTarget("/?token=abc"), "", ""));
  EXPECT_TRUE(HasToken("abc", ParseTarget("/?t%6Fken=%61bc"), "", ""));
  EXPECT_TRUE(HasToken("abc", none, "", "other=1; " + cookie + "=abc"));
  EXPECT_TRUE(HasToken("abc", none, "", cookie + "=of-another-port; " + cookie + "=abc"));
  EXPECT_FALSE(HasToken("abc", ParseTarget("/?token=abcabc"), "Bearer ab", cookie + "=abd; token=abc"));
  EXPECT_FALSE(HasToken("abc", none, "Basic abc", ""));
  EXPECT_FALSE(HasToken("abc", none, "Bearer ", cookie + "="));
}

TEST(TokenCookie, HasANameOfItsOwnForEachToken) {
  EXPECT_EQ(TokenCookie("abc"), TokenCookie("abc")) << "a server that was started again";
  EXPECT_NE(TokenCookie(MakeToken()), TokenCookie(MakeToken()));
}

TEST(CanBeToken, TakesWhatMeansItselfInAddressesHeadersAndCookies) {
  EXPECT_TRUE(CanBeToken(MakeToken()));
  EXPECT_TRUE(CanBeToken("a-Z.0_9~"));
  for (const char* text : {"", "short", "with space", "with;semicolon", "line\r\nbreak", "per%cent12", "ampers&nd"}) {
    EXPECT_FALSE(CanBeToken(text)) << text;
  }
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

}  // namespace
}  // namespace crema
