// What aqueue, acancel, aacct, ainfo and actl make of the controller's answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "aacct/query.h"
#include "acancel/selection.h"
#include "actl/command.h"
#include "actl/describe.h"
#include "ainfo/query.h"
#include "aqueue/query.h"
#include "config/reference.h"

namespace ares {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kNow = 1'900'000'000 * kSecond;

// Times are printed in the zone of the process.
class Listing : public testing::Test {
 protected:
  Listing() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

api::Job job(std::uint64_t id, const std::string& state, const std::string& name = "wrap") {
  api::Job out;
  out.mutable_key()->set_job(id);
  out.set_own_id(id);
  out.set_name(name);
  out.set_user("alice");
  out.set_partition("main");
  out.set_state(state);
  out.set_node_count(1);
  out.set_cpus(1);
  out.set_reason("None");
  return out;
}

Status parse(const cli::OptionTable& table, const std::vector<std::string>& words) {
  const auto parsed = cli::parse_options(table, words);
  if (!parsed) return fail(parsed.error());
  return cli::apply_options(parsed->given);
}

std::string queue(const api::Jobs& jobs, const std::vector<std::string>& words = {}) {
  aqueue::Query query;
  const cli::OptionTable table = aqueue::options(query);
  if (Status parsed = parse(table, words); !parsed) return parsed.error().message;
  const auto text = aqueue::print(query, jobs);
  return text ? *text : text.error().message;
}

api::Jobs some_jobs() {
  api::Jobs jobs;
  jobs.set_now(kNow);
  api::Job running = job(7, "RUNNING");
  running.set_started(kNow - 3723 * kSecond);
  running.set_node_list("n[1-2]");
  running.set_node_count(2);
  running.set_time_limit(7200);
  api::Job pending = job(123456789012345678, "PENDING", "a-long-name");
  pending.set_reason("Resources");
  pending.set_priority(5);
  api::Job array = job(12, "PENDING");
  array.set_reason("JobArrayTaskLimit");
  array.set_array_tasks("3-9");
  array.set_array_throttle(2);
  array.set_priority(9);
  *jobs.add_jobs() = running;
  *jobs.add_jobs() = pending;
  *jobs.add_jobs() = array;
  return jobs;
}

TEST_F(Listing, QueueHasSlurmsColumnsAndNeverCutsAnId) {
  EXPECT_EQ(
      queue(some_jobs()),
      "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
      "        12_[3-9%2]      main     wrap    alice PD       0:00      1 (JobArrayTaskLimit)\n"
      "123456789012345678      main a-long-n    alice PD       0:00      1 (Resources)\n"
      "                 7      main     wrap    alice  R    1:02:03      2 n[1-2]\n");
}

TEST_F(Listing, QueueFormatsForScripts) {
  EXPECT_EQ(queue(some_jobs(), {"-h", "-o", "%i|%t|%r|%L", "-S", "-i"}),
            "123456789012345678|PD|Resources|UNLIMITED\n12_[3-9%2]|PD|JobArrayTaskLimit|"
            "UNLIMITED\n7|R|None|57:57\n");
}

TEST_F(Listing, QueueRefusesWhatItDoesNotKnow) {
  EXPECT_EQ(queue({}, {"-o", "%y"}), "format: %y is not supported yet");
  EXPECT_THAT(queue({}, {"-S", "R"}), StartsWith("cannot sort by \"R\""));
  EXPECT_THAT(queue({}, {"-t", "SLEEPING"}), HasSubstr("Invalid job state specified: SLEEPING"));
  EXPECT_THAT(queue({}, {"-j", "x"}), HasSubstr("invalid job id"));
  EXPECT_THAT(queue({}, {"-i", "5"}), HasSubstr("not supported yet"));
}

TEST_F(Listing, AJobsNameCannotSteerTheTerminal) {
  api::Jobs jobs;
  *jobs.add_jobs() = job(1, "PENDING", "a\033[2J");
  EXPECT_THAT(queue(jobs, {"-o", "%j"}), Not(HasSubstr("\033")));
}

std::vector<api::Cancel> cancel(const std::vector<std::string>& words,
                                std::string* refused = nullptr) {
  acancel::Selection selection;
  const cli::OptionTable table = acancel::options(selection);
  const auto parsed = cli::parse_options(table, words);
  Status status = parsed ? cli::apply_options(parsed->given) : fail(parsed.error());
  if (status) {
    selection.ids = parsed->operands;
    const auto made = acancel::requests(selection);
    if (made) return *made;
    status = fail(made.error());
  }
  if (refused) *refused = status.error().message;
  return {};
}

TEST(Cancel, IdsAndFiltersNarrowOneAnother) {
  const auto made = cancel({"-n", "x", "12", "13_[1-2]"});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].jobs().jobs_size(), 3);
  EXPECT_EQ(made[0].jobs().name(), "x");
  EXPECT_EQ(made[0].signal(), 0);
  EXPECT_EQ(cancel({"-w", "n[1-2]"}).size(), 2u) << "a request for each node";
}

TEST(Cancel, SignalsByNameAndNumber) {
  EXPECT_EQ(cancel({"-s", "USR1", "1"})[0].signal(), 10);
  EXPECT_EQ(cancel({"-s", "sigkill", "1"})[0].signal(), 9);
  EXPECT_EQ(cancel({"-s", "12", "1"})[0].signal(), 12);
  const auto batch = cancel({"-b", "1"});
  EXPECT_EQ(batch[0].signal(), 15);
  EXPECT_TRUE(batch[0].batch_only());
}

TEST(Cancel, NothingSelectedIsAMistake) {
  std::string refused;
  EXPECT_TRUE(cancel({}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("No job identification provided"));
  EXPECT_TRUE(cancel({"-s", "FOO", "1"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("unknown signal \"FOO\""));
  EXPECT_TRUE(cancel({"-t", "COMPLETED"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("Invalid job state specified: COMPLETED"));
}

api::AccountingRow row(std::uint64_t id) {
  api::AccountingRow out;
  out.mutable_key()->set_job(id);
  out.set_own_id(id);
  out.set_name("wrap");
  out.set_partition("main");
  out.set_account("physics");
  out.set_cpus(4);
  out.set_state("COMPLETED");
  out.set_node_list("n[1-2]");
  out.set_started(kNow - 90061 * kSecond);
  out.set_ended(kNow);
  out.set_user_cpu(1'500'000);
  out.set_max_rss(3 << 20);
  return out;
}

std::string accounting(const std::vector<api::AccountingRow>& rows,
                       const std::vector<std::string>& words = {}) {
  aacct::Query query;
  const cli::OptionTable table = aacct::options(query, Time(Duration(kNow)));
  if (Status parsed = parse(table, words); !parsed) return parsed.error().message;
  const auto chosen = aacct::parse_fields(query.format);
  if (!chosen) return chosen.error().message;
  return aacct::print(query, *chosen, aacct::select(query, rows, Time(Duration(kNow))));
}

TEST_F(Listing, AccountingHasSlurmsDefaultFields) {
  api::AccountingRow cancelled = row(123456789012345);
  cancelled.set_state("CANCELLED");
  cancelled.set_cancelled_by(1001);
  cancelled.set_exit_signal(15);
  EXPECT_EQ(accounting({row(7), cancelled}),
            "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode\n"
            "------------ ---------- ---------- ---------- ---------- ---------- --------\n"
            "7                  wrap       main    physics          4  COMPLETED      0:0\n"
            "123456789012345       wrap       main    physics          4 CANCELLED+     0:15\n");
}

TEST_F(Listing, AccountingForScripts) {
  EXPECT_EQ(accounting({row(7)}, {"-nPo", "jobid,elapsed,end,totalcpu,maxrss,Start"}),
            "7|1-01:01:01|2030-03-17T17:46:40|00:01.500|3M|2030-03-16T16:45:39\n");
  EXPECT_EQ(accounting({row(7)}, {"-p", "-b", "--delimiter=;"}),
            "JobID;State;ExitCode;\n7;COMPLETED;0:0;\n");
  EXPECT_EQ(accounting({row(7)}, {"-n", "-o", "State%-12,JobID%3"}), "COMPLETED      7\n");
  EXPECT_EQ(accounting({row(7)}, {"-n", "-N", "n3"}), "");
  EXPECT_THAT(accounting({row(7)}, {"-n", "-N", "n[2-3]"}), StartsWith("7 "));
  EXPECT_EQ(accounting({}, {"-o", "Stat"}), "unknown field \"Stat\"; did you mean \"State\"?");
}

TEST_F(Listing, AccountingLooksAtMyOwnJobsOfTodayUnlessTold) {
  const Time now{Duration(kNow)};
  aacct::Query mine;
  ASSERT_TRUE(aacct::complete(mine, now, 1001));
  EXPECT_EQ(mine.filter.users(0), "1001");
  EXPECT_EQ(mine.filter.start(),
            std::chrono::floor<std::chrono::days>(now).time_since_epoch() / Duration(1));
  aacct::Query named;
  named.filter.add_jobs()->set_job(7);
  ASSERT_TRUE(aacct::complete(named, now, 1001));
  EXPECT_EQ(named.filter.users_size(), 0);
  EXPECT_EQ(named.filter.start(), 0);
}

struct Cluster {
  api::Partitions partitions;
  api::Nodes nodes;
};

Cluster cluster() {
  Cluster c;
  api::Partition* main = c.partitions.add_partitions();
  main->set_name("main");
  main->set_is_default(true);
  main->set_up(true);
  api::Partition* gpu = c.partitions.add_partitions();
  gpu->set_name("gpu");
  gpu->set_max_time(3600);
  const char* states[] = {"IDLE", "MIXED", "IDLE", "DRAINED", "DOWN*"};
  for (int i = 0; i < 5; ++i) {
    api::Node* node = c.nodes.add_nodes();
    node->set_name("n" + std::to_string(i == 4 ? 10 : i + 1));
    node->set_state(states[i]);
    node->set_cpus(4);
    node->set_cpus_allocated(i == 1 ? 3 : 0);
    node->set_memory(4000LL << 20);
    node->add_partitions("main");
    if (i < 2) node->add_partitions("gpu");
  }
  c.nodes.mutable_nodes(3)->set_reason("fan");
  return c;
}

std::string info(const std::vector<std::string>& words = {}) {
  const Cluster c = cluster();
  ainfo::Query query;
  const cli::OptionTable table = ainfo::options(query);
  if (Status parsed = parse(table, words); !parsed) return parsed.error().message;
  const auto text = ainfo::print(query, c.partitions, c.nodes);
  return text ? *text : text.error().message;
}

TEST(Info, NodesThatLookAlikeShareALine) {
  EXPECT_EQ(info(),
            "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
            "main*        up   infinite      1    mix n2\n"
            "main*        up   infinite      2   idle n[1,3]\n"
            "main*        up   infinite      1  drain n4\n"
            "main*        up   infinite      1  down* n10\n"
            "gpu        down    1:00:00      1    mix n2\n"
            "gpu        down    1:00:00      1   idle n1\n");
}

TEST(Info, SummaryReasonsAndFilters) {
  EXPECT_THAT(info({"-s"}), HasSubstr("main*        up   infinite          1/2/2/5 n[1-4,10]\n"));
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%R %D %N"}), "main 2 n[1,3]\ngpu 1 n1\n");
  EXPECT_EQ(info({"-h", "-d", "-o", "%N"}), "n10\n");
  EXPECT_EQ(info({"-h", "-R", "-o", "%E %N"}), "fan n4\n");
  EXPECT_EQ(info({"-h", "-o", "%C"}), "3/9/8/20\n3/5/0/8\n");
  EXPECT_EQ(info({"-t", "sleepy"}), "--states: Invalid node state specified: sleepy");
}

TEST_F(Listing, ShowJobTellsWhereTheOutputIs) {
  api::Job one = job(12, "RUNNING", "sim");
  one.mutable_spec()->set_work_dir("/home/alice");
  one.mutable_spec()->set_std_out("%x-%8j.log");
  const std::string text = actl::describe(one, Time(Duration(kNow)), false);
  EXPECT_THAT(text, StartsWith("JobId=12 JobName=sim\n   UserId=alice(0)"));
  EXPECT_THAT(text, HasSubstr("\n   StdOut=/home/alice/sim-00000012.log\n"));
  EXPECT_THAT(actl::describe(one, Time(Duration(kNow)), true), Not(HasSubstr("\n ")));
}

TEST(Control, UnknownAndUnbuiltCommandsAreNamed) {
  const auto refusal = [](const actl::Words& words) {
    actl::Context context;
    const auto done = actl::dispatch(context, words);
    return done ? std::string("done") : done.error().message;
  };
  EXPECT_EQ(refusal({"shwo", "job"}), "unknown command \"shwo\"; did you mean \"show\"?");
  EXPECT_EQ(refusal({"suspend", "1"}), "suspend is not supported yet");
  EXPECT_EQ(refusal({"show", "licenses"}), "show licenses is not supported yet");
  EXPECT_EQ(refusal({"drain", "n1"}), "say why: reason=TEXT");
  EXPECT_EQ(refusal({"update", "jobid=1"}), "nothing to change; give priority= or timelimit=");
  EXPECT_EQ(refusal({"update", "jobid=1", "features=x"}),
            "updating features of a job is not supported yet; priority and timelimit are");
  EXPECT_EQ(refusal({"update", "nodename=n1", "state=reboot"}),
            "the node state \"reboot\" is not supported yet; use drain, resume or down");
  EXPECT_EQ(refusal({"hold"}), "name the jobs by their ids");
}

TEST(Reference, EveryKeyOfTheConfigurationIsDescribedWithItsDefault) {
  const std::string page = config::reference_page();
  EXPECT_THAT(page, HasSubstr(".B kill_wait\n(duration) "));
  EXPECT_THAT(page, HasSubstr("Default: 30.\n"));
  EXPECT_THAT(page, HasSubstr(".SH PARTITIONS\n"));
}

}  // namespace
}  // namespace ares
