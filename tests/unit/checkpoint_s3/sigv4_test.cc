#include "checkpoint/s3/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::checkpoint::s3 {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// Cases of the Signature Version 4 test suite, by their names there.
struct Case {
  const char* name;
  Request request;
  const char* signature;
};

TEST(SigV4, CasesOfTheTestSuiteOfAws) {
  const Headers headers{{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}};
  const Credentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  const Case cases[] = {
      {"get-vanilla",
       {"GET", "/", {}, headers},
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case",
       {"GET", "/", {{"Param2", "value2"}, {"Param1", "value1"}}, headers},
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-utf8",
       {"GET", "/\xe1\x88\xb4", {}, headers},
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"post-vanilla",
       {"POST", "/", {}, headers},
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(authorization(one.request, kSha256OfNothing, "20150830T123600Z",
                            {"us-east-1", "service"}, credentials),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
              "SignedHeaders=host;x-amz-date, Signature=" +
                  std::string(one.signature))
        << one.name;
}

// The examples of "Signature Calculations for the Authorization Header" in the S3 API reference.
class S3Examples : public testing::Test {
 protected:
  static std::string signature(const std::string& method, const std::string& path, Parameters query,
                               Headers more, const std::string& payload = kSha256OfNothing) {
    more.insert({{"host", "examplebucket.s3.amazonaws.com"},
                 {"x-amz-date", "20130524T000000Z"},
                 {"x-amz-content-sha256", payload}});
    const std::string value = authorization(
        {method, path, std::move(query), std::move(more)}, payload, "20130524T000000Z",
        {"us-east-1"}, {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""});
    return value.substr(value.rfind('=') + 1);
  }
};

TEST_F(S3Examples, GetObject) {
  EXPECT_EQ(signature("GET", "/test.txt", {}, {{"range", "bytes=0-9"}}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_F(S3Examples, PutObject) {
  EXPECT_EQ(signature("PUT", "/test$file.text", {},
                      {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                       {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                      "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_F(S3Examples, GetBucketLifecycle) {
  EXPECT_EQ(signature("GET", "/", {{"lifecycle", ""}}, {}),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST_F(S3Examples, ListObjects) {
  EXPECT_EQ(signature("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SigV4, PathsKeepTheirSlashesAndQueriesDoNot) {
  EXPECT_EQ(uri_encode("/a b/c+~$", true), "/a%20b/c%2B~%24");
  EXPECT_EQ(canonical_query({{"prefix", "a/b"}, {"list-type", "2"}}), "list-type=2&prefix=a%2Fb");
}

TEST(SigV4, BlanksOfAValueAreOneBlank) {
  const Request request{"GET", "/", {}, {{"host", "h"}, {"my-header", "  a   b "}}};
  EXPECT_THAT(canonical_request(request, kSha256OfNothing), HasSubstr("\nmy-header:a b\n"));
}

TEST(SigV4, SecretIsNotInTheHeader) {
  const std::string value = authorization({"GET", "/", {}, {{"host", "h"}}}, kSha256OfNothing,
                                          "20130524T000000Z", {"r"}, {"id", "hidden", ""});
  EXPECT_EQ(value.find("hidden"), std::string::npos);
}

TEST(SigV4, DateIsUtc) {
  EXPECT_EQ(amz_date(Time(Seconds(1369353600))), "20130524T000000Z");
}

}  // namespace
}  // namespace ares::checkpoint::s3
