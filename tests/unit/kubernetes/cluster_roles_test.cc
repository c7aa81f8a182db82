#include "exec/kubernetes/api/cluster_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/yaml_tree.h"
#include "exec/kubernetes/api/calls.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

using config::Value;

const Value& field(const Value& map, const std::string& key) {
  for (const config::Entry& entry : map.entries)
    if (entry.key == key) return entry.value;
  ADD_FAILURE() << "line " << map.line << " has no " << key;
  static const Value kNone;
  return kNone;
}

// "ROLE: VERB RESOURCE[.GROUP]" of all rules of the file.
std::multiset<std::string> rules_of(const std::string& text) {
  std::multiset<std::string> rules;
  std::string rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find("---\n");
    const auto role = config::parse_yaml(rest.substr(0, end), "cluster_roles.yaml");
    rest = end == std::string::npos ? "" : rest.substr(end + 4);
    if (!role) {
      ADD_FAILURE() << role.error().message;
      continue;
    }
    EXPECT_EQ(field(*role, "kind").text, "ClusterRole");
    const std::string name = field(field(*role, "metadata"), "name").text;
    for (const Value& rule : field(*role, "rules").items)
      for (const Value& group : field(rule, "apiGroups").items)
        for (const Value& resource : field(rule, "resources").items)
          for (const Value& verb : field(rule, "verbs").items)
            rules.insert(name + ": " + verb.text + " " + resource.text +
                         (group.text.empty() ? "" : "." + group.text));
  }
  return rules;
}

std::string checked_in() {
  return os::read_file(std::string(ARES_SOURCE_DIR) + "/etc/kubernetes/cluster_roles.yaml").value();
}

TEST(ClusterRoles, EachCallHasOneRuleAndEachRuleACall) {
  const std::map<Where, std::string> names{{Where::cluster, "ares-agent"},
                                           {Where::job_namespaces, "ares-agent-jobs"},
                                           {Where::own_namespace, "ares-agent-own"}};
  std::multiset<std::string> expected;
  for (const CallRow& row : call_table())
    expected.insert(names.at(row.where) + ": " + describe(row));
  EXPECT_EQ(rules_of(checked_in()), expected);
}

TEST(ClusterRoles, FileIsTheTextMadeFromTheTable) {
  EXPECT_EQ(checked_in(), cluster_roles())
      << "write the text of cluster_roles() to etc/kubernetes/cluster_roles.yaml";
}

}  // namespace
}  // namespace ares::kubernetes
