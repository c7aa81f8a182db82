#include "kubernetes/testbed.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/login/kubeconfig.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;

Result<std::string> read_file(const std::string& path) {
  return os::read_file(path);
}

int poll_time(std::optional<BootTime> deadline) {
  if (!deadline) return 100;
  const auto wait = std::chrono::ceil<milliseconds>(*deadline - os::boot_now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(wait, 0, 100));
}

}  // namespace

void TestbedTest::SetUp() {
  const char* const given = std::getenv("ARES_KUBERNETES_TESTBED");
  testbed_ = given ? given : "";
  const std::string kubeconfig = testbed_ + "/run/admin.kubeconfig";
  if (testbed_.empty() || ::access(kubeconfig.c_str(), R_OK) != 0)
    GTEST_SKIP() << "no Kubernetes to test against: start contrib/kubernetes/testbed/up.sh DIR and "
                    "set ARES_KUBERNETES_TESTBED=DIR";
  const auto access = parse_kubeconfig(read_file(kubeconfig).value(), kubeconfig, "", read_file);
  ASSERT_TRUE(access) << access.error().message;
  admin_access_ = *access;
  port_ = std::stoi(admin_access_.server.substr(admin_access_.server.rfind(':') + 1));
  engine_ = HttpEngine::open({.http2 = true}).value();  // clients use HTTP/1.1
  char name[] = "/tmp/ares-kubernetes-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  folder = name;
  space = "test-" + std::to_string(::getpid()) + "-" +
          std::to_string(os::wall_now().time_since_epoch().count() % 1'000'000'000);
  admin("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + space + "\"}}");
  // Pods are admitted once the controller manager has given the namespace its service account and that a token.
  auto client = client_for(admin_access_);
  const BootTime end = os::boot_now() + Seconds(60);
  while (admin("GET", "/api/v1/namespaces/" + space + "/serviceaccounts").find("\"secrets\"") ==
         std::string::npos) {
    ASSERT_LT(os::boot_now(), end) << "the namespace gets no service account";
    ::poll(nullptr, 0, 100);
  }
}

void TestbedTest::TearDown() {
  if (!space.empty()) admin("DELETE", "/api/v1/namespaces/" + space);
  if (!folder.empty()) (void)os::remove_tree(folder);
}

std::string TestbedTest::admin(const std::string& method, const std::string& path,
                               const std::string& body, const std::string& content_type) {
  HttpRequest request{.method = method,
                      .url = admin_access_.server + path,
                      .headers = {"Content-Type: " + content_type},
                      .body = body};
  request.ca_pem = admin_access_.ca_pem;
  request.certificate_pem = admin_access_.client_certificate_pem;
  request.key_pem = admin_access_.client_key_pem;
  std::optional<HttpAnswer> answer;
  engine_->send(std::move(request), [&](HttpAnswer got) { answer = std::move(got); });
  while (!answer) {
    pollfd ready{engine_->event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, poll_time(engine_->next_deadline()));
    engine_->dispatch();
  }
  EXPECT_TRUE(answer->status >= 200 && answer->status < 300)
      << method << " " << path << ": " << answer->error << answer->body;
  return answer->body;
}

std::string TestbedTest::shell(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(("{ " + command + "\n} 2>&1").c_str(), "r"),
                                             ::pclose);
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    output.append(buffer.data(), n);
  const int status = ::pclose(pipe.release());
  EXPECT_EQ(status, 0) << command << "\n" << output;
  return output;
}

void TestbedTest::restart(const std::string& name) {
  // With its output in a file, since what it starts would keep a pipe open.
  shell(std::string(ARES_SOURCE_DIR) + "/contrib/kubernetes/testbed/restart.sh " + testbed_ + " " +
        name + " >" + folder + "/restart.log");
}

std::unique_ptr<ApiClient> TestbedTest::client_for(const ServerAccess& access) {
  auto credentials =
      Credentials::open({[access]() -> Result<ServerAccess> { return access; }, read_file,
                         [] { return os::wall_now(); }, [] { return os::boot_now(); }});
  EXPECT_TRUE(credentials);
  ClientSettings settings;
  settings.rate = {.per_second = 500, .burst = 500};
  return std::make_unique<ApiClient>(
      settings, ClientParts{HttpEngine::open({}).value(), std::move(*credentials),
                            [] { return os::boot_now(); }, 7});
}

std::unique_ptr<ApiClient> TestbedTest::client_for(const std::string& kubeconfig) {
  const auto access = parse_kubeconfig(kubeconfig, folder + "/kubeconfig", "", read_file);
  EXPECT_TRUE(access) << access.error().message;
  return client_for(access.value_or(ServerAccess{}));
}

ServerAccess TestbedTest::through(int other_port) const {
  ServerAccess access = admin_access_;
  access.server = "https://127.0.0.1:" + std::to_string(other_port);
  return access;
}

ApiResult TestbedTest::call(ApiClient& client, ApiRequest request) {
  std::optional<ApiResult> result;
  client.call(std::move(request), [&](ApiResult got) { result = std::move(got); });
  EXPECT_TRUE(run_until(client, [&] { return result.has_value(); }));
  return result.value_or(tl::unexpected(ApiFailure{}));
}

bool TestbedTest::run_until(ApiClient& client, const std::function<bool()>& condition,
                            const std::vector<ObjectWatch*>& watches, Seconds patience) {
  const BootTime end = os::boot_now() + patience;
  while (!condition()) {
    if (os::boot_now() > end) return false;
    int wait = poll_time(client.next_deadline());
    for (const ObjectWatch* watch : watches)
      wait = std::min(wait, poll_time(watch->next_deadline()));
    pollfd ready{client.event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, wait);
    client.dispatch();
    for (ObjectWatch* watch : watches) watch->dispatch();
  }
  return true;
}

std::string TestbedTest::pod(const std::string& name) const {
  return R"({"metadata":{"name":")" + name +
         R"(","labels":{"ares.io/cluster":"test"}},"spec":{"schedulerName":"ares",)"
         R"("restartPolicy":"Never","containers":[{"name":"main","image":"localhost/busybox:1"}]}})";
}

void TestbedTest::create_pod(const std::string& name) {
  admin("POST", "/api/v1/namespaces/" + space + "/pods", pod(name));
}

void TestbedTest::delete_pod(const std::string& name) {
  admin("DELETE", "/api/v1/namespaces/" + space + "/pods/" + name, R"({"gracePeriodSeconds":0})");
}

std::set<std::string> TestbedTest::pods() {
  const auto list = parse_object(admin("GET", "/api/v1/namespaces/" + space + "/pods"), "the list");
  std::set<std::string> names;
  for (const Json& item : *find(*list, {"items"}))
    names.insert(text_at(item, {"metadata", "name"}) + "@" + text_at(item, {"metadata", "uid"}));
  return names;
}

}  // namespace ares::kubernetes
