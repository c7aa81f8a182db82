// Tests: pam_api
#include "pam/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ares::pam {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PamSession : public testing::Test {
 protected:
  void SetUp() override {
    path = testing::TempDir() + "/" + std::to_string(::getpid()) + "-pam";
    ::setenv("ARES_PAM_STUB", path.c_str(), 1);
  }
  void TearDown() override {
    for (const char* end : {"", ".account", ".session"}) std::filesystem::remove(path + end);
  }
  Result<Session> open() const { return Session::open("ares", "ann", ARES_PAM_STUB_LIBRARY); }
  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path;
};

TEST_F(PamSession, IsOpenUntilItsEnd) {
  {
    const auto session = open();
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_THAT(session->environment(),
                ElementsAre("KRB5CCNAME=FILE:/tmp/of-session", "FROM_PAM=a value"));
    EXPECT_THAT(calls(), ElementsAre("tty=ares ares ann", "account ares ann",
                                     "credentials 2 ares ann", "open ares ann"));
  }
  const auto all = calls();
  EXPECT_THAT(std::vector(all.begin() + 4, all.end()),
              ElementsAre("close ares ann", "credentials 4 ares ann", "end 0 ares ann"));
}

TEST_F(PamSession, ARefusedAccountHasNone) {
  std::ofstream(path + ".account") << "ann";
  EXPECT_EQ(open().error().message, "the account is refused: User account has expired");
  EXPECT_THAT(calls(), ElementsAre("tty=ares ares ann", "account ares ann", "end 13 ares ann"));
}

TEST_F(PamSession, ASessionThatCannotBeOpenedIsNotClosed) {
  std::ofstream(path + ".session") << "ann";
  EXPECT_THAT(open().error().message,
              HasSubstr("the session cannot be opened: Cannot make/remove"));
  const auto all = calls();
  EXPECT_THAT(std::vector(all.end() - 2, all.end()),
              ElementsAre("credentials 4 ares ann", "end 14 ares ann"));
}

TEST_F(PamSession, AMissingLibraryIsNamed) {
  const auto none = Session::open("ares", "ann", "libno-such-pam.so.0");
  EXPECT_THAT(none.error().message, HasSubstr("cannot load libno-such-pam.so.0"));
  const auto other = Session::open("ares", "ann", "libm.so.6");
  EXPECT_EQ(other.error().message, "libm.so.6 is not a library of PAM");
}

}  // namespace
}  // namespace ares::pam
