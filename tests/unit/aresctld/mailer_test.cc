// Tests: mail_program
// The mailer with a script in place of the site's mail program.
#include "aresctld/mail/mailer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares::aresctld {
namespace {

using core::Notice;
using testing::HasSubstr;

class MailerTest : public testing::Test {
 protected:
  MailerTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("ares-mail-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~MailerTest() override { std::filesystem::remove_all(folder_); }

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
  static Mailer::Bounds bounds() {
    Mailer::Bounds b;
    b.stop_timeout = std::chrono::seconds(60);
    b.timeout = std::chrono::seconds(60);
    return b;
  }

  std::filesystem::path folder_;
};

TEST_F(MailerTest, ProgramGetsArgumentsAndTextOnly) {
  ::setenv("ARES_MAILER_TEST", "secret", 1);
  const std::string file = program("exec >> " + path("seen") +
                                   "\nfor word; do echo \"word $word\"; done\ncat\n"
                                   "env\n");
  Mailer mailer([&] { return file; }, bounds());
  mailer.start();
  mailer.post(about({7}));
  mailer.stop();
  const std::string seen = read("seen");
  EXPECT_THAT(seen, HasSubstr("word -s\nword Ares job 7 (a $(touch x) 'b' \"c\") ended: COMPLETED, "
                              "never started\nword alice\nJob:         7\n"));
  EXPECT_THAT(seen, HasSubstr("HOME=/\n"));
  EXPECT_EQ(seen.find("secret"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  ::unsetenv("ARES_MAILER_TEST");
}

TEST_F(MailerTest, FailureOfOneMailDoesNotAffectOthers) {
  const std::string file =
      program("cat > /dev/null; echo \"$2\" >> " + path("seen") +
              "\ncase \"$2\" in *\"job 2 \"*) exit 3;; *\"job 3 \"*) kill -9 $$;; esac\n");
  Mailer mailer([&] { return file; }, bounds());
  mailer.start();
  mailer.post(about({1, 2, 3}));
  mailer.post(about({4, 5}));
  mailer.stop();
  const std::string seen = read("seen");
  for (const char* job : {"job 1 ", "job 2 ", "job 3 ", "job 4 ", "job 5 "})
    EXPECT_THAT(seen, HasSubstr(job));
}

TEST_F(MailerTest, HangingProgramIsKilledWithItsChildren) {
  const std::string file =
      program("case \"$2\" in *\"job 1 \"*) echo $$ > " + path("pid") +
              "; sleep 1000 & wait;; esac\necho \"$2\" >> " + path("seen") + "\n");
  Mailer::Bounds b = bounds();
  b.programs = 1;
  b.timeout = std::chrono::milliseconds(1500);
  Mailer mailer([&] { return file; }, b);
  mailer.start();
  mailer.post(about({1, 2}));
  mailer.stop();
  EXPECT_THAT(read("seen"), HasSubstr("job 2 "));
  EXPECT_EQ(read("seen").find("job 1 "), std::string::npos);
  const pid_t pid = std::stoi(read("pid"));
  EXPECT_NE(::kill(pid, 0), 0) << "it is gone";
}

TEST_F(MailerTest, MailBeyondTheQueueIsDropped) {
  const std::string file = program("cat > /dev/null; echo \"$2\" >> " + path("seen") + "\n");
  Mailer::Bounds b = bounds();
  b.waiting = 2;
  Mailer mailer([&] { return file; }, b);
  mailer.post(about({1, 2, 3, 4}));  // not started yet
  mailer.start();
  mailer.stop();
  EXPECT_THAT(read("seen"), HasSubstr("job 1 "));
  EXPECT_THAT(read("seen"), HasSubstr("job 2 "));
  EXPECT_EQ(read("seen").find("job 3 "), std::string::npos);
}

TEST_F(MailerTest, MailOfOneUserNeitherDropsNorDelaysOthers) {
  const std::string file =
      program("cat > /dev/null; echo \"$2\" | cut -d' ' -f3 >> " + path("seen") + "\n");
  Mailer::Bounds b = bounds();
  b.programs = 1;
  b.waiting = 4;
  b.per_user = 3;
  Mailer mailer([&] { return file; }, b);
  mailer.post(about({1, 2, 3, 4}));  // not started yet
  std::vector<Notice> other = about({5});
  other[0].user = other[0].address = "bob";
  mailer.post(std::move(other));
  mailer.start();
  mailer.stop();
  std::istringstream seen(read("seen"));
  std::vector<std::string> jobs;
  for (std::string line; std::getline(seen, line);) jobs.push_back(line);
  EXPECT_THAT(jobs, testing::ElementsAre("1", "5", "2", "3"));
}

TEST_F(MailerTest, AddressLikeAnOptionIsNotPassedOn) {
  const std::string file = program("echo \"$3\" >> " + path("seen") + "\n");
  Mailer mailer([&] { return file; }, bounds());
  std::vector<Notice> notices = about({1, 2});
  notices[0].address = "-froot";
  mailer.start();
  mailer.post(std::move(notices));
  mailer.stop();
  EXPECT_EQ(read("seen"), "alice\n");
}

TEST_F(MailerTest, WithoutAProgramNothingHappens) {
  std::string file = path("missing");
  Mailer::Bounds b = bounds();
  b.programs = 1;
  Mailer mailer([&] { return file; }, b);
  mailer.start();
  mailer.post(about({1, 2}));
  mailer.stop();
  Mailer none([] { return std::string(); }, bounds());
  none.start();
  none.post(about({1}));
  none.stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace ares::aresctld
