// Tests: high_water, high_water_file
#include "store/journal/high_water.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ares::store {
namespace {

namespace fs = std::filesystem;

class HighWaterTest : public ::testing::Test {
 protected:
  HighWaterTest() {
    std::string pattern = (fs::temp_directory_path() / "ares-hw-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ / "high-water";
  }
  ~HighWaterTest() override { fs::remove_all(directory_); }

  Result<std::optional<HighWaterMark>> loaded() const { return HighWater(path_.string()).load(); }

  void write(std::string_view text) const { std::ofstream(path_, std::ios::trunc) << text; }

  void damage(std::streamoff at) const {
    std::fstream file(path_, std::ios::in | std::ios::out);
    file.seekp(at) << "XX";
  }

  fs::path directory_, path_;
  HighWaterMark mark_ = with_reserve(
      {"sys-a", {"sys-a/second", Epoch(7), "one", Lsn(1000), JobId(50)}, NodeId(9), {}, {}}, 100);
};

TEST_F(HighWaterTest, EachMarkIsReadBackAsSoonAsItIsWritten) {
  EXPECT_FALSE(loaded()->has_value());
  HighWater file(path_.string());
  ASSERT_TRUE(file.create(mark_));
  EXPECT_EQ(**loaded(), mark_);
  for (int i = 0; i < 3; ++i) {
    mark_.position.lsn = mark_.position.lsn.next();
    ASSERT_TRUE(file.write(mark_));
    EXPECT_EQ(**loaded(), mark_) << "as after kill -9: nothing was synced or closed";
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
  ASSERT_TRUE(HighWater(path_.string()).create(mark_));
  EXPECT_EQ(**loaded(), mark_);
}

TEST_F(HighWaterTest, AWriteThatThePowerLossTearsLeavesTheMarkBefore) {
  HighWater file(path_.string());
  ASSERT_TRUE(file.create(mark_));
  const HighWaterMark before = mark_;
  mark_.position.lsn = Lsn(1001);
  ASSERT_TRUE(file.write(mark_));
  damage(4096 + 40);
  EXPECT_EQ(**loaded(), before);
}

TEST_F(HighWaterTest, ADamagedFileIsAnErrorNotAFreshStart) {
  HighWater file(path_.string());
  ASSERT_TRUE(file.create(mark_));
  damage(40);
  EXPECT_EQ(loaded().error().code, ErrorCode::data_loss);
  write("ares-high-water-1 sys-a 7 1000 50 9");
  EXPECT_EQ(loaded().error().code, ErrorCode::data_loss);
}

TEST_F(HighWaterTest, TheFileOfTheFirstReleaseIsRead) {
  write("ares-high-water-1 sys-a 7 1000 50 9 end\n");
  const HighWaterMark old = **loaded();
  EXPECT_EQ(old.system, "sys-a");
  EXPECT_EQ(old.position, (JournalPosition{"", Epoch(7), "", Lsn(1000), JobId(50)}));
  EXPECT_EQ(old.next_node_id, NodeId(9));
  EXPECT_GT(old.reserved_job_id, JobId(1000)) << "it was written once a second";
  EXPECT_FALSE(old.may_lack_last_moments);
}

TEST_F(HighWaterTest, AMissingDirectoryIsSaidWhenSaving) {
  const auto saved = HighWater((directory_ / "no" / "file").string()).create(mark_);
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("file"), std::string::npos);
}

TEST_F(HighWaterTest, OnlyADatabaseAtOrAboveTheMarkPasses) {
  EXPECT_TRUE(check_not_behind(mark_, mark_, {}));
  HighWaterMark found = mark_;
  found.position.lsn = Lsn(1001);
  EXPECT_TRUE(check_not_behind(mark_, found, {}));
  found.position.lsn = Lsn(999);
  EXPECT_EQ(check_not_behind(mark_, found, {}).error().code, ErrorCode::data_loss);
  found = mark_;
  found.position.epoch = Epoch(6);
  EXPECT_EQ(check_not_behind(mark_, found, {}).error().code, ErrorCode::data_loss);
  found = mark_;
  found.system = "sys-b";
  EXPECT_EQ(check_not_behind(mark_, found, {}).error().code, ErrorCode::failed_precondition);
}

TEST_F(HighWaterTest, ACopyFromBeforeAnAcceptedRollbackIsOlderHoweverFarItHasCome) {
  HighWaterMark copy = mark_;
  copy.position.history = "sys-a";
  copy.position.lsn = Lsn(5000);
  EXPECT_EQ(check_not_behind(mark_, copy, {}).error().code, ErrorCode::data_loss);
  // The other way round another controller has accepted it.
  EXPECT_TRUE(check_not_behind(copy, mark_, {"sys-a"}));
  copy.position.history = "";  // seen by the first release
  copy.position.lsn = Lsn(999);
  EXPECT_TRUE(check_not_behind(copy, mark_, {"sys-a"}));
}

TEST_F(HighWaterTest, AfterARollbackEverythingGoesOnAboveWhatWasSetAside) {
  const HighWaterMark found{
      "sys-a", {"sys-a", Epoch(5), "two", Lsn(400), JobId(20)}, NodeId(3), {}, {}};
  const HighWaterMark raised = raised_above(mark_, found);
  EXPECT_GE(raised.position.epoch, mark_.position.epoch);
  EXPECT_GT(raised.position.lsn, mark_.reserved_lsn);
  EXPECT_GE(raised.position.next_job_id, mark_.reserved_job_id);
  EXPECT_GE(raised.next_node_id, mark_.next_node_id);
}

TEST_F(HighWaterTest, JobNumbersContinueWithoutAGapUnlessTheLastMomentsMayBeMissing) {
  HighWaterMark found = mark_;
  found.position.next_job_id = JobId(52);
  EXPECT_EQ(next_job_id_after(mark_, found), JobId(52));
  mark_.may_lack_last_moments = true;
  EXPECT_EQ(next_job_id_after(mark_, found), mark_.reserved_job_id);
}

}  // namespace
}  // namespace ares::store
