#include "notify/send/mail_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::notify {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Mail mail(std::string subject, std::string body) {
  Mail m;
  m.from = "ares@example.org";
  m.to = {"a@example.org", "b@example.org"};
  m.id = "1@head";
  m.date = 784111777;
  m.subject = std::move(subject);
  m.body = std::move(body);
  return m;
}

TEST(MailText, PlainMailIsSentAsItIs) {
  EXPECT_EQ(internet_message(mail("Ares job 1", "Job: 1\nName: x\n")),
            "Date: Sun, 06 Nov 1994 08:49:37 +0000\r\n"
            "From: Ares <ares@example.org>\r\n"
            "To: a@example.org,\r\n b@example.org\r\n"
            "Message-ID: <1@head>\r\n"
            "Subject: Ares job 1\r\n"
            "Auto-Submitted: auto-generated\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=us-ascii\r\n"
            "Content-Transfer-Encoding: 7bit\r\n"
            "\r\n"
            "Job: 1\r\nName: x\r\n");
}

TEST(MailText, OtherTextIsEncoded) {
  const std::string text = internet_message(mail("Größe", "Straße\n"));
  EXPECT_THAT(text, HasSubstr("Subject: =?utf-8?B?R3LDtsOfZQ==?=\r\n"));
  EXPECT_THAT(text, HasSubstr("charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
                              "U3RyYcOfZQ0K\r\n"));
  const std::string long_line = internet_message(mail("x", std::string(999, 'a') + "\n"));
  EXPECT_THAT(long_line, HasSubstr("base64"));
}

TEST(MailText, NoTextEndsAHeader) {
  const std::string text =
      internet_message(mail("a\r\nBcc: evil@example.org\r\n\r\nbody", "x\n.\nQUIT\n"));
  EXPECT_THAT(text, HasSubstr("Subject: a??Bcc: evil@example.org????body\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nBcc:")));
}

TEST(MailText, LongSubjectsAreFoldedBetweenCharacters) {
  std::string subject;
  for (int i = 0; i < 60; ++i) subject += "ö";
  const std::string header = encoded_header(subject);
  std::string decoded;
  std::size_t from = 0;
  while (from < header.size()) {
    const std::size_t end = std::min(header.find("\r\n ", from), header.size());
    const std::string word = header.substr(from, end - from);
    EXPECT_LE(word.size(), 75u);
    EXPECT_THAT(word, StartsWith("=?utf-8?B?w7")) << "each word begins with a whole character";
    from = end + 3;
  }
  EXPECT_THAT(header, HasSubstr("\r\n "));
}

TEST(MailText, Base64OfRfc4648) {
  EXPECT_EQ(base64_lines("f"), "Zg==\r\n");
  EXPECT_EQ(base64_lines("fo"), "Zm8=\r\n");
  EXPECT_EQ(base64_lines("foobar"), "Zm9vYmFy\r\n");
  EXPECT_EQ(base64_lines(std::string(58, 'a')).find("\r\n"), 76u);
}

TEST(MailText, Dates) {
  EXPECT_EQ(mail_date(0), "Thu, 01 Jan 1970 00:00:00 +0000");
  EXPECT_EQ(mail_date(1709251199), "Thu, 29 Feb 2024 23:59:59 +0000");
}

}  // namespace
}  // namespace ares::notify
