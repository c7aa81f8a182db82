// Tests: config/notify_fields, config/submit_hook_fields, config/shown_webhooks
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/print.h"
#include "config/read.h"
#include "config/shown_webhooks.h"

namespace ares::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Config> read(const std::string& notify) {
  return read_config(
      "cluster: c\nnodes: [{name: n1, cpus: 1, memory: 1G}]\n"
      "partitions: [{name: main, nodes: ALL}]\nnotify:\n" +
          notify,
      "ares.yaml", [](const std::string&) { return UserId{0}; },
      [](const std::string&) -> Result<std::string> { return std::string(); });
}

std::string refusal(const std::string& notify) {
  const auto config = read("  " + notify + "\n");
  return config ? "accepted" : config.error().message;
}

constexpr const char* kWhole =
    "  smtp: {server: \"smtp://mail:587\", tls: if_offered, from: ares@site.org, user: ares,\n"
    "    password_file: /etc/p, ca_file: /etc/ca, mail_domain: site.org}\n"
    "  webhooks:\n"
    "    - {name: ops, url: \"https://hooks/x?y=1\", format: slack, users: [ann], token_file: /t,\n"
    "       secret_file: /s, ca_file: /c, proxy: \"http://proxy:3128\"}\n"
    "    - {name: team, url: \"http://10.0.0.1:80/\"}\n"
    "  retry_after: 5\n"
    "  give_up_after: 2:00:00\n";

TEST(NotifySection, AllKeysAreReadAndPrinted) {
  const auto config = read(kWhole);
  ASSERT_TRUE(config) << config.error().message;
  const SmtpConfig& smtp = config->notify.smtp;
  EXPECT_EQ(smtp.server, "smtp://mail:587");
  EXPECT_EQ(smtp.tls, SmtpTls::if_offered);
  EXPECT_EQ(smtp.password_file, "/etc/p");
  EXPECT_EQ(smtp.mail_domain, "site.org");
  ASSERT_EQ(config->notify.webhooks.size(), 2u);
  const WebhookConfig& ops = config->notify.webhooks[0];
  EXPECT_EQ(ops.format, WebhookFormat::slack);
  EXPECT_THAT(ops.users, ElementsAre("ann"));
  EXPECT_EQ(ops.proxy, "http://proxy:3128");
  EXPECT_TRUE(config->notify.webhooks[1].users.empty());
  EXPECT_EQ(config->notify.retry_after, Seconds(5));
  EXPECT_EQ(config->notify.give_up_after, Seconds(7200));
  const auto again = read_config(
      to_yaml(*config), "ares.yaml", [](const std::string&) { return UserId{0}; },
      [](const std::string&) -> Result<std::string> { return std::string(); });
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_yaml(*again), to_yaml(*config));
}

TEST(NotifySection, IsNoPartOfWhatNodesMustAgreeOn) {
  EXPECT_EQ(hash(*read(kWhole)), hash(*read("  retry_after: 7\n")));
}

TEST(NotifySection, WrongValuesAreRefused) {
  EXPECT_THAT(refusal("smtp: {server: mail}"),
              HasSubstr("does not begin with smtp:// or smtps://"));
  EXPECT_THAT(refusal("smtp: {server: \"smtp://mail/x\"}"), HasSubstr("has a path"));
  EXPECT_THAT(refusal("smtp: {server: \"smtp://u:secret@mail\"}"),
              testing::AllOf(HasSubstr("file of its own"), testing::Not(HasSubstr("secret@"))));
  EXPECT_THAT(refusal("smtp: {server: \"smtp://\"}"), HasSubstr("has no host"));
  EXPECT_THAT(refusal("smtp: {from: \"a@b>\\r\\nRCPT TO:<c@d\"}"),
              HasSubstr("not a plain address"));
  EXPECT_THAT(refusal("smtp: {tls: maybe}"), HasSubstr("tls"));
  EXPECT_THAT(refusal("webhooks: [{name: a, url: \"file:///etc/passwd\"}]"),
              HasSubstr("does not begin with https:// or http://"));
  EXPECT_THAT(refusal("webhooks: [{name: a, url: \"https://h/a b\"}]"), HasSubstr("cannot have"));
  EXPECT_THAT(refusal("webhooks: [{name: \"a b\", url: \"https://h\"}]"), HasSubstr("name"));
  EXPECT_THAT(refusal("webhooks: [{name: a}]"), HasSubstr("\"url\" is missing"));
  EXPECT_THAT(refusal("webhooks: [{name: a, url: \"\"}]"), HasSubstr("empty url"));
  EXPECT_THAT(refusal("webhooks: [{name: a, url: \"https://h\"}, {name: a, url: \"https://h\"}]"),
              HasSubstr("a second time"));
  EXPECT_THAT(refusal("webhooks: [{name: a, url: \"http://h\", token_file: /t}]"),
              HasSubstr("without encryption"));
  EXPECT_THAT(refusal("retry_after: 0"), HasSubstr("not from 1 s"));
  EXPECT_THAT(refusal("give_up_after: 31-0"), HasSubstr("30 days"));
  EXPECT_EQ(refusal("give_up_after: 0"), "accepted");
}

TEST(NotifySection, UrlsAreShownToOperatorsOnly) {
  const auto config = read(kWhole);
  ASSERT_TRUE(config) << config.error().message;
  const NotifyConfig shown = without_urls(config->notify);
  EXPECT_THAT(shown.webhooks[0].url, testing::StartsWith("https://hooks/..."));
  EXPECT_THAT(shown.webhooks[0].url, testing::Not(HasSubstr("y=1")));
  EXPECT_EQ(shown.webhooks[1].url, "http://10.0.0.1:80/") << "there is nothing to hide";
  EXPECT_EQ(visible_to(config->notify, "ann").webhooks.size(), 2u);
  EXPECT_EQ(visible_to(config->notify, "bob").webhooks.size(), 1u);
  NotifyConfig other = config->notify;
  other.webhooks[0].url += "2";
  EXPECT_NE(without_urls(other).webhooks[0].url, shown.webhooks[0].url) << "a change is seen";
}

TEST(NotifySection, UserAndPasswordGoTogether) {
  EXPECT_THAT(refusal("smtp: {server: \"smtp://m\", user: ares}"), HasSubstr("go together"));
}

TEST(SubmitHookSection, LimitsAreBounded) {
  const auto config =
      read("  retry_after: 5\nsubmit_hook: {file: /x.lua, time_limit: 100, memory_limit: 8M}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->submit_hook.file, "/x.lua");
  EXPECT_EQ(config->submit_hook.time_limit, std::chrono::milliseconds(100));
  EXPECT_EQ(config->submit_hook.memory_limit, Bytes::mib(8));
  const auto wrong = [](const std::string& key) {
    const auto read_one = read("  retry_after: 5\nsubmit_hook: {" + key + "}\n");
    return read_one ? "accepted" : read_one.error().message;
  };
  EXPECT_THAT(wrong("file: rules.lua"), HasSubstr("not an absolute path"));
  EXPECT_THAT(wrong("time_limit: 0"), HasSubstr("not from 10 ms to 60 s"));
  EXPECT_THAT(wrong("memory_limit: 100G"), HasSubstr("not from 1M to 4G"));
}

}  // namespace
}  // namespace ares::config
