// Tests: edit_request, aacctmgr/records, aacctmgr/selection, expand_add, expand_modify, aacctmgr/edit/property
// Tests: expand_remove, properties, property_parts, qos_properties
// Edit requests and the changes that they make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aacctmgr/edit/preview.h"
#include "unit/aacctmgr/site.h"

namespace ares::aacctmgr {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The preview of the changes that a command makes.
std::string done(const std::string& text, const Snapshot& snapshot = site()) {
  const auto made = after(snapshot, text);
  EXPECT_TRUE(made) << text << ": " << made.error().message;
  if (!made) return {};
  EXPECT_EQ(reference_error(*made), "") << text;
  return preview(changes_between(snapshot.records, *made));
}

std::string refused(const std::string& text, const Snapshot& snapshot = site()) {
  const auto made = after(snapshot, text);
  EXPECT_FALSE(made) << text << ":\n"
                     << (made ? preview(changes_between(snapshot.records, *made)) : "");
  return made ? "" : made.error().message;
}

TEST(Expand, ExampleSiteIsValid) {
  EXPECT_EQ(reference_error(site().records), "");
}

TEST(Expand, AddsAccounts) {
  EXPECT_EQ(done("add account chemistry parent=science fairshare=7 MaxTRESPerJob=cpu=4"),
            "  add account chemistry\n    parent: science\n    description: chemistry\n"
            "    organization: chemistry\n    fairshare: 7\n    MaxTRESPerJob: cpu=4\n");
  const std::string two = done("add accounts x,y");
  EXPECT_THAT(two, HasSubstr("add account x\n    parent: root"));
  EXPECT_THAT(two, HasSubstr("add account y"));
  EXPECT_THAT(refused("add account physics"), HasSubstr("account physics exists already"));
}

TEST(Expand, AddsUsersToAccounts) {
  EXPECT_EQ(done("add user eve account=physics,biology qos=high"),
            "  add user eve\n    defaultaccount: physics\n"
            "  add user eve in account biology\n    qos: high\n"
            "  add user eve in account physics\n    qos: high\n");
  EXPECT_EQ(done("add user ada acct=biology partition=gpu,cpu fairshare=parent"),
            "  add user ada in account biology, partition cpu\n    fairshare: parent\n"
            "  add user ada in account biology, partition gpu\n    fairshare: parent\n")
      << "the user exists, and the default account is kept";
  EXPECT_EQ(done("add user ada account=biology defaultaccount=biology"),
            "  modify user ada\n    defaultaccount: physics -> biology\n"
            "  add user ada in account biology\n");
  EXPECT_THAT(refused("add user eve"), HasSubstr("account=NAME"));
  EXPECT_THAT(refused("add user eve account="), HasSubstr("account= names nothing"));
  EXPECT_THAT(refused("add user eve account=phisics"), HasSubstr("did you mean \"physics\""));
  EXPECT_THAT(refused("add user eve account=physics adminlevel=admin"), HasSubstr("ares.yaml"));
}

TEST(Expand, AddsQosCoordinatorsAndWckeys) {
  EXPECT_EQ(done("add qos night priority=5 flags=denyonlimit,RequiresReservation usagefactor=0.5 "
                 "MaxWall=3"),
            "  add QOS night\n    priority: 5\n    flags: DenyOnLimit,RequiresReservation\n    "
            "usagefactor: 0.5\n"
            "    MaxWall: 00:03:00\n");
  EXPECT_EQ(
      done("add qos top preempt=high,normal preemptmode=Cancel preemptexempttime=5 gracetime=90 "
           "limitfactor=1.5 usagethreshold=0.25"),
      "  add QOS top\n    limitfactor: 1.5\n    usagethreshold: 0.25\n"
      "    preempt: high,normal\n    preemptmode: cancel\n"
      "    preemptexempttime: 00:05:00\n    gracetime: 00:01:30\n");
  EXPECT_EQ(done("add coordinator account=biology,physics names=bob"),
            "  modify account biology\n    coordinators: (none) -> bob\n"
            "  modify account physics\n    coordinators: ada -> ada,bob\n");
  EXPECT_EQ(done("add wckey k user=ada,bob"),
            "  add wckey k of user ada\n  add wckey k of user bob\n");
  EXPECT_THAT(refused("add cluster c"), HasSubstr("neither added nor deleted"));
}

TEST(Expand, ModifiesSelectedRecords) {
  EXPECT_EQ(
      done("modify account where name=physics set parent=root descr=stars"),
      "  modify account physics\n    parent: science -> root\n    description: (none) -> stars\n");
  EXPECT_EQ(done("modify user bob set fairshare=3"),
            "  modify user bob in account biology\n    fairshare: 1 -> 3\n"
            "  modify user bob in account biology, partition gpu\n    fairshare: 1 -> 3\n"
            "  modify user bob in account physics\n    fairshare: 1 -> 3\n");
  EXPECT_EQ(
      done("modify user where user=bob account=biology partition=gpu set MaxWall=2"),
      "  modify user bob in account biology, partition gpu\n    MaxWall: (none) -> 00:02:00\n");
  EXPECT_EQ(done("modify user where user=bob set defaultaccount=biology"),
            "  modify user bob\n    defaultaccount: physics -> biology\n");
  EXPECT_EQ(done("modify cluster set MaxWall=9"),
            "  modify account root\n    MaxWall: (none) -> 00:09:00\n");
  EXPECT_EQ(done("modify cluster c set MaxWall=9"), done("modify account root set MaxWall=9"));
  EXPECT_EQ(done("modify association where account=biology user=bob set priority=1"),
            done("modify user where account=biology user=bob set priority=1"));
}

TEST(Expand, ListsAreExtendedAndReduced) {
  EXPECT_EQ(done("modify account biology set qos+=high,normal"),
            "  modify account biology\n    qos: (none) -> high,normal\n");
  EXPECT_EQ(done("modify account physics set qos-=normal"),
            "  modify account physics\n    qos: high,normal -> high\n");
  EXPECT_EQ(done("modify user bob where account=physics set qos-=normal"),
            "  modify user bob in account physics\n    qos: (none) -> high\n")
      << "without a list of its own it begins with the inherited one";
  EXPECT_EQ(done("modify user bob where account=physics set qos+=high"), "")
      << "it inherits that one";
  EXPECT_EQ(done("modify account science set qos+=high"),
            "  modify account science\n    qos: (none) -> high,normal\n");
  EXPECT_EQ(done("modify account physics set coordinators-=ada"),
            "  modify account physics\n    coordinators: ada -> (none)\n");
  EXPECT_EQ(done("modify qos high set flags+=DenyOnLimit"),
            "  modify QOS high\n    flags: (none) -> DenyOnLimit\n");
  EXPECT_THAT(refused("modify account biology set fairshare+=3"), HasSubstr("fairshare takes ="));
}

TEST(Expand, InvalidEditsAreRefused) {
  EXPECT_THAT(refused("modify account set fairshare=3"), HasSubstr("say which"));
  EXPECT_THAT(refused("modify account where name=none set fairshare=3"),
              HasSubstr("no account none"));
  EXPECT_THAT(refused("modify user where user=ada account=biology set fairshare=3"),
              HasSubstr("no user is like that"));
  EXPECT_THAT(refused("modify account physics set fairshair=3"),
              HasSubstr("did you mean \"fairshare\""));
  EXPECT_THAT(refused("modify account physics set m=3"), HasSubstr("could be"));
  EXPECT_THAT(refused("modify user ada set default=x"),
              HasSubstr("could be defaultaccount, defaultwckey, defaultqos"));
  EXPECT_THAT(refused("modify account where cluster=d name=physics set fairshare=3"),
              HasSubstr("cluster is c, not d"));
  EXPECT_THAT(refused("modify account physics set grpcpus=3"), HasSubstr("GrpTRES=cpu=100"));
  EXPECT_THAT(refused("modify qos high set preemptmode=maybe"), HasSubstr("none of cluster, off"));
  EXPECT_THAT(refused("modify qos high set gracetime=unlimited"),
              HasSubstr("a number of seconds, or as 1:30:00"));
  EXPECT_THAT(refused("modify qos high set newname=low"), HasSubstr("not supported yet"));
  EXPECT_THAT(refused("delete account root"), HasSubstr("above all"));
  EXPECT_THAT(refused("delete qos normal"), HasSubstr("cannot be deleted"));
  EXPECT_THAT(refused("delete user"), HasSubstr("say which"));
}

TEST(Expand, RemovingAnAccountRemovesAllBelowIt) {
  const std::string text = done("delete account biology");
  EXPECT_THAT(text, HasSubstr("remove account biology\n  remove user bob in account biology\n"
                              "  remove user bob in account biology, partition gpu\n"));
  EXPECT_THAT(text, HasSubstr("InvalidAccount"));
  const std::string all = done("delete account science");
  EXPECT_THAT(all, HasSubstr("remove account physics"));
  EXPECT_THAT(all, HasSubstr("bob\n    defaultaccount: physics -> (none)"));
}

TEST(Expand, RemovingAUserRemovesAllRecordsOfTheUser) {
  EXPECT_THAT(
      done("delete user name=ada"),
      HasSubstr("modify account physics\n    coordinators: ada -> (none)\n  remove user ada\n"
                "  remove user ada in account physics\n"));
  EXPECT_THAT(done("delete user bob"), HasSubstr("remove wckey key of user bob"));
  EXPECT_EQ(done("delete coordinator account=physics names=ada"),
            "  modify account physics\n    coordinators: ada -> (none)\n");
}

TEST(Expand, DefaultAccountOfAUserWhoHasOthersStays) {
  const char* const advice =
      "account physics is the default account of user bob; first give another "
      "one: modify user bob set defaultaccount=biology";
  EXPECT_EQ(refused("delete user bob account=physics"), advice);
  EXPECT_EQ(refused("delete account where name=physics"), advice);
  EXPECT_THAT(
      done("delete user ada account=physics"),
      HasSubstr("defaultaccount: physics -> (none)\n  remove user ada in account physics\n"))
      << "she has no other";
}

TEST(Expand, RemovedQosLeavesListsAndDefaults) {
  EXPECT_THAT(done("delete qos high"),
              HasSubstr("modify account physics\n    qos: high,normal -> normal\n"
                        "    defaultqos: high -> (none)\n  remove QOS high\n"));
}

TEST(Expand, RepairOfValidRecordsChangesNothing) {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const Records before = random_tree(random);
    Records mended = before;
    remove_dangling_references(mended);
    EXPECT_THAT(changes_between(before, mended), IsEmpty());
    // After removal of any single record and the repair, the rest is valid again.
    std::vector<RecordKey> keys;
    before.for_each([&](const RecordKey& key, const AccountingRecord&) {
      if (key.name != kRootAccount && key.name != kNormalQos) keys.push_back(key);
    });
    if (keys.empty()) continue;
    mended.erase(keys[random.below(keys.size())]);
    remove_dangling_references(mended);
    // A default QOS that the account above does not allow any more is left to the site: the controller names it.
    const std::string said = reference_error(mended);
    EXPECT_TRUE(said.empty() || said.find("is not one of those it may use") != std::string::npos)
        << said;
  }
}

}  // namespace
}  // namespace ares::aacctmgr
