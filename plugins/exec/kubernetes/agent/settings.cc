#include "exec/kubernetes/agent/settings.h"

#include "base/printable.h"
#include "exec/kubernetes/api/calls.h"
#include "node/text_fields.h"

namespace ares::kubernetes {

std::string encode(const Settings& settings) {
  node::FieldWriter out;
  out.put("cluster", settings.cluster)
      .put("kubeconfig", settings.kubeconfig)
      .put("context", settings.context)
      .put("namespace", settings.space)
      .put("image", settings.image)
      .put("gate_image", settings.gate_image)
      .put("node_prefix", settings.node_prefix)
      .put("node_selector", settings.node_selector)
      .put("allow_root", settings.allow_root);
  for (const std::string& folder : settings.mounts) out.put("mount", folder);
  for (const std::string& label : settings.features) out.put("feature", label);
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
  settings.node_prefix = in.text_or_empty("node_prefix");
  settings.node_selector = in.text_or_empty("node_selector");
  settings.mounts = in.all("mount");
  settings.features = in.all("feature");
  settings.allow_root = in.flag("allow_root");
  if (Status read = in.status(); !read) return fail(read.error());
  if (settings.gate_image.empty())
    return fail(ErrorCode::invalid_argument,
                "node.kubernetes.gate_image is not set: name an image that has /ares-gate");
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

}  // namespace ares::kubernetes
