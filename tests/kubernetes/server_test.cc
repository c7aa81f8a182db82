// Calls, discovery, permissions and certificates against a real API server.
// Tests: kubernetes/api/client, feature_discovery, access_check, curl_engine
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/access_check.h"
#include "exec/kubernetes/api/feature_discovery.h"
#include "exec/kubernetes/api/json.h"
#include "kubernetes/testbed.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

using testing::HasSubstr;

class ServerTest : public TestbedTest {
 protected:
  Result<ServerFeatures> features_of(ApiClient& client) {
    std::optional<Result<ServerFeatures>> found;
    discover(client, [&](Result<ServerFeatures> got) { found = std::move(got); });
    EXPECT_TRUE(run_until(client, [&] { return found.has_value(); }));
    return *found;
  }

  // A service account of the test's namespace, and a token of it.
  std::string token_of_new_account(const std::string& name) {
    const std::string accounts = "/api/v1/namespaces/" + space + "/serviceaccounts";
    admin("POST", accounts, R"({"metadata":{"name":")" + name + "\"}}");
    const auto answer = parse_object(
        admin(
            "POST", accounts + "/" + name + "/token",
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":3600}})"),
        "the answer");
    return text_at(*answer, {"status", "token"});
  }
  ServerAccess with_token(const std::string& token) {
    ServerAccess access = admin_access();
    access.client_certificate_pem.clear();
    access.client_key_pem.clear();
    access.token = Token{token};
    return access;
  }
  std::vector<std::string> missing_permissions(ApiClient& client) {
    std::optional<Result<std::vector<AccessQuestion>>> found;
    check_access(client, {.job_namespaces = {space}, .own_namespace = space},
                 [&](const Result<std::vector<AccessQuestion>>& got) { found = got; });
    EXPECT_TRUE(run_until(client, [&] { return found.has_value(); }));
    EXPECT_TRUE(*found) << found->error().message;
    std::vector<std::string> missing;
    for (const AccessQuestion& question : found->value_or(std::vector<AccessQuestion>()))
      missing.push_back(describe(row_of(question.call)));
    return missing;
  }
  Error failure_with(const ServerAccess& access) {
    const auto client = client_for(access);
    const ApiResult result = call(*client, {.call = Call::list_nodes});
    EXPECT_FALSE(result);
    return result ? Error{} : result.error().error;
  }
  // A certificate that expired yesterday, by the authority of the test bed.
  std::pair<std::string, std::string> expired_certificate(const std::string& extensions) {
    const std::string pki = std::string(std::getenv("ARES_KUBERNETES_TESTBED")) + "/run/pki";
    (void)os::publish_file(folder + "/ext", extensions, 0600);
    shell("cd " + folder +
          " && openssl req -newkey rsa:2048 -nodes -keyout old.key -out old.csr -subj "
          "/O=system:masters/CN=old && "
          "touch index && openssl ca -batch -notext -config /dev/stdin -in old.csr "
          "-out old.crt -cert " +
          pki + "/ca.crt -keyfile " + pki +
          "/ca.key -startdate 200101000000Z -enddate 200102000000Z -extfile ext <<'END'\n"
          "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nrand_serial=yes\nnew_certs_dir=.\ndefault_md="
          "sha256\npolicy=p\n[p]"
          "\norganizationName=optional\ncommonName=supplied\nEND");
    return {os::read_file(folder + "/old.crt").value_or(""),
            os::read_file(folder + "/old.key").value_or("")};
  }
};

TEST_F(ServerTest, DiscoveryFindsWhatTheServerHas) {
  const auto client = client_for(admin_access());
  const auto features = features_of(*client);
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_GE(features->minor, 20u);
  EXPECT_EQ(features->policy_version(), features->is_at_least(21) ? "v1" : "v1beta1");
  EXPECT_TRUE(features->resources.contains("pods/binding"));
  EXPECT_TRUE(features->resources.contains("leases.coordination.k8s.io"));
}

TEST_F(ServerTest, FailuresOfCallsAreDistinguished) {
  const auto client = client_for(admin_access());
  ASSERT_TRUE(features_of(*client));
  const std::string node = space + "-node";
  admin("POST", "/api/v1/nodes", R"({"metadata":{"name":")" + node + "\"}}");
  ApiRequest create{.call = Call::create_pod};
  create.target.space = space;
  create.body = pod("a");
  EXPECT_TRUE(call(*client, create));
  EXPECT_EQ(call(*client, create).error().failure, Failure::already_exists);
  ApiRequest bind{.call = Call::bind_pod, .target = {space, "a"}};
  bind.body = R"({"metadata":{"name":"a"},"target":{"kind":"Node","name":")" + node + "\"}}";
  EXPECT_TRUE(call(*client, bind));
  EXPECT_EQ(call(*client, bind).error().failure, Failure::conflict) << "it is bound already";
  EXPECT_EQ(call(*client, {.call = Call::get_pod, .target = {space, "b"}}).error().failure,
            Failure::not_found);
  create.body = R"({"metadata":{"name":"c"},"spec":{"containers":[]}})";
  const ApiResult invalid = call(*client, create);
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().failure, Failure::invalid);
  EXPECT_THAT(invalid.error().error.message, HasSubstr("spec.containers"));
  ApiRequest remove{.call = Call::delete_pod, .target = {space, "a"}};
  remove.body = R"({"gracePeriodSeconds":0,"preconditions":{"uid":"another"}})";
  EXPECT_EQ(call(*client, remove).error().failure, Failure::conflict);
  admin("DELETE", "/api/v1/nodes/" + node);
}

TEST_F(ServerTest, ContinueTokenOfACompactedListIsGone) {
  const auto client = client_for(admin_access());
  for (const char* name : {"a", "b", "c"}) create_pod(name);
  ApiRequest list{.call = Call::list_pods};
  list.target.space = space;
  list.query = {{"limit", "1"}};
  const ApiResult first = call(*client, list);
  ASSERT_TRUE(first) << first.error().error.message;
  const auto page = parse_object(first->body, "the list");
  const std::string token = text_at(*page, {"metadata", "continue"});
  ASSERT_FALSE(token.empty());
  delete_pod("c");
  const auto now = parse_object(admin("GET", "/api/v1/namespaces/" + space + "/pods"), "the list");
  const std::string etcd = shell(". $ARES_KUBERNETES_TESTBED/run/env && echo $KUBE_ETCD_URL");
  shell("curl -sf -d '{\"revision\":\"" + text_at(*now, {"metadata", "resourceVersion"}) +
        "\",\"physical\":true}' " + etcd.substr(0, etcd.find('\n')) + "/v3/kv/compaction");
  list.query.emplace_back("continue", token);
  const ApiResult next = call(*client, list);
  if (next) GTEST_SKIP() << "this server keeps lists longer than etcd does";
  EXPECT_EQ(next.error().failure, Failure::gone) << next.error().error.message;
}

TEST_F(ServerTest, MissingRulesAreNamedAndTheClusterRolesAreEnough) {
  const auto client = client_for(with_token(token_of_new_account("agent")));
  std::vector<std::string> without = missing_permissions(*client);
  // Each authenticated user may ask what it may do.
  EXPECT_EQ(without.size(), call_table().size() - 1);
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
  const std::string subjects =
      R"("subjects":[{"kind":"ServiceAccount","name":"agent","namespace":")" + space + "\"}]";
  std::string roles =
      os::read_file(std::string(ARES_SOURCE_DIR) + "/etc/kubernetes/cluster_roles.yaml").value();
  std::vector<std::string> names;
  while (!roles.empty()) {
    const std::size_t end = roles.find("---\n");
    std::string role = roles.substr(0, end);
    roles = end == std::string::npos ? "" : roles.substr(end + 4);
    const std::size_t at = role.find("  name: ") + 8;
    const std::string name = role.substr(at, role.find('\n', at) - at);
    names.push_back(space + "-" + name);
    role.replace(at, name.size(), names.back());
    admin("POST", rbac + "/clusterroles", role, "application/yaml");
    const std::string reference =
        R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" +
        names.back() + "\"}";
    const std::string binding =
        R"({"metadata":{"name":")" + names.back() + "\"}," + reference + "," + subjects + "}";
    admin("POST",
          name == "ares-agent" ? rbac + "/clusterrolebindings"
                               : rbac + "/namespaces/" + space + "/rolebindings",
          binding);
  }
  EXPECT_EQ(names.size(), 3u);
  std::vector<std::string> with{"not asked"};
  // The server learns of new rules by a watch of its own.
  const bool is_enough =
      run_until(*client, [&] { return (with = missing_permissions(*client)).empty(); });
  EXPECT_TRUE(is_enough) << testing::PrintToString(with);
  ApiRequest list{.call = Call::list_pods};
  EXPECT_TRUE(call(*client, list));
  for (const std::string& name : names) admin("DELETE", rbac + "/clusterroles/" + name);
  admin("DELETE", rbac + "/clusterrolebindings/" + names[0]);
}

TEST_F(ServerTest, RefusedCredentialsAreExplained) {
  EXPECT_THAT(failure_with(with_token("wrong")).message,
              HasSubstr("has expired: renew what the kubeconfig names"));
  const Error forbidden = failure_with(with_token(token_of_new_account("nothing")));
  EXPECT_EQ(forbidden.code, ErrorCode::permission_denied);
  EXPECT_THAT(forbidden.message, HasSubstr("cannot list resource \"nodes\""));
  ServerAccess access = admin_access();
  std::tie(access.client_certificate_pem, access.client_key_pem) =
      expired_certificate("extendedKeyUsage=clientAuth\n");
  const Error expired = failure_with(access);
  EXPECT_EQ(expired.code, ErrorCode::unauthenticated) << expired.message;
  EXPECT_THAT(expired.message, HasSubstr("the client certificate is wrong or has expired"));
}

TEST_F(ServerTest, CertificateOfTheServerIsAlwaysChecked) {
  ServerAccess access = admin_access();
  access.tls_server_name = "kubernetes.default";
  EXPECT_TRUE(call(*client_for(access), {.call = Call::list_nodes}));
  access.tls_server_name = "other.example.com";
  EXPECT_THAT(failure_with(access).message, HasSubstr("certificate subject name"));
  access = admin_access();
  access.ca_pem.clear();
  const Error untrusted = failure_with(access);
  EXPECT_EQ(untrusted.code, ErrorCode::failed_precondition);
  EXPECT_THAT(untrusted.message, HasSubstr("certificate"));
}

TEST_F(ServerTest, ExpiredCertificateOfTheServerIsRefusedByName) {
  (void)expired_certificate("extendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1\n");
  // -accept 0 lets the system choose the port.
  shell("cd " + folder +
        " && { openssl s_server -accept 127.0.0.1:0 -cert old.crt -key old.key -www >server.log "
        "2>&1 </dev/null & echo $! >pid; }");
  std::string log;
  for (const BootTime end = os::boot_now() + Seconds(30);
       log.find("ACCEPT") == std::string::npos && os::boot_now() < end;)
    log = os::read_file(folder + "/server.log").value_or("");
  const std::size_t colon = log.find("127.0.0.1:");
  ASSERT_NE(colon, std::string::npos) << log;
  const Error refused = failure_with(through(std::stoi(log.substr(colon + 10))));
  EXPECT_EQ(refused.code, ErrorCode::failed_precondition);
  EXPECT_THAT(refused.message, HasSubstr("certificate has expired"));
  shell("kill $(cat " + folder + "/pid)");
}

TEST_F(ServerTest, ExecPluginGivesTheToken) {
  const std::string token = token_of_new_account("plugin");
  (void)os::publish_file(folder + "/login",
                         "#!/bin/sh\ncat "
                         "<<'END'\n{\"apiVersion\":\"client.authentication.k8s.io/"
                         "v1beta1\",\"kind\":\"ExecCredential\","
                         "\"status\":{\"token\":\"" +
                             token + "\"}}\nEND\n",
                         0700);
  (void)os::publish_file(folder + "/ca.crt", admin_access().ca_pem, 0600);
  const auto client = client_for(
      "kind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: "
      "u}}]\nclusters: [{name: c, cluster: {server: \"" +
      admin_access().server +
      "\", certificate-authority: ca.crt}}]\nusers:\n- name: u\n  user:\n    exec: {command: "
      "./login, apiVersion: client.authentication.k8s.io/v1beta1}\n");
  const ApiResult result = call(*client, {.call = Call::list_nodes});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().failure, Failure::forbidden) << "known, but without permissions";
  EXPECT_THAT(result.error().error.message,
              HasSubstr("system:serviceaccount:" + space + ":plugin"));
}

}  // namespace
}  // namespace ares::kubernetes
