// Tests: aqueue/past
// Jobs that the controller has forgotten, as aqueue filters and lists them.
#include "aqueue/past.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/jobs/past_jobs.h"

namespace ares::aqueue {
namespace {

using testing::HasSubstr;

api::Job past_job() {
  api::AccountingRow row;
  row.mutable_key()->set_job(7);
  row.set_name("train");
  row.set_user("alice");
  row.set_uid(1000);
  row.set_partition("main");
  row.set_state("FAILED");
  row.set_node_list("n[1-2]");
  return cli::job_of(row);
}

TEST(PastRows, TheFilterOfAqueueIsThatOfTheController) {
  const api::Job one = past_job();
  const std::function<void(api::ListJobs&)> passing[] = {
      [](api::ListJobs&) {},
      [](api::ListJobs& f) { f.add_states("FAILED"); },
      [](api::ListJobs& f) { f.add_users("1000"); },
      [](api::ListJobs& f) { f.add_users("alice"); },
      [](api::ListJobs& f) { f.add_partitions("main"); },
      [](api::ListJobs& f) { f.add_names("train"); },
      [](api::ListJobs& f) { f.add_nodes("n2"); }};
  const std::function<void(api::ListJobs&)> refusing[] = {
      [](api::ListJobs& f) { f.add_states("RUNNING"); },
      [](api::ListJobs& f) { f.add_users("bob"); },
      [](api::ListJobs& f) { f.add_not_users("1000"); },
      [](api::ListJobs& f) { f.add_partitions("other"); },
      [](api::ListJobs& f) { f.add_names("trai"); },
      [](api::ListJobs& f) { f.add_accounts("a"); },
      [](api::ListJobs& f) { f.add_qos("q"); },
      [](api::ListJobs& f) { f.add_wckeys("w"); },
      [](api::ListJobs& f) { f.add_nodes("n3"); },
      [](api::ListJobs& f) { f.set_running_over(1); },
      [](api::ListJobs& f) { f.add_licenses("l"); }};
  for (const auto& set : passing) {
    api::ListJobs filter;
    set(filter);
    EXPECT_TRUE(passes(one, filter)) << filter.ShortDebugString();
  }
  for (const auto& set : refusing) {
    api::ListJobs filter;
    set(filter);
    EXPECT_FALSE(passes(one, filter)) << filter.ShortDebugString();
  }
}

TEST(PastRows, JobsThatTheControllerHasAreListedWithoutAccounting) {
  api::ListJobs filter;
  filter.add_jobs()->set_job(7);
  filter.add_jobs()->set_job(8);
  api::Jobs page;
  page.add_missing()->set_job(7);
  Query query;
  const auto report = make_report(query, 0);
  ASSERT_TRUE(report);
  std::string notes;
  const Status added = add_past_jobs(
      [](const api::Request&) -> Result<api::Response> {
        return fail(ErrorCode::unavailable, "the database is down");
      },
      filter, page, true, **report, notes);
  EXPECT_TRUE(added);
  EXPECT_THAT(notes, HasSubstr("the database is down"));
  EXPECT_THAT(notes, HasSubstr("Invalid job id specified: 7"));
}

}  // namespace
}  // namespace ares::aqueue
