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

TEST(SecretFilter, LooksIntoShellStrings) {
  EXPECT_EQ(WithoutSecrets({"sh", "-c", "curl --token abc https://host/f", "curl -u me:abc https://host/f"}),
            (Arguments{"sh", "-c", "curl --token ***", "curl -u me:***"}));
  EXPECT_EQ(WithoutSecrets({"cd /data; xrdcp root://me:abc@host//f out", "TOKEN=abc ./run", "export A=1;PASSWORD=abc"}),
            (Arguments{"cd /data; xrdcp root://me:***", "TOKEN=***", "export A=1;PASSWORD=***"}));
  const Arguments harmless = {"cd /data; ./run --cut 'pt > 20' https://host/f?id=7", "a b"};
  EXPECT_EQ(WithoutSecrets(harmless), harmless);
}

TEST(SecretFilter, MasksWhatSignsAnAddress) {
  EXPECT_EQ(WithoutSecrets(
                {"https://h/f?id=7&X-Amz-Signature=abc&a=b", "https://h/f?Signature=abc", "https://h/f?sv=1&sig=a"}),
            (Arguments{"https://h/f?id=7&X-Amz-Signature=***", "https://h/f?Signature=***", "https://h/f?sv=***"}));
}

std::string Shown(std::string text) {
  text.resize(TakeSecretsOut(text.data(), text.size()));
  return text;
}

TEST(TakeSecretsOut, LeavesOtherTextAlone) {
  for (const char* text : {"", "/data/f.root", "f?token=abc", "://", "https://", "https://host", "root://h//f?.root",
                           "https://h/f?id=7&svc=disk#tree", "file:///a@b", "https://h/get?id=7", "a://b c://d"}) {
    EXPECT_EQ(Shown(text), text);
  }
}

TEST(TakeSecretsOut, TakesUsersPasswordsTokensAndSignatures) {
  EXPECT_EQ(Shown("root://me:pa55@eos.org//f.root?authz=Bearer%20abc"), "root://eos.org//f.root");
  EXPECT_EQ(Shown("root://me@eos.org//f.root"), "root://eos.org//f.root");
  EXPECT_EQ(Shown("https://s3.org:9000/b/f?X-Amz-Credential=A%2Fb&X-Amz-Date=1&versionId=7&X-Amz-Signature=d"),
            "https://s3.org:9000/b/f?versionId=7");
  EXPECT_EQ(Shown("https://a.org/f?sv=2&st=1&se=3&sr=b&sp=r&sig=abc%3D"), "https://a.org/f");
  EXPECT_EQ(Shown("https://a.org/f?sv=2&page=3"), "https://a.org/f?sv=2&page=3") << "not signed";
  EXPECT_EQ(Shown("https://g.org/f?GoogleAccessId=me&Expires=5&Signature=abc#x"), "https://g.org/f#x");
  EXPECT_EQ(Shown("https://h/f?token=abc&id=7"), "https://h/f?id=7");
}

TEST(TakeSecretsOut, KnowsOtherPlacesOfParametersAndTheNamesOfOtherStores) {
  EXPECT_EQ(Shown("https://h/f#access_token=abc&x=1"), "https://h/f#x=1");
  EXPECT_EQ(Shown("https://h/f;jsessionid=abc?id=7"), "https://h/f?id=7");
  EXPECT_EQ(Shown("root://h//f?id=7?authz=abc;svc=disk"), "root://h//f?id=7?svc=disk");
  EXPECT_EQ(Shown("https://h/f?id=7;token=abc"), "https://h/f?id=7");
  EXPECT_EQ(Shown("https://p/get?of=https://me:pw@h/f?token=abc"), "https://p/get?of=https://h/f");
  EXPECT_EQ(Shown("root://h//f?eos.app=x&cap.sym=abc&cap.msg=abc"), "root://h//f?eos.app=x");
  EXPECT_EQ(Shown("https://h/f?q-ak=abc&q-signature=abc&oss-signature=abc&id=7"), "https://h/f?id=7");
  EXPECT_EQ(Shown("https://h/f?sas=abc&hmac=abc&oauthToken=abc&uploadSecret=abc"), "https://h/f");
  EXPECT_EQ(Shown("https://h/f?key&signature#key"), "https://h/f?key&signature#key") << "names without a value";
}

std::string ShownError(std::string text) {
  text.resize(TakeSecretsOutOfText(text.data(), text.size()));
  return text;
}

TEST(TakeSecretsOutOfText, TakesValuesBehindNamesOfSecrets) {
  EXPECT_EQ(ShownError("403 for https://h/f?sig=abc (Authorization: Bearer a.b, password=abc; token=abc)"),
            "403 for https://h/f (Authorization: Bearer ***, password=***; token=***)");
  EXPECT_EQ(ShownError(R"({\"access_token\": \"abc\", 'Cookie': 'abc'} X-Api-Key: a)"),
            R"({\"access_token\": \"***\", 'Cookie': '***'} X-Api-Key: *)");
  EXPECT_EQ(ShownError("sent Basic bWU6cGE1NQ== and Bearer eyJhbGciOi.abc"), "sent Basic *** and Bearer ***");
}

TEST(TakeSecretsOutOfText, LeavesOtherErrorsAlone) {
  for (const char* text :
       {"KeyError: 'Muon_pt'", "ValueError: key='pt' is unknown", "unexpected token: }", "Bearer token expired",
        "Basic authentication failed: credentials: cache expired", "a == b", "=", ": ", "password", "password="}) {
    EXPECT_EQ(ShownError(text), text);
  }
}

TEST(TakeSecretsOut, ComparesWholeNamesOfParameters) {
  for (const char* name : {"token", "access_token", "accessToken", "eos-token", "api_key", "apikey", "X-Api-Key", "key",
                           "AWSAccessKeyId", "Key-Pair-Id", "secret", "client_secret", "password", "signature",
                           "x-amz-signature", "X-Amz-Credential", "sig", "authz", "Authorization"}) {
    EXPECT_EQ(Shown("https://h/f?id=7&" + std::string(name) + "=abc"), "https://h/f?id=7") << name;
  }
  for (const char* name :
       {"dataset_key", "keyword", "keys", "pass", "passes", "author", "authors", "tokenizer", "xrd.wantprot"}) {
    const std::string address = "root://h//f?" + std::string(name) + "=7";
    EXPECT_EQ(Shown(address), address);
  }
}

TEST(TakeSecretsOut, FindsAddressesInsideText) {
  EXPECT_EQ(Shown("OSError: 'https://me:pw@h/f?sig=abc' and (root://p//root://u:p@h//f?authz=x) failed: 403"),
            "OSError: 'https://h/f' and (root://p//root://h//f) failed: 403");
  EXPECT_EQ(Shown("cannot open root://h//f?authz=Bearer abc now"), "cannot open root://h//f now");
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
