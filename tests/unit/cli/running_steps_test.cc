// Tests: aqueue/steps, running_steps
#include "aqueue/steps.h"

#include <gtest/gtest.h>

namespace ares::aqueue {
namespace {

// Job 12 on two nodes with two steps, of which one has ended, and job 13.
api::RunningUse use() {
  api::RunningUse all;
  all.set_now(100'000'000);
  for (const auto& [job, node] : {std::pair{12, "n1"}, {12, "n2"}, {13, "n3"}}) {
    api::RunningUse::Line* line = all.add_lines();
    line->mutable_job()->set_job(static_cast<std::uint64_t>(job));
    line->set_user("ann");
    line->set_partition(job == 12 ? "main" : "gpu");
    line->set_node(node);
    line->set_started_at(40'000'000);
  }
  api::AccountingStep* ended = all.mutable_lines(0)->add_steps();
  ended->set_number(0);
  ended->set_ended(50'000'000);
  api::AccountingStep* runs = all.mutable_lines(0)->add_steps();
  runs->set_number(1);
  runs->set_name("solver");
  runs->set_started(95'000'000);
  runs->set_node_list("n[1-2]");
  return all;
}

std::vector<std::string> ids(const std::string& wanted) {
  const auto parsed =
      wanted.empty() ? Result<cli::JobOrStepIds>(cli::JobOrStepIds()) : cli::parse_step_ids(wanted);
  EXPECT_TRUE(parsed);
  std::vector<std::string> found;
  for (const cli::RunningStep& step : cli::running_steps(use(), *parsed)) found.push_back(step.id);
  return found;
}

TEST(RunningSteps, AreThoseThatRunWithTheBatchScriptFirst) {
  EXPECT_EQ(ids(""), (std::vector<std::string>{"12.batch", "12.1", "13.batch"}));
  EXPECT_EQ(ids("12"), (std::vector<std::string>{"12.batch", "12.1"}));
  EXPECT_EQ(ids("12.1,13.batch"), (std::vector<std::string>{"12.1", "13.batch"}));
  EXPECT_TRUE(ids("12.0").empty()) << "it has ended";
}

TEST(RunningSteps, AreListedInColumnsOfSlurm) {
  Query query;
  query.steps = true;
  EXPECT_EQ(list_steps(query, use()),
            "  STEPID   NAME PARTITION USER TIME NODELIST\n"
            "12.batch  batch      main  ann 1:00 n1\n"
            "    12.1 solver      main  ann 0:05 n[1-2]\n"
            "13.batch  batch       gpu  ann 1:00 n3\n");
  query.filter.add_partitions("gpu");
  query.listing.no_header = true;
  EXPECT_EQ(list_steps(query, use()), "13.batch batch gpu ann 1:00 n3\n");
}

TEST(RunningSteps, OptionsAboutJobsAreRefused) {
  Query query;
  query.steps = true;
  query.filter.add_users("ann");
  query.me = true;
  EXPECT_TRUE(check_for_steps(query));
  EXPECT_EQ(use_filter_of(query, 7).users_size(), 2);
  query.filter.add_states("RUNNING");
  EXPECT_FALSE(check_for_steps(query));
  query.filter.clear_states();
  query.listing.sort = "i";
  EXPECT_FALSE(check_for_steps(query));
}

TEST(RunningSteps, PagesAreReadToTheEnd) {
  int calls = 0;
  const auto all = cli::read_use(
      [&](const api::Request& request) -> Result<api::Response> {
        api::Response response;
        response.mutable_running_use()->add_lines()->set_node("n" + std::to_string(++calls));
        if (calls == 1) response.mutable_running_use()->mutable_next()->set_job(12);
        EXPECT_EQ(request.list_use().has_after(), calls == 2);
        return response;
      },
      {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->lines_size(), 2);
  EXPECT_FALSE(all->has_next());
}

}  // namespace
}  // namespace ares::aqueue
