// Tests: result
#include "base/hostlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace ares {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Names = std::vector<std::string>;

Names expand(std::string_view text) {
  const Result<Names> names = expand_hostlist(text);
  EXPECT_TRUE(names) << names.error().message;
  return names.value_or(Names{});
}

std::string why_not(std::string_view text, std::size_t limit = 100'000) {
  const Result<Names> names = expand_hostlist(text, limit);
  EXPECT_FALSE(names) << "\"" << text << "\" was accepted";
  if (names) return {};
  EXPECT_EQ(names.error().code, ErrorCode::invalid_argument);
  return names.error().message;
}

TEST(ExpandHostlist, PlainNames) {
  EXPECT_THAT(expand(""), ElementsAre());
  EXPECT_THAT(expand("login"), ElementsAre("login"));
  EXPECT_THAT(expand("a,b-1.example.org,c_d"), ElementsAre("a", "b-1.example.org", "c_d"));
}

TEST(ExpandHostlist, Ranges) {
  EXPECT_THAT(expand("n[1-4,7]"), ElementsAre("n1", "n2", "n3", "n4", "n7"));
  EXPECT_THAT(expand("n[9-11]"), ElementsAre("n9", "n10", "n11"));
  EXPECT_THAT(expand("n[5]"), ElementsAre("n5"));
  EXPECT_THAT(expand("n[3-3]x"), ElementsAre("n3x"));
  EXPECT_THAT(expand("[1-2]"), ElementsAre("1", "2"));
}

TEST(ExpandHostlist, OrderAndDuplicatesAreKept) {
  EXPECT_THAT(expand("n[7,1-2],a,n1"), ElementsAre("n7", "n1", "n2", "a", "n1"));
}

TEST(ExpandHostlist, LeadingZerosFixTheWidth) {
  EXPECT_THAT(expand("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(expand("n[098-101]"), ElementsAre("n098", "n099", "n100", "n101"));
  EXPECT_THAT(expand("n[98-101]"), ElementsAre("n98", "n99", "n100", "n101"));
  EXPECT_THAT(expand("n[099-1001,0]").back(), "n0");
  EXPECT_EQ(expand("n[001-1000]").size(), 1000u);
}

TEST(ExpandHostlist, LastOfSeveralBracketsVariesFastest) {
  EXPECT_THAT(expand("rack[0-1]_blade[2,3]"),
              ElementsAre("rack0_blade2", "rack0_blade3", "rack1_blade2", "rack1_blade3"));
  EXPECT_THAT(expand("[1-2][3-4].x,z"), ElementsAre("13.x", "14.x", "23.x", "24.x", "z"));
}

TEST(ExpandHostlist, ErrorsNameTheColumn) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {",", "column 1: expected a host name"},
      {"a,", "column 3: expected a host name"},
      {"a,,b", "column 3: expected a host name"},
      {"n[", "column 3: expected a number"},
      {"n[]", "column 3: expected a number"},
      {"n[1", "column 2: '[' is never closed"},
      {"n[1-", "column 5: expected a number"},
      {"n[1-]", "column 5: expected a number"},
      {"n[-3]", "column 3: expected a number"},
      {"n[1,]", "column 5: expected a number"},
      {"n[1,,2]", "column 5: expected a number"},
      {"n[1-2-3]", "column 6: expected a number, ',' or ']'"},
      {"n[1[2]]", "column 4: expected a number, ',' or ']'"},
      {"n[a]", "column 3: expected a number"},
      {"n1]", "column 3: ']' without '['"},
      {"n[4-1]", "column 5: the range ends before it begins"},
      {"n[1-010]", "column 5: both ends of a range with leading zeros"},
      {"n[001-09]", "column 7: both ends of a range with leading zeros"},
      {"n 1", "column 2: a host name cannot contain this character"},
      {"a;rm", "column 2: a host name cannot contain this character"},
      {"n[1234567890123456789]", "column 3: number too long"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(why_not(c.text), HasSubstr(c.message)) << c.text;
    EXPECT_THAT(why_not(c.text), HasSubstr(c.text));
  }
}

TEST(ExpandHostlist, HugeListsAreRefusedBeforeExpansion) {
  EXPECT_THAT(why_not("a[0-999999999]"), HasSubstr("column 1: more than 100000 hosts"));
  EXPECT_THAT(why_not("b,a[0-999999999999999999]"), HasSubstr("column 3: more than 100000 hosts"));
  EXPECT_THAT(why_not("a[0-999][0-999]"), HasSubstr("more than 100000 hosts"));
  EXPECT_THAT(why_not("a[0-99999][0-99999][0-99999][0-99999]"),
              HasSubstr("more than 100000 hosts"));
  EXPECT_THAT(why_not("a[0-99999],b"), HasSubstr("column 12: more than 100000 hosts"));
  EXPECT_THAT(why_not("a,b,c", 2), HasSubstr("column 5: more than 2 hosts"));
  // Only one host, but one level of recursion for each bracket.
  std::string brackets = "b,a";
  for (int i = 0; i < 1'000'000; ++i) brackets += "[1]";
  EXPECT_THAT(why_not(brackets), HasSubstr("column 3: a host name of more than 255 characters"));
  EXPECT_LT(why_not(brackets).size(), 300u) << "the message is short";
  EXPECT_THAT(why_not(std::string(300, 'a') + "[1-100000]"), HasSubstr("more than 255 characters"));
  EXPECT_EQ(expand_hostlist(std::string(251, 'a') + "[0998-0999]")->size(), 2u);
  EXPECT_THAT(why_not(std::string(252, 'a') + "[0998-0999]"), HasSubstr("more than 255"));
  EXPECT_EQ(expand("a[0-99999]").size(), 100'000u);
}

TEST(CompressHostlist, NeighboursAreFoldedInOrder) {
  struct Case {
    Names names;
    const char* text;
  };
  const Case cases[] = {
      {{}, ""},
      {{"n1"}, "n1"},
      {{"login", "login"}, "login,login"},
      {{"n1", "n2"}, "n[1-2]"},
      {{"n1", "n2", "n3", "n7"}, "n[1-3,7]"},
      {{"n2", "n1"}, "n[2,1]"},
      {{"n1", "n1"}, "n[1,1]"},
      {{"n1", "a", "n2"}, "n1,a,n2"},
      {{"n8", "n9", "n10", "n11"}, "n[8-11]"},
      {{"n08", "n09", "n10", "n11"}, "n[08-11]"},
      {{"n09", "n010"}, "n[09,010]"},
      {{"n9", "n010"}, "n[9,010]"},
      {{"n099", "n100"}, "n[099-100]"},
      {{"n99", "n100"}, "n[99-100]"},
      {{"n1.lan", "n2.lan", "n3.wan"}, "n[1-2].lan,n3.wan"},
      {{"r0b1", "r0b2", "r1b1"}, "r0b[1-2],r1b1"},
      {{"x1234567890123456789", "x1234567890123456790"},
       "x1234567890123456789,x1234567890123456790"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(compress_hostlist(c.names), c.text);
    EXPECT_EQ(expand(c.text), c.names);
  }
}

TEST(CompressHostlist, ExpansionRestoresTheSameNames) {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return random() % n; };
  const Names prefixes = {"n", "n0", "rack1-", "", "a."};
  const Names suffixes = {"", "", ".lan", "x", "-7"};
  for (int round = 0; round < 500; ++round) {
    Names names;
    for (unsigned i = 0, n = below(40); i < n; ++i) {
      std::string number = std::to_string(below(2) != 0 ? below(12) : 95 + below(10));
      if (below(3) == 0) number.insert(0, below(3), '0');
      names.push_back(prefixes[below(5)] + number + suffixes[below(5)]);
      if (below(4) == 0) continue;
      names.push_back(names.back());  // and its successor, so that there are runs
      names.back() = prefixes[0] + std::to_string(i);
    }
    EXPECT_EQ(expand(compress_hostlist(names)), names);
  }
}

}  // namespace
}  // namespace ares
