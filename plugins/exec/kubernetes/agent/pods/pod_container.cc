#include "exec/kubernetes/agent/pods/pod_container.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "exec/kubernetes/agent/pods/pod_template.h"

namespace ares::kubernetes {
namespace {

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::invalid_argument, why);
}

bool is_within(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

Result<PodMount> mount_of(const ContainerMount& wanted, const Settings& settings) {
  PodMount mount;
  mount.source = wanted.source;
  mount.target = wanted.target;
  mount.is_read_only = wanted.is_read_only;
  for (const std::string* path : {&mount.source, &mount.target}) {
    if (const std::string why = wrong_mount_path(*path); !why.empty())
      return refuse("--container-mounts: " + quote(*path) + " " + why);
  }
  // A mount of all of them lies at the same path, and files of jobs are opened there.
  if (mount.source != mount.target)
    for (const std::string& folder : settings.mounts)
      if (is_within(mount.target, folder) || is_within(folder, mount.target))
        return refuse("--container-mounts: " + quote(mount.target) + " would hide " +
                      quote(folder) + ", which jobs see there");
  for (std::size_t i = 0; i < settings.mounts.size(); ++i) {
    const std::string& folder = settings.mounts[i];
    if (!is_within(mount.source, folder)) continue;
    mount.volume = i;
    mount.below = mount.source == folder ? "" : mount.source.substr(folder.size() + 1);
    return mount;
  }
  return refuse("--container-mounts: " + quote(mount.source) +
                " lies below none of the directories that jobs may mount (node.kubernetes.mounts)");
}

}  // namespace

const std::string& space_of(const JobSpec& job, const Settings& settings) {
  return job.container && !job.container->space.empty() ? job.container->space : settings.space;
}

Status check_grants(const Launch& launch, const Settings& settings) {
  const JobSpec& job = *launch.spec.launch.spec;
  if (!job.container) return {};
  const std::string& space = space_of(job, settings);
  const std::string& account = job.container->service_account;
  if (space == settings.space && account.empty()) return {};
  if (is_granted(settings, {launch.spec.user.name, launch.groups}, space, account)) return {};
  return fail(ErrorCode::permission_denied,
              "user " + job.user + " may not use " +
                  (account.empty() ? std::string() : "service account " + quote(account) + " of ") +
                  "namespace " + quote(space) + " (node.kubernetes.grants)");
}

Result<PodContainer> container_of(const Launch& launch, const Settings& settings) {
  const LaunchSpec& spec = launch.spec.launch;
  const JobSpec& job = *spec.spec;
  PodContainer container;
  container.image = spec.container_image.empty() ? settings.image : spec.container_image;
  if (container.image.empty())
    return refuse(
        "no container image: name one with --container-image; neither the partition nor "
        "node.kubernetes has one");
  container.directory = job.work_dir.empty() ? job.submit_dir : job.work_dir;
  if (!job.container) return container;
  const ContainerRequest& request = *job.container;
  container.service_account = request.service_account;
  if (!request.work_dir.empty()) {
    container.directory = request.work_dir;
    container.needs_directory = true;
  }
  for (const ContainerMount& wanted : request.mounts) {
    Result<PodMount> mount = mount_of(wanted, settings);
    if (!mount) return fail(mount.error());
    container.mounts.push_back(std::move(*mount));
  }
  if (request.pod_template.empty()) return container;
  const Result<Json> read = read_pod_template(request.pod_template, !request.space.empty());
  if (!read) return fail(read.error());
  container.pod_template = request.pod_template;
  return container;
}

}  // namespace ares::kubernetes
