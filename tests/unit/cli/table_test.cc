#include "cli/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/job_ids.h"
#include "cli/json.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {
namespace {

struct Thing {
  std::string id;
  std::string name;
};

const std::vector<Column<Thing>> kColumns = {
    {'i', "ID", "the id", [](const Thing& t) { return t.id; }, true},
    {'n', "NAME", "the name", [](const Thing& t) { return t.name; }},
};

std::string show(const std::string& format, const std::vector<Thing>& things, bool header = true) {
  const auto listing = make_listing(format, kColumns, things);
  return listing ? layout(*listing, header) : listing.error().message;
}

TEST(Table, AlignsAndCutsButNeverAnId) {
  EXPECT_EQ(show("%.4i %5n|", {{"12", "a"}, {"123456", "abcdefgh"}}),
            "  ID NAME |\n  12 a    |\n123456 abcde|\n");
}

TEST(Table, NoPaddingBehindTheLastColumn) {
  EXPECT_EQ(show("%.4i %8n", {{"1", "a"}}, false), "   1 a\n");
}

TEST(Table, WithoutWidthNothingIsPadded) {
  EXPECT_EQ(show("%i|%n", {{"12", "x"}}, false), "12|x\n");
}

TEST(Table, FitIsAsWideAsTheWidest) {
  EXPECT_EQ(show("%#n %i", {{"1", "abcdefgh"}}), "NAME     ID\nabcdefgh 1\n");
}

TEST(Table, LettersOfOtherAlphabetsCountOnce) {
  EXPECT_EQ(show("%4n|", {{"1", "äöüßx"}}, false), "äöüß|\n");
}

TEST(Table, MistakesAreNamed) {
  EXPECT_EQ(show("%z", {}), "format: %z is not supported yet");
  EXPECT_EQ(show("100%", {}), "format \"100%\": expected %[.][WIDTH]LETTER at column 4");
  EXPECT_EQ(show("100%% %i", {{"7", ""}}, false), "100% 7\n");
}

TEST(JobIds, EveryFormIsUnderstood) {
  const auto keys = parse_job_ids("12,13_4,14_[1-3:2,7%5]");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_THAT(*keys, testing::ElementsAre(JobKey{JobId(12), {}}, JobKey{JobId(13), {4}},
                                          JobKey{JobId(14), {1}}, JobKey{JobId(14), {3}},
                                          JobKey{JobId(14), {7}}));
  EXPECT_EQ(format_job_id((*keys)[1]), "13_4");
}

TEST(JobIds, AnythingElseIsRefused) {
  for (const char* text : {"", "x", "12x", "0", "-1", "12_", "12_x", "12_[", "12_[]", "12,,13",
                           "12.0", "12+1", "99999999999999999999999", "12_[0-4000000000]", "1 2"})
    EXPECT_FALSE(parse_job_ids(text)) << text;
  EXPECT_THAT(parse_job_ids("12.0").error().message,
              testing::HasSubstr("steps are not supported yet"));
}

TEST(Json, EscapesTextsAndTellsAbsentFromZero) {
  api::JobRef ref;
  ref.set_job(18446744073709551615ULL);
  EXPECT_EQ(to_json(ref), "{\n  \"job\": 18446744073709551615,\n  \"task\": null\n}\n");
  api::Partition partition;
  partition.set_name("a\"b\\\n");
  EXPECT_THAT(to_json(partition), testing::HasSubstr("\"name\": \"a\\\"b\\\\\\u000a\""));
}

}  // namespace
}  // namespace ares::cli
