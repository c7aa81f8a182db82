#include "exec/kubernetes/api/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "exec/kubernetes/settings/object_name.h"

namespace ares::kubernetes {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(path_of(Call::create_event, "v1beta1", {.space = "jobs"}).value(),
            "/apis/events.k8s.io/v1beta1/namespaces/jobs/events");
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

}  // namespace
}  // namespace ares::kubernetes
