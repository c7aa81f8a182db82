#include "exec/kubernetes/settings/settings.h"

#include <algorithm>

#include "base/printable.h"
#include "exec/kubernetes/settings/object_name.h"
#include "node/text_fields.h"

namespace ares::kubernetes {

namespace {

std::string encode(const Grant& grant) {
  node::FieldWriter out;
  for (const std::string& user : grant.users) out.put("user", user);
  for (const std::string& group : grant.groups) out.put("group", group);
  for (const std::string& space : grant.namespaces) out.put("namespace", space);
  for (const std::string& account : grant.service_accounts) out.put("service_account", account);
  return out.take();
}

Result<Grant> decode_grant(std::string_view text) {
  node::FieldReader in("grant", text);
  Grant grant{in.all("user"), in.all("group"), in.all("namespace"), in.all("service_account")};
  if (Status read = in.status(); !read) return fail(read.error());
  for (const auto* names : {&grant.namespaces, &grant.service_accounts})
    for (const std::string& name : *names)
      if (!is_object_name(name))
        return fail(ErrorCode::invalid_argument,
                    "node.kubernetes.grants: " + quote(name) +
                        " cannot be the name of a namespace or service account");
  return grant;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::string encode(const Settings& settings) {
  node::FieldWriter out;
  out.put("cluster", settings.cluster)
      .put("kubeconfig", settings.kubeconfig)
      .put("context", settings.context)
      .put("namespace", settings.space)
      .put("image", settings.image)
      .put("gate_image", settings.gate_image)
      .put("gate_folder", settings.gate_folder)
      .put("calls_per_second", settings.calls_per_second)
      .put("node_prefix", settings.node_prefix)
      .put("node_selector", settings.node_selector)
      .put("allow_root", settings.allow_root)
      .put("gpu_domain_label", settings.gpu_domain_label);
  for (const std::string& folder : settings.mounts) out.put("mount", folder);
  for (const std::string& label : settings.features) out.put("feature", label);
  for (const Grant& grant : settings.grants) out.put("grant", encode(grant));
  return out.take();
}

Result<Settings> decode_plugin_settings(std::string_view text) {
  node::FieldReader in("options", text);
  Settings settings;
  settings.cluster = in.text("cluster");
  settings.kubeconfig = in.text_or_empty("kubeconfig");
  settings.context = in.text_or_empty("context");
  settings.space = in.text("namespace");
  settings.image = in.text_or_empty("image");
  settings.gate_image = in.text("gate_image");
  settings.gate_folder = in.text_or_empty("gate_folder");
  settings.calls_per_second =
      in.number_or<std::uint32_t>("calls_per_second", settings.calls_per_second);
  settings.node_prefix = in.text_or_empty("node_prefix");
  settings.node_selector = in.text_or_empty("node_selector");
  settings.mounts = in.all("mount");
  settings.features = in.all("feature");
  settings.allow_root = in.flag("allow_root");
  settings.gpu_domain_label = in.text_or_empty("gpu_domain_label");
  for (const std::string& one : in.all("grant")) {
    Result<Grant> grant = decode_grant(one);
    if (!grant) return fail(grant.error());
    settings.grants.push_back(std::move(*grant));
  }
  if (Status read = in.status(); !read) return fail(read.error());
  if (settings.gate_image.empty())
    return fail(ErrorCode::invalid_argument,
                "node.kubernetes.gate_image is not set: name an image that has /ares-gate");
  if (!settings.gate_folder.empty() &&
      (!settings.gate_folder.starts_with('/') || settings.gate_folder == "/"))
    return fail(ErrorCode::invalid_argument,
                "node.kubernetes.gate_folder: " + quote(settings.gate_folder) +
                    " is not an absolute path below /");
  if (settings.calls_per_second == 0)
    return fail(ErrorCode::invalid_argument, "node.kubernetes.calls_per_second is 0");
  if (!is_object_name(settings.space))
    return fail(ErrorCode::invalid_argument, "node.kubernetes.namespace: " + quote(settings.space) +
                                                 " cannot be the name of a namespace");
  if (!is_object_name(settings.cluster) || settings.cluster.size() > 40)
    return fail(ErrorCode::invalid_argument,
                "the cluster's name is part of the names of pods, so it has at most 40 lower-case "
                "letters, digits and '-': " +
                    quote(settings.cluster));
  for (const std::string& folder : settings.mounts)
    if (!folder.starts_with('/') || folder == "/")
      return fail(ErrorCode::invalid_argument,
                  "node.kubernetes.mounts: " + quote(folder) + " is not an absolute path below /");
  return settings;
}

std::vector<std::string> job_namespaces(const Settings& settings) {
  std::vector<std::string> names{settings.space};
  for (const Grant& grant : settings.grants)
    for (const std::string& name : grant.namespaces)
      if (!has(names, name)) names.push_back(name);
  return names;
}

bool is_granted(const Settings& settings, const GrantedUser& user, const std::string& space,
                const std::string& service_account) {
  return std::any_of(settings.grants.begin(), settings.grants.end(), [&](const Grant& grant) {
    const bool is_for_user =
        has(grant.users, "*") || (!user.name.empty() && has(grant.users, user.name)) ||
        std::any_of(user.groups.begin(), user.groups.end(),
                    [&](const std::string& group) { return has(grant.groups, group); });
    return is_for_user && has(grant.namespaces, space) &&
           (service_account.empty() || has(grant.service_accounts, service_account));
  });
}

}  // namespace ares::kubernetes
