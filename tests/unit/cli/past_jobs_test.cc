// Tests: jobs/past_jobs, describe_past
// Jobs that the controller has forgotten, as accounting has them.
#include "cli/jobs/past_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actl/describe.h"
#include "unit/cli/answers.h"

namespace ares {
namespace {

using answers::kNow;
using answers::kSecond;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

JobKey job(std::uint64_t id) {
  return {JobId(id), {}};
}

JobKey task(std::uint64_t id, std::uint32_t index) {
  return {JobId(id), TaskIndex{index}};
}

api::AccountingRow row(std::uint64_t id, const std::string& state) {
  api::AccountingRow out;
  out.mutable_key()->set_job(id);
  out.set_own_id(id);
  out.set_name("train");
  out.set_user("alice");
  out.set_uid(1000);
  out.set_partition("main");
  out.set_state(state);
  out.set_submitted(kNow - 100 * kSecond);
  out.set_started(kNow - 90 * kSecond);
  out.set_ended(kNow - 20 * kSecond);
  out.set_exit_code(3);
  out.set_node_list("n[1-2]");
  out.set_node_count(2);
  return out;
}

// Answers with one page after the other.
class Accounting {
 public:
  explicit Accounting(std::vector<api::AccountingRows> pages) : pages_(std::move(pages)) {}
  Result<api::Response> operator()(const api::Request& request) {
    asked.push_back(request.accounting());
    api::Response response;
    *response.mutable_accounting() = pages_.at(asked.size() - 1);
    return response;
  }
  std::vector<api::Accounting> asked;

 private:
  std::vector<api::AccountingRows> pages_;
};

Result<cli::PastJobs> read(Accounting& accounting, const std::vector<JobKey>& jobs) {
  return cli::read_past_jobs([&](const api::Request& r) { return accounting(r); }, jobs);
}

TEST(PastJobs, AllPagesAreReadAndIdsWithoutARowAreUnknown) {
  api::AccountingRows first, second;
  *first.add_rows() = row(7, "FAILED");
  first.mutable_rows(0)->set_superseded(true);
  *first.add_rows() = row(7, "COMPLETED");
  first.set_more(true);
  first.mutable_last()->set_job(7);
  *second.add_rows() = row(9, "FAILED");
  second.mutable_rows(0)->mutable_key()->set_task(4);
  second.mutable_rows(0)->set_own_id(14);
  *second.add_rows() = row(20, "CANCELLED");
  second.mutable_rows(1)->set_array_tasks("0-3%2");
  Accounting accounting({first, second});
  const auto past = read(accounting, {job(7), task(7, 1), task(9, 4), job(14), task(9, 5),
                                      task(20, 3), task(20, 4), job(8)});
  ASSERT_TRUE(past);
  ASSERT_EQ(past->rows.size(), 3u);
  EXPECT_EQ(past->rows[0].state(), "COMPLETED");
  EXPECT_THAT(past->unknown, ElementsAre(task(7, 1), task(9, 5), task(20, 4), job(8)));
  ASSERT_EQ(accounting.asked.size(), 2u);
  EXPECT_EQ(accounting.asked[1].after().job(), 7u);
}

TEST(PastJobs, AccountingIsNotAskedForNothing) {
  Accounting accounting({});
  EXPECT_TRUE(read(accounting, {}));
  EXPECT_TRUE(accounting.asked.empty());
}

TEST(ShowJob, APastJobHasOnlyWhatAccountingRecords) {
  api::AccountingRow one = row(7, "FAILED");
  one.set_work_dir("/home/alice");
  one.set_std_out("%x-%j-%N.log");
  const std::string text = actl::describe(one, Time{Duration{kNow}}, true);
  for (const char* part :
       {"JobId=7 JobName=train UserId=alice(1000)", "JobState=FAILED", "Source=accounting",
        "ExitCode=3:0", "RunTime=00:01:10", "NodeList=n[1-2] BatchHost=n1", "NumNodes=2",
        "StdOut=/home/alice/train-7-n1.log", "TimeLimit=UNLIMITED"})
    EXPECT_THAT(text, HasSubstr(part));
  for (const char* part : {"Dependency", "Requeue", "AccrueTime", "ArrayJobId"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
  one.set_time_limit(0);
  EXPECT_THAT(actl::describe(one, Time{Duration{kNow}}, true),
              HasSubstr("TimeLimit=Partition_Limit"));
}

}  // namespace
}  // namespace ares
