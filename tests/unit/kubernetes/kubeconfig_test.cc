// Tests: login/access
#include "exec/kubernetes/api/login/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ares::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

const std::map<std::string, std::string> kFiles{
    {"/etc/kube/ca.crt", "CA"}, {"/etc/kube/empty.crt", "\n"}, {"/etc/kube/me.crt", "CERT"},
    {"/keys/me.key", "KEY"},    {"/sa/ca.crt", "SA-CA"},       {"/sa/namespace", "ares\n"}};

Result<std::string> read_file(const std::string& path) {
  const auto found = kFiles.find(path);
  if (found == kFiles.end()) return fail(ErrorCode::not_found, "cannot read " + path);
  return found->second;
}

std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: jobs}\n"
         "- name: there\n  context: {cluster: nowhere, user: u}\n"
         "clusters:\n- name: c\n  cluster:\n    " +
         cluster + "\nusers:\n- name: u\n  user:\n    " + user + "\n";
}

Result<ServerAccess> parse(const std::string& cluster, const std::string& user,
                           const std::string& context = "") {
  return parse_kubeconfig(kubeconfig(cluster, user), "/etc/kube/config", context, read_file);
}

const std::string kServer = "server: https://kube.example.com:6443/";

TEST(Kubeconfig, CertificatesComeFromFilesOrData) {
  const auto access = parse(kServer + "\n    certificate-authority: ca.crt",
                            "client-certificate: me.crt\n    client-key-data: S0VZMg==");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://kube.example.com:6443");
  EXPECT_EQ(access->ca_pem, "CA");
  EXPECT_EQ(access->client_certificate_pem, "CERT");
  EXPECT_EQ(access->client_key_pem, "KEY2");
  EXPECT_EQ(access->space, "jobs");
  EXPECT_TRUE(std::holds_alternative<NoToken>(access->token));
}

TEST(Kubeconfig, TokensAreTextOrFile) {
  EXPECT_EQ(std::get<Token>(parse(kServer, "token: abc.def")->token).token, "abc.def");
  EXPECT_EQ(std::get<TokenFile>(parse(kServer, "tokenFile: tok\n    token: old")->token).path,
            "/etc/kube/tok");
  EXPECT_THAT(parse(kServer, "token: \"a b\"").error().message,
              HasSubstr(":16: \"token\" contains white space"));
}

TEST(Kubeconfig, ExecPluginIsReadWhole) {
  const auto access =
      parse(kServer + "\n    tls-server-name: inner\n    proxy-url: http://proxy:3128",
            "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: ./login\n"
            "      args: [--for, \"a b\"]\n      env: [{name: A, value: b}]\n"
            "      installHint: install login\n      provideClusterInfo: true\n      "
            "interactiveMode: IfAvailable");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->tls_server_name, "inner");
  EXPECT_EQ(access->proxy_url, "http://proxy:3128");
  const auto& plugin = std::get<ExecPlugin>(access->token);
  EXPECT_EQ(plugin.command, "/etc/kube/./login");
  EXPECT_THAT(plugin.arguments, ElementsAre("--for", "a b"));
  EXPECT_THAT(plugin.environment, ElementsAre(Pair("A", "b")));
  EXPECT_EQ(plugin.install_hint, "install login");
  EXPECT_TRUE(plugin.provide_cluster_info);
}

TEST(Kubeconfig, WhatIsUnsafeOrUnknownIsRefusedWithItsPlace) {
  struct Case {
    std::string cluster, user, message;
  };
  const std::string exec = "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      ";
  for (const Case& c : std::initializer_list<Case>{
           {kServer + "\n    insecure-skip-tls-verify: true", "token: t",
            "/etc/kube/config:13: \"insecure-skip-tls-verify\" is not supported: "},
           {"server: http://kube", "token: t", ":12: \"server\" must be https://"},
           {"server: https://", "token: t", "must be https://"},
           {"server: https://user@kube", "token: t", "must be https://"},
           {"proxy-url: x", "token: t", "has no \"server\""},
           {kServer + "\n    proxy-url: ftp://x", "token: t", "\"proxy-url\" must begin with"},
           {kServer + "\n    tls-server-name: a/b", "token: t", "must be the name of a host"},
           {kServer + "\n    certificate-authority-data: \"?\"", "token: t", "is not base64"},
           {kServer + "\n    certificate-authority: other.crt", "token: t",
            "cannot read /etc/kube/other.crt"},
           {kServer, "client-certificate: me.crt", "needs both"},
           {kServer, "username: x", "\"username\" is not supported; use a token"},
           {kServer, "auth-provider: {name: gcp}",
            "\"auth-provider\" is not supported; use the exec plugin"},
           {kServer, "as: admin", "\"as\" is not supported"},
           {kServer, "token: t\n    " + exec + "command: x", "\"exec\" excludes"},
           {kServer, exec + "args: []", "has no \"command\""},
           {kServer, exec + "command: x\n      interactiveMode: Always", "interactiveMode"},
           {kServer, exec + "command: x\n      env: [{name: \"a=b\"}]", "without '='"},
           {kServer, exec + "command: x\n      env: {A: b}",
            "\"env\" of the exec plugin must be a list"},
           {kServer, exec + "command: x\n      args: one",
            "\"args\" of the exec plugin must be a list"},
           {kServer + "\n    certificate-authority: empty.crt", "token: t",
            "\"/etc/kube/empty.crt\" is empty"},
           {"server: https://user:secret@kube", "token: t",
            "must be https://HOST[:PORT], without a user or password"},
           {kServer, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}",
            "v1 or v1beta1"},
           {kServer, "token: [a]", "\"token\" must be a text"},
           {"insecure-skip-tls-verify: perhaps", "token: t", "must be true or false"},
       }) {
    const auto access = parse(c.cluster, c.user);
    ASSERT_FALSE(access) << c.message;
    EXPECT_THAT(access.error().message, HasSubstr(c.message));
  }
}

TEST(Kubeconfig, ContextsClustersAndUsersMustExist) {
  EXPECT_THAT(parse(kServer, "token: t", "there").error().message,
              HasSubstr("there is no cluster \"nowhere\""));
  EXPECT_THAT(parse(kServer, "token: t", "other").error().message,
              HasSubstr("there is no context \"other\""));
  for (const std::string& text :
       std::initializer_list<std::string>{"", "[]", "7", "kind: Pod", "{}", "current-context: x",
                                          "current-context: x\ncontexts: {}", "\t-", "a: b: c"}) {
    const auto access = parse_kubeconfig(text, "kc", "", read_file);
    ASSERT_FALSE(access) << text;
    EXPECT_EQ(access.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(access.error().message, StartsWith("kc:"));
  }
}

TEST(Kubeconfig, PodUsesItsServiceAccount) {
  const auto access = in_cluster_access("fd00::1", "443", "/sa", read_file);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->ca_pem, "SA-CA");
  EXPECT_EQ(access->space, "ares");
  EXPECT_EQ(std::get<TokenFile>(access->token).path, "/sa/token");
  EXPECT_THAT(in_cluster_access("", "", "/sa", read_file).error().message,
              HasSubstr("give a kubeconfig"));
  EXPECT_FALSE(in_cluster_access("h", "1", "/nothing", read_file));
}

}  // namespace
}  // namespace ares::kubernetes
