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
  }
  ~HighWaterTest() override { fs::remove_all(directory_); }

  fs::path directory_;
  HighWaterMark mark_{"sys-a", Epoch(7), Lsn(1000), JobId(50), NodeId(9)};
};

TEST_F(HighWaterTest, SavedMarkIsLoaded) {
  const HighWater file((directory_ / "high_water").string());
  EXPECT_FALSE(file.load()->has_value());
  ASSERT_TRUE(file.save(mark_));
  EXPECT_EQ(**file.load(), mark_);
  mark_.lsn = Lsn(2000);
  ASSERT_TRUE(file.save(mark_));
  EXPECT_EQ(**file.load(), mark_);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(HighWaterTest, DamagedFileIsAnError) {
  const auto path = directory_ / "high_water";
  const HighWater file(path.string());
  ASSERT_TRUE(file.save(mark_));
  fs::resize_file(path, fs::file_size(path) - 6);
  const auto loaded = file.load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::data_loss);
}

TEST_F(HighWaterTest, MissingDirectoryIsReportedBySave) {
  const auto saved = HighWater((directory_ / "no" / "file").string()).save(mark_);
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("file"), std::string::npos);
}

TEST_F(HighWaterTest, DatabaseBelowTheMarkIsRefused) {
  EXPECT_TRUE(check_not_behind(mark_, mark_));
  HighWaterMark found = mark_;
  found.lsn = Lsn(1001);
  EXPECT_TRUE(check_not_behind(mark_, found));
  found.lsn = Lsn(999);
  EXPECT_EQ(check_not_behind(mark_, found).error().code, ErrorCode::data_loss);
  found = mark_;
  found.epoch = Epoch(6);
  EXPECT_EQ(check_not_behind(mark_, found).error().code, ErrorCode::data_loss);
  found = mark_;
  found.system = "sys-b";
  EXPECT_EQ(check_not_behind(mark_, found).error().code, ErrorCode::failed_precondition);
}

TEST_F(HighWaterTest, AcceptedRollbackContinuesAboveTheMark) {
  const HighWaterMark found{"sys-a", Epoch(5), Lsn(400), JobId(20), NodeId(3)};
  const HighWaterMark raised = raised_above(mark_, found);
  EXPECT_GE(raised.epoch, mark_.epoch);
  EXPECT_GT(raised.lsn, mark_.lsn);
  EXPECT_GT(raised.next_job_id, mark_.next_job_id);
  EXPECT_GE(raised.next_node_id, mark_.next_node_id);
}

}  // namespace
}  // namespace ares::store
