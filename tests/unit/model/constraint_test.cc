// The syntax of --constraint, and which nodes meet it.
#include "model/job/constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ares {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Features = std::vector<std::string>;

Constraint parsed(const std::string& text) {
  auto constraint = parse_constraint(text);
  EXPECT_TRUE(constraint) << text << ": " << constraint.error().message;
  return constraint.value_or(Constraint{});
}

std::string refusal(const std::string& text) {
  const auto constraint = parse_constraint(text);
  return constraint ? "accepted" : constraint.error().message;
}

struct Meets {
  const char* text;
  Features features;
  bool holds;
};

TEST(Constraint, DecidesWhichNodesMeetIt) {
  const Meets cases[] = {
      {"fast", {"fast"}, true},
      {"fast", {"faster"}, false},
      {"fast", {}, false},
      {"fast&big", {"big", "fast"}, true},
      {"fast&big", {"big"}, false},
      {"fast|big", {"big"}, true},
      {"fast|big|new", {"new"}, true},
      {"fast|big", {"old"}, false},
      {" ( fast | big ) & new ", {"big", "new"}, true},
      {"(fast|big)&new", {"new"}, false},
      {"(fast&big)|new", {"new"}, true},
      {"((a))", {"a"}, true},
      {"rack-1.a:b/c+d=2", {"rack-1.a:b/c+d=2"}, true},
      {"[fast]", {"fast"}, true},
      {"[fast&big]", {"fast"}, false},
  };
  for (const Meets& c : cases) EXPECT_EQ(parsed(c.text).every.holds(c.features), c.holds) << c.text;
}

TEST(Constraint, BracketsMeanTheSameForAllNodes) {
  const Constraint c = parsed("new&[r1|r2|(r3&x)]");
  ASSERT_EQ(c.same.size(), 3u);
  EXPECT_EQ(c.same[0].name, "r1");
  EXPECT_EQ(c.same[2].text(), "r3&x");
  EXPECT_EQ(c.every.text(), "new");
  EXPECT_TRUE(c.concerns_the_set());
  EXPECT_FALSE(parsed("r1|r2").concerns_the_set());
}

TEST(Constraint, CountsMayBeInBracketsOrNot) {
  for (const char* text : {"f1*2&f2*3", "[f1*2&f2*3]", "[ f1*2 & f2 * 3 ]"}) {
    const Constraint c = parsed(text);
    ASSERT_EQ(c.counts.size(), 2u) << text;
    EXPECT_EQ(c.counts[0].test.name, "f1");
    EXPECT_EQ(c.counts[0].nodes, 2u);
    EXPECT_EQ(c.counts[1].nodes, 3u);
    EXPECT_EQ(c.counted_nodes(), 5u);
    EXPECT_TRUE(c.every.holds({})) << "the others may be any nodes";
  }
  const Constraint group = parsed("(a&b)*4&c");
  EXPECT_EQ(group.counts[0].test.text(), "a&b");
  EXPECT_EQ(group.every.text(), "c");
}

TEST(Constraint, ErrorsHaveAHint) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty"},
      {"  ", "empty"},
      {"a&", "it ends too early"},
      {"&a", "\"&\" is out of place at character 1"},
      {"a||b", "\"|\" is out of place at character 3"},
      {"(a", "\"(\" is not closed"},
      {"a)", "\")\" is out of place at character 2"},
      {"[a|b", "\"[\" is not closed"},
      {"a b", "\"b\" is out of place"},
      {"a,b", "joined by & or |, not by a comma"},
      {"!a", "\"!\" (not) is not supported"},
      {"a&b|c", "parentheses"},
      {"a|b&c", "parentheses"},
      {"(a&b|c)", "parentheses"},
      {"[a&b|c]", "parentheses"},
      {"f1*0&f2*1", "from 1 up"},
      {"[f1*0&f2*1]", "from 1 up"},
      {"[f1*!2]", "from 1 up"},
      {"a*99999999999", "from 1 up"},
      {"a*-1", "from 1 up"},
      {"a*2|b", "by & only"},
      {"a|b*2", "by & only"},
      {"[a|b]|c", "by & only"},
      {"[a|b]&[c|d]", "may stand once"},
      {"[a|b*2]", "count among alternatives"},
      {"([a|b])", "\"[\" is out of place"},
      {"()", "\")\" is out of place"},
  };
  for (const auto& [text, why] : cases) {
    EXPECT_THAT(refusal(text), StartsWith("Invalid feature specification: ")) << text;
    EXPECT_THAT(refusal(text), HasSubstr(why)) << text;
  }
}

TEST(Constraint, SizeIsBounded) {
  EXPECT_THAT(refusal(std::string(100'000, 'a')), HasSubstr("longer than"));
  EXPECT_THAT(refusal(std::string(1000, '(')), HasSubstr("parentheses deep"));
  std::string many = "[a";
  for (int i = 0; i < 40; ++i) many += "|a" + std::to_string(i);
  EXPECT_THAT(refusal(many + "]"), HasSubstr("more than 32"));
  EXPECT_EQ(refusal(std::string(15, '(') + "a" + std::string(15, ')')), "accepted");
}

TEST(Constraint, SeveralMustAllHold) {
  const Features texts = {"a|b", "c", "d*2"};
  const auto whole = parse_constraints(texts);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->every.holds(Features{"b", "c"}));
  EXPECT_FALSE(whole->every.holds(Features{"b"}));
  EXPECT_EQ(whole->counts.size(), 1u);
  EXPECT_FALSE(parse_constraints(Features{"[a|b]", "[c|d]"}));
  EXPECT_TRUE(parse_constraints(Features{}));
}

// Any text is accepted or refused, and an accepted one means the same when printed and parsed again.
TEST(Constraint, RandomTextIsRefusedOrRoundTrips) {
  std::mt19937_64 random(7);
  const std::string letters = "ab&|()[]*12 ,!";
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 12; n > 0; --n) text += letters[random() % letters.size()];
    const auto once = parse_constraint(text);
    if (!once || once->concerns_the_set() || once->every.parts.empty()) continue;
    ++accepted;
    const auto again = parse_constraint(once->every.text());
    ASSERT_TRUE(again) << text << " written as " << once->every.text();
    for (unsigned bits = 0; bits < 4; ++bits) {
      Features features;
      if (bits & 1) features.push_back("a");
      if (bits & 2) features.push_back("b");
      EXPECT_EQ(once->every.holds(features), again->every.holds(features)) << text;
    }
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace ares
