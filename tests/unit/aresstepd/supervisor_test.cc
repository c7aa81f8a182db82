#include "aresstepd/supervisor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "os/file.h"

namespace ares::stepd {
namespace {

AttemptKey attempt(std::uint64_t job) {
  return {{JobId(job), TaskIndex{}}, AttemptNo{1}};
}

class SupervisorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-stepd-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path); }

  // A directory of that name with the specification of this attempt.
  std::string directory(const std::string& name, const AttemptKey& key) {
    std::filesystem::create_directories(path + "/" + name);
    node::StepSpec spec;
    spec.launch.attempt = key;
    spec.launch.spec = std::make_shared<const JobSpec>();
    const Status written = os::replace_file(path + "/" + name + "/spec", encode(spec));
    EXPECT_TRUE(written) << written.error().message;
    return path + "/" + name;
  }

  std::string path;
};

TEST_F(SupervisorTest, TakesUpTheAttemptThatItsDirectoryIsNamedAfter) {
  const auto made = Supervisor::make(directory("7.1", attempt(7)), -1);
  EXPECT_TRUE(made) << made.error().message;
}

// Directories are used again. One that opened its own, stood still and read on later once found everything in order: the
// specification and the intent of the next attempt.
TEST_F(SupervisorTest, ADirectoryGivenToAnotherAttemptMeanwhileIsLeftAlone) {
  const auto made = Supervisor::make(directory("7.1", attempt(8)), -1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::stale);
  EXPECT_NE(made.error().message.find("7.1"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace ares::stepd
