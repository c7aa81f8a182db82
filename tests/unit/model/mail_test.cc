#include "model/job/mail.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

std::string round_trip(std::string_view text) {
  const auto types = parse_mail_types(text);
  return types ? format_mail_types(*types) : "refused: " + types.error().message;
}

TEST(MailTypes, AreReadInAnyCaseAndPrintedInOneOrder) {
  struct Case {
    std::string_view text, written;
  };
  for (const Case& c : {
           Case{"BEGIN", "BEGIN"},
           Case{"end,Begin", "BEGIN,END"},
           Case{"fail,FAIL", "FAIL"},
           Case{"ALL", "BEGIN,END,FAIL,REQUEUE,INVALID_DEPEND"},
           Case{"all,array_tasks,time_limit",
                "BEGIN,END,FAIL,REQUEUE,INVALID_DEPEND,TIME_LIMIT,ARRAY_TASKS"},
           Case{"TIME_LIMIT_50,TIME_LIMIT_90,TIME_LIMIT_80",
                "TIME_LIMIT_90,TIME_LIMIT_80,TIME_LIMIT_50"},
           Case{"NONE", ""},
       }) {
    EXPECT_EQ(round_trip(c.text), c.written) << c.text;
    if (!c.written.empty()) {
      EXPECT_EQ(round_trip(c.written), c.written);
    }
  }
}

TEST(MailTypes, ErrorsNameTheItem) {
  const auto refused = [](std::string_view text, std::string_view why) {
    const auto types = parse_mail_types(text);
    return !types && types.error().message.find(why) != std::string::npos;
  };
  EXPECT_TRUE(refused("", "an empty item"));
  EXPECT_TRUE(refused("BEGIN,,END", "an empty item"));
  EXPECT_TRUE(refused("BEGIN,", "an empty item"));
  EXPECT_TRUE(refused("begin end", "unknown mail type \"begin end\""));
  EXPECT_TRUE(refused("SOMETIMES", "use NONE, BEGIN"));
  EXPECT_TRUE(refused("NONE,END", "NONE goes with no other"));
  EXPECT_TRUE(refused("stage_out", "no burst buffers"));
}

// Mail programs interpret some texts as a file, a folder, a command or an option: each of these is refused.
TEST(MailUser, OnlyPlainAddressesAreAccepted) {
  for (const char* good : {"alice", "alice@example.org", "a.b-c_d+tag@x-y.example", "_svc",
                           "alice,bob@example.org", "uid%1000@host"})
    EXPECT_TRUE(check_mail_user(good)) << good;
  for (const char* bad :
       {"",     "-s",    "--",    "|/bin/sh", "/etc/passwd", "+folder", "a/b",
        "a b",  "a\tb",  "a\n.b", "~root",    "a,",          ",a",      "a,|id",
        "a;id", "$(id)", "`id`",  "<a@b>",    "\"a\"@b",     "a\x7f",   "\xc3\xa4@b",
        "#1",   "&a",    "%",     "@host"})
    EXPECT_FALSE(check_mail_user(bad)) << bad;
  EXPECT_TRUE(check_mail_user(std::string(254, 'a')));
  EXPECT_FALSE(check_mail_user(std::string(255, 'a')));
}

TEST(MailUser, WebhooksAreNamedAmongAddresses) {
  for (const char* good : {"webhook:ops", "alice,webhook:ops-2.a_b", "webhook:a,webhook:b"})
    EXPECT_TRUE(check_mail_user(good)) << good;
  for (const char* bad : {"webhook:", "webhook:a b", "webhook:https://x", "webhook:a:b", "hook:a"})
    EXPECT_FALSE(check_mail_user(bad)) << bad;
  const Recipients all = recipients_of("alice,webhook:b,bob@x,webhook:a,alice,webhook:b");
  EXPECT_EQ(all.addresses, (std::vector<std::string>{"alice", "bob@x"}));
  EXPECT_EQ(all.webhooks, (std::vector<std::string>{"b", "a"}));
}

TEST(MailUser, DefaultIsTheUserOfTheJob) {
  JobSpec spec;
  spec.user = "alice";
  EXPECT_EQ(mail_address(spec), "alice");
  spec.mail_user = "team@example.org";
  EXPECT_EQ(mail_address(spec), "team@example.org");
}

TEST(MailTypes, SharesOfTheTimeLimitAreOrdered) {
  JobSpec spec;
  EXPECT_EQ(next_time_share(spec, 0), 0u);
  spec.mail_types = *parse_mail_types("TIME_LIMIT_90,TIME_LIMIT_50");
  EXPECT_EQ(next_time_share(spec, 0), 50u);
  EXPECT_EQ(next_time_share(spec, 50), 90u);
  EXPECT_EQ(next_time_share(spec, 90), 0u);
}

}  // namespace
}  // namespace ares
