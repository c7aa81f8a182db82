// Tests: query_filter, query_rows, row_page
// list_jobs: which rows it returns, in which order, and how pages continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aresctld/query/queries.h"
#include "proto/table.h"

namespace ares::aresctld {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Time kNow{Duration(1'900'000'000'000'000)};

class ListJobs : public testing::Test {
 protected:
  ListJobs() {
    Partition main;
    main.name = "main";
    main.nodes = {"n1", "n2"};
    main.default_time = Seconds(3600);
    state_.partitions.set("main", main);
    for (std::uint32_t i = 1; i <= 2; ++i) {
      Node node;
      node.id = NodeId(i);
      node.name = "n" + std::to_string(i);
      node.inventory.cpus = 4;
      state_.nodes.set(node.id, node);
      state_.node_ids.set(node.name, node.id);
    }
  }

  std::shared_ptr<JobSpec> spec(const std::string& name = "wrap",
                                const std::string& user = "alice") {
    auto made = std::make_shared<JobSpec>();
    made->name = name;
    made->user = user;
    made->uid = UserId(user == "alice" ? 1001 : 1002);
    made->partitions = {"main"};
    made->qos = user == "alice" ? "high" : "low";
    return made;
  }

  void put(std::uint64_t id, std::shared_ptr<const JobSpec> with,
           JobState state = JobState::pending) {
    Job job;
    job.key = {JobId(id), {}};
    job.own_id = JobId(id);
    job.spec = std::move(with);
    job.state = state;
    job.submitted = kNow - Seconds(90);
    if (holds_resources(state)) {
      job.started = kNow - Seconds(60);
      Allocation allocation;
      allocation.partition = "main";
      NodeShare share;
      share.node = NodeId(1);
      share.cpus = 2;
      allocation.nodes = {share};
      job.allocation = allocation;
    }
    set(std::move(job));
  }

  // Array `id` with tasks 0 to count-1; tasks in `split` have separate records.
  void put_array(std::uint64_t id, std::uint32_t count, const std::vector<std::uint32_t>& split) {
    auto with = spec("array");
    with->array.emplace().insert(0, count - 1);
    Job array;
    array.key = {JobId(id), {}};
    array.own_id = JobId(id);
    array.spec = with;
    array.array.emplace().waiting = *with->array;
    for (const std::uint32_t task : split) {
      array.array->waiting.erase(task);
      Job one = array;
      one.array.reset();
      one.key.task = TaskIndex{task};
      one.own_id = JobId(id + 1 + task);
      one.state = JobState::running;
      set(std::move(one));
    }
    set(std::move(array));
  }

  void set(Job job) {
    if (is_queued(job)) state_.pending.set(job.key, Lsn(1));
    state_.jobs.set(job.key, std::move(job));
  }

  Result<api::Jobs> ask(const api::ListJobs& request) const {
    const View view{std::make_shared<ClusterState>(state_), std::make_shared<PendingInfos>()};
    return list_jobs(view, policy_, request, kNow);
  }

  static std::string id_of(const api::Job& job) {
    std::string id = std::to_string(job.key().job());
    if (job.key().has_task()) id += "_" + std::to_string(job.key().task());
    if (!job.array_tasks().empty()) id += "_[" + job.array_tasks() + "]";
    return id;
  }

  // Ids of all rows, page by page; counts the pages.
  std::vector<std::string> ids(api::ListJobs request) {
    pages_ = 0;
    std::vector<std::string> all;
    if (request.fields().empty())
      for (const std::uint32_t field :
           {proto::nested_field(api::Job::kKeyFieldNumber, api::JobRef::kJobFieldNumber),
            proto::nested_field(api::Job::kKeyFieldNumber, api::JobRef::kTaskFieldNumber),
            static_cast<std::uint32_t>(api::Job::kArrayTasksFieldNumber)})
        request.add_fields(field);
    for (;;) {
      const auto page = ask(request);
      if (!page) return {page.error().message};
      ++pages_;
      EXPECT_TRUE(proto::read_rows(page->jobs(), page->table(),
                                   [&](const api::Job& row) { all.push_back(id_of(row)); }));
      if (!page->has_next()) return all;
      *request.mutable_after() = page->next();
      if (between_pages_) between_pages_();
    }
  }

  static api::ListJobs named(const std::vector<std::pair<std::uint64_t, int>>& refs) {
    api::ListJobs request;
    for (const auto& [job, task] : refs) {
      auto* ref = request.add_jobs();
      ref->set_job(job);
      if (task >= 0) ref->set_task(static_cast<std::uint32_t>(task));
    }
    return request;
  }

  ClusterState state_;
  Policy policy_;
  std::size_t pages_ = 0;
  std::function<void()> between_pages_;
};

TEST_F(ListJobs, RowsAreInOrderOfIds) {
  put(9, spec());
  put_array(2, 5, {1, 3});
  put(1, spec());
  EXPECT_THAT(ids({}), ElementsAre("1", "2_1", "2_3", "2_[0-4:2]", "9"));
  api::ListJobs expanded;
  expanded.set_expand_arrays(true);
  EXPECT_THAT(ids(expanded), ElementsAre("1", "2_1", "2_3", "2_0", "2_2", "2_4", "9"));
}

TEST_F(ListJobs, PagesOfAnySizeGiveTheSameRows) {
  put(1, spec());
  put_array(2, 40, {1, 3, 7, 39});
  for (std::uint64_t id = 50; id < 80; ++id) put(id, spec());
  put_array(100, 3, {0, 1, 2});
  for (const bool expand : {false, true}) {
    api::ListJobs request;
    request.set_expand_arrays(expand);
    const auto whole = ids(request);
    EXPECT_EQ(pages_, 1u);
    for (std::uint32_t page = 1; page <= whole.size() + 1; ++page) {
      request.set_page(page);
      EXPECT_EQ(ids(request), whole) << page;
    }
    auto some = named({{55, -1}, {2, -1}, {2, 5}, {60, -1}});
    some.set_expand_arrays(expand);
    const auto chosen = ids(some);
    for (std::uint32_t page = 1; page <= chosen.size() + 1; ++page) {
      some.set_page(page);
      EXPECT_EQ(ids(some), chosen) << page;
    }
  }
}

TEST_F(ListJobs, NoRowIsRepeatedIfTheQueueChangesBetweenPages) {
  put_array(2, 10, {});
  for (std::uint64_t id = 50; id < 60; ++id) put(id, spec());
  api::ListJobs request;
  request.set_expand_arrays(true);
  request.set_page(3);
  std::uint32_t next = 9;
  between_pages_ = [&] {
    // The last pending task gets a record, and a job that was or will be listed is removed.
    put_array(2, 10, [&] {
      std::vector<std::uint32_t> split;
      for (std::uint32_t task = next; task < 10; ++task) split.push_back(task);
      return split;
    }());
    if (next > 0) --next;
    state_.jobs.erase({JobId(50 + next), {}});
  };
  const auto all = ids(request);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_GT(pages_, 3u);
}

TEST_F(ListJobs, FewRowsAreSentWithoutATable) {
  api::ListJobs request;
  request.add_fields(static_cast<std::uint32_t>(api::Job::kNameFieldNumber));
  for (std::uint64_t id = 1; id <= 16; ++id) put(id, spec("few"));
  const auto few = ask(request);
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->has_table());
  ASSERT_EQ(few->jobs_size(), 16);
  EXPECT_EQ(few->jobs(15).name(), "few");

  put(17, spec("one more"));
  const auto many = ask(request);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->jobs_size(), 0);
  EXPECT_EQ(many->table().rows(), 17u);
}

TEST_F(ListJobs, ReplySizeIsBounded) {
  for (std::uint64_t id = 1; id <= 30'000; ++id) put(id, spec("job-number-" + std::to_string(id)));
  api::ListJobs request;
  for (const int field : {api::Job::kOwnIdFieldNumber, api::Job::kNameFieldNumber,
                          api::Job::kUserFieldNumber, api::Job::kSubmittedFieldNumber})
    request.add_fields(static_cast<std::uint32_t>(field));
  std::uint32_t rows = 0;
  for (;;) {
    const auto page = ask(request);
    ASSERT_TRUE(page);
    EXPECT_LT(page->ByteSizeLong(), 2u << 20);
    rows += page->table().rows() + static_cast<std::uint32_t>(page->jobs_size());
    if (!page->has_next()) break;
    *request.mutable_after() = page->next();
  }
  EXPECT_EQ(rows, 30'000u);
}

// Regression: whole rows were not counted; one request could get 10,000 copies of a specification of one megabyte.
TEST_F(ListJobs, ReplySizeOfWholeRowsIsBounded) {
  auto large = spec("large");
  large->comment = std::string(100'000, 'x');
  for (std::uint64_t id = 1; id <= 50; ++id) put(id, large);
  api::ListJobs request;
  request.set_details(true);
  std::vector<std::string> all;
  for (;;) {
    const auto page = ask(request);
    ASSERT_TRUE(page);
    EXPECT_LT(page->ByteSizeLong(), (1u << 20) + 2 * 100'000);
    for (const api::Job& job : page->jobs()) all.push_back(id_of(job));
    if (!page->has_next()) break;
    *request.mutable_after() = page->next();
  }
  ASSERT_EQ(all.size(), 50u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::to_string(i + 1));
}

TEST_F(ListJobs, RepeatedIdsAreListedOnce) {
  put(1, spec());
  put(2, spec());
  put_array(10, 3, {1});
  EXPECT_THAT(ids(named({{2, -1}, {1, -1}, {2, -1}, {10, 1}, {1, -1}, {10, 1}})),
              ElementsAre("2", "1", "10_1"));
  auto request = named({{2, -1}, {2, -1}, {1, -1}, {2, -1}});
  request.set_page(1);
  EXPECT_THAT(ids(request), ElementsAre("2", "1"));
  EXPECT_THAT(ids(named({{9, -1}, {9, -1}})), ElementsAre("Invalid job id specified: 9"));
}

TEST_F(ListJobs, IdsMayNameJobsArraysAndTasks) {
  put_array(10, 100'000, {3});
  put(100'200, spec());
  EXPECT_THAT(ids(named({{10, 3}})), ElementsAre("10_3"));
  EXPECT_THAT(ids(named({{10, 99'999}})), ElementsAre("10_99999")) << "it waits in its array";
  EXPECT_THAT(ids(named({{14, -1}})), ElementsAre("10_3")) << "by its own number";
  EXPECT_THAT(ids(named({{100'010, -1}})), ElementsAre("10_99999"));
  EXPECT_THAT(ids(named({{100'011, -1}})), ElementsAre("Invalid job id specified: 100011"));
  EXPECT_THAT(ids(named({{9, -1}})), ElementsAre("Invalid job id specified: 9"));
  EXPECT_THAT(ids(named({{100'200, 1}})), ElementsAre("Invalid job id specified: 100200_1"));
  EXPECT_THAT(ids(named({{18446744073709551615ULL, -1}})),
              ElementsAre("Invalid job id specified: 18446744073709551615"));
  EXPECT_THAT(ids(named({{100'200, -1}, {10, -1}})),
              ElementsAre("100200", "10_3", "10_[0-2,4-99999]"));
}

TEST_F(ListJobs, MissingJobsCanBeReportedInsteadOfRefused) {
  put(1, spec());
  auto request = named({{1, -1}, {5, -1}, {6, 2}});
  request.set_skip_missing(true);
  const auto answer = ask(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->jobs_size(), 1);
  ASSERT_EQ(answer->missing_size(), 2);
  EXPECT_EQ(answer->missing(1).task(), 2u);
}

TEST_F(ListJobs, FiltersSelectRows) {
  put(1, spec("a", "alice"), JobState::running);
  put(2, spec("b", "bob"));
  put(3, spec("a", "bob"), JobState::completed);
  const auto by = [&](auto set) {
    api::ListJobs request;
    set(request);
    return ids(request);
  };
  EXPECT_THAT(by([](auto& r) { r.add_users("bob"); }), ElementsAre("2", "3"));
  EXPECT_THAT(by([](auto& r) { r.add_users("1001"); }), ElementsAre("1"));
  EXPECT_THAT(by([](auto& r) { r.add_not_users("1001"); }), ElementsAre("2", "3"));
  EXPECT_THAT(by([](auto& r) { r.add_names("a"); }), ElementsAre("1", "3"));
  EXPECT_THAT(by([](auto& r) { r.add_qos("high"); }), ElementsAre("1"));
  EXPECT_THAT(by([](auto& r) { r.add_nodes("n1"); }), ElementsAre("1"));
  EXPECT_THAT(by([](auto& r) { r.add_nodes("n2"); }), IsEmpty());
  EXPECT_THAT(by([](auto& r) { r.add_states("PENDING"), r.add_states("CD"); }),
              ElementsAre("2", "3"));
  EXPECT_THAT(by([](auto& r) { r.set_running_over(60); }), ElementsAre("1"));
  EXPECT_THAT(by([](auto& r) { r.set_running_under(59); }), IsEmpty());
  EXPECT_THAT(by([](auto& r) { r.add_partitions("main"); }), ElementsAre("1", "2", "3"));
  EXPECT_THAT(by([](auto& r) { r.add_partitions("mian"); }),
              ElementsAre("Invalid partition name specified: mian"));
  EXPECT_THAT(by([](auto& r) { r.add_nodes("n3"); }),
              ElementsAre("Invalid node name specified: n3"));
  EXPECT_THAT(by([](auto& r) { r.add_states("ASLEEP"); }),
              ElementsAre("unknown job state \"ASLEEP\""));
}

TEST_F(ListJobs, LicenceFilterMatchesRequestedOrAllocatedOnes) {
  policy_.licenses = {{"matlab", 2}, {"octave", 1}, {"idle", 1}};
  auto either = spec("either");
  either->licenses = {{"matlab", 1}, {"octave", 1}};
  either->any_license = true;
  put(1, spec("none"));
  put(2, either);
  put(3, either, JobState::running);
  Job running = *state_.jobs.find({JobId(3), {}});
  running.allocation->licenses = {{"octave", 1}};
  set(running);
  const auto by = [&](const char* name) {
    api::ListJobs request;
    request.add_licenses(name);
    return ids(request);
  };
  EXPECT_THAT(by("matlab"), ElementsAre("2"));
  EXPECT_THAT(by("octave"), ElementsAre("2", "3"));
  EXPECT_THAT(by("idle"), IsEmpty());
  EXPECT_THAT(by("mathlab"), ElementsAre("Invalid license specified: mathlab"));
}

TEST_F(ListJobs, PlainRowsHaveAllFields) {
  put(1, spec("a"), JobState::running);
  const auto answer = ask({});
  ASSERT_TRUE(answer);
  const api::Job& row = answer->jobs(0);
  EXPECT_EQ(row.name(), "a");
  EXPECT_EQ(row.node_list(), "n1");
  EXPECT_EQ(row.tres(), "cpu=2,node=1");
  EXPECT_EQ(row.requested_tres(), "cpu=1,node=1");
  EXPECT_FALSE(row.has_spec());
  api::ListJobs detailed;
  detailed.set_details(true);
  EXPECT_EQ(ask(detailed)->jobs(0).spec().name(), "a");
  EXPECT_EQ(ask(detailed)->jobs(0).shares(0).node(), "n1");
}

TEST_F(ListJobs, PendingTaskHasItsJobId) {
  put_array(10, 5, {0});
  const auto answer = ask(named({{10, 3}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->jobs(0).own_id(), 14u);
  EXPECT_EQ(answer->jobs(0).array_tasks(), "");
}

TEST_F(ListJobs, JobsAheadAreCountedForNamedJobs) {
  put(1, spec());
  put(2, spec());
  put(3, spec());
  const auto answer = ask(named({{3, -1}}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->jobs(0).jobs_ahead(), 2u);
  EXPECT_THAT(answer->jobs(0).reason_detail(), HasSubstr("needs 1 CPU"));
  EXPECT_FALSE(ask({})->jobs(0).has_jobs_ahead());
}

// Each count examines the whole queue.
TEST_F(ListJobs, JobsAheadAreCountedForTheFirstNamedJobsOnly) {
  api::ListJobs request;
  for (std::uint64_t id = 1; id <= 30; ++id) {
    put(id, spec());
    request.add_jobs()->set_job(id);
  }
  const auto answer = ask(request);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->jobs_size(), 30);
  EXPECT_EQ(answer->jobs(19).jobs_ahead(), 19u);
  EXPECT_FALSE(answer->jobs(20).has_jobs_ahead());
}

TEST_F(ListJobs, ExplanationHasAllParts) {
  put(1, spec("runs"), JobState::running);
  auto large = spec("large");
  large->cpus_per_task = 8;
  put(2, large);
  put_array(10, 5, {0});
  const View view{std::make_shared<ClusterState>(state_), std::make_shared<PendingInfos>()};
  const auto about = [&](std::uint64_t id, int task = -1) {
    api::ExplainJob request;
    request.mutable_job()->set_job(id);
    if (task >= 0) request.mutable_job()->set_task(static_cast<std::uint32_t>(task));
    return explain(view, policy_, request, kNow);
  };
  const auto running = about(1);
  ASSERT_TRUE(running);
  EXPECT_FALSE(running->waits());
  EXPECT_EQ(running->job().state(), "RUNNING");
  const auto waiting = about(2);
  ASSERT_TRUE(waiting);
  EXPECT_TRUE(waiting->waits());
  EXPECT_EQ(waiting->job().name(), "large");
  EXPECT_EQ(waiting->queue_policy(), "priority");
  ASSERT_EQ(waiting->causes_size(), 1);
  EXPECT_EQ(waiting->causes(0).partition(), "main");
  EXPECT_THAT(waiting->causes(0).text(), HasSubstr("needs 8 CPUs"));
  const auto task = about(10, 3);
  ASSERT_TRUE(task);
  EXPECT_TRUE(task->waits());
  EXPECT_EQ(task->job().own_id(), 14u);
  EXPECT_EQ(about(10, 9).error().code, ErrorCode::not_found);
  EXPECT_EQ(about(99).error().message, "Invalid job id specified: 99");
}

TEST_F(ListJobs, JobsOnNodesThatDoNotAnswerSayWhatAnOperatorCanDo) {
  put(1, spec("runs"), JobState::running);
  put(2, spec("ends"), JobState::completing);
  put(3, spec("ended"), JobState::completed);
  const auto row = [&](std::uint64_t id) { return ask(named({{id, -1}}))->jobs(0); };
  EXPECT_EQ(row(1).reason(), "None");
  Node lost = *state_.nodes.find(NodeId(1));
  lost.contact = Contact::lost;
  lost.silent_since = kNow - Seconds(1000);
  state_.nodes.set(lost.id, lost);
  for (const std::uint64_t id : {1, 2}) {
    EXPECT_EQ(row(id).reason(), "NodeNotResponding");
    EXPECT_EQ(row(id).silent_nodes(), "n1");
    EXPECT_EQ(row(id).silent_since(), (kNow - Seconds(1000)).time_since_epoch().count());
    EXPECT_EQ(Time(Duration(row(id).dead_at())),
              kNow - Seconds(1000) + Duration(policy_.dead_node_timeout));
    EXPECT_THAT(row(id).reason_detail(), HasSubstr("actl update node n1 state=down reason=TEXT"));
  }
  EXPECT_EQ(row(3).silent_nodes(), "");
  lost.machine_gone = true;
  lost.guard.fault = "removed from Kubernetes";
  state_.nodes.set(lost.id, lost);
  EXPECT_THAT(row(1).reason_detail(), HasSubstr("n1: removed from Kubernetes; n1 does not answer"));
  policy_.dead_node_timeout = Seconds(0);
  EXPECT_EQ(row(1).dead_at(), 0);
}

}  // namespace
}  // namespace ares::aresctld
