// Tests: past_targets
// Dependencies on jobs that only accounting knows.
#include "aresctld/past_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time kNow{Duration(1'900'000'000'000'000)};

JobKey key(std::uint64_t job) {
  return {JobId(job), {}};
}

// Job 7 is known. Of the others accounting has rows.
class PastTargets : public testing::Test {
 protected:
  PastTargets() {
    auto state = std::make_shared<ClusterState>();
    Job job;
    job.key = key(7);
    job.own_id = JobId(7);
    job.spec = std::make_shared<const JobSpec>();
    state->jobs.set(job.key, std::make_shared<const Job>(job));
    view.state = state;
    view.pending = std::make_shared<const PendingInfos>();
  }

  static UserBody submit(std::vector<Dependency> on, bool any = false) {
    auto spec = std::make_shared<JobSpec>();
    spec->dependencies = std::move(on);
    spec->any_dependency = any;
    return Submit{spec, {}};
  }
  static std::vector<JobKey> left(const UserBody& body) {
    std::vector<JobKey> keys;
    for (const Dependency& d : std::get<Submit>(body).spec->dependencies) keys.push_back(d.target);
    return keys;
  }
  void row(std::uint64_t job, const std::string& state, bool superseded = false) {
    api::AccountingRow& added = rows[job].emplace_back();
    added.mutable_key()->set_job(job);
    added.set_state(state);
    added.set_superseded(superseded);
  }
  // With one row for each page.
  Result<api::AccountingRows> read(const api::Accounting& query) {
    if (is_down) return fail(ErrorCode::unavailable, "no database");
    const auto& of = rows[query.jobs(0).job()];
    const std::uint32_t at = query.has_after() ? query.after().task() : 0;
    api::AccountingRows page;
    if (at < of.size()) *page.add_rows() = of[at];
    page.set_more(at + 1 < of.size());
    page.mutable_last()->set_task(at + 1);
    return page;
  }
  std::string answer(UserBody& body) {
    return answer_from_past(body, past_targets(body, view, policy, kNow),
                            [this](const api::Accounting& query) { return read(query); });
  }

  View view;
  Policy policy;
  std::map<std::uint64_t, std::vector<api::AccountingRow>> rows;
  bool is_down = false;
};

TEST_F(PastTargets, AreThoseWhoseResultCountsAndThatAreNotKnown) {
  const UserBody body = submit({{DependencyKind::after_ok, key(7)},
                                {DependencyKind::after_ok, key(5)},
                                {DependencyKind::after_not_ok, key(4)},
                                {DependencyKind::after_ok, key(4)},
                                {DependencyKind::after_any, key(3)},
                                {DependencyKind::singleton, {}}});
  EXPECT_THAT(past_targets(body, view, policy, kNow), ElementsAre(key(4), key(5)));
  EXPECT_THAT(past_targets(UserBody{HoldJobs{}}, view, policy, kNow), IsEmpty());
}

TEST_F(PastTargets, WhatIsMetIsRemoved) {
  row(5, "NODE_FAIL", true);  // it ran again
  row(5, "COMPLETED");
  row(4, "TIMEOUT");
  UserBody body = submit({{DependencyKind::after_ok, key(5)},
                          {DependencyKind::after_not_ok, key(4)},
                          {DependencyKind::after_ok, key(7)}});
  EXPECT_EQ(answer(body), "job 4 ended TIMEOUT, job 5 ended COMPLETED");
  EXPECT_THAT(left(body), ElementsAre(key(7)));
}

TEST_F(PastTargets, WhatIsNotMetStaysForTheEngineToRefuse) {
  row(5, "COMPLETED");
  row(4, "FAILED");
  UserBody body =
      submit({{DependencyKind::after_not_ok, key(5)}, {DependencyKind::after_ok, key(4)}});
  EXPECT_EQ(answer(body), "job 4 ended FAILED, job 5 ended COMPLETED");
  EXPECT_THAT(left(body), ElementsAre(key(5), key(4)));
}

TEST_F(PastTargets, OfAnArrayAllTasksCount) {
  for (const char* state : {"COMPLETED", "CANCELLED", "COMPLETED"}) row(5, state);
  UserBody body = submit({{DependencyKind::after_ok, key(5)}});
  EXPECT_EQ(answer(body), "job 5 ended CANCELLED");
  EXPECT_THAT(left(body), ElementsAre(key(5)));
}

TEST_F(PastTargets, OneOfSeveralIsEnoughIfAnyIs) {
  row(5, "COMPLETED");
  UserBody body = submit({{DependencyKind::after_ok, key(7)}, {DependencyKind::after_ok, key(5)}},
                         /*any=*/true);
  answer(body);
  EXPECT_THAT(left(body), IsEmpty());
}

TEST_F(PastTargets, WhatAccountingDoesNotKnowOrCannotTellStays) {
  row(4, "RUNNING");
  UserBody body = submit({{DependencyKind::after_ok, key(5)}, {DependencyKind::after_ok, key(4)}});
  EXPECT_EQ(answer(body), "");
  EXPECT_THAT(left(body), ElementsAre(key(5), key(4)));
  row(5, "COMPLETED");
  is_down = true;
  EXPECT_EQ(answer(body), "");
  EXPECT_THAT(left(body), ElementsAre(key(5), key(4)));
}

TEST_F(PastTargets, EqualSpecificationsStayShared) {
  row(5, "COMPLETED");
  const auto spec = std::get<Submit>(submit({{DependencyKind::after_ok, key(5)}})).spec;
  UserBody body = SubmitMany{{spec, spec, spec}, {}};
  answer(body);
  const auto& specs = std::get<SubmitMany>(body).specs;
  EXPECT_THAT(specs[0]->dependencies, IsEmpty());
  EXPECT_EQ(specs[0], specs[1]);
  EXPECT_EQ(specs[1], specs[2]);
  EXPECT_EQ(spec->dependencies.size(), 1U) << "a specification is immutable";
}

}  // namespace
}  // namespace ares::aresctld
