#include "cli/output/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/output/json.h"
#include "cli/output/sorting.h"
#include "cli/values/job_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {
namespace {

struct Thing {
  std::string id;
  std::string name;
};

const Columns<Thing> kColumns = {
    {{'i',
      "ThingID",
      "ID",
      "the id",
      [](const Thing& t, std::string& out) { out += t.id; },
      {},
      nullptr,
      true},
     {'n',
      "Name",
      "NAME",
      "the name",
      [](const Thing& t, std::string& out) { out += t.name; },
      {},
      nullptr,
      false,
      1},
     {0,
      "Length",
      "LENGTH",
      "of its name",
      [](const Thing& t, std::string& out) { out += std::to_string(t.name.size()); },
      {},
      [](const Thing& t) { return static_cast<std::int64_t>(t.name.size()); }}},
    {{'z', "Zeal"}, {0, "Zest"}, {0, "Zone", true, "there is one"}}};

std::string show(const Result<std::vector<FormatItem>>& format_items,
                 const std::vector<Thing>& things, bool header, unsigned terminal) {
  if (!format_items) return format_items.error().message;
  auto listing = Listing<Thing>::make(*format_items, kColumns);
  if (!listing) return listing.error().message;
  for (const Thing& thing : things) listing->add(thing);
  return listing->grid().layout(header, {}, terminal);
}

std::string show(const std::string& format, const std::vector<Thing>& things, bool header = true,
                 unsigned terminal = 0) {
  return show(parse_format(format), things, header, terminal);
}

std::string show_names(const std::string& format, const std::vector<Thing>& things) {
  return show(parse_name_format(format), things, false, 0);
}

TEST(Table, AlignsAndCutsButNeverIds) {
  EXPECT_EQ(show("%.4i %5n|", {{"12", "a"}, {"123456", "abcdefgh"}}),
            "  ID NAME |\n  12 a    |\n123456 abcde|\n");
}

TEST(Table, LastColumnIsNotPadded) {
  EXPECT_EQ(show("%.4i %8n", {{"1", "a"}}, false), "   1 a\n");
}

TEST(Table, WithoutAWidthNothingIsPadded) {
  EXPECT_EQ(show("%i|%n", {{"12", "x"}}, false), "12|x\n");
}

TEST(Table, FittedColumnIsAsWideAsTheWidestCell) {
  EXPECT_EQ(show("%#n %i", {{"1", "abcdefgh"}}), "NAME     ID\nabcdefgh 1\n");
  EXPECT_EQ(show("%#n%i", {{"1", "abcdefgh"}}), "NAME     ID\nabcdefgh 1\n");
  EXPECT_EQ(show("%#.6i|", {{"1", ""}, {"1234567", ""}}, false), "      1|\n1234567|\n");
}

TEST(Table, NonAsciiLettersCountAsOneColumn) {
  EXPECT_EQ(show("%4n|", {{"1", "äöüßx"}}, false), "äöüß|\n");
}

TEST(Table, NarrowTerminalCutsFlexibleColumnsWithAMark) {
  const std::vector<Thing> things = {{"1234567890", "abcdefghijklmnop"}, {"1", "abc"}};
  EXPECT_EQ(show("%#n %#i|", things, false, 80),
            "abcdefghijklmnop 1234567890|\nabc              1         |\n");
  EXPECT_EQ(show("%#n %#i|", things, false, 24),
            "abcdefghijk+ 1234567890|\nabc          1         |\n");
  EXPECT_EQ(show("%#n %#i|", things, false, 5), "abcdefg+ 1234567890|\nabc      1         |\n");
}

TEST(Table, ColumnsByName) {
  EXPECT_EQ(show_names("thingid:6,Name:.4,length:2!", {{"1", "abcdefgh"}}), "1     abcd8 !\n");
  EXPECT_EQ(show_names("name,length", {{"1", "ab"}}), "ab                  2\n");
  EXPECT_EQ(show_names("name:|,length:|", {{"1", "ab"}}),
            "ab                  |2                   |\n");
}

TEST(Table, ControlCharactersAreReplaced) {
  EXPECT_EQ(show("%n", {{"1", "a\033[2Jb\n"}}, false), "a?[2Jb?\n");
  EXPECT_EQ(show("%n", {{"1", "\u009b2J\u202eb"}}, false), "?2J?b\n");
}

TEST(Table, ErrorsNameTheField) {
  EXPECT_EQ(show("%z", {}), "format: %z (Zeal) is not supported yet");
  EXPECT_EQ(show("%y", {}), "format: there is no field %y; the manual page lists them");
  EXPECT_EQ(show_names("zest", {}), "format: \"Zest\" is not supported yet");
  EXPECT_EQ(show_names("zone", {}), "format: \"Zone\" is not supported: there is one");
  EXPECT_EQ(show_names("nmae", {}), "unknown field \"nmae\"; did you mean \"Name\"?");
  EXPECT_EQ(show("100%", {}), "format \"100%\": expected %[.][WIDTH]LETTER at column 4");
  EXPECT_EQ(show("100%% %i", {{"7", ""}}, false), "100% 7\n");
}

// Columns and widths are the same with and without colours.
TEST(Table, OnlyStatesAreColouredAndWidthsIgnoreIt) {
  Columns<Thing> columns = kColumns;
  columns.supported[1].is_state = true;
  const auto shown = [&](const char* format, bool coloured) {
    auto listing = Listing<Thing>::make(*parse_format(format), columns);
    listing->grid().colour_states(coloured);
    listing->add({"RUNNING", "RUNNING"});
    listing->add({"2", "sleeping"});
    listing->add({"3", "CANCELLED by 0"});
    return listing->grid().layout(true);
  };
  EXPECT_EQ(shown("%#.n %9i|", true),
            "          NAME ID       |\n"
            "       \033[32mRUNNING\033[0m RUNNING  |\n"
            "      sleeping 2        |\n"
            "\033[35mCANCELLED by 0\033[0m 3        |\n");
  EXPECT_EQ(shown("%.4n|%n", true),
            "NAME|NAME\n\033[32mRUNN\033[0m|\033[32mRUNNING\033[0m\nslee|sleeping\n"
            "\033[35mCANC\033[0m|\033[35mCANCELLED by 0\033[0m\n")
      << "a state that is cut keeps its colour";
  std::string plain = shown("%#.n %9i|", true);
  for (const char* escape : {"\033[32m", "\033[35m", "\033[0m"})
    for (std::size_t at; (at = plain.find(escape)) != std::string::npos;)
      plain.erase(at, std::string_view(escape).size());
  EXPECT_EQ(plain, shown("%#.n %9i|", false));
}

TEST(Table, HelpformatHasALineForEachColumn) {
  EXPECT_EQ(list_columns(kColumns),
            "%i  ThingID             the id\n"
            "%n  Name                the name\n"
            "    Length              of its name\n");
}

TEST(Table, ManualListsEveryColumn) {
  EXPECT_THAT(
      describe_columns(kColumns),
      testing::ElementsAre("%i, ThingID  the id", "%n, Name  the name", "Length  of its name"));
  EXPECT_EQ(describe_unsupported(kColumns.unsupported), "%z (Zeal), Zest; Zone (there is one)");
}

std::string sorted(const std::string& keys, const std::vector<Thing>& things) {
  const auto terms = parse_sort<Thing>(keys, kColumns);
  if (!terms) return terms.error().message;
  Sorter<Thing> sorter(*terms);
  for (const Thing& thing : things) sorter.add(thing);
  std::string out;
  for (const std::uint32_t row : sorter.order()) out += things[row].id;
  return out;
}

TEST(Sorting, SortIsByTextOrNumberAndStable) {
  const std::vector<Thing> things = {{"1", "bb"}, {"2", "aaaaaaaaaa"}, {"3", "c"}, {"4", "bb"}};
  EXPECT_EQ(sorted("n", things), "2143");
  EXPECT_EQ(sorted("-n", things), "3142");
  EXPECT_EQ(sorted("Length,-i", things), "3412");
  EXPECT_EQ(sorted("", things), "1234");
  EXPECT_EQ(sorted("n", {{"1", ""}, {"2", "x"}, {"3", "x"}, {"4", ""}}), "1423");
  EXPECT_EQ(sorted("n,,i", things), "cannot sort by \"n,,i\": a key is empty");
  EXPECT_EQ(sorted("y", things),
            "cannot sort by \"y\": format: there is no field %y; the manual page lists them");
}

TEST(JobIds, EveryFormIsAccepted) {
  const auto keys = parse_job_ids("12,13_4,14_[1-3:2,7%5]");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_THAT(*keys, testing::ElementsAre(JobKey{JobId(12), {}}, JobKey{JobId(13), {4}},
                                          JobKey{JobId(14), {1}}, JobKey{JobId(14), {3}},
                                          JobKey{JobId(14), {7}}));
  EXPECT_EQ(format_job_id((*keys)[1]), "13_4");
}

TEST(JobIds, OtherFormsAreRefused) {
  for (const char* text : {"", "x", "12x", "0", "-1", "12_", "12_x", "12_[", "12_[]", "12,,13",
                           "12.0", "12+1", "99999999999999999999999", "12_[0-4000000000]", "1 2"})
    EXPECT_FALSE(parse_job_ids(text)) << text;
  EXPECT_THAT(parse_job_ids("12.0").error().message,
              testing::HasSubstr("steps are not supported yet"));
}

TEST(Json, EscapesTextsAndAbsentIsNull) {
  api::JobRef ref;
  ref.set_job(18446744073709551615ULL);
  EXPECT_EQ(to_json(ref), "{\n  \"job\": 18446744073709551615,\n  \"task\": null\n}\n");
  api::Partition partition;
  partition.set_name("a\"b\\\n");
  EXPECT_THAT(to_json(partition), testing::HasSubstr("\"name\": \"a\\\"b\\\\\\u000a\""));
  api::JobSpec spec;
  spec.set_work_dir("/h\xc3\xa4user/\xff\xed\xa0\x80");
  spec.set_script("\x01\xff");
  EXPECT_THAT(
      to_json(spec),
      testing::HasSubstr(
          "\"work_dir\": \"/h\xc3\xa4user/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
  EXPECT_THAT(to_json(spec), testing::HasSubstr("\"script\": \"01ff\""));
}

TEST(Table, AllIsEveryColumn) {
  EXPECT_EQ(show("%all", {{"7", "train"}}), "ID|NAME|LENGTH\n7|train|5\n");
  EXPECT_EQ(show("%ALL", {{"7", "train"}}, false), "7|train|5\n");
  EXPECT_EQ(show_names("all:8", {{"7", "train"}}), "7       train   5\n");
}

TEST(Table, LettersOfTwoColumnsAreAlignedAndCutByColumns) {
  EXPECT_EQ(show("%6n|%.6n|", {{"7", "日本"}, {"8", "ab"}}, false),
            "日本  |  日本|\nab    |    ab|\n");
  EXPECT_EQ(show("%3n|", {{"7", "日本"}}, false), "日 |\n");
  EXPECT_EQ(show("%#n|", {{"7", "日本語"}, {"8", "a"}}, false), "日本語|\na     |\n");
}

}  // namespace
}  // namespace ares::cli
