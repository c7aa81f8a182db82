// Tests: areport/fields, areport/lines, report_table, areport/units, reports
// The request of areport, and how it prints the reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "areport/names.h"
#include "areport/query.h"
#include "areport/tree.h"
#include "base/timespec.h"

namespace ares::areport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sets the time zone of the process during its lifetime.
class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* was = std::getenv("TZ")) was_ = was;
    setenv("TZ", name, 1);
    tzset();
  }
  ~Zone() {
    if (was_.empty())
      unsetenv("TZ");
    else
      setenv("TZ", was_.c_str(), 1);
    tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  std::string was_;
};

Time utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  return Time(std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) /
                                    std::chrono::day(day))) +
         std::chrono::hours(hour) + std::chrono::minutes(minute);
}

Query query_of(const cli::Words& words, Time now) {
  Query query;
  const Status read = read_words(words, now, query);
  EXPECT_TRUE(read) << read.error().message;
  const Status filled = complete(query, now);
  EXPECT_TRUE(filled) << filled.error().message;
  return query;
}

std::string refusal(const cli::Words& words) {
  Query query;
  const Time now = utc(2030, 6, 1, 12);
  if (Status read = read_words(words, now, query); !read) return read.error().message;
  const Status filled = complete(query, now);
  return filled ? "" : filled.error().message;
}

TEST(ReportTime, DefaultIsYesterdayInTheTimeZoneOfTheReader) {
  const Zone zone("Europe/Berlin");
  const Query query =
      query_of({"cluster", "utilization"}, utc(2030, 1, 15, 23, 30));  // 00:30 there
  EXPECT_EQ(*query.start, utc(2030, 1, 14, 23));
  EXPECT_EQ(*query.end, utc(2030, 1, 15, 23));
}

TEST(ReportTime, DayOfAClockChangeHas23Or25Hours) {
  const Zone zone("Europe/Berlin");
  const Query spring = query_of({"cluster", "utilization"}, utc(2030, 4, 1, 9));
  EXPECT_EQ(*spring.end - *spring.start, std::chrono::hours(23));
  EXPECT_EQ(*spring.start, utc(2030, 3, 30, 23));
  const Query autumn = query_of({"cluster", "utilization"}, utc(2030, 10, 28, 9));
  EXPECT_EQ(*autumn.end - *autumn.start, std::chrono::hours(25));
  const Query month =
      query_of({"cluster", "utilization", "start=2030-10-01", "end=2030-11-01"}, utc(2030, 12, 1));
  EXPECT_EQ(*month.end - *month.start, std::chrono::hours(31 * 24 + 1));
}

TEST(ReportTime, MissingEndIsNowAndMissingStartADayBefore) {
  const Zone zone("UTC");
  const Time now = utc(2030, 6, 1, 12);
  const Query open = query_of({"cl", "util", "start=2030-05-01"}, now);
  EXPECT_EQ(*open.start, utc(2030, 5, 1));
  EXPECT_EQ(*open.end, now);
  const Query closed = query_of({"cl", "util", "end=2030-05-01"}, now);
  EXPECT_EQ(*closed.start, utc(2030, 4, 30));
  EXPECT_THAT(refusal({"cl", "util", "start=2030-05-02", "end=2030-05-01"}),
              HasSubstr("ends before it begins"));
}

TEST(ReportWords, WordsMayBeAbbreviatedInAnyCase) {
  const Query query =
      query_of({"CL", "accountutilizationbyU", "Acc=a,b", "USERS=x", "tr"}, utc(2030, 6, 1));
  EXPECT_EQ(query.report->name, "AccountUtilizationByUser");
  EXPECT_THAT(query.filter.accounts(), ElementsAre("a", "b"));
  EXPECT_THAT(query.filter.users(), ElementsAre("x"));
  EXPECT_THAT(query.filter.tres(), ElementsAre("cpu"));
  EXPECT_TRUE(query.tree);
  EXPECT_TRUE(query.filter.by_account() && query.filter.by_user() && !query.filter.by_qos());
}

TEST(ReportWords, UnknownWordsAreNamed) {
  EXPECT_THAT(refusal({"cluster"}), HasSubstr("name a report"));
  EXPECT_THAT(refusal({"cluster", "accountutil"}),
              HasSubstr("AccountUtilizationByUser or AccountUtilizationByQOS"));
  EXPECT_THAT(refusal({"r", "utilization"}), HasSubstr("reservation or rollup"));
  EXPECT_THAT(refusal({"cluster", "UserUtilization"}),
              HasSubstr("UserUtilizationByAccount or UserUtilizationByWckey"));
  EXPECT_THAT(refusal({"job", "sizesby"}), HasSubstr("SizesByAccount or SizesByWckey"));
  EXPECT_EQ(refusal({"job", "sizes"}), "") << "as it was before there were several";
  EXPECT_THAT(refusal({"cluster", "util", "colour=red"}), HasSubstr("unknown word \"colour\""));
  EXPECT_THAT(refusal({"cluster", "util", "start"}), HasSubstr("start=TIME"));
  EXPECT_THAT(refusal({"cluster", "util", "tree=yes"}), HasSubstr("takes no value"));
  EXPECT_THAT(refusal({"cluster", "util", "accounts=physics"}),
              HasSubstr("accounts does not go with cluster Utilization"));
  EXPECT_THAT(refusal({"user", "top", "grouping=5"}), HasSubstr("grouping does not go with"));
  EXPECT_THAT(refusal({"cluster", "util", "start=someday"}), HasSubstr("start: time \"someday\""));
  EXPECT_THAT(refusal({"job", "sizes", "grouping=5,3"}), HasSubstr("ascend"));
}

TEST(ReportUnits, AmountsAreRoundedToTheNearest) {
  const Unit &minutes = **parse_unit("minutes"), &hours = **parse_unit("hours"),
             &per = **parse_unit("hourper");
  EXPECT_EQ(amount_text(89, 0, minutes), "1");
  EXPECT_EQ(amount_text(90, 0, minutes), "2");
  EXPECT_EQ(amount_text(5399, 0, hours), "1");
  EXPECT_EQ(amount_text(5400, 0, hours), "2");
  EXPECT_EQ(amount_text(3600, 14'400, per), "1(25.00%)");
  EXPECT_EQ(amount_text(3600, 0, **parse_unit("perc")), "0.00%");
  EXPECT_EQ(amount_text(17, 0, **parse_unit("seconds")), "17");
  EXPECT_THAT(rounded_parts({20, 0, 250}, 60), ElementsAre(1, 0, 4)) << "270 seconds are 5 minutes";
  EXPECT_THAT(rounded_parts({20, 20, 20}, 60), ElementsAre(1, 0, 0));
  EXPECT_THAT(rounded_parts({60, 29, 0}, 60), ElementsAre(1, 0, 0));
  EXPECT_THAT(rounded_parts({7, 8}, 1), ElementsAre(7, 8));
  EXPECT_EQ((*parse_unit("min"))->name, "Minutes");
  EXPECT_EQ((*parse_unit("minp"))->name, "MinPer");
  EXPECT_THAT(parse_unit("weeks").error().message, HasSubstr("there is Seconds, Minutes"));
}

TEST(ReportTree, AccountsIncludeTheirChildren) {
  const std::map<std::string, Amounts> own = {{"physics", {{"cpu", 1}}},
                                              {"lasers", {{"cpu", 10}, {"mem", 5}}},
                                              {"optics", {{"cpu", 100}}},
                                              {"loose", {{"cpu", 1000}}}};
  const Parents parents = {
      {"lasers", "physics"}, {"optics", "lasers"}, {"physics", "science"}, {"science", "root"}};
  EXPECT_THAT(sum_up(own, parents),
              ElementsAre(AccountSum{"root", 0, {{"cpu", 1111}, {"mem", 5}}},
                          AccountSum{"loose", 1, {{"cpu", 1000}}},
                          AccountSum{"science", 1, {{"cpu", 111}, {"mem", 5}}},
                          AccountSum{"physics", 2, {{"cpu", 111}, {"mem", 5}}},
                          AccountSum{"lasers", 3, {{"cpu", 110}, {"mem", 5}}},
                          AccountSum{"optics", 4, {{"cpu", 100}}}));
}

TEST(ReportTree, AccountsWithoutParentAreBelowTheRoot) {
  EXPECT_THAT(sum_up({{"b", {{"cpu", 2}}}, {"a", {{"cpu", 1}}}, {"root", {{"cpu", 4}}}}, {}),
              ElementsAre(AccountSum{"root", 0, {{"cpu", 7}}}, AccountSum{"a", 1, {{"cpu", 1}}},
                          AccountSum{"b", 1, {{"cpu", 2}}}));
}

TEST(ReportTree, CycleOfAccountsCountsOnce) {
  const auto sums = sum_up({{"a", {{"cpu", 1}}}, {"b", {{"cpu", 2}}}, {"c", {{"cpu", 4}}}},
                           {{"a", "b"}, {"b", "c"}, {"c", "a"}});
  ASSERT_EQ(sums.size(), 4u);
  EXPECT_EQ(sums[0], (AccountSum{"root", 0, {{"cpu", 7}}}));
}

api::Reported::Row* add(api::Reported& answer, const char* account, const char* user,
                        const char* tres, std::int64_t seconds) {
  auto* row = answer.add_rows();
  row->set_account(account);
  row->set_user(user);
  row->set_tres(tres);
  row->set_allocated(seconds);
  return row;
}

api::Reported answer() {
  api::Reported out;
  out.set_cluster("test");
  out.set_end(86'400'000'000);
  add(out, "a", "x", "cpu", 3600);
  add(out, "a", "y", "cpu", 7200);
  add(out, "b", "x", "cpu", 60);
  auto* all = out.add_capacity();
  all->set_tres("cpu");
  all->set_allocated(10'860);
  all->set_idle(21'600 - 10'860);
  return out;
}

std::string printed(const cli::Words& words, const api::Reported& of,
                    Layout layout = Layout::parsable2, const char* unit = "Minutes") {
  Query query;
  query.unit = *parse_unit(unit);
  const Time now = utc(2030, 6, 1);
  EXPECT_TRUE(read_words(words, now, query));
  EXPECT_TRUE(complete(query, now));
  const auto report_table = make_table(query, of);
  EXPECT_TRUE(report_table) << report_table.error().message;
  return print(*report_table, layout, true);
}

TEST(ReportTable, AccountsAreFollowedByTheirUsers) {
  EXPECT_EQ(printed({"cluster", "AccountUtilizationByUser"}, answer()),
            "Cluster|Account|Login|Used\ntest|root||181\ntest|a||180\ntest|a|x|60\ntest|a|y|"
            "120\ntest|b||1\ntest|b|x|1\n");
  EXPECT_THAT(printed({"cluster", "AccountUtilizationByUser", "tree"}, answer()),
              HasSubstr("test| a|x|60\n"));
}

TEST(ReportTable, UsersWithTheirAccounts) {
  EXPECT_EQ(
      printed({"cluster", "UserUtilizationByAccount"}, answer(), Layout::csv, "HourPer"),
      "Cluster,Login,Account,Used\ntest,x,a,1(16.67%)\ntest,x,b,0(0.28%)\ntest,y,a,2(33.33%)\n");
}

TEST(ReportTable, TopUsersAreSorted) {
  EXPECT_EQ(printed({"user", "top", "topcount=2"}, answer(), Layout::parsable2, "Percent"),
            "Cluster|Login|Account|Used\ntest|y|a|33.33%\ntest|x|a|16.67%\n");
  EXPECT_EQ(printed({"user", "top", "group"}, answer()),
            "Cluster|Login|Account|Used\ntest|y|a|120\ntest|x|a,b|61\n");
}

TEST(ReportTable, CostsSumUpPricedTres) {
  api::Reported of = answer();
  add(of, "b", "x", "mem", 3600 * 1000);
  add(of, "b", "x", "gres/gpu", 999'999);
  (*of.mutable_prices())["cpu"] = 0.5;
  (*of.mutable_prices())["mem"] = 0.001;
  EXPECT_EQ(printed({"cluster", "CostByUser"}, of),
            "Cluster|Account|Login|Cost\ntest|root||2.51\ntest|a||1.50\ntest|a|x|0.50\ntest|a|y|1."
            "00\ntest|b||1.01\n"
            "test|b|x|1.01\n");
}

TEST(ReportTable, SizesAreColumns) {
  api::Reported of = answer();
  of.clear_rows();
  add(of, "a", "", "cpu", 600)->set_jobs(3);
  auto* large = add(of, "a", "", "cpu", 1200);
  large->set_size(2);
  large->set_jobs(1);
  EXPECT_EQ(printed({"job", "sizes", "grouping=4,16"}, of),
            "Cluster|Account|0-3 CPUs|4-15 CPUs|>=16 CPUs\ntest|a|10|0|20\n");
  EXPECT_EQ(printed({"job", "sizes", "grouping=4,16", "printjobcount"}, of),
            "Cluster|Account|0-3 CPUs|4-15 CPUs|>=16 CPUs\ntest|a|3|0|1\n");
}

TEST(ReportTable, UtilizationAddsUpAndJsonHasSeconds) {
  api::Reported of;
  of.set_cluster("test");
  auto* row = add(of, "", "", "cpu", 60);
  row->set_down(120);
  row->set_drained(180);
  row->set_reserved(240);
  row->set_idle(300);
  EXPECT_EQ(printed({"cluster", "util"}, of),
            "Cluster|Allocated|Down|PlannedDown|Idle|Reserved|Reported\ntest|1|2|3|5|4|15\n");
  EXPECT_THAT(
      printed({"cluster", "util"}, of, Layout::json),
      HasSubstr("{\"cluster\": \"test\", \"allocated\": 60, \"down\": 120, \"planned_down\": 180, "
                "\"idle\": 300, \"reserved\": 240, \"reported\": 900}"));
}

TEST(ReportTable, UtilizationAddsUpWhereAmountsAreRounded) {
  api::Reported of;
  of.set_cluster("test");
  add(of, "", "", "cpu", 20)->set_idle(250);
  EXPECT_EQ(printed({"cluster", "util"}, of),
            "Cluster|Allocated|Down|PlannedDown|Idle|Reserved|Reported\ntest|1|0|0|4|0|5\n");
  // Seconds of thousandths of GPUs.
  api::Reported shared;
  shared.set_cluster("test");
  auto* row = add(shared, "", "", "gres/gpu", 400);
  row->set_idle(300);
  row->set_reserved(300);
  EXPECT_THAT(printed({"cluster", "util"}, shared, Layout::json),
              HasSubstr("\"allocated\": 1, \"down\": 0, \"planned_down\": 0, "
                        "\"idle\": 0, \"reserved\": 0, \"reported\": 1}"));
}

TEST(ReportTable, AlignsWithAHeading) {
  const Zone zone("UTC");
  const std::string text = printed(
      {"cluster", "UserUtilizationByAccount", "format=Login%-5,Used%4"}, answer(), Layout::aligned);
  EXPECT_THAT(text, HasSubstr("Cluster/User/Account Utilization 1970-01-01T00:00:00 - "
                              "1970-01-02T00:00:00 (86400 secs)\n"));
  EXPECT_THAT(text, HasSubstr("Login Used\n----- ----\nx       60\nx        1\ny      120\n"));
}

TEST(ReportTable, CsvQuotesSpecialCharacters) {
  ReportTable report_table;
  report_table.columns = {{"A", "a"}, {"B", "b"}};
  report_table.rows = {{Cell{"x,y", ""}, Cell{"say \"no\"", ""}}};
  EXPECT_EQ(print(report_table, Layout::csv, true), "A,B\n\"x,y\",\"say \"\"no\"\"\"\n");
}

TEST(ReportFields, UnknownFieldsAreRefused) {
  EXPECT_THAT(parse_fields("Cluster,Colour", {}, false).error().message,
              HasSubstr("unknown field \"Colour\""));
}

TEST(ReportManual, NamesEveryReportAndField) {
  Query query;
  const std::string page = cli::man_page(manual(), options(query));
  for (const ReportKind& report : reports()) EXPECT_THAT(page, HasSubstr(report.name));
  for (const Field& field : fields()) EXPECT_THAT(page, HasSubstr(field.name));
}

}  // namespace
}  // namespace ares::areport
