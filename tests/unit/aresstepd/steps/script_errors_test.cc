#include "aresstepd/steps/script_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares::stepd {
namespace {

using testing::HasSubstr;

class ScriptErrors : public testing::Test {
 protected:
  ScriptErrors() {
    std::string pattern = testing::TempDir() + "errors-XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }
  ~ScriptErrors() override { std::filesystem::remove_all(folder); }

  Status tell(const std::string& std_out, const std::string& std_err = "") const {
    auto job = std::make_shared<JobSpec>();
    job->work_dir = folder;
    job->std_out = std_out;
    job->std_err = std_err;
    node::StepSpec spec;
    spec.launch.own_id = JobId(12);
    spec.launch.attempt.job.job = JobId(12);
    spec.launch.spec = job;
    return add_to_errors(spec, "ares: told\n");
  }
  std::string refusal(const std::string& file) const {
    const Status told = tell(file);
    return told ? "" : told.error().message;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder + "/" + name).rdbuf();
    return text.str();
  }

  std::string folder;
};

TEST_F(ScriptErrors, LineIsAddedToTheFileOfTheScript) {
  write("out.12", "one\n");
  ASSERT_TRUE(tell("out.%j"));
  EXPECT_EQ(read("out.12"), "one\nares: told\n");
  write("err", "");
  ASSERT_TRUE(tell("out.%j", folder + "/err"));
  EXPECT_EQ(read("err"), "ares: told\n");
  EXPECT_EQ(read("out.12"), "one\nares: told\n");
}

TEST_F(ScriptErrors, UnfinishedLineIsEndedFirst) {
  write("out", "50 %");
  ASSERT_TRUE(tell("out"));
  EXPECT_EQ(read("out"), "50 %\nares: told\n");
}

TEST_F(ScriptErrors, OnlyFilesThatKeepItAreWritten) {
  EXPECT_THAT(refusal("gone"), HasSubstr("cannot be opened: No such file"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/gone")) << "it is not made";
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("is not a file that keeps what is written"));
  ASSERT_EQ(::mkfifo((folder + "/fifo").c_str(), 0600), 0);
  EXPECT_NE(refusal("fifo"), "");
}

}  // namespace
}  // namespace ares::stepd
