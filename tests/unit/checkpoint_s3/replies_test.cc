// Tests: checkpoint/s3/xml
#include "checkpoint/s3/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/s3/xml.h"

namespace ares::checkpoint::s3 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> visited(std::string_view xml) {
  std::vector<std::string> seen;
  const Status read = read_xml(xml, [&](std::string_view path, const std::string& value) {
    seen.push_back(std::string(path) + "=" + value);
  });
  if (!read) return {"error"};
  return seen;
}

TEST(Xml, ElementsAreGivenWhenTheyEnd) {
  EXPECT_THAT(visited("<?xml version='1.0'?>\n<a xmlns=\"x\"><s3:b>1 &lt; 2</s3:b><c/></a>\n"),
              ElementsAre("a/b=1 < 2", "a/c=", "a="));
  EXPECT_THAT(visited("<a>&#65;&#x20ac;&amp;</a>"), ElementsAre("a=A\xe2\x82\xac&"));
}

TEST(Xml, WhatServersOfS3DoNotSendIsRefused) {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  for (const std::string& xml : std::initializer_list<std::string>{
           "", "text", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>x", "<a b=1/>", "<a b='1/>",
           "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<a>&x;</a>", "<a>&#0;</a>",
           "<a>&#xd800;</a>", "<a>&#99999999999;</a>", "<a><![CDATA[x]]></a>", "<a><!-- x --></a>",
           "<a><?x?></a>", "<?xml <a/>", deep})
    EXPECT_THAT(visited(xml), ElementsAre("error")) << xml;
}

TEST(Replies, PageOfAListHasKeysPrefixesAndTheNextToken) {
  const auto page = parse_listing(
      "<ListBucketResult><Contents><Key>a/b</Key><Size>1</Size></"
      "Contents><CommonPrefixes><Prefix>c/"
      "</Prefix></CommonPrefixes><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->keys, ElementsAre("a/b"));
  EXPECT_THAT(page->prefixes, ElementsAre("c/"));
  EXPECT_EQ(page->next, "t");
}

TEST(Replies, ListsThatCannotBeUsedAreRefused) {
  EXPECT_FALSE(parse_listing("<Other/>"));
  EXPECT_FALSE(
      parse_listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"));
  EXPECT_FALSE(parse_listing("<ListBucketResult><Contents><Key>" + std::string(2000, 'x') +
                             "</Key></Contents></ListBucketResult>"));
}

TEST(Replies, ErrorIsItsCodeAndAMessageFitForATerminal) {
  const auto error = parse_error(
      "<Error><Code>NoSuchKey</Code><Message>gone\x1b[2J</Message><StringToSign>x</StringToSign></"
      "Error>");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "NoSuchKey");
  EXPECT_EQ(error->message.find('\x1b'), std::string::npos);
  EXPECT_FALSE(parse_error("<Error><Code>\x1b[2J</Code></Error>"));
  EXPECT_FALSE(parse_error("<html/>"));
}

TEST(Replies, UploadIdAndTheListOfParts) {
  EXPECT_EQ(parse_upload_id("<InitiateMultipartUploadResult><UploadId>u 1</UploadId>"
                            "</InitiateMultipartUploadResult>"),
            "u 1");
  EXPECT_FALSE(parse_upload_id("<InitiateMultipartUploadResult/>"));
  EXPECT_EQ(
      complete_body({"\"a\"", "<"}),
      "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part>"
      "<Part><PartNumber>2</PartNumber><ETag>&lt;</ETag></Part></CompleteMultipartUpload>");
}

// Regression: whatever came with the status 200 counted as success.
TEST(Replies, OnlyTheResultOfAnUploadTellsOfSuccess) {
  EXPECT_TRUE(
      is_completed("<CompleteMultipartUploadResult xmlns=\"x\"><Key>a</Key>"
                   "</CompleteMultipartUploadResult>"));
  EXPECT_FALSE(is_completed(""));
  EXPECT_FALSE(is_completed("<CompleteMultipartUploadResult><Key>a</Key>")) << "it is cut off";
  EXPECT_FALSE(is_completed("<!-- --><Error><Code>InternalError</Code></Error>"));
  EXPECT_FALSE(is_completed("<html><body>try later</body></html>"));
}

}  // namespace
}  // namespace ares::checkpoint::s3
