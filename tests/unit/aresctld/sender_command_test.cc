// Tests: webhook_body, check_recipients, specs_of
#include "aresctld/notify/sender_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "aresctld/notify/check_recipients.h"
#include "aresctld/notify/webhook_body.h"
#include "notify/message/message.h"

namespace ares::aresctld {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

const SenderSite kSite{"/usr/bin/ares-notify", "head.example.org", "demo-3-100"};

config::WebhookConfig hook(const std::string& name, std::vector<std::string> users = {}) {
  config::WebhookConfig h;
  h.name = name;
  h.url = "https://hooks/" + name;
  h.users = std::move(users);
  h.token_file = "/t";
  h.secret_file = "/s";
  return h;
}

Delivery delivery(const std::string& webhook = "") {
  Delivery d;
  d.webhook = webhook;
  d.number = 7;
  core::Notice& n = d.notice;
  n.kind = core::NoticeKind::failed;
  n.key = {JobId{12}, {}};
  n.own_id = JobId{12};
  n.name = "tr<ain> & `x`";
  n.user = "ann";
  n.address = "ann,team@example.org";
  n.at = n.submitted = Time{Seconds(1000)};
  n.started = Time{Seconds(1010)};
  n.ended = Time{Seconds(1020)};
  n.state = JobState::failed;
  n.exit.code = 3;
  n.nodes = "n[1-2]";
  return d;
}

TEST(SenderCommand, MailProgramGetsSubjectAddressAndText) {
  config::Config config;
  config.controller.mail_program = "/bin/m";
  const auto command = sender_command(delivery(), config, kSite);
  ASSERT_TRUE(command);
  EXPECT_FALSE(command->is_notify);
  EXPECT_EQ(command->words[0], "/bin/m");
  EXPECT_EQ(command->words[3], "ann,team@example.org");
  config.controller.mail_program.clear();
  EXPECT_TRUE(sender_command(delivery(), config, kSite)->words.empty());
}

TEST(SenderCommand, MailServerTakesThePlaceOfTheProgram) {
  config::Config config;
  config.notify.smtp.server = "smtp://mail";
  config.notify.smtp.tls = config::SmtpTls::none;
  config.notify.smtp.mail_domain = "site.org";
  const auto command = sender_command(delivery(), config, kSite);
  ASSERT_TRUE(command);
  EXPECT_THAT(command->words, ElementsAre("/usr/bin/ares-notify"));
  const auto message = notify::message_from_json(command->input);
  ASSERT_TRUE(message) << message.error().message;
  const auto& mail = std::get<notify::Mail>(*message);
  EXPECT_THAT(mail.to, ElementsAre("ann@site.org", "team@example.org"));
  EXPECT_EQ(mail.from, "ares@head.example.org");
  EXPECT_EQ(mail.id, "demo-3-100-7@head.example.org");
  EXPECT_EQ(mail.tls, notify::Tls::none);
  EXPECT_EQ(mail.date, 1000);
  EXPECT_THAT(mail.subject, HasSubstr("failed: FAILED, exit code 3"));
}

TEST(SenderCommand, WebhookGetsAllFactsAsJson) {
  config::Config config;
  config.policy.cluster_name = "demo";
  config.notify.webhooks = {hook("ops")};
  const auto command = sender_command(delivery("ops"), config, kSite);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->target, "webhook ops");
  const auto message = notify::message_from_json(command->input);
  ASSERT_TRUE(message);
  const auto& sent = std::get<notify::Webhook>(*message);
  EXPECT_EQ(sent.url, "https://hooks/ops");
  EXPECT_EQ(sent.delivery, "demo-3-100-7");
  EXPECT_EQ(sent.event, "FAIL");
  EXPECT_EQ(sent.secret_file, "/s");
  const Json body = Json::parse(sent.body);
  EXPECT_EQ(body["version"], 1);
  EXPECT_EQ(body["delivery"], "demo-3-100-7");
  EXPECT_EQ(body["cluster"], "demo");
  EXPECT_EQ(body["event"], "FAIL");
  EXPECT_EQ(body["time"], 1000);
  EXPECT_EQ(body["job"]["id"], 12);
  EXPECT_EQ(body["job"]["state"], "FAILED");
  EXPECT_EQ(body["job"]["exit_code"], 3);
  EXPECT_EQ(body["job"]["ended"], 1020);
  EXPECT_TRUE(body["job"]["array_job"].is_null());
  EXPECT_TRUE(body["job"]["time_limit"].is_null());
}

TEST(WebhookBody, TextsOfJobsAreNoMarkup) {
  const Json body =
      Json::parse(webhook_body(delivery().notice, config::WebhookFormat::slack, "demo", "1"));
  EXPECT_EQ(body.size(), 1u);
  const std::string text = body["text"];
  EXPECT_THAT(text, HasSubstr("tr&lt;ain&gt; &amp; 'x'"));
  EXPECT_EQ(text.find('<'), std::string::npos);
}

TEST(WebhookBody, EventsAreThoseOfMailType) {
  core::Notice n = delivery().notice;
  n.kind = core::NoticeKind::time_share;
  n.percent = 80;
  EXPECT_EQ(event_name(n), "TIME_LIMIT_80");
  n.kind = core::NoticeKind::invalid_dependency;
  EXPECT_EQ(event_name(n), "INVALID_DEPEND");
}

TEST(WebhookBody, TaskOfAnArray) {
  core::Notice n = delivery().notice;
  n.key = {JobId{12}, TaskIndex{4}};
  n.own_id = JobId{16};
  const Json job = Json::parse(webhook_body(n, config::WebhookFormat::json, "demo", "1"))["job"];
  EXPECT_EQ(job["id"], 16);
  EXPECT_EQ(job["array_job"], 12);
  EXPECT_EQ(job["array_task"], 4);
}

TEST(CheckWebhooks, UnknownOnesAndThoseOfOthersAreRefused) {
  config::NotifyConfig notify;
  notify.webhooks = {hook("ops", {"root"}), hook("team"), hook("lab", {"ann"})};
  const auto check = [&](const std::string& recipients) {
    JobSpec spec;
    spec.mail_user = recipients;
    Submit submit;
    submit.spec = std::make_shared<const JobSpec>(spec);
    const Status good = check_webhooks(submit, notify, "ann", ClusterState());
    return good ? std::string() : good.error().message;
  };
  EXPECT_EQ(check(""), "");
  EXPECT_EQ(check("ann@example.org"), "");
  EXPECT_EQ(check("webhook:team,webhook:lab,x@y"), "");
  EXPECT_EQ(check("webhook:tema"),
            "--mail-user: there is no webhook \"tema\" in ares.yaml; use one of team, lab");
  EXPECT_EQ(check("webhook:ops"), "--mail-user: user ann may not choose the webhook \"ops\"");
  notify.webhooks.clear();
  EXPECT_EQ(check("webhook:x"), "--mail-user: there is no webhook \"x\" in ares.yaml");
}

TEST(MailWarning, MailThatCannotBeSentIsSaidAtSubmission) {
  JobSpec spec;
  spec.user = "ann";
  spec.mail_types = 1;
  config::Config config;
  config.controller.mail_program = "/missing/mail";
  const auto warning = [&] {
    Submit submit;
    submit.spec = std::make_shared<const JobSpec>(spec);
    return mail_warning(submit, config);
  };
  EXPECT_EQ(warning(), "no mail will be sent: this site has no mail program /missing/mail");
  spec.mail_user = "webhook:ops";
  EXPECT_EQ(warning(), "") << "no mail is asked for";
  spec.mail_user = "webhook:ops,ann";
  EXPECT_NE(warning(), "");
  config.controller.mail_program.clear();
  EXPECT_EQ(warning(), "no mail will be sent: this site has no mail program");
  config.controller.mail_program = "/bin/sh";
  EXPECT_EQ(warning(), "");
  config.controller.mail_program = "/missing/mail";
  config.notify.smtp.server = "smtp://mail";
  EXPECT_EQ(warning(), "");
  config.notify.smtp.server.clear();
  spec.mail_types = 0;
  EXPECT_EQ(warning(), "");
}

}  // namespace
}  // namespace ares::aresctld
