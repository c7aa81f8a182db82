#include "submission/container_options.h"

#include <string>

#include "cli/values/spec_container.h"

namespace ares::submission {
namespace {

using Set = Status (*)(api::JobSpec&, const std::string&);

Status set_per_rank(api::JobSpec& spec, const std::string&) {
  spec.mutable_container()->set_per_rank(true);
  return {};
}

struct Row {
  const char* name;
  const char* argument;
  const char* help;
  Set set;
};

constexpr Row kRows[] = {
    {"container-env", "NAME[,...]",
     "Variables whose values the job takes from the submitter's environment even if the container "
     "image sets them. Other variables keep the image's values.",
     cli::set_container_env},
    {"container-image", "IMAGE",
     "Run the job in containers of this image, as [REGISTRY/]NAME[:TAG], on nodes that run jobs in "
     "containers: see ares-kubernetes(7). Default: the partition's image, else that of the nodes.",
     cli::set_container_image},
    {"container-mounts", "SRC[:DST[:ro|rw]][,...]",
     "Directories of the node that the container sees, under the same path unless DST is given. "
     "They must lie below those that the site mounts into jobs.",
     cli::set_container_mounts},
    {"container-per-rank", "",
     "Run the script in the container of each node, with its rank in RANK. Default: in that of the "
     "first node; the others hold the allocation.",
     set_per_rank},
    {"container-workdir", "DIR",
     "Working directory in the container, an absolute path. Default: that of --chdir.",
     cli::set_container_workdir},
    {"namespace", "NAME",
     "Namespace of the job's pods, one of those that the site maps to the user. Default: the "
     "site's.",
     cli::set_namespace},
    {"pod-template", "FILE",
     "A pod as JSON whose allowed fields the job's pods take over; ares-kubernetes(7) lists these. "
     "The file is read at submission.",
     cli::set_pod_template},
    {"service-account", "NAME",
     "Kubernetes service account of the job's pods, one of those that the site maps to the user. "
     "Default: none.",
     cli::set_service_account},
};

}  // namespace

std::vector<cli::Option> container_options(Submission& target) {
  std::vector<cli::Option> rows;
  for (const Row& row : kRows)
    rows.push_back(
        {0, row.name, row.argument, row.help,
         [&target, set = row.set](const std::string& value) { return set(target.spec, value); }});
  return rows;
}

std::vector<cli::Unsupported> refused_container_options() {
  std::vector<cli::Unsupported> rows;
  for (const Row& row : kRows)
    rows.push_back({0, row.name, *row.argument != '\0',
                    "only batch jobs run in containers; submit a script with asub"});
  return rows;
}

}  // namespace ares::submission
