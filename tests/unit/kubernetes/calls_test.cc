#include "exec/kubernetes/api/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "exec/kubernetes/settings/object_name.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

using testing::HasSubstr;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";

TEST(Calls, EachResourceAndVerbHasOneRow) {
  std::set<std::string> seen;
  for (const CallRow& row : call_table()) {
    EXPECT_TRUE(seen.insert(describe(row)).second) << describe(row);
    EXPECT_FALSE(row.why.empty()) << describe(row);
    EXPECT_EQ(&row_of(row.call), &row);
  }
}

TEST(Calls, PathsAreThoseOfTheApi) {
  EXPECT_EQ(path_of(Call::bind_pod, "v1", {"jobs", "ares-7-0"}).value(),
            "/api/v1/namespaces/jobs/pods/ares-7-0/binding");
  EXPECT_EQ(path_of(Call::list_pods, "v1", {}).value(), "/api/v1/pods");
  EXPECT_EQ(path_of(Call::watch_pods, "v1", {.space = "jobs"}).value(),
            "/api/v1/namespaces/jobs/pods");
  EXPECT_EQ(path_of(Call::create_pod, "v1", {.space = "jobs"}).value(),
            "/api/v1/namespaces/jobs/pods");
  EXPECT_EQ(path_of(Call::get_node, "v1", {.name = "n1.example.com"}).value(),
            "/api/v1/nodes/n1.example.com");
  EXPECT_EQ(path_of(Call::update_lease, "v1", {"ares", "agent"}).value(),
            "/apis/coordination.k8s.io/v1/namespaces/ares/leases/agent");
  EXPECT_EQ(path_of(Call::create_access_review, "v1", {}).value(),
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
}

TEST(Calls, TargetsThatCannotExistAreRefused) {
  EXPECT_THAT(path_of(Call::get_pod, "v1", {"jobs", "../../nodes"}).error().message,
              HasSubstr("cannot get pods: \"../../nodes\" is not a name"));
  EXPECT_THAT(path_of(Call::get_pod, "v1", {"a/b", "p"}).error().message,
              HasSubstr("is not a namespace"));
  EXPECT_THAT(path_of(Call::delete_secret, "v1", {"jobs", ""}).error().message,
              HasSubstr("the name is missing"));
  EXPECT_THAT(path_of(Call::create_pod, "v1", {}).error().message,
              HasSubstr("the namespace is missing"));
  EXPECT_FALSE(path_of(Call::list_nodes, "v1", {.name = "n1"}));
}

TEST(Calls, NamesOfObjectsAreSubdomains) {
  for (const char* name : {"a", "0", "a-b.c", "a--b"}) EXPECT_TRUE(is_object_name(name)) << name;
  for (const char* name :
       {"", "-a", "a-", "a.", ".a", "a..b", "a.-b", "a-.b", "A", "a_b", "a/b", "%2e"})
    EXPECT_FALSE(is_object_name(name)) << name;
  EXPECT_TRUE(is_object_name(std::string(253, 'a')));
  EXPECT_FALSE(is_object_name(std::string(254, 'a')));
}

// Each row is a permission that a site has to give.
TEST(Calls, EachRowIsUsed) {
  const std::filesystem::path folder = std::string(ARES_SOURCE_DIR) + "/plugins/exec/kubernetes";
  std::string sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cc" && entry.path().filename() != "calls.cc")
      sources += os::read_file(entry.path().string()).value();
  std::string names = os::read_file(folder.string() + "/api/calls.h").value();
  names = names.substr(names.find("enum class Call {"));
  names = names.substr(names.find('{') + 1, names.find('}') - names.find('{') - 1);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = names.find_first_of(kLetters, at)) != std::string::npos; ++count) {
    const std::size_t end = names.find_first_not_of(kLetters, at);
    const std::string name = "Call::" + names.substr(at, end - at);
    std::size_t found = sources.find(name);
    while (found != std::string::npos &&
           kLetters.find(sources[found + name.size()]) != std::string_view::npos)
      found = sources.find(name, found + 1);
    EXPECT_NE(found, std::string::npos) << name << " is made by no code";
    at = end;
  }
  EXPECT_EQ(count, call_table().size());
}

}  // namespace
}  // namespace ares::kubernetes
