// Mail notices: which events of a job's life make one, to which address; they leave after their commit.
#include "unit/core/engine_fixture.h"

#include "model/job/mail.h"

namespace ares::core {
namespace {

JobSpec told(std::string_view types, UserId uid = kAlice) {
  JobSpec s = Cluster::spec(uid);
  s.mail_types = *parse_mail_types(types);
  return s;
}

JobSpec array_told(std::string_view types, std::uint32_t last) {
  JobSpec s = told(types);
  s.array.emplace();
  s.array->insert(0, last);
  return s;
}

// "began 7", "failed 7_1", "time_share 80 7": in the order in which they were sent.
std::string text_of(const Notice& n) {
  constexpr const char* kKinds[] = {
      "began", "ended", "failed", "timed_out", "requeued", "invalid_dependency", "time_share"};
  std::string out = kKinds[static_cast<std::size_t>(n.kind)];
  if (n.percent > 0) out += " " + std::to_string(n.percent);
  out += " " + std::to_string(n.key.job.value());
  if (!n.key.task.is_none()) out += "_" + std::to_string(n.key.task.value);
  if (n.tasks) out += "_[" + format_interval_set(*n.tasks) + "]";
  return out;
}

std::vector<std::string> told_of(Cluster& c) {
  std::vector<std::string> out;
  for (const Notice& n : c.told) out.push_back(text_of(n));
  c.told.clear();
  return out;
}

using Texts = std::vector<std::string>;

std::string about(const char* what, JobKey key) {
  return std::string(what) + " " + std::to_string(key.job.value()) +
         (key.task.is_none() ? "" : "_" + std::to_string(key.task.value));
}

void end(Cluster& c, int node, JobKey key, ExitStatus exit = {}) {
  AttemptReport r = c.report(key, AttemptPhase::done);
  r.exit = exit;
  c.from_node(node, Progress{r});
}

TEST(Notices, BeginAndEndMakeAMailEachIfRequested) {
  Cluster c;
  const JobKey key = c.submit(told("BEGIN,END")), silent = c.submit();
  c.now += Seconds{10};
  c.start(key, {1});
  c.start(silent, {2});
  c.now += Seconds{5};
  end(c, 1, key);
  end(c, 2, silent);
  ASSERT_EQ(c.told.size(), 2u);
  const Notice &began = c.told[0], &ended = c.told[1];
  EXPECT_EQ(text_of(began), about("began", key));
  EXPECT_EQ(began.address, "alice");
  EXPECT_EQ(began.nodes, "n1");
  EXPECT_EQ(*began.started - began.submitted, Seconds{10});
  EXPECT_EQ(text_of(ended), about("ended", key));
  EXPECT_EQ(ended.state, JobState::completed);
  EXPECT_EQ(*ended.ended - *ended.started, Seconds{5});
  EXPECT_EQ(ended.time_limit, Seconds{3600});
}

TEST(Notices, EndMakesOneMailOfTheMostSpecificKind) {
  struct Case {
    const char *types, *kind;
    ExitStatus exit;
  };
  const ExitStatus good, bad{3, 0, false, false}, late{0, 15, false, true};
  for (const Case& x : {
           Case{"FAIL", "", good},
           Case{"FAIL", "failed", bad},
           Case{"END", "ended", bad},
           Case{"END,FAIL", "failed", bad},
           Case{"END,FAIL", "ended", good},
           Case{"FAIL", "failed", late},
           Case{"TIME_LIMIT", "timed_out", late},
           Case{"TIME_LIMIT", "", bad},
           Case{"END,FAIL,TIME_LIMIT", "timed_out", late},
           Case{"END", "ended", late},
           Case{"BEGIN,REQUEUE,INVALID_DEPEND", "", bad},
       }) {
    SCOPED_TRACE(std::string(x.types) + " " + x.kind);
    Cluster c;
    const JobKey key = c.submit(told(x.types));
    c.start(key, {1});
    c.told.clear();
    end(c, 1, key, x.exit);
    EXPECT_EQ(told_of(c), *x.kind ? Texts{about(x.kind, key)} : Texts{});
  }
}

TEST(Notices, CancelledJobEndsButDoesNotFail) {
  Cluster c;
  const JobKey waiting = c.submit(told("END,FAIL")), failing = c.submit(told("FAIL"));
  c.cancel(waiting);
  c.cancel(failing);
  ASSERT_EQ(c.told.size(), 1u);
  EXPECT_EQ(c.told[0].state, JobState::cancelled);
  EXPECT_EQ(text_of(c.told[0]), about("ended", waiting));
  EXPECT_FALSE(c.told[0].started);
}

TEST(Notices, RequeueIsReportedOnlyForStartedJobs) {
  Cluster c;
  const JobKey key = c.submit(told("ALL"));
  c.allocate(key, {1});
  c.progress(1, key, AttemptPhase::never_ran);
  ASSERT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(told_of(c), Texts{}) << "it is tried again without a word";
  c.now += Seconds{3600};
  c.start(key, {2});
  RequeueJobs again;
  again.jobs = Cluster::named(key);
  c.user(kAlice, again);
  end(c, 2, key, {0, 15, false, false});
  ASSERT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(told_of(c), (Texts{about("began", key), about("requeued", key)}));
}

TEST(Notices, UnsatisfiableDependencyIsReported) {
  Cluster c;
  const JobKey first = c.submit();
  JobSpec after = told("INVALID_DEPEND");
  after.dependencies = {{DependencyKind::after_ok, first, {}}};
  const JobKey waits = c.submit(after);
  after.kill_on_invalid_dependency = true;
  after.mail_types = *parse_mail_types("ALL");
  const JobKey killed = c.submit(after);
  c.cancel(first);
  ASSERT_EQ(c.job(waits).state, JobState::pending);
  Texts texts = told_of(c);
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, (Texts{about("ended", killed), about("invalid_dependency", waits),
                          about("invalid_dependency", killed)}));
}

TEST(Notices, ArrayIsReportedAsAWhole) {
  Cluster c;
  const JobKey array = c.submit(array_told("ALL", 2));
  const std::string all = "_[0-2]";
  c.start(task(array, 1), {1});
  EXPECT_EQ(told_of(c), Texts{about("began", array) + all});
  c.start(task(array, 0), {2});
  c.start(task(array, 2), {3});
  end(c, 1, task(array, 1));
  end(c, 2, task(array, 0), {4, 0, false, false});
  EXPECT_EQ(told_of(c), Texts{});
  end(c, 3, task(array, 2));
  ASSERT_EQ(c.told.size(), 1u);
  EXPECT_EQ(c.told[0].exit.code, 4);
  EXPECT_EQ(c.told[0].completed, 2u);
  EXPECT_EQ(c.told[0].unsuccessful, 1u);
  EXPECT_EQ(told_of(c), Texts{about("failed", array) + all});
}

TEST(Notices, CancelledArrayDoesNotFail) {
  Cluster c;
  const JobKey array = c.submit(array_told("FAIL,END", 1)), never = c.submit(array_told("FAIL", 1));
  c.start(task(array, 0), {1});
  end(c, 1, task(array, 0));
  c.cancel(task(array, 1));
  EXPECT_EQ(told_of(c), Texts{about("ended", array) + "_[0-1]"});
  c.cancel(never);
  EXPECT_EQ(told_of(c), Texts{});
}

TEST(Notices, WithArrayTasksEachTaskIsReported) {
  Cluster c;
  const JobKey array = c.submit(array_told("ALL,ARRAY_TASKS", 3));
  c.start(task(array, 0), {1});
  end(c, 1, task(array, 0));
  c.start(task(array, 1), {1});
  end(c, 1, task(array, 1), {1, 0, false, false});
  EXPECT_EQ(told_of(c), (Texts{about("began", task(array, 0)), about("ended", task(array, 0)),
                               about("began", task(array, 1)), about("failed", task(array, 1))}));
  c.cancel(array);
  EXPECT_EQ(told_of(c), Texts{about("ended", array) + "_[2-3]"}) << "those that never ran, in one";
}

TEST(Notices, EachShareOfTheTimeLimitIsReportedOncePerAttempt) {
  Cluster c;
  const JobKey key = c.submit(told("TIME_LIMIT_50,TIME_LIMIT_80,TIME_LIMIT_90"));
  c.start(key, {1});  // time limit: one hour
  c.tick(Seconds{1799});
  EXPECT_EQ(told_of(c), Texts{});
  c.tick(Seconds{1});
  EXPECT_EQ(told_of(c), Texts{about("time_share 50", key)});
  c.tick(Seconds{1});
  EXPECT_EQ(told_of(c), Texts{});
  c.tick(Seconds{1500});
  EXPECT_EQ(told_of(c), Texts{about("time_share 90", key)}) << "only the largest, if several";
  c.tick(Seconds{1});
  EXPECT_EQ(c.happened<TimeNoticed>(), 2u);

  RequeueJobs again;
  again.jobs = Cluster::named(key);
  c.user(kAlice, again);
  end(c, 1, key);
  c.now += Seconds{60};
  c.start(key, {1});
  c.tick(Seconds{1800});
  EXPECT_EQ(told_of(c), Texts{about("time_share 50", key)}) << "another attempt";
}

TEST(Notices, GoToTheAddressOfTheJob) {
  Cluster c;
  JobSpec s = told("END");
  s.mail_user = "team@example.org";
  const JobKey key = c.submit(s);
  c.cancel(key);
  ASSERT_EQ(c.told.size(), 1u);
  EXPECT_EQ(c.told[0].address, "team@example.org");
}

}  // namespace
}  // namespace ares::core
