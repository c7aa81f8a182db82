// Tests: watch_hub, job_changes, change_log
// What watchers are told of changes: each job's newest state, once, whatever the speed of the watcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "aresctld/watch/watch_hub.h"
#include "base/mutex.h"

namespace ares::aresctld {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Time kNow{Duration(1'900'000'000'000'000)};

// Polls until the condition holds.
template <class Condition>
bool eventually(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (; !condition(); std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

Job job_of(std::uint64_t id, JobState state, const std::string& user = "alice") {
  auto spec = std::make_shared<JobSpec>();
  spec->user = user;
  spec->uid = UserId(user == "alice" ? 1001 : 1002);
  spec->partitions = {"main"};
  Job job;
  job.key = {JobId(id), {}};
  job.own_id = JobId(id);
  job.spec = std::move(spec);
  job.state = state;
  return job;
}

// A caller that takes parts when the test lets it.
class Caller final : public rpc::Responder {
 public:
  explicit Caller(bool takes = true) : takes_(takes) {}
  void send(api::Response response) override {
    const Lock lock(mutex_);
    last_ = std::move(response);
  }
  bool abandoned() const override {
    const Lock lock(mutex_);
    return gone_;
  }
  const std::string& peer() const override { return peer_; }
  bool takes_parts() const override { return true; }
  void send_part(api::Response part, Taken taken) override {
    {
      const Lock lock(mutex_);
      parts_.push_back(part.watched());
      if (!takes_) {
        waiting_ = std::move(taken);
        return;
      }
    }
    taken(true);
  }

  void take() {
    Taken waiting;
    {
      const Lock lock(mutex_);
      takes_ = true;
      waiting = std::exchange(waiting_, nullptr);
    }
    if (waiting) waiting(true);
  }
  void leave() {
    const Lock lock(mutex_);
    gone_ = true;
  }
  std::vector<api::Watched> parts() const {
    const Lock lock(mutex_);
    return parts_;
  }
  std::optional<api::Response> last() const {
    const Lock lock(mutex_);
    return last_;
  }
  // "7 RUNNING", "7 COMPLETED left" of all parts behind the first listing.
  std::vector<std::string> changes() const {
    std::vector<std::string> texts;
    for (const api::Watched& part : parts()) {
      if (part.kind() != api::Watched::CHANGES) continue;
      for (const api::Job& job : part.jobs().jobs()) {
        std::string text = std::to_string(job.key().job()) + " " + job.state();
        for (const api::JobRef& left : part.left())
          if (left.job() == job.key().job()) text += " left";
        texts.push_back(std::move(text));
      }
    }
    return texts;
  }
  bool listed() const {
    const auto all = parts();
    return !all.empty() && all[0].kind() == api::Watched::LISTED;
  }

 private:
  const std::string peer_ = "unix";
  mutable Mutex mutex_;
  std::vector<api::Watched> parts_;
  std::optional<api::Response> last_;
  Taken waiting_;
  bool takes_;
  bool gone_ = false;
};

class Watches : public testing::Test {
 protected:
  Watches() : clock_(kNow), config_(std::make_shared<config::Config>()), pool_(2, {}) {
    state_.lsn = Lsn(100);
    publish();
  }
  ~Watches() override {
    if (hub_) hub_->stop();
    pool_.stop();
  }

  void start(WatchHub::Limits limits = {}) {
    limits.between_parts = std::chrono::milliseconds(1);
    hub_ = std::make_unique<WatchHub>(
        WatchHub::Parts{
            views_, config_, clock_, pool_,
            [this](const api::Accounting&, Lsn after, Lsn upto) { return read(after, upto); }},
        limits);
    hub_->start();
  }

  std::shared_ptr<Caller> watch(api::Watch request, bool takes = true, std::uint32_t uid = 1001) {
    auto caller = std::make_shared<Caller>(takes);
    hub_->add({UserId(uid), GroupId(uid), "alice", "login"}, request, caller);
    return caller;
  }
  static api::Watch live_jobs() {
    api::Watch request;
    for (const char* state : {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING"})
      request.mutable_jobs()->add_states(state);
    return request;
  }
  std::shared_ptr<Caller> watch_listed(api::Watch request, bool takes = true) {
    auto caller = watch(std::move(request), takes);
    EXPECT_TRUE(eventually([&] { return caller->listed(); }));
    return caller;
  }

  void put(const Job& job) { state_.jobs.set(job.key, job); }
  void publish() {
    state_.lsn = state_.lsn.next();
    views_.publish_state(std::make_shared<const ClusterState>(state_));
  }
  void put_and_publish(const Job& job) {
    put(job);
    publish();
  }

  Result<EndedRows> read(Lsn after, Lsn upto) {
    const Lock lock(mutex_);
    reads_.emplace_back(after.value(), upto.value());
    if (!database_) return fail(ErrorCode::unavailable, "the database is away");
    EndedRows rows;
    rows.upto = upto;
    rows.missed = missed_;
    rows.rows.add_rows()->mutable_key()->set_job(after.value());
    return rows;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reads() {
    const Lock lock(mutex_);
    return reads_;
  }

  ClusterState state_;
  ViewHolder views_;
  Clock clock_;
  ConfigHolder config_;
  QueryPool pool_;
  std::unique_ptr<WatchHub> hub_;
  Mutex mutex_;
  bool database_ = true;
  bool missed_ = false;  // the journal does not reach back
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reads_;
};

TEST_F(Watches, ListIsFollowedByEachChange) {
  put_and_publish(job_of(1, JobState::pending));
  start();
  const auto caller = watch_listed(live_jobs());
  EXPECT_EQ(caller->parts()[0].jobs().jobs_size(), 1);
  put_and_publish(job_of(1, JobState::running));
  ASSERT_TRUE(eventually([&] { return caller->changes().size() == 1; }));
  put_and_publish(job_of(1, JobState::completed));
  ASSERT_TRUE(eventually([&] { return caller->changes().size() == 2; }));
  EXPECT_THAT(caller->changes(), ElementsAre("1 RUNNING", "1 COMPLETED left"));
}

TEST_F(Watches, JobThatTheFilterLeavesOutIsNotSent) {
  start();
  api::Watch request = live_jobs();
  request.mutable_jobs()->add_users("bob");
  const auto caller = watch_listed(request);
  put_and_publish(job_of(1, JobState::pending));
  put_and_publish(job_of(2, JobState::pending, "bob"));
  ASSERT_TRUE(eventually([&] { return !caller->changes().empty(); }));
  EXPECT_THAT(caller->changes(), ElementsAre("2 PENDING"));
}

TEST_F(Watches, SlowCallerGetsOnlyTheNewestStateAndDelaysNone) {
  start();
  const auto slow = watch_listed(live_jobs(), false);
  const auto fast = watch_listed(live_jobs());
  put_and_publish(job_of(1, JobState::pending));
  ASSERT_TRUE(eventually([&] { return fast->changes().size() == 1; }));
  put_and_publish(job_of(1, JobState::running));
  ASSERT_TRUE(eventually([&] { return fast->changes().size() == 2; }));
  EXPECT_THAT(slow->changes(), IsEmpty());
  slow->take();
  ASSERT_TRUE(eventually([&] { return !slow->changes().empty(); }));
  EXPECT_THAT(slow->changes(), ElementsAre("1 RUNNING"));
}

TEST_F(Watches, JobThatCameAndEndedMeanwhileIsShownOnce) {
  start();
  const auto slow = watch_listed(live_jobs(), false);
  const auto fast = watch_listed(live_jobs());
  put_and_publish(job_of(1, JobState::running));
  ASSERT_TRUE(eventually([&] { return fast->changes().size() == 1; }));
  put_and_publish(job_of(1, JobState::failed));
  ASSERT_TRUE(eventually([&] { return fast->changes().size() == 2; }));
  slow->take();
  ASSERT_TRUE(eventually([&] { return !slow->changes().empty(); }));
  EXPECT_THAT(slow->changes(), ElementsAre("1 FAILED left"));
}

TEST_F(Watches, CallerBehindTheLogGetsTheListingAgain) {
  WatchHub::Limits limits;
  limits.changes = 3;
  start(limits);
  const auto slow = watch_listed(live_jobs(), false);
  const auto fast = watch_listed(live_jobs());
  for (std::uint64_t id = 1; id <= 8; ++id) {
    put_and_publish(job_of(id, JobState::pending));
    ASSERT_TRUE(eventually([&] { return fast->changes().size() == id; }));
  }
  slow->take();
  ASSERT_TRUE(eventually([&] { return slow->parts().size() == 2; }));
  const api::Watched again = slow->parts()[1];
  EXPECT_EQ(again.kind(), api::Watched::LISTED);
  EXPECT_TRUE(again.first());
  EXPECT_EQ(again.jobs().jobs_size(), 8);
}

TEST_F(Watches, ReasonOfAPendingJobIsAChange) {
  put_and_publish(job_of(1, JobState::pending));
  start();
  const auto caller = watch_listed(live_jobs());
  PendingInfos infos;
  PendingInfo info;
  info.reason = Reason::resources;
  infos.set(JobKey{JobId(1), {}}, info);
  views_.publish_pending(std::make_shared<const PendingInfos>(infos));
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(caller->parts()[1].jobs().jobs(0).reason(), "Resources");
}

// One record changes, and has a row for each of its tasks.
TEST_F(Watches, ChangeOfAWideArrayIsSentByPages) {
  Job array = job_of(1, JobState::pending);
  array.array.emplace();
  for (std::uint32_t task = 0; task < 12'000; ++task) array.array->waiting.insert(task);
  put_and_publish(array);
  start();
  api::Watch each_task = live_jobs();
  each_task.mutable_jobs()->set_expand_arrays(true);
  const auto caller = watch(each_task);
  const auto listings = [&] {
    const auto all = caller->parts();
    return std::count_if(all.begin(), all.end(),
                         [](const auto& part) { return part.kind() == api::Watched::LISTED; });
  };
  ASSERT_TRUE(eventually([&] { return listings() == 1; }));
  auto changed = std::make_shared<JobSpec>(*array.spec);
  changed->name = std::string(400, 'x');  // 4.8 MB in all
  array.spec = changed;
  put_and_publish(array);
  ASSERT_TRUE(eventually([&] { return listings() == 2; }));
  for (const api::Watched& part : caller->parts())
    EXPECT_LT(part.ByteSizeLong(), std::size_t{4} << 20);
}

TEST_F(Watches, SilenceOfANodeIsAChangeOfItsJobs) {
  Job job = job_of(1, JobState::running);
  job.attempt = AttemptNo(1);
  Node node;
  node.id = NodeId(7);
  node.name = "n7";
  node.contact = Contact::registered;
  NodeShare share;
  share.node = node.id;
  job.allocation = Allocation{};
  job.allocation->nodes = {share};
  Charge charge;
  charge.attempt = {job.key, job.attempt};
  node.charges.push_back(charge);
  state_.nodes.set(node.id, node);
  put_and_publish(job);
  start();
  const auto caller = watch_listed(live_jobs());
  node.contact = Contact::lost;
  state_.nodes.set(node.id, node);
  publish();
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(caller->parts()[1].jobs().jobs(0).reason(), "NodeNotResponding");
  node.contact = Contact::registered;
  state_.nodes.set(node.id, node);
  publish();
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 3; }));
  EXPECT_EQ(caller->parts()[2].jobs().jobs(0).reason(), caller->parts()[0].jobs().jobs(0).reason());
}

TEST_F(Watches, UserHasALimitedNumberAndGetsAPlaceBackWhenOneEnds) {
  WatchHub::Limits limits;
  limits.per_user = 2;
  start(limits);
  const auto first = watch_listed(live_jobs());
  watch_listed(live_jobs());
  const auto third = watch(live_jobs());
  ASSERT_TRUE(eventually([&] { return third->last().has_value(); }));
  EXPECT_EQ(third->last()->failure().code(), static_cast<int>(ErrorCode::resource_exhausted));
  EXPECT_THAT(third->last()->failure().message(), HasSubstr("you have 2 streams open"));
  const auto of_another = watch(live_jobs(), true, 1002);
  EXPECT_TRUE(eventually([&] { return of_another->listed(); }));
  first->leave();
  watch_listed(live_jobs());
}

TEST_F(Watches, ThousandWatchersAreAllTold) {
  WatchHub::Limits limits;
  limits.per_user = 1000;
  start(limits);
  std::vector<std::shared_ptr<Caller>> callers;
  for (int i = 0; i < 1000; ++i) callers.push_back(watch(live_jobs()));
  for (const auto& caller : callers) ASSERT_TRUE(eventually([&] { return caller->listed(); }));
  put_and_publish(job_of(1, JobState::pending));
  for (const auto& caller : callers)
    ASSERT_TRUE(eventually([&] { return caller->changes().size() == 1; }));
}

TEST_F(Watches, SilentStreamHasSignsOfLife) {
  WatchHub::Limits limits;
  limits.alive_every = std::chrono::seconds(1);
  start(limits);
  const auto caller = watch_listed(live_jobs());
  EXPECT_EQ(caller->parts()[0].alive_every(), 1U);
  ASSERT_TRUE(eventually([&] { return caller->parts().size() >= 2; }));
  EXPECT_EQ(caller->parts()[1].kind(), api::Watched::ALIVE);
}

TEST_F(Watches, StreamsEndAsUnavailableWhenTheControllerStops) {
  start();
  const auto caller = watch_listed(live_jobs());
  hub_->stop();
  ASSERT_TRUE(caller->last());
  EXPECT_EQ(caller->last()->failure().code(), static_cast<int>(ErrorCode::unavailable));
}

api::Watch accounting(std::uint64_t after = 0) {
  api::Watch request;
  request.mutable_accounting();
  request.set_after(after);
  return request;
}

TEST_F(Watches, AccountingIsReadWhenAnAttemptEnds) {
  put_and_publish(job_of(1, JobState::running));
  start();
  const auto caller = watch_listed(accounting());
  const std::uint64_t told = caller->parts()[0].lsn();
  EXPECT_EQ(told, state_.lsn.value());
  put_and_publish(job_of(2, JobState::pending));
  put_and_publish(job_of(1, JobState::completed));
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(reads().size(), 1U);
  EXPECT_EQ(caller->parts()[1].lsn(), state_.lsn.value());
}

TEST_F(Watches, AccountingGoesOnBehindTheLastPartOfAnEarlierStream) {
  start();
  const auto caller = watch_listed(accounting(40));
  EXPECT_EQ(caller->parts()[0].lsn(), 40U);
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_THAT(reads(),
              ElementsAre(std::pair<std::uint64_t, std::uint64_t>(40, state_.lsn.value())));
}

TEST_F(Watches, AccountingBeginsAgainWhereTheJournalDoesNotReachBack) {
  missed_ = true;
  start();
  const auto caller = watch_listed(accounting(40));
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(caller->parts()[1].kind(), api::Watched::LISTED);
  EXPECT_TRUE(caller->parts()[1].first());
  EXPECT_EQ(caller->parts()[1].lsn(), state_.lsn.value());
}

TEST_F(Watches, AccountingIsReadAgainWhenTheDatabaseIsBack) {
  {
    const Lock lock(mutex_);
    database_ = false;
  }
  WatchHub::Limits limits;
  limits.after_failure = std::chrono::milliseconds(5);
  start(limits);
  const auto caller = watch_listed(accounting(40));
  ASSERT_TRUE(eventually([&] { return reads().size() >= 2; }));
  EXPECT_EQ(caller->parts().size(), 1U);
  {
    const Lock lock(mutex_);
    database_ = true;
  }
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(reads().back().first, 40U);
}

TEST_F(Watches, TasksCancelledInTheirArrayAreShownWithTheirNumbers) {
  Job array = job_of(1, JobState::pending);
  array.array.emplace();
  for (std::uint32_t task = 0; task < 4; ++task) array.array->waiting.insert(task);
  put_and_publish(array);
  start();
  const auto caller = watch_listed(live_jobs());
  EXPECT_EQ(caller->parts()[0].jobs().jobs(0).array_tasks(), "0-3");
  array.array->waiting = {};
  array.state = JobState::cancelled;
  put_and_publish(array);
  ASSERT_TRUE(eventually([&] { return caller->parts().size() == 2; }));
  EXPECT_EQ(caller->parts()[1].jobs().jobs(0).array_tasks(), "0-3");
  EXPECT_THAT(caller->changes(), ElementsAre("1 CANCELLED left"));
}

}  // namespace
}  // namespace ares::aresctld
