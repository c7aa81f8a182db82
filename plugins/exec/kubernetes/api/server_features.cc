#include "exec/kubernetes/api/server_features.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/clip.h"
#include "base/printable.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes {
namespace {

// The versions of groups that Ares knows, those it prefers first.
struct KnownGroup {
  std::string_view group;
  std::vector<std::string_view> versions;
};
const std::vector<KnownGroup>& known_groups() {
  static const std::vector<KnownGroup> kGroups{
      {"", {"v1"}},
      {"coordination.k8s.io", {"v1"}},
      {"events.k8s.io", {"v1", "v1beta1"}},
      {"authorization.k8s.io", {"v1"}},
      {"policy", {"v1", "v1beta1"}},
  };
  return kGroups;
}

tl::unexpected<Error> wrong(std::string_view path, const std::string& what) {
  return fail(
      ErrorCode::failed_precondition,
      "the answer to " + std::string(path) + " is not that of a Kubernetes API server: " + what);
}

Result<Json> parse(std::string_view path, std::string_view body) {
  auto object = parse_object(body, "it");
  if (!object) return wrong(path, object.error().message);
  return object;
}

// The number at the beginning: clouds write "20+".
Result<unsigned> number_of(const std::string& text, const char* what) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > 100'000)
    return wrong("/version", std::string(what) + " is " + quote(text));
  return number;
}

const Json& list_at(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json* const found = find(object, {key});
  return found && found->is_array() ? *found : kEmpty;
}

std::string full_name(std::string_view resource, std::string_view group) {
  return group.empty() ? std::string(resource) : std::string(resource) + "." + std::string(group);
}

}  // namespace

bool ServerFeatures::has(std::string_view group, std::string_view group_version) const {
  const auto found = groups.find(std::string(group));
  return found != groups.end() && std::find(found->second.begin(), found->second.end(),
                                            group_version) != found->second.end();
}

std::string ServerFeatures::version_of(std::string_view group) const {
  for (const KnownGroup& known : known_groups())
    if (known.group == group)
      for (const std::string_view one : known.versions)
        if (has(group, one)) return std::string(one);
  return "";
}

Status ServerFeatures::check_calls() const {
  std::vector<std::string> missing;
  for (const CallRow& row : call_table()) {
    std::string resource(row.resource);
    if (!row.subresource.empty()) resource += "/" + std::string(row.subresource);
    const std::string name = full_name(resource, row.group);
    if (!resources.contains(name) &&
        std::find(missing.begin(), missing.end(), name) == missing.end())
      missing.push_back(name);
  }
  if (missing.empty()) return {};
  std::string message = "Kubernetes " + version + " does not have what Ares needs:";
  for (const std::string& name : missing) message += " " + name;
  return fail(ErrorCode::failed_precondition, message + "; versions from 1.20 on have it");
}

Status add_version(std::string_view body, ServerFeatures& features) {
  const auto object = parse("/version", body);
  if (!object) return fail(object.error());
  const auto major = number_of(text_at(*object, {"major"}), "its major version");
  if (!major) return fail(major.error());
  const auto minor = number_of(text_at(*object, {"minor"}), "its minor version");
  if (!minor) return fail(minor.error());
  features.major = *major;
  features.minor = *minor;
  features.version = printable(clip(text_at(*object, {"gitVersion"}), 64));
  return {};
}

Status add_core_versions(std::string_view body, ServerFeatures& features) {
  const auto object = parse("/api", body);
  if (!object) return fail(object.error());
  std::vector<std::string>& versions = features.groups[""];
  for (const Json& version : list_at(*object, "versions"))
    if (version.is_string()) versions.push_back(version.get<std::string>());
  if (versions.empty()) return wrong("/api", "it has no versions");
  return {};
}

Status add_groups(std::string_view body, ServerFeatures& features) {
  const auto object = parse("/apis", body);
  if (!object) return fail(object.error());
  if (!find(*object, {"groups"})) return wrong("/apis", "it has no groups");
  for (const Json& group : list_at(*object, "groups")) {
    std::vector<std::string>& versions = features.groups[text_at(group, {"name"})];
    const std::string& preferred = text_at(group, {"preferredVersion", "version"});
    for (const Json& version : list_at(group, "versions"))
      if (const std::string& text = text_at(version, {"version"}); !text.empty())
        versions.insert(text == preferred ? versions.begin() : versions.end(), text);
  }
  return {};
}

Status add_resources(std::string_view body, std::string_view group, ServerFeatures& features) {
  const auto object = parse(group.empty() ? "/api/v1" : "/apis/" + std::string(group), body);
  if (!object) return fail(object.error());
  if (!find(*object, {"resources"}))
    return wrong("/apis/" + std::string(group), "it has no resources");
  for (const Json& resource : list_at(*object, "resources"))
    if (const std::string& name = text_at(resource, {"name"}); !name.empty())
      features.resources.insert(full_name(name, group));
  return {};
}

}  // namespace ares::kubernetes
