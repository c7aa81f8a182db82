// Tests: credential_program, exec_credential, login/sources
#include "exec/kubernetes/api/login/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>

#include "exec/kubernetes/api/login/sources.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

using State = Credentials::State;
using std::chrono::seconds;
using testing::HasSubstr;

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ares-credentials-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override { (void)os::remove_tree(folder); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder + "/" + name;
    EXPECT_TRUE(os::publish_file(path, text, 0700));
    return path;
  }
  void program(const std::string& script) {
    access.token = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                              .command = write("login", "#!/bin/sh\n" + script + "\n"),
                              .arguments = {"one", "two words"},
                              .environment = {{"COLOUR", "red"}}};
  }
  static std::string credential(const std::string& status) {
    return "cat "
           "<<'END'\n{\"apiVersion\":\"client.authentication.k8s.io/"
           "v1\",\"kind\":\"ExecCredential\",\"status\":" +
           status + "}\nEND";
  }

  void open() {
    auto opened =
        Credentials::open({[this]() -> Result<ServerAccess> { return access; },
                           [](const std::string& path) { return os::read_file(path); },
                           [this] { return wall; }, [this] { return os::boot_now() + later; }});
    ASSERT_TRUE(opened) << opened.error().message;
    credentials = std::move(*opened);
  }
  State prepare_and_wait() {
    State state = credentials->prepare();
    const BootTime deadline = os::boot_now() + seconds(60);
    while (state == State::waiting && os::boot_now() < deadline) {
      pollfd ready{credentials->event_fd(), POLLIN, 0};
      (void)::poll(&ready, 1, 100);
      credentials->dispatch();
      state = credentials->prepare();
    }
    return state;
  }

  void wait_for_program() {
    const BootTime deadline = os::boot_now() + seconds(60);
    while (credentials->event_fd() >= 0 && os::boot_now() < deadline) {
      pollfd ready{credentials->event_fd(), POLLIN, 0};
      (void)::poll(&ready, 1, 100);
      credentials->dispatch();
    }
  }

  std::string folder;
  ServerAccess access{.server = "https://kube"};
  Time wall{seconds(1767323045)};  // 2026-01-02T03:04:05Z
  Duration later{};
  std::unique_ptr<Credentials> credentials;
};

TEST_F(CredentialsTest, TokenFileIsReadAgainEachMinute) {
  access.token = TokenFile{write("token", "first\n")};
  open();
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "first");
  write("token", "second\n");
  later = seconds(50);
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "first");
  later = seconds(61);
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "second");
}

TEST_F(CredentialsTest, LastTokenIsUsedWhileItsFileCannotBeRead) {
  access.token = TokenFile{folder + "/token"};
  open();
  EXPECT_EQ(credentials->prepare(), State::failed);
  EXPECT_THAT(credentials->problem().message, HasSubstr(folder + "/token"));
  write("token", "t");
  later = seconds(6);
  EXPECT_EQ(credentials->prepare(), State::ready);
  write("token", "not one token");
  later = seconds(100);
  EXPECT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "t");
  EXPECT_THAT(credentials->problem().message, HasSubstr("does not contain one token"));
}

TEST_F(CredentialsTest, RefusedLoginIsReadAgainOnce) {
  access.token = TokenFile{write("token", "old")};
  open();
  ASSERT_EQ(credentials->prepare(), State::ready);
  const std::uint64_t refused = credentials->generation();
  write("token", "new");
  credentials->reload(refused);
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "new");
  write("token", "newer");
  credentials->reload(refused);  // of another request, which was sent before the reload
  EXPECT_EQ(credentials->login().token, "new");
}

TEST_F(CredentialsTest, ProgramIsRunWithoutAShellAndGivesTheLogin) {
  program(
      "[ $# = 2 ] && [ \"$2\" = 'two words' ] && [ $COLOUR = red ] || exit 3\n"
      "case $KUBERNETES_EXEC_INFO in *ExecCredential*interactive*) ;; *) exit 4 ;; esac\n" +
      credential("{\"token\":\"abc\"}"));
  open();
  EXPECT_EQ(credentials->prepare(), State::waiting);
  ASSERT_EQ(prepare_and_wait(), State::ready) << credentials->problem().message;
  EXPECT_EQ(credentials->login().token, "abc");
  EXPECT_EQ(credentials->event_fd(), -1);
}

TEST_F(CredentialsTest, LoginOfAProgramIsUsedWhileAnotherIsMade) {
  program("echo x >>" + folder + "/runs\n" +
          credential("{\"token\":\"t\",\"expirationTimestamp\":\"2026-01-02T03:14:05Z\"}"));
  open();
  ASSERT_EQ(prepare_and_wait(), State::ready);
  wall += seconds(470);
  ASSERT_EQ(prepare_and_wait(), State::ready);
  EXPECT_EQ(os::read_file(folder + "/runs").value(), "x\n");
  wall += seconds(15);
  program("while [ ! -e " + folder + "/go ]; do sleep 0.01; done; echo x >>" + folder + "/runs\n" +
          credential("{\"token\":\"u\",\"expirationTimestamp\":\"2026-01-02T04:14:05Z\"}"));
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "t");
  EXPECT_GE(credentials->event_fd(), 0);
  write("go", "");
  wait_for_program();
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "u");
  EXPECT_EQ(os::read_file(folder + "/runs").value(), "x\nx\n");
  credentials->reload(credentials->generation());
  ASSERT_EQ(prepare_and_wait(), State::ready);
  EXPECT_EQ(os::read_file(folder + "/runs").value(), "x\nx\nx\n");
}

TEST_F(CredentialsTest, RefusedLoginIsNotUsedWhileAnotherIsMade) {
  const std::string expires = "\"expirationTimestamp\":\"2026-01-02T03:14:05Z\"}";
  program(credential("{\"token\":\"t\"," + expires));
  open();
  ASSERT_EQ(prepare_and_wait(), State::ready);
  wall += seconds(500);
  program("while [ ! -e " + folder + "/go ]; do sleep 0.01; done; " +
          credential("{\"token\":\"u\"," + expires));
  ASSERT_EQ(credentials->prepare(), State::ready);
  credentials->reload(credentials->generation());
  EXPECT_EQ(credentials->prepare(), State::waiting);
  wall += seconds(1000);
  EXPECT_EQ(credentials->prepare(), State::waiting) << "expired as well";
  wall -= seconds(1000);
  write("go", "");
  ASSERT_EQ(prepare_and_wait(), State::ready);
  EXPECT_EQ(credentials->login().token, "u");
}

TEST_F(CredentialsTest, ValidLoginIsUsedWhileTheProgramFails) {
  program(credential("{\"token\":\"t\",\"expirationTimestamp\":\"2026-01-02T03:14:05Z\"}"));
  open();
  ASSERT_EQ(prepare_and_wait(), State::ready);
  wall += seconds(500);
  program("exit 1");
  ASSERT_EQ(credentials->prepare(), State::ready);
  wait_for_program();
  EXPECT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->event_fd(), -1) << "it is run again after a pause";
  wall += seconds(100);
  EXPECT_EQ(credentials->prepare(), State::failed);
  EXPECT_THAT(credentials->problem().message, HasSubstr("failed with exit code 1"));
}

TEST_F(CredentialsTest, AuthorityIsReadAgain) {
  access.ca_pem = "old";
  open();
  EXPECT_FALSE(credentials->reload_authority());
  access.ca_pem = "new";
  EXPECT_TRUE(credentials->reload_authority());
  EXPECT_EQ(credentials->access().ca_pem, "new");
}

TEST_F(CredentialsTest, ProgramThatWritesWithoutEndDoesNotKeepTheLoop) {
  program("exec cat /dev/zero >&2");
  open();
  ASSERT_EQ(credentials->prepare(), State::waiting);
  for (int round = 0; round < 50; ++round) credentials->dispatch();  // each one returns
  later = seconds(61);
  credentials->dispatch();
  EXPECT_EQ(credentials->prepare(), State::failed);
  EXPECT_THAT(credentials->problem().message, HasSubstr("did not end in time"));
}

TEST_F(CredentialsTest, ProgramsThatFailAreExplained) {
  struct Case {
    std::string script, message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"echo 'log in first' >&2; exit 7", "failed with exit code 7: log in first"},
           {"kill -9 $$", "was ended by signal 9"},
           {"echo hello", "is not JSON"},
           {"head -c 2000000 /dev/zero", "writes more than 1 MiB"},
           {credential("{}"), "has neither a token nor a client certificate"},
           {credential("{\"token\":\"a\\nb\"}"), "white space"},
           {credential("{\"clientKeyData\":\"k\"}"), "only one of"},
           {credential("{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}"),
            "not a time of RFC 3339"},
           {credential("{\"token\":\"t\",\"expirationTimestamp\":\"2020-01-02T03:14:05Z\"}"),
            "has expired already"},
           {"echo "
            "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
            "v1beta1\"}'",
            "another apiVersion"},
       }) {
    program(c.script);
    open();
    EXPECT_EQ(prepare_and_wait(), State::failed) << c.script;
    EXPECT_THAT(credentials->problem().message, HasSubstr(c.message));
  }
}

TEST_F(CredentialsTest, MissingProgramIsReportedWithItsHint) {
  access.token = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                            .command = "ares-no-such-program",
                            .install_hint = "install it from example.com"};
  open();
  EXPECT_EQ(credentials->prepare(), State::failed);
  EXPECT_THAT(
      credentials->problem().message,
      HasSubstr(
          "\"ares-no-such-program\": No such file or directory; install it from example.com"));
  EXPECT_TRUE(credentials->next_deadline());
}

TEST_F(CredentialsTest, ProgramThatDoesNotEndIsKilled) {
  program("echo $$ >" + folder + "/pid; exec sleep 1000");
  open();
  EXPECT_EQ(credentials->prepare(), State::waiting);
  const BootTime deadline = os::boot_now() + seconds(60);
  while (os::read_file(folder + "/pid").value_or("").empty() && os::boot_now() < deadline)
    ::poll(nullptr, 0, 10);
  const int pid = std::stoi(os::read_file(folder + "/pid").value());
  later = seconds(61);
  credentials->dispatch();
  EXPECT_EQ(credentials->prepare(), State::failed);
  EXPECT_THAT(credentials->problem().message, HasSubstr("did not end in time"));
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(CredentialsTest, KubeconfigIsReadAgainAfterARefusal) {
  const auto kubeconfig = [](const std::string& token) {
    return "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {server: \"https://kube\"}}]\nusers: [{name: u, user: "
           "{token: " +
           token + "}}]\n";
  };
  const std::string path = write("config", kubeconfig("first"));
  credentials = Credentials::open(from_kubeconfig(path, "")).value();
  ASSERT_EQ(credentials->prepare(), State::ready);
  write("config", kubeconfig("second"));
  credentials->reload(credentials->generation());
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "second");
  write("config", "broken: [");
  credentials->reload(credentials->generation());
  ASSERT_EQ(credentials->prepare(), State::ready);
  EXPECT_EQ(credentials->login().token, "second");
  EXPECT_THAT(credentials->problem().message, HasSubstr(path + ":"));
  EXPECT_THAT(Credentials::open(from_kubeconfig(folder + "/none", "")).error().message,
              HasSubstr("/none"));
}

TEST_F(CredentialsTest, ServiceAccountIsUsedInAPod) {
  write("token", "of-the-pod");
  write("ca.crt", "CA");
  write("namespace", "jobs");
  ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  auto opened = Credentials::open(from_service_account(folder));
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  ::unsetenv("KUBERNETES_SERVICE_PORT");
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ((*opened)->prepare(), State::ready);
  EXPECT_EQ((*opened)->login().token, "of-the-pod");
  EXPECT_EQ((*opened)->access().server, "https://10.0.0.1:443");
  EXPECT_THAT(Credentials::open(from_service_account(folder)).error().message,
              HasSubstr("give a kubeconfig"));
}

}  // namespace
}  // namespace ares::kubernetes
