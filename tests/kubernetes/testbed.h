// Testbed: the Kubernetes that contrib/kubernetes/testbed/up.sh has started in the folder ARES_KUBERNETES_TESTBED, as its administrator
// sees it; and clients of it. The fixture skips its tests where there is none. One thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/object_watch.h"

namespace ares::kubernetes {

class TestbedTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A request of the administrator; fails the test unless the status is one of success. Returns the body.
  std::string admin(const std::string& method, const std::string& path,
                    const std::string& body = "",
                    const std::string& content_type = "application/json");
  int port() const { return port_; }  // of the API server
  // restart.sh NAME
  void restart(const std::string& name);
  // Runs a command of the shell; its output.
  static std::string shell(const std::string& command);

  // A client with this access; its errors fail the test.
  std::unique_ptr<ApiClient> client_for(const ServerAccess& access);
  std::unique_ptr<ApiClient> client_for(const std::string& kubeconfig);
  ServerAccess admin_access() const { return admin_access_; }
  // The same through a port of 127.0.0.1.
  ServerAccess through(int other_port) const;

  ApiResult call(ApiClient& client, ApiRequest request);
  // Runs the event loop of one client, and of watches on it, until the condition holds.
  bool run_until(ApiClient& client, const std::function<bool()>& condition,
                 const std::vector<ObjectWatch*>& watches = {}, Seconds patience = Seconds(90));

  std::string pod(const std::string& name) const;  // as JSON
  void create_pod(const std::string& name);
  void delete_pod(const std::string& name);
  std::set<std::string> pods();  // of the namespace, as the server lists them

  std::string folder;  // temporary
  std::string space;   // a namespace of this test alone

 private:
  std::string testbed_;
  int port_ = 0;
  ServerAccess admin_access_;
  std::unique_ptr<ApiClient> admin_;
  std::unique_ptr<HttpEngine> engine_;
};

}  // namespace ares::kubernetes
