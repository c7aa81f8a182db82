#include "aresctld/notify/mail_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

using core::Notice;
using core::NoticeKind;
using testing::HasSubstr;

constexpr Time kNow{std::chrono::hours(500'000)};

Notice ended(NoticeKind kind, JobState state, ExitStatus exit) {
  Notice n;
  n.kind = kind;
  n.key = {JobId{12}, {}};
  n.own_id = JobId{12};
  n.name = "train";
  n.user = "alice";
  n.nodes = "n[1-2]";
  n.work_dir = "/home/alice";
  n.state = state;
  n.exit = exit;
  n.submitted = kNow;
  n.started = kNow + Seconds{5};
  n.ended = kNow + Seconds{67};
  n.at = kNow + Seconds{70};
  return n;
}

TEST(MailText, SubjectSaysWhatHappened) {
  struct Case {
    Notice notice;
    std::string subject;
  };
  Notice began = ended(NoticeKind::began, JobState::running, {});
  began.ended.reset();
  Notice share = began;
  share.kind = NoticeKind::time_share;
  share.percent = 80;
  Notice array = ended(NoticeKind::failed, JobState::failed, {3, 0, false, false});
  array.tasks.emplace();
  array.tasks->insert(0, 9);
  Notice task = ended(NoticeKind::requeued, JobState::pending, {});
  task.key.task = TaskIndex{4};
  Notice never = ended(NoticeKind::ended, JobState::cancelled, {});
  never.started.reset();
  Notice stuck = ended(NoticeKind::invalid_dependency, JobState::pending, {});
  for (const Case& c : {
           Case{began, "Ares job 12 (train) began after waiting 00:00:05"},
           Case{ended(NoticeKind::ended, JobState::completed, {}),
                "Ares job 12 (train) ended: COMPLETED, exit code 0, run time 00:01:02"},
           Case{
               ended(NoticeKind::timed_out, JobState::timeout, {0, 15, false, true}),
               "Ares job 12 (train) reached its time limit: TIMEOUT, signal 15, run time 00:01:02"},
           Case{array, "Ares job 12_[0-9] (train) failed: FAILED, exit code 3, run time 00:01:02"},
           Case{task, "Ares job 12_4 (train) was put back into the queue, run time 00:01:02"},
           Case{never, "Ares job 12 (train) ended: CANCELLED, never started"},
           Case{stuck, "Ares job 12 (train) can never start: its dependency cannot be met"},
           Case{share, "Ares job 12 (train) has used 80 % of its time limit"},
       })
    EXPECT_EQ(mail_text(c.notice).subject, c.subject);
}

TEST(MailText, BodyListsWhatIsKnown) {
  Notice n = ended(NoticeKind::failed, JobState::failed, {3, 0, false, false});
  n.reason = Reason::non_zero_exit_code;
  n.time_limit = Seconds{3600};
  const std::string body = mail_text(n).body;
  for (const char* line :
       {"Job:         12\n", "Name:        train\n", "User:        alice\n",
        "State:       FAILED (NonZeroExitCode)\n", "Exit:        exit code 3\n",
        "Nodes:       n[1-2]\n", "Run time:    00:01:02\n", "Time limit:  01:00:00\n",
        "Directory:   /home/alice\n", "Submitted:   2027-"})
    EXPECT_THAT(body, HasSubstr(line));
}

// Old versions of mailutils execute commands that follow "~!" at the beginning of a line.
TEST(MailText, TextOfJobsNeverBeginsALine) {
  Notice n = ended(NoticeKind::ended, JobState::completed, {});
  n.name = "~!id\n~!id";
  n.cause = "n1: broken\r\n~!id";
  n.work_dir = "/tmp/\n~!id";
  const MailText mail = mail_text(n);
  EXPECT_EQ(mail.subject.find_first_of("\r\n"), std::string::npos);
  EXPECT_EQ(mail.body.find("\n~"), std::string::npos);
  EXPECT_NE(mail.body.front(), '~');
  EXPECT_EQ(mail.body.find('\r'), std::string::npos);
}

TEST(MailText, LongNameIsCutBetweenCharacters) {
  Notice n = ended(NoticeKind::ended, JobState::completed, {});
  n.name = std::string(79, 'a') + "\xc3\xa4" + std::string(900, 'b');
  EXPECT_THAT(mail_text(n).subject, HasSubstr("(" + std::string(79, 'a') + "...)"));
}

}  // namespace
}  // namespace ares::aresctld
