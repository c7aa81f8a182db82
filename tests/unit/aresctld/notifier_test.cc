// Tests: sender_process
// The notifier with scripts in place of the site's mail program and of ares-notify.
#include "aresctld/notify/notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace ares::aresctld {
namespace {

using core::Notice;
using testing::HasSubstr;

class NotifierTest : public testing::Test {
 protected:
  NotifierTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("ares-mail-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~NotifierTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string program(const std::string& commands) const {
    const std::string file = path("mail");
    std::ofstream(file) << "#!/bin/sh\n" << commands;
    ::chmod(file.c_str(), 0755);
    return file;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static std::vector<Notice> about(std::vector<std::uint64_t> jobs) {
    std::vector<Notice> all;
    for (const std::uint64_t job : jobs) {
      Notice n;
      n.kind = core::NoticeKind::ended;
      n.key = {JobId{job}, {}};
      n.own_id = JobId{job};
      n.name = "a $(touch x) 'b' \"c\"";
      n.user = n.address = "alice";
      n.state = JobState::completed;
      all.push_back(std::move(n));
    }
    return all;
  }
  // Long enough for a busy machine: stop() waits for the programs, and they are fast here.
  static Notifier::Bounds bounds() {
    Notifier::Bounds b;
    b.stop_timeout = std::chrono::seconds(60);
    b.timeout = std::chrono::seconds(60);
    return b;
  }

  using GetConfig = std::function<std::shared_ptr<const config::Config>()>;
  static GetConfig with(config::Config config) {
    return [shared = std::make_shared<const config::Config>(std::move(config))] { return shared; };
  }
  static GetConfig mail_by(const std::string& program) {
    config::Config config;
    config.controller.mail_program = program;
    return with(std::move(config));
  }
  static GetConfig webhooks(std::vector<std::string> names, Seconds give_up_after = Seconds(600)) {
    config::Config config;
    for (std::string& name : names) {
      config::WebhookConfig hook;
      hook.name = std::move(name);
      hook.url = "https://hooks.example.org/" + hook.name;
      config.notify.webhooks.push_back(std::move(hook));
    }
    config.notify.retry_after = Seconds(1);
    config.notify.give_up_after = give_up_after;
    return with(std::move(config));
  }
  // `notify`: commands that take the place of ares-notify.
  SenderSite site(const std::string& notify = "") const {
    if (notify.empty()) return {path("no-notify"), "head", "c-1"};
    const std::string file = path("notify");
    std::ofstream(file) << "#!/bin/sh\n" << notify;
    ::chmod(file.c_str(), 0755);
    return {file, "head", "c-1"};
  }

  std::filesystem::path folder_;
};

TEST_F(NotifierTest, ProgramGetsArgumentsAndTextOnly) {
  ::setenv("ARES_NOTIFIER_TEST", "secret", 1);
  const std::string file = program("exec >> " + path("seen") +
                                   "\nfor word; do echo \"word $word\"; done\ncat\n"
                                   "env\n");
  Notifier notifier(mail_by(file), site(), bounds());
  notifier.start();
  notifier.post(about({7}));
  notifier.stop();
  const std::string seen = read("seen");
  EXPECT_THAT(seen, HasSubstr("word -s\nword Ares job 7 (a $(touch x) 'b' \"c\") ended: COMPLETED, "
                              "never started\nword alice\nJob:         7\n"));
  EXPECT_THAT(seen, HasSubstr("HOME=/\n"));
  EXPECT_EQ(seen.find("secret"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  ::unsetenv("ARES_NOTIFIER_TEST");
}

TEST_F(NotifierTest, FailureOfOneMailDoesNotAffectOthers) {
  const std::string file =
      program("cat > /dev/null; echo \"$2\" >> " + path("seen") +
              "\ncase \"$2\" in *\"job 2 \"*) exit 3;; *\"job 3 \"*) kill -9 $$;; esac\n");
  Notifier notifier(mail_by(file), site(), bounds());
  notifier.start();
  notifier.post(about({1, 2, 3}));
  notifier.post(about({4, 5}));
  notifier.stop();
  const std::string seen = read("seen");
  for (const char* job : {"job 1 ", "job 2 ", "job 3 ", "job 4 ", "job 5 "})
    EXPECT_THAT(seen, HasSubstr(job));
}

TEST_F(NotifierTest, HangingProgramIsKilledWithItsChildren) {
  const std::string file =
      program("case \"$2\" in *\"job 1 \"*) echo $$ > " + path("pid") +
              "; sleep 1000 & wait;; esac\necho \"$2\" >> " + path("seen") + "\n");
  Notifier::Bounds b = bounds();
  b.queue.sent_at_once = 1;
  b.timeout = std::chrono::milliseconds(1500);
  Notifier notifier(mail_by(file), site(), b);
  notifier.start();
  notifier.post(about({1, 2}));
  notifier.stop();
  EXPECT_THAT(read("seen"), HasSubstr("job 2 "));
  EXPECT_EQ(read("seen").find("job 1 "), std::string::npos);
  const pid_t pid = std::stoi(read("pid"));
  EXPECT_NE(::kill(pid, 0), 0) << "it is gone";
}

TEST_F(NotifierTest, MailBeyondTheQueueIsDropped) {
  const std::string file = program("cat > /dev/null; echo \"$2\" >> " + path("seen") + "\n");
  Notifier::Bounds b = bounds();
  b.queue.waiting = 2;
  Notifier notifier(mail_by(file), site(), b);
  notifier.post(about({1, 2, 3, 4}));  // not started yet
  notifier.start();
  notifier.stop();
  EXPECT_THAT(read("seen"), HasSubstr("job 1 "));
  EXPECT_THAT(read("seen"), HasSubstr("job 2 "));
  EXPECT_EQ(read("seen").find("job 3 "), std::string::npos);
}

TEST_F(NotifierTest, MailOfOneUserNeitherDropsNorDelaysOthers) {
  const std::string file =
      program("cat > /dev/null; echo \"$2\" | cut -d' ' -f3 >> " + path("seen") + "\n");
  Notifier::Bounds b = bounds();
  b.queue.sent_at_once = 1;
  b.queue.waiting = 4;
  b.queue.of_user = 3;
  Notifier notifier(mail_by(file), site(), b);
  notifier.post(about({1, 2, 3, 4}));  // not started yet
  std::vector<Notice> other = about({5});
  other[0].user = other[0].address = "bob";
  notifier.post(std::move(other));
  notifier.start();
  notifier.stop();
  std::istringstream seen(read("seen"));
  std::vector<std::string> jobs;
  for (std::string line; std::getline(seen, line);) jobs.push_back(line);
  EXPECT_THAT(jobs, testing::ElementsAre("1", "5", "2", "3"));
}

TEST_F(NotifierTest, AddressLikeAnOptionIsNotPassedOn) {
  const std::string file = program("echo \"$3\" >> " + path("seen") + "\n");
  Notifier notifier(mail_by(file), site(), bounds());
  std::vector<Notice> notices = about({1, 2});
  notices[0].address = "-froot";
  notifier.start();
  notifier.post(std::move(notices));
  notifier.stop();
  EXPECT_EQ(read("seen"), "alice\n");
}

constexpr const char* kDelivered =
    R"(echo '{"outcome": "delivered", "of_server": false, "wait": 0, "text": ""}'
)";

TEST_F(NotifierTest, EachRecipientOfAListGetsItsMessage) {
  const SenderSite own =
      site("cat >> " + path("seen") + "; echo >> " + path("seen") + "\n" + kDelivered);
  config::Config config = *webhooks({"ops", "team"})();
  config.controller.mail_program = program("echo \"mail $3\" >> " + path("mail-seen") + "\n");
  Notifier notifier(with(config), own, bounds());
  std::vector<Notice> notices = about({9});
  notices[0].address = "a@x,webhook:ops,b@x,webhook:team,webhook:ops";
  notifier.start();
  notifier.post(std::move(notices));
  notifier.stop();
  EXPECT_EQ(read("mail-seen"), "mail a@x,b@x\n");
  const std::string seen = read("seen");
  EXPECT_THAT(seen, HasSubstr("https://hooks.example.org/ops"));
  EXPECT_THAT(seen, HasSubstr("https://hooks.example.org/team"));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), '\n'), 2) << "each once: " << seen;
}

TEST_F(NotifierTest, MessageThatIsNotTakenIsSentAgain) {
  const SenderSite own = site(
      "cat >> " + path("seen") + "; echo >> " + path("seen") + "\nif mkdir " + path("first") +
      R"( 2>/dev/null; then echo '{"outcome": "later", "of_server": true, "wait": 0, "text": "busy"}'; else touch )" +
      path("done") + "; " + kDelivered + "fi\n");
  Notifier notifier(webhooks({"ops"}), own, bounds());
  std::vector<Notice> notices = about({9});
  notices[0].address = "webhook:ops";
  notifier.start();
  notifier.post(std::move(notices));
  while (!std::filesystem::exists(path("done")))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  notifier.stop();
  std::istringstream seen(read("seen"));
  std::string first, second;
  std::getline(seen, first);
  std::getline(seen, second);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, second) << "both have the same delivery";
}

TEST_F(NotifierTest, ProgramWithoutAnAnswerIsStartedAgain) {
  const SenderSite own =
      site("if mkdir " + path("first") + " 2>/dev/null; then kill -9 $$; fi\ntouch " +
           path("done") + "\n" + kDelivered);
  Notifier notifier(webhooks({"ops"}), own, bounds());
  std::vector<Notice> notices = about({9});
  notices[0].address = "webhook:ops";
  notifier.start();
  notifier.post(std::move(notices));
  while (!std::filesystem::exists(path("done")))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  notifier.stop();
}

TEST_F(NotifierTest, StopDoesNotWaitForWhatIsPaused) {
  const SenderSite own = site("touch " + path("tried") +
                              R"(
echo '{"outcome": "later", "of_server": true, "wait": 3600, "text": "busy"}')");
  Notifier notifier(webhooks({"ops"}, Seconds(86400)), own, bounds());
  std::vector<Notice> notices = about({9, 10});
  for (Notice& notice : notices) notice.address = "webhook:ops";
  notifier.start();
  notifier.post(std::move(notices));
  while (!std::filesystem::exists(path("tried")))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  notifier.stop();  // returns; bounds().stop_timeout is a minute
}

TEST_F(NotifierTest, WithoutAProgramNothingHappens) {
  std::string file = path("missing");
  Notifier::Bounds b = bounds();
  b.queue.sent_at_once = 1;
  Notifier notifier(mail_by(file), site(), b);
  notifier.start();
  notifier.post(about({1, 2}));
  notifier.stop();
  Notifier none(mail_by(""), site(), bounds());
  none.start();
  none.post(about({1}));
  none.stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace ares::aresctld
