// Tests: report_sql
// Reports and their rollups on a real PostgreSQL, compared with a count second by second.
#include "store/accounting/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/accounting/rollup.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/usage_history.h"

namespace ares::store {
namespace {

using testing::Capacity;
using testing::PgServer;
using testing::Told;
using testing::Usage;
using testing::UsageHistory;

class ReportTest : public ::testing::Test {
 protected:
  Opened open() {
    auto opened = journal_.open();
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : Opened{};
  }

  auto rows(const ReportFilter& filter) {
    auto found = reports_.query(filter);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? *found : google::protobuf::RepeatedPtrField<api::Reported::Row>();
  }

  Capacity capacity(Time from, Time to) {
    ReportFilter filter;
    filter.start = from;
    filter.end = to;
    Capacity out;
    for (const auto& row : rows(filter)) {
      const Told told{row.allocated(), row.down(), row.drained(),
                      row.reserved(),  row.idle(), row.over()};
      if (told != Told{}) out[row.tres()] = told;
    }
    return out;
  }

  Usage usage(Time from, Time to) {
    ReportFilter filter;
    filter.kind = api::Report::USAGE;
    filter.start = from;
    filter.end = to;
    filter.by_account = filter.by_user = filter.by_qos = true;
    Usage out;
    for (const auto& row : rows(filter))
      out[{row.account(), row.user(), row.qos(), row.tres()}] = row.allocated();
    return out;
  }

  void roll_all() {
    for (;;) {
      const auto more = rollup_.next();
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
  }

  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }
  // All rollup rows as one text.
  std::string sums() {
    std::string all;
    for (const char* unit : {"hour", "day", "month"}) {
      const std::string u = unit;
      all +=
          sql("SELECT md5(coalesce(string_agg(u::text, ';' ORDER BY u.began, k.account, "
              "k.user_name, k.qos, u.tres_id), '')) FROM "
              "(SELECT began, seconds, tres_id, key_id FROM usage_" +
              u + ") u JOIN usage_key k USING (key_id)");
      all +=
          sql("SELECT md5(coalesce(string_agg(c::text, ';' ORDER BY c.began, c.tres_id), '')) FROM "
              "capacity_" +
              u + " c");
    }
    return all;
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Reports reports_{options_};
  Rollup rollup_{options_};
};

TEST_F(ReportTest, EmptyDatabaseHasEmptyReports) {
  open();
  const Time day{std::chrono::sys_days(std::chrono::year(2030) / 1 / 1)};
  EXPECT_TRUE(capacity(day, day + std::chrono::hours(24)).empty());
  EXPECT_TRUE(usage(day, day + std::chrono::hours(24)).empty());
  const auto range = rollup_.range();
  ASSERT_TRUE(range);
  EXPECT_FALSE(*range);
}

// Before, during and after the rollup a report equals a count second by second; the columns add up
// to the capacity; sums of users equal what is allocated plus what is held beyond the capacity.
TEST_F(ReportTest, ReportsEqualACountAtAnyStateOfTheRollup) {
  UsageHistory history(journal_, open(), 11);
  std::mt19937_64 random(3);
  for (int life = 0; life < 5; ++life) {
    history.live(60);
    for (int turn = 0; turn < 4; ++turn) {
      const auto length = static_cast<std::uint64_t>((history.now() - history.begin()).count());
      Time from = history.begin() + Duration(random() % length);
      Time to = history.begin() + Duration(random() % length);
      if (turn == 0) from = history.begin() - std::chrono::hours(3), to = history.now();
      if (from > to) std::swap(from, to);
      from = std::chrono::floor<Seconds>(from), to = std::chrono::floor<Seconds>(to);
      const Capacity told = capacity(from, to);
      ASSERT_EQ(told, history.capacity(from, to)) << "life " << life << " turn " << turn;
      const Usage held = usage(from, to);
      ASSERT_EQ(held, history.usage(from, to)) << "life " << life << " turn " << turn;
      std::map<std::string, std::int64_t> by_tres;
      for (const auto& [key, seconds] : held) by_tres[std::get<3>(key)] += seconds;
      for (const auto& [tres, seconds] : by_tres)
        EXPECT_EQ(told.at(tres).allocated + told.at(tres).over, seconds) << tres;
    }
    if (life == 1) {
      ASSERT_TRUE(rollup_.next());  // one day
    } else if (life > 1) {
      roll_all();
    }
  }
}

TEST_F(ReportTest, RepeatedRollupChangesNothing) {
  UsageHistory history(journal_, open(), 12);
  history.live(400);  // more than a day, across the end of a month
  roll_all();
  const std::string once = sums();
  EXPECT_NE(sql("SELECT count(*) FROM usage_day"), "0");
  EXPECT_NE(sql("SELECT count(*) FROM capacity_month"), "0");
  roll_all();
  EXPECT_EQ(sums(), once);
  ASSERT_TRUE(rollup_.again(history.begin() - std::chrono::hours(1000),
                            history.now() + std::chrono::hours(1000)));
  EXPECT_EQ(sums(), once);
}

TEST_F(ReportTest, DamagedRollupsAreRepaired) {
  UsageHistory history(journal_, open(), 13);
  history.live(300);
  roll_all();
  const std::string good = sums();
  sql("DELETE FROM usage_hour WHERE began < '2030-01-31'");
  sql("UPDATE capacity_day SET idle = 7");
  sql("DELETE FROM usage_month");
  EXPECT_NE(sums(), good);
  ASSERT_TRUE(rollup_.again(history.begin(), history.now()));
  EXPECT_EQ(sums(), good);
}

TEST_F(ReportTest, HoursAreRolledUpOnceComplete) {
  UsageHistory history(journal_, open(), 14);
  history.live(40);
  roll_all();
  const auto range = rollup_.range();
  ASSERT_TRUE(range);
  ASSERT_TRUE(*range);
  EXPECT_EQ((*range)->from, Time(std::chrono::floor<std::chrono::hours>(history.begin())));
  EXPECT_EQ((*range)->to, Time(std::chrono::floor<std::chrono::hours>(history.now())));
}

TEST_F(ReportTest, RollupBlocksNoCommit) {
  UsageHistory history(journal_, open(), 15);
  history.live(100);
  auto busy = PgConnection::connect(options_, PgConnection::Use::rollup);
  ASSERT_TRUE(busy);
  ASSERT_TRUE(busy->query("BEGIN"));
  ASSERT_TRUE(busy->query("SELECT rollup_next('1 day')"));
  // Its transaction locks what it reads and writes; commits and reports do not wait for it.
  history.live(20);
  EXPECT_EQ(capacity(history.begin(), history.now()).size(),
            history.capacity(history.begin(), history.now()).size());
  ASSERT_TRUE(busy->query("COMMIT"));
}

TEST_F(ReportTest, GroupsAndFiltersSelectRows) {
  UsageHistory history(journal_, open(), 16);
  history.live(120);
  ReportFilter filter;
  filter.kind = api::Report::USAGE;
  filter.start = history.begin();
  filter.end = history.now();
  filter.tres = {"cpu"};
  filter.users = {"user1"};
  filter.by_account = true;
  std::map<std::string, std::int64_t> expected, found;
  for (const auto& [key, seconds] : history.usage(filter.start, filter.end))
    if (std::get<1>(key) == "user1" && std::get<3>(key) == "cpu")
      expected[std::get<0>(key)] += seconds;
  for (const auto& row : rows(filter)) found[row.account()] = row.allocated();
  EXPECT_EQ(found, expected);
  EXPECT_FALSE(expected.empty());
}

TEST_F(ReportTest, SizesReservationsAndEfficiencyAreReported) {
  UsageHistory history(journal_, open(), 17);
  history.live(200);
  ReportFilter filter;
  filter.start = history.begin();
  filter.end = history.now();
  filter.kind = api::Report::SIZES;
  filter.sizes = {2, 4};
  filter.tres = {"cpu"};
  std::int64_t by_size = 0, all = 0;
  for (const auto& row : rows(filter)) {
    EXPECT_LE(row.size(), 2u);
    by_size += row.allocated();
  }
  for (const auto& [key, seconds] : history.usage(std::chrono::floor<Seconds>(filter.start),
                                                  std::chrono::floor<Seconds>(filter.end)))
    if (std::get<3>(key) == "cpu") all += seconds;
  EXPECT_EQ(by_size, all);
  filter.kind = api::Report::RESERVATIONS;
  EXPECT_FALSE(rows(filter).empty());
  for (const auto& row : rows(filter)) {
    EXPECT_GE(row.idle(), 0);
    EXPECT_LT(row.start(), row.end());
  }
  filter.kind = api::Report::EFFICIENCY;
  filter.by_user = true;
  const auto efficiency = rows(filter);
  EXPECT_FALSE(efficiency.empty());
  for (const auto& row : efficiency) EXPECT_TRUE(row.tres() == "cpu" || row.tres() == "mem");
}

TEST_F(ReportTest, ReaderRoleSeesOnlyTheViews) {
  UsageHistory history(journal_, open(), 18);
  history.live(60);
  roll_all();
  sql("CREATE ROLE dashboard LOGIN; GRANT ares_reader TO dashboard");
  PgOptions reader = options_;
  reader.user = "dashboard";
  auto connection = PgConnection::connect(reader, PgConnection::Use::report);
  ASSERT_TRUE(connection) << connection.error().message;
  for (const char* view :
       {"job", "usage_hour", "usage_day", "usage_month", "capacity_hour", "capacity_day",
        "capacity_month", "node_history", "reservation_history", "summed_up"})
    EXPECT_TRUE(connection->query((std::string("SELECT * FROM ares_views.") + view).c_str()))
        << view;
  for (const char* table : {"job", "blob", "attempt_done", "journal", "request", "usage_hour"})
    EXPECT_FALSE(connection->query((std::string("SELECT * FROM public.") + table).c_str()))
        << table;
}

TEST_F(ReportTest, ViewsAreLoadedOnceAndAfterAChange) {
  open();
  const std::string loaded =
      sql("SELECT string_agg(name || loaded, ',' ORDER BY name) FROM view_version");
  EXPECT_NE(loaded, "");
  open();
  EXPECT_EQ(sql("SELECT string_agg(name || loaded, ',' ORDER BY name) FROM view_version"), loaded);
  sql("UPDATE view_version SET checksum = 'old' WHERE name LIKE '0%'");
  open();
  EXPECT_EQ(sql("SELECT count(*) FROM view_version WHERE checksum = 'old'"), "0");
}

}  // namespace
}  // namespace ares::store
