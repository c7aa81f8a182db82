#include "submission/refused_options.h"

#include <algorithm>

namespace ares::submission {
namespace {

constexpr const char* kContainers =
    "name an image with --container-image, or run a container in the script, with apptainer, "
    "enroot "
    "or podman";
constexpr const char* kX11 =
    "a batch job has no display to forward; while it runs, log in to its node with ssh -X, see "
    "ares-adopt(8)";
constexpr const char* kBurstBuffers = "there are no burst buffers; copy files in the script";
constexpr const char* kOtherUser = "start the command as that user, with su or setpriv";
constexpr const char* kSockets =
    "nodes are not chosen by their sockets; ask for features of nodes with --constraint";
constexpr const char* kOneCluster =
    "a command submits to the cluster of its ares.yaml; see --config";

}  // namespace

std::vector<cli::Unsupported> refused_options() {
  return {
      {0, "batch", true, "the script runs on the first of the job's nodes; see --constraint"},
      {0, "bb", true, kBurstBuffers},
      {0, "bbf", true, kBurstBuffers},
      {0, "cluster-constraint", true, kOneCluster},
      {'M', "clusters", true, kOneCluster},
      {0, "cluster", true, kOneCluster},
      {0, "consolidate-segments", false,
       "each segment lies in one block or under one leaf switch; say --switches for how many of "
       "these the job may use"},
      {0, "container", true, kContainers},
      {0, "container-id", true, kContainers},
      {0, "container-name", true, kContainers},
      {0, "cores-per-socket", true, kSockets},
      {'B', "extra-node-info", true, kSockets},
      {0, "gid", true, kOtherUser},
      {0, "gpus-per-socket", true, "say --gpus-per-node, and --gpu-topology=node for near ones"},
      {0, "mem-update", true,
       "a job that runs keeps its memory; ask for the most that it needs, with --mem"},
      {0, "reboot", false, "an operator reboots nodes, with actl reboot"},
      {0, "resources", true,
       "there are no resources of parts of the cluster; ask for --licenses, or for features of "
       "nodes with --constraint"},
      {0, "runtime", true, kContainers},
      {0, "sockets-per-node", true, kSockets},
      {0, "spread-segments", false,
       "two segments may share a block, if it has room; name the nodes with --nodelist where they "
       "must not"},
      {0, "uid", true, kOtherUser},
      {'u', "usage", false, "see --help"},
      {0, "x11", false, kX11},
  };
}

Status check_not_heterogeneous(const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), ":") == words.end()) return {};
  return fail(ErrorCode::invalid_argument,
              "heterogeneous jobs and steps, with parts between which : stands, are not supported; "
              "submit a job for each part, with --gang to start them together, or start each step "
              "in the background (a program takes : as an argument within sh -c)");
}

}  // namespace ares::submission
