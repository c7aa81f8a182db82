// Queries use a replica while it is available; a second database of the same server stands in for it.
#include "store/pg/pg_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/pg/pg_journal.h"
#include "unit/store/pg_server.h"

namespace ares::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PgServer;

class PgPoolTest : public ::testing::Test {
 protected:
  PgPoolTest() {
    {
      PgJournal journal(options_);
      EXPECT_TRUE(journal.open());
    }
    server_.sql(options_, "CREATE TABLE place AS SELECT 'database' AS name");
    options_.replica_system = server_.sql(options_, "SELECT system::text FROM controller");
    copy_ = server_.new_database();
    for (const char* table : {"controller", "place"}) {
      const std::string system = "'" + options_.replica_system + "'::uuid AS system";
      server_.sql(copy_,
                  std::string("CREATE TABLE ") + table + " AS SELECT 'replica' AS name, " + system);
    }
    server_.sql(copy_, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC");
    server_.sql(options_, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC");
    options_.replica = "dbname=" + copy_.database;
    options_.on_replica_change = [this](const std::string& text) { told_.push_back(text); };
  }
  std::string ask(PgPool& pool) {
    const auto rows = pool.query("SELECT name FROM place");
    EXPECT_TRUE(rows) << (rows ? "" : rows.error().message);
    return rows ? rows->text(0, 0) : "";
  }

  PgServer server_;
  PgOptions options_ = server_.new_database();
  PgOptions copy_;
  std::vector<std::string> told_;
};

TEST_F(PgPoolTest, ReplicaIsUsedAndTheDatabaseWhileItIsUnavailable) {
  PgPool pool(options_, 2);
  EXPECT_EQ(ask(pool), "replica");
  const auto both = pool.query_twice("SELECT name FROM place", [](const PgRows& first) {
    return PgPool::Statement("SELECT '" + first.text(0, 0) + "' || name FROM place", {});
  });
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->text(0, 0), "replicareplica");
  EXPECT_THAT(told_, ElementsAre());
  server_.sql(options_, "ALTER DATABASE " + copy_.database + " ALLOW_CONNECTIONS false");
  server_.sql(options_, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" +
                            copy_.database + "'");
  EXPECT_EQ(ask(pool), "database") << "the kept connection is gone, and no new one is to be had";
  EXPECT_EQ(ask(pool), "database");
  EXPECT_THAT(told_, ElementsAre(HasSubstr("from the database itself for now")));
}

TEST_F(PgPoolTest, DatabaseThatIsNotACopyIsNotUsed) {
  options_.replica_system = "00000000-0000-0000-0000-000000000000";
  PgPool pool(options_, 2);
  EXPECT_EQ(ask(pool), "database");
  EXPECT_THAT(told_, ElementsAre(HasSubstr("is no copy of this database")));
}

TEST_F(PgPoolTest, WithoutAReplicaTheDatabaseIsUsed) {
  options_.replica.clear();
  PgPool pool(options_, 2);
  EXPECT_EQ(ask(pool), "database");
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace ares::store
