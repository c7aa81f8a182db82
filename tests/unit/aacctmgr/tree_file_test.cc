// Tests: aacctmgr/load, aacctmgr/records, dump
// Files of dump and load.
#include "aacctmgr/file/tree_file.h"
#include "core/accounts/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aacctmgr/edit/preview.h"
#include "unit/aacctmgr/site.h"

namespace ares::aacctmgr {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(TreeFile, DumpIsReadableText) {
  Snapshot snapshot = site();
  snapshot.records.erase({RecordKind::association, "biology", "bob", {}});
  EXPECT_THAT(dump_text(snapshot), HasSubstr(R"(cluster: c
qos:
  high: {}
  normal:
    description: of jobs that name no other
accounts:
  root:
    description: the cluster
    accounts:
      science:
        accounts:
          biology:
            users:
              - user: bob
                partition: gpu
          physics:
            coordinators: ada
            qos: high,normal
            defaultqos: high
            users:
              - user: ada
              - user: bob
users:
  ada:
    defaultaccount: physics
  bob:
    defaultaccount: physics
    wckeys: key
)"));
}

TEST(TreeFile, LoadingADumpChangesNothing) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    Snapshot snapshot;
    snapshot.cluster = "c";
    snapshot.records = random_tree(random);
    ASSERT_EQ(reference_error(snapshot.records), "");
    const auto read = parse_tree(dump_text(snapshot), "tree.yaml");
    ASSERT_TRUE(read) << read.error().message << "\n" << dump_text(snapshot);
    EXPECT_EQ(read->cluster, "c");
    for (const bool clean : {false, true})
      ASSERT_EQ(preview(changes_between(snapshot.records,
                                        merged(snapshot.records, read->records, clean))),
                "")
          << dump_text(snapshot);
    // Loaded into an empty or another site it gives the same records.
    Records empty;
    add_roots(empty);
    Records wanted = read->records;  // the roots have their ids already
    for (const AccountingRecord& root :
         {AccountingRecord(core::root_account()), AccountingRecord(core::normal_qos())})
      if (const AccountingRecord* found = wanted.find(key_of(root))) {
        AccountingRecord numbered = *found;
        if (auto* account = std::get_if<Account>(&numbered)) account->id = kRootAssociation;
        if (auto* qos = std::get_if<Qos>(&numbered)) qos->id = kNormalQosId;
        wanted.set(key_of(root), numbered);
      }
    ASSERT_EQ(preview(changes_between(merged(empty, read->records, false), wanted)), "");
    ASSERT_EQ(preview(changes_between(merged(random_tree(random), read->records, true), wanted)),
              "");
  }
}

TEST(TreeFile, AcceptsShortAndNestedForms) {
  const auto read = parse_tree(R"(
accounts:
  root:
    accounts:
      a:
        MaxTRESPerJob: {cpu: 4, mem: 2G}
        MaxWall: 1-00
        qos: [normal]
        users: [ada, {user: bob, fairshare: parent}]
users:
  ada: {defaultacct: a}
  bob:
)",
                               "t.yaml");
  ASSERT_TRUE(read) << read.error().message;
  const Account& a = *core::find_account(read->records, "a");
  EXPECT_EQ(a.parent, "root");
  EXPECT_EQ(limit_of(a.terms.limits, LimitKind::max_tres_per_job, "mem"), 2048u);
  EXPECT_EQ(limit_of(a.terms.limits, LimitKind::max_wall), 1440u);
  EXPECT_FALSE(core::find_association(read->records, "a", "bob")->terms.shares);
  EXPECT_TRUE(core::find_association(read->records, "a", "ada"));
  EXPECT_EQ(core::find_user(read->records, "ada")->default_account, "a");
}

std::string refused(const std::string& text) {
  const auto read = parse_tree(text, "t.yaml");
  EXPECT_FALSE(read) << text;
  return read ? "" : read.error().message;
}

TEST(TreeFile, WckeysMayBeAListOfLists) {
  const auto read = parse_tree("users:\n  ada: {wckeys: [\" a\", \"b,c\", null]}\n", "t.yaml");
  ASSERT_TRUE(read) << read.error().message;
  std::vector<std::string> names;
  each_of<Wckey>(read->records, RecordKind::wckey,
                 [&](const Wckey& one) { names.push_back(one.key.name); });
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "c"));
}

TEST(TreeFile, NamesAreNotEmpty) {
  EXPECT_THAT(refused("accounts:\n  root:\n    users: [\"\"]\n"),
              HasSubstr("t.yaml:3: a name is empty"));
  EXPECT_THAT(refused("qos:\n  \"\": {}\n"), HasSubstr("t.yaml:2: a name is empty"));
}

TEST(TreeFile, ErrorsNameTheLine) {
  EXPECT_THAT(refused("acounts: {}\n"), HasSubstr("t.yaml:1: unknown \"acounts\""));
  EXPECT_THAT(refused("accounts:\n  a: {}\n"), HasSubstr("t.yaml:2: the one account at the top"));
  EXPECT_THAT(refused("qos:\n  q:\n    prioritty: 4\n"),
              HasSubstr("t.yaml:3: QOS q: unknown \"prioritty\"; did you mean \"priority\""));
  EXPECT_THAT(refused("accounts:\n  root:\n    GrpTRES: cpus=4\n"),
              HasSubstr("t.yaml:3: account root"));
  EXPECT_THAT(refused("accounts:\n  root:\n    users: [a, a]\n"), HasSubstr("is there twice"));
  EXPECT_THAT(refused("accounts:\n  root:\n    accounts: {a: {accounts: {a: {}}}}\n"),
              HasSubstr("account a is there twice"));
  EXPECT_THAT(refused("accounts:\n  root:\n    users: {a: {}}\n"),
              HasSubstr("t.yaml:3: users is a list"));
  EXPECT_THAT(refused("users:\n  ada: [x]\n"), HasSubstr("is a map"));
}

TEST(TreeFile, CleanRemovesRecordsThatAreNotInTheFile) {
  const Snapshot snapshot = site();
  const auto read = parse_tree("accounts: {root: {description: the cluster}}\n", "t.yaml");
  ASSERT_TRUE(read);
  EXPECT_EQ(
      preview(changes_between(snapshot.records, merged(snapshot.records, read->records, false))),
      "");
  EXPECT_EQ(
      count_text(changes_between(snapshot.records, merged(snapshot.records, read->records, true))),
      "11 removed");
}

}  // namespace
}  // namespace ares::aacctmgr
