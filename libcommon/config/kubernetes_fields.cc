// The section `node.kubernetes` of ares.yaml: the Kubernetes cluster whose nodes an aresd serves.
#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

Type<std::vector<std::string>> folders_type() {
  const auto list = text_list_type();
  return {"[DIR, ...]",
          [list](const Value& value) -> Result<std::vector<std::string>> {
            auto folders = list.parse(value);
            if (!folders) return folders;
            for (const std::string& folder : *folders)
              if (!folder.starts_with('/') || folder.size() < 2 || folder.ends_with('/') ||
                  folder.find("/..") != std::string::npos)
                return fail(ErrorCode::invalid_argument,
                            quote(folder) + " is not the absolute path of a folder below /");
            return folders;
          },
          list.print};
}

Status check_grants(const std::vector<KubernetesGrant>& grants) {
  for (const KubernetesGrant& grant : grants)
    if (grant.users.empty() && grant.groups.empty())
      return fail(ErrorCode::invalid_argument, "a grant needs users or groups");
  return {};
}

}  // namespace

std::vector<Field<KubernetesGrant>> kubernetes_grant_fields() {
  using G = KubernetesGrant;
  return {
      field<G>("users", &G::users, text_list_type(), "Names of users; \"*\": all users."),
      field<G>("groups", &G::groups, text_list_type(), "Names of groups of users."),
      required(field<G>("namespaces", &G::namespaces, text_list_type(),
                        "Namespaces that they may name with --namespace. A user with rights over "
                        "the pods of a namespace has power over the jobs in it.")),
      field<G>("service_accounts", &G::service_accounts, text_list_type(),
               "Service accounts of these namespaces that they may name with --service-account."),
  };
}

std::vector<Field<KubernetesConfig>> kubernetes_fields() {
  using K = KubernetesConfig;
  return {
      field<K>("kubeconfig", &K::kubeconfig, file_type(),
               "How the API server is reached. Empty: by the service account of the pod in which "
               "aresd runs."),
      field<K>("context", &K::context, text_type(),
               "The context of the kubeconfig. Empty: its current one."),
      field<K>("namespace", &K::space, text_type(),
               "The namespace in which pods of jobs are made that name no other."),
      field<K>("image", &K::image, text_type(),
               "The container image of jobs that name none, as their partition does not either."),
      field<K>("gate_image", &K::gate_image, text_type(),
               "An image with the program /ares-gate, which each pod starts with."),
      field<K>("gate_folder", &K::gate_folder, file_type(),
               "A folder that `ares-gate install FOLDER` has made on each node. Pods take the gate "
               "from there and start sooner than with a container of gate_image, which only jobs "
               "with --container-mounts then have. Empty: all have it."),
      field<K>("calls_per_second", &K::calls_per_second, count_type(10),
               "How many calls of the API aresd makes at most, on average; twice as many at once "
               "after a pause. A pod takes six, from its creation to its removal."),
      field<K>("node_prefix", &K::node_prefix, text_type(),
               "Stands before the names that nodes have in Kubernetes."),
      field<K>("node_selector", &K::node_selector, text_type(),
               "A label selector, such as pool=batch: only these nodes are served. Empty: all."),
      field<K>("mounts", &K::mounts, folders_type(),
               "Folders of the nodes that jobs see under the same paths, such as a shared /home. "
               "Output files below them are written by the job; other output stays in the log of "
               "the pod."),
      field<K>("features", &K::features, text_list_type(),
               "Labels of nodes that become features LABEL=VALUE, for asub -C."),
      field<K>(
          "gpu_domain_label", &K::gpu_domain_label, text_type(),
          "A label of nodes whose GPUs are all connected to each other by NVLink; its value is "
          "the number of links between each two, or another text for one. On other nodes "
          "--gpu-topology and --min-nvlink are met only by all GPUs of a node."),
      field<K>("allow_root", &K::allow_root, boolean_type(),
               "Whether jobs of root run; they are root in their container."),
      field<K>(
          "grants", &K::grants,
          list_of_maps_type<KubernetesGrant>("list of grants", "{users: [...], namespaces: [...]}",
                                             kubernetes_grant_fields(), check_grants),

          "Which users may name which other namespaces and service accounts. The keys of a "
          "grant are below. Default: none."),
  };
}

}  // namespace ares::config
