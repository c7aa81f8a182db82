// Tests: aacctmgr/fields, aacctmgr/selection, line
// Listings, problems and completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aacctmgr/complete.h"
#include "aacctmgr/show/rows.h"
#include "unit/aacctmgr/site.h"

namespace ares::aacctmgr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

std::string shown(Entity entity, const std::string& words, const std::string& format,
                  ListingOptions listing = {}, PrintOptions how = {true, false, true}) {
  const Snapshot snapshot = site();
  const std::vector<std::string> cut = cli::split(words, ' ');
  const auto where = where_of(entity, *parse_line(cut));
  EXPECT_TRUE(where) << where.error().message;
  return print(rows_of(snapshot, entity, *where, listing).rows, *parse_fields(format), how);
}

TEST(Show, EachEntity) {
  EXPECT_EQ(shown(Entity::account, "", "account,parent"),
            "root|\nscience|root\nbiology|science\nphysics|science\n");
  EXPECT_EQ(shown(Entity::user, "", "User,DefaultAccount"), "ada|physics\nbob|physics\n");
  EXPECT_EQ(shown(Entity::user, "account=biology", "user"), "bob\n");
  EXPECT_EQ(shown(Entity::user, "ada", "user,account,partition", {.with_associations = true}),
            "ada|physics|\n");
  EXPECT_EQ(shown(Entity::association, "user=bob", "account,user,part,share"),
            "biology|bob||1\nbiology|bob|gpu|1\nphysics|bob||1\n");
  EXPECT_EQ(shown(Entity::association, "account=physics", "account,user,QOS,defqos"),
            "physics||high,normal|high\nphysics|ada||\nphysics|bob||\n");
  EXPECT_EQ(shown(Entity::qos, "high", "name,priority,flags,usagefactor"), "high|0||1\n");
  EXPECT_EQ(shown(Entity::coordinator, "", "account,user"), "physics|ada\n");
  EXPECT_EQ(shown(Entity::wckey, "", "wckey,user"), "key|bob\n");
  EXPECT_EQ(shown(Entity::cluster, "", "cluster,enforce,share"), "c|limits|1\n");
  EXPECT_EQ(shown(Entity::tres, "", "type,name"), "billing|\ncpu|\ngres|gpu\nmem|\nnode|\n");
}

TEST(Show, TreeIsIndentedAndColumnsAligned) {
  const std::string text = shown(Entity::association, "", "account,user%5", {.tree = true}, {});
  EXPECT_THAT(text, HasSubstr("Account     User\n---------- -----\nroot            \n science"));
  EXPECT_THAT(text, HasSubstr("\n   physics   ada\n   physics   bob\n"));
  EXPECT_EQ(shown(Entity::user, "", "user%2", {}, {true, false, false}), "a+\nb+\n");
}

TEST(Show, FieldsMayBeAbbreviated) {
  EXPECT_EQ((*parse_fields("fairshare"))[0].field->name, "Share");
  EXPECT_EQ((*parse_fields("maxtrespu"))[0].field->name, "MaxTRESPerUser");
  EXPECT_EQ((*parse_fields("org%-30"))[0].width, -30);
  EXPECT_THAT(parse_fields("acount").error().message, HasSubstr("did you mean \"Account\""));
  EXPECT_FALSE(parse_fields("de"));
  for (const EntityRow& row : entities())
    for (const bool with : {false, true}) EXPECT_TRUE(parse_fields(usual_fields(row.entity, with)));
}

TEST(Show, JsonHasEachRecordOnce) {
  const Snapshot snapshot = site();
  const std::string text = json_of(snapshot, rows_of(snapshot, Entity::account, {}, {}));
  EXPECT_THAT(text, HasSubstr("{\"name\": \"physics\", \"id\": 0, \"parent\": \"science\""));
  EXPECT_THAT(text, HasSubstr("\"coordinators\": [\"ada\"]"));
  EXPECT_THAT(text, HasSubstr("\"qos\": [\"high\", \"normal\"]"));
}

TEST(Problems, AreFound) {
  Snapshot snapshot = site();
  EXPECT_THAT(problems(snapshot), IsEmpty());
  put(snapshot.records, account("empty", "science"));
  put(snapshot.records, user("eve", ""));
  put(snapshot.records, user("ada", ""));
  put(snapshot.records, Wckey{{"k", "eve"}, {}, {}});
  EXPECT_THAT(problems(snapshot),
              ElementsAre("account empty has no users, nor has any below it",
                          "user ada has no default account", "user eve is in no account",
                          "wckey k is of user eve, who is in no account"));
}

TEST(Problems, IncludeMissingAndForbiddenQos) {
  Snapshot snapshot = site();
  Account physics =
      std::get<Account>(*snapshot.records.find({RecordKind::account, "physics", {}, {}}));
  physics.terms.qos = {"gone"};
  physics.terms.default_qos = "gone";
  put(snapshot.records, physics);
  const auto found = problems(snapshot);
  EXPECT_THAT(found, testing::Contains(HasSubstr("account physics: there is no QOS gone")));
  // Its users inherit a default QOS that their own lists do not contain.
  Association ada = *core::find_association(snapshot.records, "physics", "ada");
  ada.terms.qos = {"high"};
  put(snapshot.records, ada);
  EXPECT_THAT(problems(snapshot),
              testing::Contains("jobs of user ada in account physics that name no QOS are refused: "
                                "the default QOS, gone, is not one of those allowed, high"));
}

TEST(Show, TransactionsAreFilteredByUserTimeAndAction) {
  const std::vector<std::string> words = {"where", "actor=ada,bob", "start=2026-01-01",
                                          "action=drain node"};
  const auto where = where_of(Entity::transaction, *parse_line(words));
  ASSERT_TRUE(where);
  EXPECT_THAT(where->names(Selector::user), ElementsAre("ada", "bob"));
  EXPECT_THAT(where->names(Selector::action), ElementsAre("drain node"));
  EXPECT_THAT(where_of(Entity::transaction, *parse_line(std::vector<std::string>{"account=a"}))
                  .error()
                  .message,
              HasSubstr("transactions are not chosen by \"account\""));
  api::Transactions::Row change;
  change.set_user("ada");
  change.set_action("drain node");
  change.set_subject("node n1");
  change.set_outcome("ok");
  Row row;
  row.change = &change;
  EXPECT_EQ(print({row}, *parse_fields("User,Action,Subject,Outcome,JobID"), {true, false, true}),
            "ada|drain node|node n1|ok|\n");
}

TEST(Show, RunawayJobs) {
  api::RunawayJobs::Row job;
  job.mutable_job()->set_job(7);
  job.mutable_job()->set_task(2);
  job.set_attempt(1);
  job.set_user("ada");
  job.set_account("physics");
  job.set_state("RUNNING");
  Row row;
  row.runaway = &job;
  EXPECT_EQ(
      print({row}, *parse_fields("JobID,Attempt,User,Account,State,Started"), {true, false, true}),
      "7_2|1|ada|physics|RUNNING|Unknown\n");
}

std::vector<std::string> offered(const std::string& line) {
  const std::size_t blank = line.find_last_of(" =,");
  return complete(line, blank == std::string::npos ? 0 : blank + 1, names_in(site()));
}

TEST(Complete, OffersCommandsEntitiesAndWords) {
  EXPECT_THAT(offered(""), IsSupersetOf({"add", "delete", "dump", "exit", "load", "show"}));
  EXPECT_THAT(offered("mod"), ElementsAre("modify"));
  EXPECT_THAT(offered("add c"), ElementsAre("coordinator"));
  EXPECT_THAT(offered("show p"), ElementsAre("problem"));
  EXPECT_THAT(offered("modify user where pa"), ElementsAre("partition="));
  EXPECT_THAT(offered("modify user where user=a"), ElementsAre("ada"));
  EXPECT_THAT(offered("modify user where user=ada set fa"), ElementsAre("fairshare="));
  EXPECT_THAT(offered("modify user where user=ada set qos+=h"), ElementsAre("high"));
  EXPECT_THAT(offered("add account x parent="),
              ElementsAre("biology", "physics", "root", "science"));
  EXPECT_THAT(offered("delete account b"), ElementsAre("biology"));
  EXPECT_THAT(offered("modify qos high set flags=D"), ElementsAre("DenyOnLimit"));
  EXPECT_THAT(offered("show user format=Def"),
              ElementsAre("DefaultAccount", "DefaultQOS", "DefaultWCKey"));
  EXPECT_THAT(offered("nonsense x"), IsEmpty());
}

TEST(Words, MayBeAbbreviated) {
  EXPECT_EQ(*find_entity("Assoc"), Entity::association);
  EXPECT_EQ(*find_entity("coord"), Entity::coordinator);
  EXPECT_THAT(find_entity("c").error().message, HasSubstr("it could be coordinator, cluster"));
  EXPECT_THAT(find_entity("acount").error().message, HasSubstr("did you mean \"account\""));
  EXPECT_THAT(find_entity("federation").error().message, HasSubstr("not supported yet"));
  const std::vector<std::string> words = {"where",      "name=a,b", "SET",
                                          "descr=more", "words",    "qos+=x"};
  const auto line = parse_line(words);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->where[0].value, "a,b");
  EXPECT_EQ(line->set[0].value, "more words");
  EXPECT_EQ(line->set[1].word, "qos");
  EXPECT_EQ(line->set[1].op, Op::add);
}

}  // namespace
}  // namespace ares::aacctmgr
