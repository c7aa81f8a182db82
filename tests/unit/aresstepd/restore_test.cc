// Tests: aresstepd/restore/restore, fetch_program
#include "aresstepd/restore/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ares::stepd {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Checkpoints in S3, with a program in place of acheckpoint.
class Restoring : public testing::Test {
 protected:
  Restoring() {
    char path[] = "/tmp/ares-restore-XXXXXX";
    top_ = ::mkdtemp(path);
    auto spec = std::make_shared<JobSpec>();
    spec->checkpoint = CheckpointRequest{"s3://bucket/alice", 2};
    launch_.spec = spec;
    for (const std::uint64_t sequence : {2, 1}) {
      Checkpoint one;
      one.sequence = sequence;
      one.uri = "s3://bucket/alice/12/00000" + std::to_string(sequence) + ".1";
      launch_.checkpoints.push_back(one);
    }
  }
  ~Restoring() override { fs::remove_all(top_); }

  // $5 is the directory and $4 the URI.
  Result<Restore> with(const std::string& script) {
    const std::string program = top_ + "/acheckpoint";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    ::chmod(program.c_str(), 0755);
    return find_checkpoint(launch_, {"TMPDIR=" + top_, "PATH=/bin:/usr/bin"}, program,
                           [this](const std::string& line) { said_.push_back(line); });
  }
  std::size_t left() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(top_), fs::directory_iterator()));
  }

  std::string top_;
  LaunchSpec launch_;
  std::vector<std::string> said_;
};

TEST_F(Restoring, NewestOneIsCopiedToATemporaryDirectory) {
  const auto restore = with("mkdir \"$5\"; echo \"$1 $2 $3 $4\" >\"$5/arguments\"");
  ASSERT_TRUE(restore) << restore.error().message;
  EXPECT_THAT(restore->temporary, HasSubstr(top_ + "/ares-checkpoint-"));
  EXPECT_EQ(restore->directory, restore->temporary + "/000002.1");
  std::ifstream file(restore->directory + "/arguments");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line,
            "--quiet --sha256=" + std::string(64, '0') + " fetch s3://bucket/alice/12/000002.1");
  EXPECT_TRUE(said_.empty());
}

TEST_F(Restoring, DamagedOneIsPassedOverAndTheReasonTold) {
  const auto restore = with(
      "case $4 in *2.1) echo acheckpoint: trying again >&2; echo acheckpoint: it is damaged >&2; "
      "exit 1;; esac; mkdir \"$5\"");
  ASSERT_TRUE(restore) << restore.error().message;
  EXPECT_EQ(restore->directory, restore->temporary + "/000001.1");
  EXPECT_THAT(said_, ElementsAre("trying again", "checkpoint 2 is not used: it is damaged"));
}

TEST_F(Restoring, OneThatCannotBeLookedAtFailsTheJob) {
  const auto restore = with("echo acheckpoint: no server >&2; exit 75");
  EXPECT_EQ(restore.error().message, "cannot look at checkpoint 2: no server");
  EXPECT_EQ(left(), 1u) << "the program alone";
}

TEST_F(Restoring, WithoutAnIntactOneTheJobBeginsFromItsStart) {
  const auto restore = with("exit 1");
  ASSERT_TRUE(restore);
  EXPECT_EQ(restore->directory + restore->temporary, "");
  EXPECT_THAT(said_.back(), HasSubstr("the job begins from its start"));
  EXPECT_EQ(left(), 1u);
}

}  // namespace
}  // namespace ares::stepd
