// Tests: boxed_or_default, boxed_vector, boxed_string
#include "base/boxed_or_default.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/boxed_string.h"
#include "base/boxed_vector.h"

namespace ares {
namespace {

using ::testing::ElementsAre;

static_assert(sizeof(BoxedVector<std::string>) == sizeof(void*));
static_assert(sizeof(BoxedString) == sizeof(void*));

struct Part {
  std::string text;
  int number = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

TEST(BoxedOrDefault, ReadsAsTheDefaultUntilItIsSet) {
  BoxedOrDefault<Part> box;
  EXPECT_EQ(box.get(), Part{});
  EXPECT_EQ(box->number, 0);
  box = Part{"x", 3};
  const Part& read = box;
  EXPECT_EQ(read, (Part{"x", 3}));
  box.edit().number = 4;
  EXPECT_EQ(box->number, 4);
  box.reset();
  EXPECT_EQ(box.get(), Part{});
}

TEST(BoxedOrDefault, CopiesAndComparesByValue) {
  BoxedOrDefault<Part> a = Part{"x", 1};
  BoxedOrDefault<Part> b = a;
  EXPECT_EQ(a, b);
  b.edit().number = 2;
  EXPECT_FALSE(a == b);
  EXPECT_EQ(a->number, 1);
  a = b;
  a = *&a;
  EXPECT_EQ(a->number, 2);
  const BoxedOrDefault<Part> moved = std::move(a);
  EXPECT_EQ(moved->number, 2);
}

TEST(BoxedOrDefault, ADefaultThatWasWrittenEqualsOneThatWasNot) {
  BoxedOrDefault<Part> written;
  written.edit().text = "";
  EXPECT_EQ(written, BoxedOrDefault<Part>());
  EXPECT_EQ(BoxedOrDefault<Part>(Part{}), written);
  const BoxedOrDefault<Part> copy = written;
  EXPECT_EQ(copy, written);
  BoxedVector<int> list{1};
  list.edit().clear();
  EXPECT_EQ(list, BoxedVector<int>());
  BoxedString text = "x";
  text.edit().clear();
  EXPECT_EQ(text, BoxedString());
}

TEST(BoxedVector, ReadsLikeAVector) {
  const BoxedVector<std::string> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0u);
  EXPECT_TRUE(none.begin() == none.end());
  const BoxedVector<std::string> two = {"a", "b"};
  EXPECT_THAT(two, ElementsAre("a", "b"));
  EXPECT_EQ(two[1], "b");
  EXPECT_EQ(two.front(), "a");
  EXPECT_EQ(two.back(), "b");
  EXPECT_EQ(two, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(two == none);
  const std::vector<std::string>& vector = two;
  EXPECT_EQ(&vector[0], &two[0]);
}

TEST(BoxedVector, ChangesLikeAVector) {
  BoxedVector<std::string> list;
  for (std::string& text : list) text = "never";
  list.push_back("a");
  list.emplace_back(2, 'b');
  for (std::string& text : list) text += '.';
  list[0] += '1';
  list.back() += '2';
  EXPECT_THAT(list, ElementsAre("a.1", "bb.2"));
  const BoxedVector<std::string> copy = list;
  list.front() = "other";
  list.edit().pop_back();
  EXPECT_THAT(list, ElementsAre("other"));
  EXPECT_THAT(copy, ElementsAre("a.1", "bb.2"));
  list = std::vector<std::string>{"x"};
  EXPECT_THAT(list, ElementsAre("x"));
  list.clear();
  EXPECT_TRUE(list.empty());
  list = {"y", "z"};
  EXPECT_EQ(list.size(), 2u);
}

TEST(BoxedString, ReadsLikeAString) {
  const BoxedString none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0u);
  EXPECT_STREQ(none.c_str(), "");
  EXPECT_EQ(none, "");
  BoxedString text = "some";
  EXPECT_EQ(text, "some");
  EXPECT_EQ(text, std::string("some"));
  EXPECT_EQ(text, std::string_view("some"));
  EXPECT_FALSE(text == none);
  const std::string_view view = text;
  EXPECT_EQ(view, "some");
  const std::string copy = text;
  EXPECT_EQ(copy, "some");
  std::string assigned;
  assigned = text;
  EXPECT_EQ(assigned, "some");
  text.edit() += " more";
  EXPECT_EQ(text, "some more");
  text = std::filesystem::path("/a") / "b";
  EXPECT_EQ(text, "/a/b");
  text.clear();
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace ares
