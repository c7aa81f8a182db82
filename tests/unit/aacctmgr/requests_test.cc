// Tests: aacctmgr/records
// Changes that are sent in several requests: the engine must accept each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aacctmgr/edit/preview.h"
#include "unit/aacctmgr/site.h"

namespace ares::aacctmgr {
namespace {

// Like the engine: applies all changes, then checks changed records and references to removed ones.
std::string take(Records& records, const std::vector<Change>& changes, std::uint64_t lsn) {
  std::vector<AccountingRecord> set;
  std::vector<RecordKey> removed;
  for (const Change& change : changes) {
    const AccountingRecord* found = records.find(change.key);
    if ((change.verb == Change::Verb::add) == (found != nullptr))
      return describe(change.key) + " is there, or is not";
    if (found && changed_at(*found) != changed_at(*change.before))
      return describe(change.key) + " was changed meanwhile";
    if (!change.after) {
      removed.push_back(change.key);
      records.erase(change.key);
      continue;
    }
    AccountingRecord record = *change.after;
    std::visit([&](auto& one) { one.changed = Lsn(lsn); }, record);
    records.set(change.key, record);
    set.push_back(std::move(record));
  }
  for (const AccountingRecord& record : set)
    if (const Status ok = core::check_record(records, record); !ok) return ok.error().message;
  const Status ok = core::check_removed(records, removed);
  return ok ? "" : ok.error().message;
}

TEST(Requests, EachRequestIsValidAndTheSumIsComplete) {
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    const Records before = random_tree(random), file = random_tree(random);
    const Records after = merged(before, file, random.percent(60));
    if (!reference_error(after).empty()) continue;  // such a file is refused in any order
    const std::size_t most = 1 + random.below(6);
    Records now = before;
    std::uint64_t lsn = 10;
    const Records first = first_round(before, after);
    for (const auto& part : in_requests(changes_between(before, first), first, most))
      ASSERT_EQ(take(now, part, ++lsn), "") << preview(part) << "\nof\n"
                                            << preview(changes_between(before, after));
    const Records target = second_round(before, after, now);
    for (const auto& part : in_requests(changes_between(now, target), target, most))
      ASSERT_EQ(take(now, part, ++lsn), "") << preview(part) << "\nin the second round of\n"
                                            << preview(changes_between(before, after));
    ASSERT_TRUE(changes_between(now, merged(now, after, true)).empty());
  }
}

TEST(Requests, RecordsOfAUserStayInOneRequest) {
  Records before, after;
  add_roots(before);
  after = before;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "u" + std::to_string(i);
    put(after, user(name, "root"));
    put(after, member(name, "root"));
    put(after, Wckey{{"w", name}, {}, {}});
  }
  const auto parts = in_requests(changes_between(before, after), after, 7);
  ASSERT_EQ(parts.size(), 5u);
  for (const auto& part : parts) EXPECT_EQ(part.size(), 6u);
}

}  // namespace
}  // namespace ares::aacctmgr
