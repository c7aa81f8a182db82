// Tests: pg_attempts, accounting_filter
// The fields of an accounting row, and which attempts have one.
#include <gmock/gmock.h>

#include "unit/store/accounting_fixture.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(AccountingTest, PartsOfGpusAreCountedInThousandths) {
  Attempt a = attempt(key(7), 1, "alice", JobState::completed);
  auto spec = *a.spec;
  spec.gpus_per_node = {{"a100", 0, 250}};
  a.spec = std::make_shared<const JobSpec>(spec);
  a.allocation.nodes.change_each([](NodeShare& share) {
    share.gpus = {GpuIndex(0)};
    share.gpu_part = 250;
  });
  store({a});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 1);
  EXPECT_EQ(page.rows(0).allocated_tres(),
            "billing=4,cpu=4,gres/gpu=0.5,gres/gpu:a100=0.5,mem=1000M,node=2");
  EXPECT_EQ(page.rows(0).requested_tres(),
            "billing=2,cpu=2,gres/gpu=0.25,gres/gpu:a100=0.25,mem=500M,node=1");
  EXPECT_EQ(sql("SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) "
                "FROM attempt_tres WHERE tres_id > 1000"),
            "1001=0.5 1002=0.5");
}

TEST_F(AccountingTest, RowHasTheFieldsOfItsAttempt) {
  Attempt a = attempt(key(7), 1, "alice", JobState::failed);
  a.reason = Reason::non_zero_exit_code;
  a.exit = {3, 0, false, false};
  a.restarts = 0;
  a.allocation.time_limit = Seconds(3600);
  store({a});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 1);
  const api::AccountingRow& row = page.rows(0);
  EXPECT_EQ(key_of(row.key()), key(7));
  EXPECT_EQ(row.attempt(), 1u);
  EXPECT_EQ(row.state(), "FAILED");
  EXPECT_EQ(row.reason(), to_string(Reason::non_zero_exit_code));
  EXPECT_EQ(row.exit_code(), 3);
  EXPECT_EQ(row.node_list(), "n[1-2]");
  EXPECT_EQ(row.node_count(), 2u);
  EXPECT_EQ(row.cpus(), 4u);
  EXPECT_EQ(row.allocated_tres(), "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=1000M,node=2");
  EXPECT_EQ(row.requested_tres(), "billing=2,cpu=2,mem=500M,node=1");
  EXPECT_EQ(row.user_cpu(), 2000);
  EXPECT_EQ(row.system_cpu(), 400);
  EXPECT_EQ(row.max_rss(), Bytes::mib(2).value());
  EXPECT_EQ(row.max_rss_node(), "n2");
  EXPECT_EQ(row.time_limit(), 3600);
  EXPECT_EQ(row.submitted(), micros(a.submitted));
  EXPECT_EQ(row.allocated_at(), micros(a.allocation.at));
  EXPECT_EQ(row.started(), micros(*a.started));
  EXPECT_EQ(row.ended(), micros(*a.ended));
  EXPECT_EQ(row.tasks(), 2u);
  EXPECT_EQ(row.priority(), 77u);
  EXPECT_EQ(row.comment(), "a note");
  EXPECT_EQ(row.constraints(), "big&fast");
  EXPECT_EQ(row.std_out(), "%j.out");
  EXPECT_TRUE(row.exclusive());
  EXPECT_FALSE(row.superseded());
  EXPECT_FALSE(row.has_cancelled_by());
  EXPECT_EQ(
      sql("SELECT string_agg(tres_id || '=' || count, ' ' ORDER BY tres_id) FROM attempt_tres"),
      "1=4 2=1000 4=2 5=4 1001=2 1002=2");
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_tres WHERE ended - began <> '49 s'"), "0");
}

TEST_F(AccountingTest, RowHasWhatItsJobAskedForAndTheNodesOfMostDiskUse) {
  Attempt a = attempt(key(7), 1, "alice", JobState::completed);
  auto spec = *a.spec;
  spec.reservations = {"maint", "weekly"};
  spec.segment = 4;
  spec.exclusive_user = true;
  spec.extra = "{\"ticket\": 12}";
  spec.container.emplace().image = "docker://alpine";
  a.spec = std::make_shared<const JobSpec>(spec);
  std::int64_t rank = 0;
  a.allocation.nodes.change_each([&](NodeShare& share) {
    share.usage.disk_read = Bytes(100 - rank);
    share.usage.disk_written = Bytes(100 + rank++);
  });
  Attempt plain = attempt(key(8), 1, "alice", JobState::completed);
  plain.allocation.nodes.change_each(
      [](NodeShare& share) { share.usage.disk_read = share.usage.disk_written = Bytes{}; });
  store({a, plain});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 2);
  const api::AccountingRow& row = page.rows(0);
  EXPECT_EQ(row.reservations(), "maint,weekly");
  EXPECT_EQ(row.segment(), 4u);
  EXPECT_TRUE(row.exclusive_user());
  EXPECT_EQ(row.extra(), "{\"ticket\": 12}");
  EXPECT_EQ(row.container_image(), "docker://alpine");
  EXPECT_EQ(row.max_disk_read(), 100);
  EXPECT_EQ(row.max_disk_read_node(), "n1");
  EXPECT_EQ(row.max_disk_written(), 101);
  EXPECT_EQ(row.max_disk_written_node(), "n2");
  EXPECT_EQ(page.rows(1).reservations() + page.rows(1).extra() + page.rows(1).container_image() +
                page.rows(1).max_disk_read_node() + page.rows(1).max_disk_written_node(),
            "");
  EXPECT_EQ(page.rows(1).segment() + page.rows(1).exclusive_user(), 0u);
}

TEST_F(AccountingTest, OnlyKeyAndRequestedFieldsAreReturned) {
  store({attempt(key(7, 3), 1, "alice", JobState::failed)});
  AccountingFilter f;
  f.fields = {api::AccountingRow::kStateFieldNumber};
  const auto page = ask(f);
  ASSERT_EQ(page.rows_size(), 1);
  EXPECT_EQ(key_of(page.rows(0).key()), key(7, 3));
  EXPECT_EQ(page.rows(0).attempt(), 1u);
  EXPECT_EQ(page.rows(0).state(), "FAILED");
  EXPECT_EQ(page.rows(0).name(), "");
  EXPECT_EQ(page.rows(0).submitted(), 0);
}

TEST_F(AccountingTest, EveryFieldOfARowHasItsColumn) {
  const auto* row = api::AccountingRow::descriptor();
  for (int i = 0; i < row->field_count(); ++i) {
    const auto number = static_cast<std::uint32_t>(row->field(i)->number());
    // The name service has the one, a table of its own the other.
    if (number == api::AccountingRow::kGroupFieldNumber ||
        number == api::AccountingRow::kStepsFieldNumber)
      continue;
    const auto columns = accounting_columns({number});
    EXPECT_TRUE(std::any_of(columns.begin(), columns.end(), [&](const auto* c) {
      return std::uint32_t(c->field) == number;
    })) << row->field(i)->name();
  }
}

TEST_F(AccountingTest, RowIsUpdatedUntilTheAttemptEnds) {
  Attempt a = attempt(key(1), 1, "alice", JobState::running);
  store({a});
  EXPECT_EQ(ask().rows(0).state(), "RUNNING");
  EXPECT_EQ(ask().rows(0).ended(), 0);
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_live"), "1");
  a.state = JobState::completed;
  a.ended = at(500);
  store({a});
  store({a});  // written twice
  const auto rows = ask();
  ASSERT_EQ(rows.rows_size(), 1);
  EXPECT_EQ(rows.rows(0).state(), "COMPLETED");
  EXPECT_EQ(rows.rows(0).ended(), micros(at(500)));
  EXPECT_EQ(sql("SELECT count(*) FROM attempt_live"), "0");
}

TEST_F(AccountingTest, JobThatNeverRanShowsItsRequest) {
  Attempt a = attempt(key(5), 0, "alice", JobState::cancelled);
  a.cancelled_by = UserId(1003);
  Attempt limited = attempt(key(6), 0, "alice", JobState::cancelled);
  limited.time_limit = Seconds(60);
  Attempt unlimited = attempt(key(7), 0, "alice", JobState::cancelled);
  unlimited.time_limit = Seconds(0);
  store({a, limited, unlimited});
  const auto page = ask();
  ASSERT_EQ(page.rows_size(), 3);
  EXPECT_EQ(page.rows(0).cancelled_by(), 1003u);
  EXPECT_EQ(page.rows(0).partition(), "main");
  EXPECT_TRUE(page.rows(0).has_time_limit()) << "its partition's, whatever that was";
  EXPECT_EQ(page.rows(0).time_limit(), 0);
  EXPECT_EQ(page.rows(1).time_limit(), 60);
  EXPECT_FALSE(page.rows(2).has_time_limit());
}

TEST_F(AccountingTest, RowOfAnArrayStandsForTasksThatNeverRan) {
  Attempt rest = attempt(key(10), 0, "alice", JobState::cancelled);
  rest.tasks = *parse_interval_set("3-9");
  store({rest, attempt(key(10, 1), 1, "alice", JobState::completed)});
  EXPECT_THAT(keys({}), ElementsAre(key(10), key(10, 1)));
  EXPECT_EQ(ask().rows(0).array_tasks(), "3-9");
  AccountingFilter f;
  f.jobs = {key(10, 4), key(10, 1)};
  const auto some = ask(f);
  ASSERT_EQ(some.rows_size(), 2);
  EXPECT_EQ(some.rows(0).array_tasks(), "4") << "what was asked for";
  f.jobs = {key(10, 2)};
  EXPECT_THAT(keys(f), IsEmpty());
}

TEST_F(AccountingTest, OnlyTheLastAttemptIsReturnedUnlessAllAreRequested) {
  Attempt first = attempt(key(1), 1, "alice", JobState::node_fail);
  first.superseded = true;
  store({first, attempt(key(1), 2, "alice", JobState::completed)});
  AccountingFilter f;
  const auto last = ask(f);
  ASSERT_EQ(last.rows_size(), 1);
  EXPECT_EQ(last.rows(0).attempt(), 2u);
  f.all_attempts = true;
  EXPECT_EQ(ask(f).rows_size(), 2);
}

TEST_F(AccountingTest, RequeuedAttemptHasStateRequeued) {
  Attempt again = attempt(key(1), 1, "alice", JobState::cancelled);
  again.reason = Reason::requeued;
  again.cancelled_by = UserId(0);
  store({again});
  EXPECT_EQ(ask().rows(0).state(), "REQUEUED");
  again.superseded = true;  // marked as such later
  store({again});
  EXPECT_EQ(ask().rows_size(), 0);
  AccountingFilter f;
  f.all_attempts = true;
  f.states = {"REQUEUED"};
  EXPECT_EQ(ask(f).rows_size(), 1);
}

TEST_F(AccountingTest, CancelledWhilePendingAndRunLaterAreTwoRows) {
  Attempt waited = attempt(key(1), 2, "alice", JobState::cancelled);
  waited.allocation = {};
  waited.started.reset();
  waited.superseded = true;
  store({waited});
  Attempt ran = attempt(key(1), 2, "alice", JobState::running);
  store({ran});
  EXPECT_EQ(ask().rows(0).state(), "RUNNING");
  ran.state = JobState::completed;
  ran.ended = at(600);
  store({ran});
  AccountingFilter f;
  f.all_attempts = true;
  const auto all = ask(f);
  ASSERT_EQ(all.rows_size(), 2);
  EXPECT_EQ(ask().rows_size(), 1);
}

}  // namespace
}  // namespace ares::store
