// Runaway attempts, the audit log, and archived months that are purged and loaded again, on a real PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "store/accounting/archive.h"
#include "store/accounting/audit_log.h"
#include "store/accounting/report.h"
#include "store/accounting/rollup.h"
#include "store/accounting/runaways.h"
#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"
#include "unit/store/usage_history.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PgServer;
using testing::UsageHistory;
using PurgeResult = Archive::PurgeResult;

const Time kJanuary{std::chrono::sys_days(std::chrono::year(2030) / 1 / 1)};
const Time kFebruary{std::chrono::sys_days(std::chrono::year(2030) / 2 / 1)};
const Principal kAda{UserId(7), GroupId(7), "ada", "head"};

class MaintenanceTest : public ::testing::Test {
 protected:
  Opened open() {
    auto opened = journal_.open();
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : Opened{};
  }
  std::string sql(const std::string& statement) { return server_.sql(options_, statement); }
  std::int64_t count(const std::string& from) {
    return std::stoll(sql("SELECT count(*) FROM " + from));
  }
  void roll_all() {
    for (;;) {
      const auto more = rollup_.next();
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
  }
  // All rows of reports about this time, as one text.
  std::string report(Time from, Time to) {
    std::string all;
    for (const auto kind : {api::Report::UTILIZATION, api::Report::USAGE}) {
      ReportFilter filter;
      filter.kind = kind;
      filter.start = from;
      filter.end = to;
      filter.by_account = filter.by_user = filter.by_qos = true;
      const auto rows = reports_.query(filter);
      EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
      if (rows)
        for (const auto& row : *rows) all += row.ShortDebugString() + "\n";
    }
    return all;
  }
  std::vector<std::string> rows_of(Time month, ArchiveSum& sum) {
    std::vector<std::string> all;
    Archive::Cursor cursor;
    for (;;) {
      const auto page = archive_.page(month, cursor, sum);
      EXPECT_TRUE(page) << (page ? "" : page.error().message);
      if (!page || page->empty()) return all;
      all.insert(all.end(), page->begin(), page->end());
    }
  }
  PurgeResult purge(const ArchiveSum& sum, const std::string& file = "f.json") {
    const auto done = archive_.purge(kJanuary, file, sum, kFebruary);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? *done : PurgeResult::busy;
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgJournal journal_{options_};
  Reports reports_{options_};
  Rollup rollup_{options_};
  Archive archive_{options_};
};

TEST_F(MaintenanceTest, LiveAttemptWithoutAJobIsARunaway) {
  UsageHistory history(journal_, open(), 3);
  history.live(150);
  roll_all();
  Runaways runaways(options_);
  // This history writes no job records, so that all live attempts are runaways, except this one.
  const std::string one = sql("SELECT job_id FROM attempt_live ORDER BY job_id LIMIT 1");
  ASSERT_NE(one, "");
  sql("INSERT INTO job VALUES (" + one + ", -1, 1, 'RUNNING', '', '', 1, '', '')");
  auto found = runaways.list();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->rows_size(), count("attempt_live") - 1);
  ASSERT_GE(found->rows_size(), 2);

  std::vector<AttemptKey> all = {{{JobId(std::stoull(one)), {}}, AttemptNo(1)}};
  for (const auto& row : found->rows())
    all.push_back({{JobId(row.job().job()), {}}, AttemptNo(row.attempt())});
  const std::int64_t done_before = count("attempt_done");
  const auto stale = runaways.end(all, kAda, Epoch(99), history.now());
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, ErrorCode::stale);
  EXPECT_EQ(count("attempt_done"), done_before);

  const auto ended = runaways.end(all, kAda, Epoch(1), history.now());
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(*ended, all.size() - 1) << "the known one goes on";
  EXPECT_EQ(count("attempt_live"), 1);
  EXPECT_EQ(count("attempt_done WHERE state = 'CANCELLED' AND cancelled_by = 7 AND "
                  "released = greatest(allocated, started)"),
            found->rows_size());
  EXPECT_EQ(runaways.list()->rows_size(), 0);
  EXPECT_EQ(*runaways.end(all, kAda, Epoch(1), history.now()), 0u) << "twice does nothing";

  // Rollups from the first of them on are computed again, as if they had not existed.
  const Time from = std::chrono::floor<std::chrono::hours>(history.begin());
  const std::string of_records = report(from, history.now());
  roll_all();
  EXPECT_EQ(report(from, history.now()), of_records);
  sql("UPDATE rollup SET from_hour = NULL, to_hour = NULL");
  EXPECT_EQ(report(from, history.now()), of_records);

  AuditLog audit(options_);
  const auto rows = audit.query({});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->rows_size(), 1);
  EXPECT_EQ(rows->rows(0).user(), "ada");
  EXPECT_EQ(rows->rows(0).action(), "end runaway jobs");
  EXPECT_THAT(rows->rows(0).subject(), HasSubstr("job "));
}

TEST_F(MaintenanceTest, AuditIsFilteredByUserTimeAndAction) {
  open();
  sql("INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) SELECT "
      "'2030-01-01 00:00Z'::timestamptz + n * interval '1 hour', n, CASE n % 2 WHEN 0 THEN 'ada' "
      "ELSE 'bob' END, 'h', CASE n % 3 WHEN 0 THEN 'submit' ELSE 'drain node' END, 'node n' || n, "
      "'ok' FROM generate_series(0, 5) n");
  AuditLog audit(options_);
  const auto subjects = [&](const AuditFilter& filter) {
    std::vector<std::string> out;
    const auto page = audit.query(filter);
    EXPECT_TRUE(page) << (page ? "" : page.error().message);
    for (const auto& row : page->rows()) out.push_back(row.subject());
    return out;
  };
  EXPECT_THAT(subjects({}), ElementsAre("node n1", "node n2", "node n4", "node n5"));
  AuditFilter filter;
  filter.users = {"ada"};
  EXPECT_THAT(subjects(filter), ElementsAre("node n2", "node n4"));
  filter.all_actions = true;
  EXPECT_THAT(subjects(filter), ElementsAre("node n0", "node n2", "node n4"));
  filter.start = kJanuary + std::chrono::hours(2);
  filter.end = kJanuary + std::chrono::hours(4);
  EXPECT_THAT(subjects(filter), ElementsAre("node n2"));
  AuditFilter submits;
  submits.actions = {"submit"};
  EXPECT_THAT(subjects(submits), ElementsAre("node n0", "node n3"));
  submits.after = audit.query(submits)->rows(0).id();
  EXPECT_THAT(subjects(submits), ElementsAre("node n3"));
}

TEST_F(MaintenanceTest, ArchivedMonthLeavesReportsUnchangedAndLoadsCompletely) {
  UsageHistory history(journal_, open(), 4);
  history.live(600);
  ASSERT_GT(history.now(), kFebruary + std::chrono::hours(5));
  const Time from = std::chrono::floor<std::chrono::hours>(history.begin());
  // Incomplete hours are computed from records, which are to be purged.
  const Time to = std::chrono::floor<std::chrono::hours>(history.now());
  const std::string before = report(from, to);
  const std::int64_t in_february = count("attempt_done WHERE ended >= '2030-02-01 00:00Z'");
  EXPECT_FALSE(*archive_.next(kJanuary, true)) << "no month is over";
  const auto month = archive_.next(kFebruary, false);
  ASSERT_TRUE(month) << month.error().message;
  ASSERT_EQ(*month, kJanuary);

  ArchiveSum sum;
  const auto rows = rows_of(kJanuary, sum);
  EXPECT_EQ(sum.rows, rows.size());
  EXPECT_EQ(rows.size() + static_cast<std::size_t>(in_february),
            static_cast<std::size_t>(count("attempt_done")));
  EXPECT_EQ(purge(sum), PurgeResult::early) << "nothing is summed up yet";
  roll_all();
  ArchiveSum wrong = sum;
  wrong.add(1);
  EXPECT_EQ(purge(wrong), PurgeResult::changed);
  {
    auto reader = PgConnection::connect(options_, PgConnection::Use::report);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->query("BEGIN"));
    ASSERT_TRUE(reader->query("SELECT count(*) FROM attempt_done"));
    EXPECT_EQ(purge(sum), PurgeResult::busy);
    ASSERT_TRUE(reader->query("COMMIT"));
  }
  ASSERT_EQ(purge(sum), PurgeResult::done);
  EXPECT_EQ(count("attempt_done"), in_february);
  EXPECT_EQ(report(from, to), before) << "sums stay";
  EXPECT_FALSE(*archive_.next(kFebruary, true));
  // Recomputed rollups keep the sums whose records have been purged.
  ASSERT_TRUE(rollup_.again(from, to));
  EXPECT_EQ(report(from, to), before);
  history.live(20);
  roll_all();
  EXPECT_EQ(report(from, to), before);

  const auto files = archive_.files();
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1u);
  EXPECT_EQ((*files)[0].name, "f.json");
  EXPECT_EQ((*files)[0].began, kJanuary);
  EXPECT_EQ((*files)[0].ended, kFebruary);
  EXPECT_EQ((*files)[0].rows, rows.size());
  EXPECT_FALSE((*files)[0].loaded);

  // Some attempts held their nodes long after their end in January: their rows are stored only now.
  const std::int64_t late = count("attempt_done WHERE ended < '2030-02-01 00:00Z'");
  // Load in two parts, as after a crash; a second load adds nothing.
  const std::vector<std::string> half(rows.begin(),
                                      rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2));
  ASSERT_TRUE(*archive_.begin_load((*files)[0], kFebruary));
  EXPECT_EQ(*archive_.load(half), half.size());
  EXPECT_EQ(*archive_.load(rows), rows.size() - half.size());
  EXPECT_EQ(*archive_.load(rows), 0u);
  EXPECT_EQ(report(from, to), before) << "nothing counts twice";
  EXPECT_FALSE(*archive_.next(kFebruary, false)) << "loaded back, it stays";
  EXPECT_EQ(**archive_.next(kFebruary, true), kJanuary);
  ArchiveSum again;
  const auto back = rows_of(kJanuary, again);
  EXPECT_EQ(back.size(), rows.size() + static_cast<std::size_t>(late));
  const std::set<std::string> all(back.begin(), back.end());
  for (const std::string& row : rows) ASSERT_TRUE(all.contains(row)) << row;

  history.live(30);
  roll_all();
  ArchiveSum last;
  rows_of(kJanuary, last);
  EXPECT_EQ(purge(last, "f-2.json"), PurgeResult::done);
  const auto there = archive_.files();
  ASSERT_TRUE(there);
  EXPECT_EQ(there->size(), 2u);
  for (const ArchivedFile& file : *there) EXPECT_FALSE(file.loaded) << file.name;
  EXPECT_EQ(report(from, to), before);
}

TEST_F(MaintenanceTest, FilesOfOlderReleasesLoadAndOfNewerOnesAreRefused) {
  UsageHistory history(journal_, open(), 5);
  history.live(100);
  ArchiveSum sum;
  auto rows = rows_of(kJanuary, sum);
  ASSERT_FALSE(rows.empty());
  const std::string key = "\"suspended\":";
  std::string older = rows[0];
  const auto at = older.find(key);
  ASSERT_NE(at, std::string::npos);
  older.erase(at, older.find(',', at) + 1 - at);
  const std::int64_t there = count("attempt_done");
  sql("DELETE FROM attempt_done WHERE ended = (SELECT ended FROM attempt_done ORDER BY job_id, "
      "task, attempt, ended LIMIT 1)");
  ASSERT_EQ(count("attempt_done"), there - 1);
  EXPECT_EQ(*archive_.load({older}), 1u) << "a column that it did not have has its usual value";
  EXPECT_EQ(count("attempt_done WHERE suspended = 0"), there);
  std::string newer = rows[0];
  newer.insert(1, "\"colour\":\"red\",");
  const auto refused = archive_.load({newer});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(refused.error().message, HasSubstr("newer release: it has a column colour"));
}

}  // namespace
}  // namespace ares::store
