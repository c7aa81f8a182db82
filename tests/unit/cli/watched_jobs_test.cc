// Tests: aqueue/watch
// Which jobs aqueue --watch shows again, and which it knows to have vanished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aqueue/watch.h"

namespace ares::aqueue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Watched : public testing::Test {
 protected:
  // "1 RUNNING": what take() says of the part.
  std::vector<std::string> take(api::Watched::Kind kind, const std::vector<api::Job>& rows,
                                const std::vector<std::uint64_t>& left = {}) {
    api::Watched part;
    part.set_kind(kind);
    part.set_first(kind != api::Watched::CHANGES);
    for (const api::Job& row : rows) *part.mutable_jobs()->add_jobs() = row;
    for (const std::uint64_t job : left) part.add_left()->set_job(job);
    std::vector<WatchedJobs::Change> changes;
    std::vector<api::JobRef> vanished;
    EXPECT_TRUE(jobs.take(part, changes, vanished));
    vanished_.clear();
    for (const api::JobRef& ref : vanished) vanished_.push_back(ref.job());
    std::vector<std::string> texts;
    for (const auto& change : changes)
      texts.push_back(std::to_string(change.job.key().job()) + " " + change.job.state() +
                      (change.left ? " left" : ""));
    return texts;
  }

  static api::Job job(std::uint64_t id, const std::string& state) {
    api::Job made;
    made.mutable_key()->set_job(id);
    made.set_state(state);
    return made;
  }

  WatchedJobs jobs{[](const api::Job& job) { return job.state(); }};
  std::vector<std::uint64_t> vanished_;
};

TEST_F(Watched, ShowsWhatDiffersFromWhatIsShown) {
  EXPECT_THAT(take(api::Watched::LISTED, {job(1, "PENDING"), job(2, "RUNNING")}),
              ElementsAre("1 PENDING", "2 RUNNING"));
  EXPECT_THAT(take(api::Watched::CHANGES, {job(1, "PENDING")}), IsEmpty());
  EXPECT_THAT(take(api::Watched::CHANGES, {job(1, "RUNNING")}), ElementsAre("1 RUNNING"));
}

TEST_F(Watched, JobThatLeavesIsShownOnceAndForgotten) {
  take(api::Watched::LISTED, {job(1, "RUNNING")});
  EXPECT_THAT(take(api::Watched::CHANGES, {job(1, "FAILED")}, {1}), ElementsAre("1 FAILED left"));
  EXPECT_TRUE(jobs.listed().empty());
}

TEST_F(Watched, ListingAfterAPauseShowsDifferencesAndNamesWhatVanished) {
  take(api::Watched::LISTED, {job(1, "RUNNING"), job(2, "PENDING"), job(3, "RUNNING")});
  EXPECT_THAT(take(api::Watched::LISTED, {job(2, "RUNNING"), job(3, "RUNNING")}),
              ElementsAre("2 RUNNING"));
  EXPECT_THAT(vanished_, ElementsAre(1));
}

}  // namespace
}  // namespace ares::aqueue
