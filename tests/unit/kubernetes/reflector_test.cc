#include "exec/kubernetes/api/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string object(const std::string& name, const std::string& uid, int version) {
  return R"({"metadata":{"namespace":"jobs","name":")" + name + R"(","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + "\"}}";
}

std::string page(const std::string& items, const std::string& version,
                 const std::string& next = "") {
  return R"({"kind":"PodList","metadata":{"resourceVersion":")" + version + R"(","continue":")" +
         next + R"("},"items":[)" + items + "]}";
}

std::string event(const std::string& type, const std::string& what) {
  return R"({"type":")" + type + R"(","object":)" + what + "}\n";
}

const std::string kGone =
    event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");

class ReflectorTest : public testing::Test {
 protected:
  ReflectorTest()
      : reflector(ReflectorSettings{}, 1, [this](const Change& change) {
          const char* const kinds[] = {"+", "~", "-"};
          seen.push_back(kinds[static_cast<int>(change.kind)] + change.name + ":" + change.uid +
                         (change.object ? "" : "?"));
        }) {}

  std::vector<std::string> take_seen() { return std::exchange(seen, {}); }

  // "list LIMIT TOKEN" or "watch VERSION", with " later" if it is delayed.
  static std::string text(const Reflector::Step& step) {
    std::string text;
    if (const auto* list = std::get_if<Reflector::ListStep>(&step.what)) {
      text = "list " + std::to_string(list->limit) + " " + list->continue_token;
    } else {
      text = "watch " + std::get<Reflector::WatchStep>(step.what).resource_version;
    }
    return text + (step.delay > Duration{} ? " later" : "");
  }
  static std::string text(const std::optional<Reflector::Step>& step) {
    return step ? text(*step) : "go on";
  }

  void sync() {
    (void)reflector.begin();
    (void)reflector.take_page(page(object("a", "u1", 5) + "," + object("b", "u2", 6), "10"));
    seen.clear();
  }

  std::vector<std::string> seen;
  Reflector reflector;
};

TEST_F(ReflectorTest, ListsInPagesAndThenWatchesFromTheirVersion) {
  EXPECT_EQ(text(reflector.begin()), "list 500 ");
  EXPECT_EQ(text(reflector.take_page(page(object("a", "u1", 5), "10", "t1"))), "list 500 t1");
  EXPECT_FALSE(reflector.is_synced());
  EXPECT_EQ(text(reflector.take_page(page(object("b", "u2", 6), "10"))), "watch 10");
  EXPECT_TRUE(reflector.is_synced());
  EXPECT_THAT(seen, ElementsAre("+a:u1", "+b:u2"));
}

TEST_F(ReflectorTest, WatchFollowsChangesAndBookmarks) {
  sync();
  EXPECT_EQ(text(reflector.take_bytes(event("MODIFIED", object("a", "u1", 11)) +
                                      event("ADDED", object("c", "u3", 12)))),
            "go on");
  EXPECT_EQ(text(reflector.take_bytes(event("DELETED", object("b", "u2", 13)))), "go on");
  EXPECT_THAT(take_seen(), ElementsAre("~a:u1", "+c:u3", "-b:u2"));
  EXPECT_EQ(
      text(reflector.take_bytes(event("BOOKMARK", R"({"metadata":{"resourceVersion":"40"}})"))),
      "go on");
  EXPECT_EQ(text(reflector.watch_ended(Failure::none, "", std::chrono::seconds(300))), "watch 40");
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(ReflectorTest, BothFormsOf410ListAgainAndFindDeletions) {
  sync();
  EXPECT_EQ(text(reflector.take_bytes(kGone)), "list 500 ");
  EXPECT_EQ(text(reflector.take_page(page(object("b", "u2", 6), "50"))), "watch 50");
  EXPECT_THAT(take_seen(), ElementsAre("-a:u1?"));
  EXPECT_EQ(text(reflector.take_bytes(event("ADDED", object("c", "u3", 51)))), "go on");
  EXPECT_EQ(text(reflector.watch_ended(Failure::gone, "too old", {})), "list 500 ");
  EXPECT_EQ(text(reflector.take_page(page(object("c", "u4", 60), "61"))), "watch 61");
  EXPECT_THAT(seen, ElementsAre("+c:u3", "-c:u3?", "+c:u4", "-b:u2?"));
}

TEST_F(ReflectorTest, A410AfterEachListIsDelayed) {
  sync();
  EXPECT_EQ(text(reflector.take_bytes(kGone)), "list 500 ");
  (void)reflector.take_page(page("", "50"));
  EXPECT_EQ(text(reflector.take_bytes(kGone)), "list 500  later");
  EXPECT_THAT(reflector.problem(), HasSubstr("too old"));
}

TEST_F(ReflectorTest, ExpiredContinueTokenRestartsTheList) {
  (void)reflector.begin();
  for (int i = 0; i < 2; ++i) {
    (void)reflector.take_page(page(object("a", "u1", 5), "10", "t"));
    EXPECT_EQ(text(reflector.list_failed(Failure::gone, "expired")), "list 500 ");
  }
  (void)reflector.take_page(page(object("a", "u1", 5), "10", "t"));
  EXPECT_EQ(text(reflector.list_failed(Failure::gone, "expired")), "list 0 ")
      << "the whole list in one page";
  EXPECT_EQ(text(reflector.list_failed(Failure::unusable, "too long")), "list 500  later")
      << "in pages again";
  EXPECT_EQ(text(reflector.take_page(page(object("b", "u2", 7), "20"))), "watch 20");
  EXPECT_THAT(seen, ElementsAre("+a:u1", "+b:u2", "-a:u1?"));
}

TEST_F(ReflectorTest, ObjectCreatedAgainUnderItsNameIsAnotherOne) {
  sync();
  (void)reflector.take_bytes(event("ADDED", object("a", "u9", 20)));
  EXPECT_THAT(take_seen(), ElementsAre("-a:u1?", "+a:u9"));
  (void)reflector.take_bytes(event("DELETED", object("a", "u1", 21)));
  EXPECT_THAT(seen, IsEmpty()) << "the end of the first one says nothing about the second";
}

TEST_F(ReflectorTest, ListThatFailsGoesOnWithItsPage) {
  (void)reflector.begin();
  (void)reflector.take_page(page(object("a", "u1", 5), "10", "t1"));
  EXPECT_EQ(text(reflector.list_failed(Failure::unavailable, "no answer")), "list 500 t1 later");
  EXPECT_EQ(reflector.problem(), "no answer");
  EXPECT_EQ(text(reflector.list_failed(Failure::forbidden, "may not")), "list 500  later");
}

TEST_F(ReflectorTest, WatchThatFailsGoesOnFromItsVersion) {
  sync();
  EXPECT_EQ(text(reflector.watch_ended(Failure::unavailable, "reset", {})), "watch 10 later");
  (void)reflector.take_bytes(event("MODIFIED", object("a", "u1", 11)));
  EXPECT_EQ(reflector.problem(), "");
  EXPECT_EQ(text(reflector.watch_ended(Failure::none, "", {})), "watch 11");
  EXPECT_EQ(text(reflector.watch_ended(Failure::none, "", {})), "watch 11 later")
      << "it ended at once";
  EXPECT_EQ(text(reflector.take_bytes(event("ERROR", R"({"code":500,"message":"etcd"})"))),
            "watch 11 later");
  EXPECT_EQ(text(reflector.watch_ended(Failure::forbidden, "may not", {})), "list 500  later");
}

TEST_F(ReflectorTest, WatchThatKeepsFailingListsAgain) {
  sync();
  for (int failures = 1; failures < 4; ++failures)
    EXPECT_EQ(text(reflector.watch_ended(Failure::unavailable, "504", {})), "watch 10 later");
  EXPECT_EQ(text(reflector.watch_ended(Failure::unavailable, "504", {})), "list 500  later");
}

TEST_F(ReflectorTest, HalfALineAtTheEndOfAWatchIsDropped) {
  sync();
  const std::string line = event("ADDED", object("c", "u3", 12));
  (void)reflector.take_bytes(line.substr(0, 20));
  (void)reflector.watch_ended(Failure::unavailable, "reset", {});
  EXPECT_EQ(text(reflector.take_bytes(line)), "go on");
  EXPECT_THAT(seen, ElementsAre("+c:u3"));
}

TEST_F(ReflectorTest, AnswersThatCannotBeUsedAreListedAgainLater) {
  for (const std::string& body : std::initializer_list<std::string>{
           "", "[]", "{}", R"({"items":7,"metadata":{"resourceVersion":"1"}})", page("{}", "1"),
           page("7", "1"), page("", "")}) {
    sync();
    EXPECT_EQ(text(reflector.take_page(body)), "list 500  later") << body;
    EXPECT_FALSE(reflector.problem().empty());
  }
  for (const std::string& line : std::initializer_list<std::string>{
           "x\n", "{}\n", event("ADDED", "{}"), event("OTHER", object("a", "u1", 7)),
           event("ADDED", R"({"metadata":{"name":"x","uid":"u"}})")}) {
    sync();
    EXPECT_EQ(text(reflector.take_bytes(line)), "list 500  later") << line;
  }
  sync();
  EXPECT_EQ(text(reflector.take_bytes(std::string(9 << 20, 'x'))), "list 500  later");
  sync();
  (void)reflector.take_page(page("", "10", "same"));
  EXPECT_EQ(text(reflector.take_page(page("", "10", "same"))), "list 500  later");
}

TEST_F(ReflectorTest, UnchangedObjectsOfALaterListAreNotReported) {
  sync();
  (void)reflector.begin();
  (void)reflector.take_page(page(object("a", "u1", 5) + "," + object("b", "u2", 8), "20"));
  EXPECT_THAT(seen, ElementsAre("~b:u2"));
}

}  // namespace
}  // namespace ares::kubernetes
