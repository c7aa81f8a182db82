// Tests: script_child
#include "aresstepd/pam_session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares::stepd {
namespace {

using Words = std::vector<std::string>;

// With a script in place of ares-pam.
class HeldSession : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-pam-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  Result<PamSession> open(const std::string& script) const {
    const std::string path = folder + "/helper";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    ::chmod(path.c_str(), 0755);
    return PamSession::open("jobs", "ann", path);
  }
  std::string folder;
};

TEST_F(HeldSession, HasTheVariablesAndIsClosedAtItsEnd) {
  const std::string log = folder + "/log";
  auto session = open("printf 'ok\\0A=1 2\\0B=%s\\0' \"$*\"\nexec >&-\ncat\necho closed > " + log);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->environment(), (Words{"A=1 2", "B=jobs ann"}));
  EXPECT_FALSE(std::filesystem::exists(log));
  session->close();
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_EQ(text.str(), "closed\n");
}

TEST_F(HeldSession, WhyThereIsNoneIsTold) {
  EXPECT_EQ(open("printf 'the account is refused'; exit 1").error().message,
            "there is no PAM session (jobs): the account is refused");
  EXPECT_EQ(open("exit 1").error().message,
            "there is no PAM session (jobs): the process that holds it has ended");
  EXPECT_EQ(PamSession::open("jobs", "ann", folder + "/none").error().message,
            "there is no PAM session (jobs): cannot execute " + folder +
                "/none: No such file or directory");
}

TEST(SessionVariables, PrecedeThoseOfTheUser) {
  Words variables{"A=1", "AB=2", "C=3"};
  set_variables(variables, {"A=x=y", "D=", "none", "=1"});
  EXPECT_EQ(variables, (Words{"AB=2", "C=3", "A=x=y", "D="}));
}

}  // namespace
}  // namespace ares::stepd
