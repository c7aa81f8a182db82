// Command lines of acancel and the requests that they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acancel/selection.h"

namespace ares::acancel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Line {
  Selection selection;
  Status status;
};

// Options keep pointers to the selection, so its address must not change.
std::unique_ptr<Line> parse(const std::vector<std::string>& words) {
  auto line = std::make_unique<Line>();
  const cli::OptionTable table = options(line->selection);
  const auto parsed = cli::parse_options(table, words);
  line->status = parsed ? cli::apply_options(parsed->given) : fail(parsed.error());
  if (parsed) line->selection.ids = parsed->operands;
  return line;
}

std::vector<api::Cancel> cancel(const std::vector<std::string>& words,
                                std::string* refused = nullptr) {
  const auto line = parse(words);
  Status status = line->status;
  if (status) {
    const auto made = requests(line->selection, 1001);
    if (made) return *made;
    status = fail(made.error());
  }
  if (refused) *refused = status.error().message;
  return {};
}

TEST(Cancel, IdsAndFiltersAreCombined) {
  const auto made = cancel({"-n", "x", "12", "13_[1-2]"});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].jobs().jobs_size(), 3);
  EXPECT_EQ(made[0].jobs().name(), "x");
  EXPECT_EQ(made[0].signal(), 0);
  EXPECT_EQ(cancel({"--me"})[0].jobs().uid(), 1001u);
}

TEST(Cancel, EachCombinationOfValuesIsARequest) {
  EXPECT_EQ(cancel({"-w", "n[1-2]"}).size(), 2u);
  const auto made = cancel({"-u", "alice,bob", "-t", "pd,R", "-p", "main"});
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[1].jobs().user(), "alice");
  EXPECT_EQ(made[1].jobs().state(), "RUNNING");
  EXPECT_EQ(made[2].jobs().user(), "bob");
  EXPECT_EQ(made[3].jobs().partition(), "main");
  std::string refused;
  EXPECT_TRUE(cancel({"-w", "n[1-1001]"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("too many combinations"));
}

TEST(Cancel, SignalsAreGivenByNameOrNumber) {
  EXPECT_EQ(cancel({"-s", "USR1", "1"})[0].signal(), 10);
  EXPECT_EQ(cancel({"-s", "sigkill", "1"})[0].signal(), 9);
  EXPECT_EQ(cancel({"-s", "12", "1"})[0].signal(), 12);
  const auto batch = cancel({"-b", "1"});
  EXPECT_EQ(batch[0].signal(), 15);
  EXPECT_TRUE(batch[0].batch_only());
  EXPECT_FALSE(cancel({"-f", "-s", "USR1", "1"})[0].batch_only());
}

TEST(Cancel, StepsAreRequestsOfTheirOwn) {
  const auto made = cancel({"-s", "USR1", "12", "13.2", "14.batch"});
  ASSERT_EQ(made.size(), 3u);
  EXPECT_TRUE(!made[0].has_step() && made[0].jobs().jobs(0).job() == 12);
  EXPECT_TRUE(made[1].step() == 2 && made[1].jobs().jobs(0).job() == 13);
  EXPECT_TRUE(!made[2].has_step() && made[2].batch_only() && made[2].jobs().jobs(0).job() == 14);
  const auto ended = cancel({"12.0", "13.batch"});
  ASSERT_EQ(ended.size(), 2u) << "the jobs themselves go on";
  EXPECT_TRUE(ended[0].has_step() && ended[0].step() == 0 && ended[0].signal() == 0);
  EXPECT_EQ(ended[1].signal(), 15);
}

TEST(Cancel, NoStepIsTakenForItsJob) {
  std::string refused;
  EXPECT_TRUE(cancel({"12.x"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("a step is JOB.NUMBER"));
  EXPECT_TRUE(cancel({"12.others"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("is not one step"));
  const auto line = parse({"-i", "12.0"});
  EXPECT_FALSE(listing(line->selection, 1001)) << "asking would cancel the whole job";
}

TEST(Cancel, EmptySelectionIsAnError) {
  std::string refused;
  EXPECT_TRUE(cancel({}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("No job identification provided"));
  EXPECT_TRUE(cancel({"-s", "FOO", "1"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("unknown signal \"FOO\""));
  EXPECT_TRUE(cancel({"-t", "COMPLETED"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("Invalid job state specified: COMPLETED"));
  EXPECT_TRUE(cancel({"-b", "-f", "1"}, &refused).empty());
  EXPECT_THAT(refused, HasSubstr("mutually exclusive"));
}

TEST(Cancel, InteractiveModeListsJobsToCancel) {
  const auto line = parse({"-i", "-n", "x,y", "-t", "PENDING"});
  ASSERT_TRUE(line->status);
  const auto list = listing(line->selection, 1001);
  ASSERT_TRUE(list);
  EXPECT_THAT(list->names(), ElementsAre("x", "y"));
  EXPECT_THAT(list->states(), ElementsAre("PENDING"));
  EXPECT_THAT(list->users(), ElementsAre("1001")) << "others' jobs only if they are named";
  EXPECT_EQ(listing(line->selection, 0)->users_size(), 0);

  api::Job row;
  row.mutable_key()->set_job(12);
  row.set_name("x\033");
  row.set_user("alice");
  row.set_partition("main");
  row.set_state("PENDING");
  EXPECT_EQ(question(line->selection, row),
            "Cancel job 12 (x? of alice, partition main, PENDING)? [y/n] ");
  EXPECT_EQ(refs_of(row).size(), 1u);
  row.set_array_tasks("3,5-6");
  EXPECT_THAT(question(line->selection, row), HasSubstr("12_[3,5-6]"));
  const auto refs = refs_of(row);
  ASSERT_EQ(refs.size(), 3u) << "only the tasks that wait";
  EXPECT_EQ(refs[1].task(), 5u);
}

}  // namespace
}  // namespace ares::acancel
