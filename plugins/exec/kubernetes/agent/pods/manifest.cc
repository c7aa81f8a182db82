#include "exec/kubernetes/agent/pods/manifest.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/printable.h"
#include "exec/kubernetes/agent/pods/pod_container.h"
#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/agent/pods/pod_template.h"
#include "exec/kubernetes/api/login/base64.h"
#include "exec/kubernetes/gate/output_log.h"
#include "node/environment.h"
#include "node/file_pattern.h"

namespace ares::kubernetes {
namespace {

using nlohmann::json;

constexpr const char* kGateVolume = "ares-gate";
constexpr const char* kStateVolume = "ares-state";
constexpr const char* kJobVolume = "ares-job";
constexpr const char* kPodVolume = "ares-pod";

// Programs of Ares that no image has, and where variables point to them.
bool is_for_nodes_of_ares(std::string_view item) {
  constexpr std::string_view kNames[] = {"HYDRA_LAUNCHER=", "HYDRA_LAUNCHER_EXEC=", "OMPI_MCA_plm=",
                                         "OMPI_MCA_plm_rsh_agent=", "PRTE_MCA_plm_ssh_agent="};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return item.starts_with(name); });
}

std::string resource_of(const NodeObject& node, const std::string& type) {
  for (const GpuResource& resource : gpu_resources(node))
    if (resource.type == type) return resource.name;
  return {};
}

json resources_of(const node::StepSpec& spec, const NodeObject& node) {
  json amounts = json::object();
  const NodeShare& share = spec.launch.share;
  if (share.cpu_thousandths > 0)
    amounts["cpu"] = std::to_string(share.cpu_thousandths) + "m";
  else if (share.cpus > 0)
    amounts["cpu"] = std::to_string(share.cpus);
  if (spec.launch.share.memory.value() > 0)
    amounts["memory"] = std::to_string(spec.launch.share.memory.value());
  if (spec.launch.spec->tmp_disk.value() > 0)
    amounts["ephemeral-storage"] = std::to_string(spec.launch.spec->tmp_disk.value());
  std::map<std::string, int> devices;
  for (const std::string& type : spec.launch.gpu_types) ++devices[resource_of(node, type)];
  for (const auto& [name, count] : devices) amounts[name] = std::to_string(count);
  return {{"requests", amounts}, {"limits", amounts}};
}

std::string volume_name(std::size_t index) {
  return "mount-" + std::to_string(index);
}

// Whether a container before the main one puts the gate into the pod. It also looks at the folders that the job mounts.
bool has_init_container(const Settings& settings, const PodContainer& container) {
  return settings.gate_folder.empty() || !container.mounts.empty();
}

json folder_of_node(const std::string& path) {
  return {{"path", path}, {"type", "Directory"}};
}

json volumes_of(const std::string& name, const Settings& settings, const PodContainer& container) {
  const auto annotation = [](const char* of) {
    return json{{"fieldPath", "metadata.annotations['" + std::string(of) + "']"}};
  };
  json gate = {{"name", kGateVolume}};
  if (has_init_container(settings, container))
    gate["emptyDir"] = json::object();
  else
    gate["hostPath"] = folder_of_node(settings.gate_folder);
  json volumes = json::array({
      std::move(gate),
      {{"name", kStateVolume}, {"emptyDir", json::object()}},
      {{"name", kJobVolume}, {"secret", {{"secretName", name}, {"defaultMode", 0555}}}},
      {{"name", kPodVolume},
       {"downwardAPI",
        {{"items",
          json::array({{{"path", "go"}, {"fieldRef", annotation(kGoAnnotation)}},
                       {{"path", "signal"}, {"fieldRef", annotation(kSignalAnnotation)}},
                       {{"path", "warning"}, {"fieldRef", annotation(kWarningAnnotation)}},
                       {{"path", "output"}, {"fieldRef", annotation(kOutputAnnotation)}}})}}}},
  });
  for (std::size_t i = 0; i < settings.mounts.size(); ++i)
    volumes.push_back({{"name", volume_name(i)}, {"hostPath", folder_of_node(settings.mounts[i])}});
  return volumes;
}

json mounts_of(const Settings& settings, const PodContainer& container) {
  json mounts = json::array({
      {{"name", kGateVolume}, {"mountPath", kGateFolder}, {"readOnly", true}},
      {{"name", kStateVolume}, {"mountPath", kStateFolder}},
      {{"name", kJobVolume}, {"mountPath", kJobFolder}, {"readOnly", true}},
      {{"name", kPodVolume}, {"mountPath", kPodFolder}, {"readOnly", true}},
  });
  const auto is_replaced = [&](const std::string& folder) {
    return std::any_of(container.mounts.begin(), container.mounts.end(),
                       [&](const PodMount& mount) { return mount.target == folder; });
  };
  for (std::size_t i = 0; i < settings.mounts.size(); ++i)
    if (!is_replaced(settings.mounts[i]))
      mounts.push_back({{"name", volume_name(i)}, {"mountPath", settings.mounts[i]}});
  for (const PodMount& mount : container.mounts) {
    json added = {{"name", volume_name(mount.volume)}, {"mountPath", mount.target}};
    // The kubelet opens it without leaving the volume by a symbolic link.
    if (!mount.below.empty()) added["subPath"] = mount.below;
    if (mount.is_read_only) added["readOnly"] = true;
    mounts.push_back(std::move(added));
  }
  return mounts;
}

json identity_of(const node::StepSpec& spec) {
  json identity = {{"runAsUser", spec.launch.spec->uid.value()},
                   {"runAsGroup", spec.launch.spec->gid.value()}};
  for (const GroupId group : spec.user.groups)
    identity["supplementalGroups"].push_back(group.value());
  return identity;
}

json without_privilege() {
  return {{"allowPrivilegeEscalation", false},
          {"privileged", false},
          {"capabilities", {{"drop", json::array({"ALL"})}}}};
}

// The init container puts the gate into the pod, and looks whether the user may enter the folders to be mounted: the kubelet
// would make one that does not exist.
json init_container(const node::StepSpec& spec, const Settings& settings, const NodeObject& node,
                    const PodContainer& container) {
  json command = json::array({"/" + std::string(kGateProgram), "install", kGateFolder});
  json mounts = json::array({{{"name", kGateVolume}, {"mountPath", kGateFolder}}});
  std::set<std::size_t> volumes;
  for (const PodMount& mount : container.mounts) {
    command.push_back(mount.source);
    if (volumes.insert(mount.volume).second)
      mounts.push_back({{"name", volume_name(mount.volume)},
                        {"mountPath", settings.mounts[mount.volume]},
                        {"readOnly", true}});
  }
  return {{"name", kGateContainer},
          {"image", settings.gate_image},
          {"command", std::move(command)},
          {"securityContext", without_privilege()},
          {"terminationMessagePath", "/dev/termination-log"},
          {"volumeMounts", std::move(mounts)},
          {"resources", resources_of(spec, node)}};
}

// Whether the file lies on a file system that the job sees.
bool is_mounted(const std::string& path, const Settings& settings) {
  return path.find("/../") == std::string::npos &&
         std::any_of(settings.mounts.begin(), settings.mounts.end(),
                     [&](const std::string& folder) { return path.starts_with(folder + "/"); });
}

std::string absolute(const std::string& path, const std::string& directory) {
  return path.empty() || path.starts_with('/') ? path : directory + "/" + path;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += item + '\0';
  return text;
}

std::vector<std::string> environment_of(const Launch& launch, Time at) {
  node::StepSpec spec = launch.spec;
  if (spec.user.name.empty()) spec.user.name = spec.launch.spec->user;
  // A container numbers its GPUs by itself.
  spec.visible_gpus.clear();
  for (std::size_t i = 0; i < spec.launch.share.gpus.size(); ++i)
    spec.visible_gpus.push_back(std::to_string(i));
  std::vector<std::string> items =
      node::job_environment(spec, launch.environment, kStateFolder, at);
  std::erase_if(items, is_for_nodes_of_ares);
  items.push_back("RANK=" + std::to_string(spec.launch.rank));
  items.push_back("LOCAL_RANK=0");
  items.push_back("WORLD_SIZE=" + std::to_string(spec.launch.layout->names.size()));
  return items;
}

// Variables that hold against those of the image: what Ares sets for the job, and what the job names.
std::vector<std::string> kept_variables(const Launch& launch, Time at) {
  std::set<std::string_view> submitted;
  std::string_view rest = launch.environment;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    submitted.insert(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<std::string> names = launch.spec.launch.spec->container->variables;
  for (const std::string& item : environment_of(launch, at))
    if (!submitted.contains(item)) names.push_back(item.substr(0, item.find('=')));
  return names;
}

bool names_node(std::string_view pattern) {
  for (const std::string_view letter : {"%n", "%N", "%t"})
    if (pattern.find(letter) != std::string_view::npos) return true;
  return false;
}

GateSettings gate_settings(const Launch& launch, const Settings& settings, Time at) {
  const node::StepSpec& spec = launch.spec;
  const JobSpec& job = *spec.launch.spec;
  const PodContainer container = container_of(launch, settings).value_or(PodContainer{});
  GateSettings gate;
  gate.fence = spec.launch.fence;
  gate.runs_script = runs_script(spec.launch);
  gate.arguments = job.arguments;
  gate.directory = container.directory;
  gate.needs_directory = container.needs_directory;
  gate.appends = job.open_mode == OpenMode::append;
  gate.umask = job.umask;
  gate.tasks = spec.launch.layout->tasks;
  // An image that the job names comes with an environment that it relies on.
  gate.is_image_first = job.container && !job.container->image.empty();
  if (gate.is_image_first) gate.kept_variables = kept_variables(launch, at);
  const std::string& submitted_in = job.work_dir.empty() ? job.submit_dir : job.work_dir;
  const auto file = [&](std::string_view pattern) {
    const std::string path = absolute(node::expand_pattern(pattern, spec), submitted_in);
    return is_mounted(path, settings) ? path : std::string();
  };
  // Ranks do not write into one file, where each would truncate what others wrote.
  const auto file_of_rank = [&](std::string_view pattern) {
    std::string path = file(pattern);
    if (spec.launch.rank > 0 && !path.empty() && !names_node(pattern))
      path += "." + std::to_string(spec.launch.rank);
    return path;
  };
  if (!job.std_in.empty()) gate.input = file(job.std_in);
  gate.output = file_of_rank(job.std_out.empty() ? node::default_output(spec) : job.std_out);
  if (!job.std_err.empty()) gate.error = file_of_rank(job.std_err);
  if (gate.error == gate.output) gate.error.clear();
  gate.sends_output = launch.is_output_stored && gate.runs_script && gate.output.empty();
  return gate;
}

}  // namespace

bool runs_script(const LaunchSpec& spec) {
  return spec.rank == 0 || (spec.spec->container && spec.spec->container->is_per_rank);
}

Status check_launch(const Launch& launch, const Settings& settings, const NodeObject& node) {
  const auto refuse = [](const std::string& why) { return fail(ErrorCode::invalid_argument, why); };
  const JobSpec& job = *launch.spec.launch.spec;
  if (Status granted = check_grants(launch, settings); !granted) return granted;
  if (const auto container = container_of(launch, settings); !container)
    return fail(container.error());
  if (job.uid.value() == 0 && !settings.allow_root)
    return refuse("jobs of root do not run in Kubernetes; see node.kubernetes.allow_root");
  if (launch.spec.launch.share.gpu_part > 0) return refuse("a pod cannot have a part of a GPU");
  for (const std::string& type : launch.spec.launch.gpu_types)
    if (resource_of(node, type).empty())
      return fail(ErrorCode::failed_precondition,
                  "the node has no GPUs of type " + quote(type) + " any more");
  const std::size_t size = launch.script.size() + launch.environment.size();
  if (size > kMostOfSecret)
    return refuse("script and environment have " + std::to_string(size) +
                  " bytes; a pod gets at most " + std::to_string(kMostOfSecret));
  return {};
}

std::string pod_manifest(const Launch& launch, const Settings& settings, const NodeObject& node) {
  const LaunchSpec& spec = launch.spec.launch;
  const std::string name = pod_name(settings.cluster, spec.fence, spec.rank);
  const TaskIndex task = spec.attempt.job.task;
  const PodContainer container = container_of(launch, settings).value_or(PodContainer{});
  const json main = {
      {"name", kMainContainer},
      {"image", container.image},
      {"command", json::array({std::string(kGateFolder) + "/" + kGateProgram, "run"})},
      {"resources", resources_of(launch.spec, node)},
      {"securityContext", without_privilege()},
      {"terminationMessagePath", "/dev/termination-log"},
      {"volumeMounts", mounts_of(settings, container)}};
  json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", space_of(*spec.spec, settings)},
        {"labels",
         {{"app.kubernetes.io/managed-by", "ares"},
          {kClusterLabel, settings.cluster},
          {kJobLabel, std::to_string(spec.attempt.job.job.value())},
          {kTaskLabel, task.is_none() ? "none" : std::to_string(task.value)},
          {kAttemptLabel, std::to_string(spec.attempt.attempt.value())},
          {kFenceLabel, std::to_string(spec.fence.value())},
          {kRankLabel, std::to_string(spec.rank)}}},
        {"annotations",
         {{kSpecAnnotation, node::encode(launch.spec)},
          {kNodeAnnotation, node.uid},
          {kIncarnationAnnotation, std::to_string(node.incarnation)}}},
        {"finalizers", json::array({kFinalizer})}}},
      {"spec",
       {{"schedulerName", "ares"},
        {"restartPolicy", "Never"},
        {"automountServiceAccountToken", false},
        {"enableServiceLinks", false},
        {"terminationGracePeriodSeconds", std::max<std::int64_t>(1, spec.kill_wait.count())},
        {"securityContext", identity_of(launch.spec)},
        {"containers", json::array({main})},
        {"volumes", volumes_of(name, settings, container)}}}};
  if (has_init_container(settings, container))
    pod["spec"]["initContainers"] =
        json::array({init_container(launch.spec, settings, node, container)});
  if (gate_settings(launch, settings, Time{}).sends_output)
    pod["metadata"]["annotations"][kOutputAnnotation] = encode(OutputState{});
  if (!container.service_account.empty()) {
    pod["spec"]["serviceAccountName"] = container.service_account;
    pod["spec"]["automountServiceAccountToken"] = true;
  }
  if (!container.pod_template.empty()) add_template(json::parse(container.pod_template), pod);
  return pod.dump();
}

std::string secret_manifest(const Launch& launch, const Settings& settings,
                            const std::string& pod_uid, Time at) {
  const LaunchSpec& spec = launch.spec.launch;
  const std::string name = pod_name(settings.cluster, spec.fence, spec.rank);
  json data = {{"settings", encode_base64(encode(gate_settings(launch, settings, at)))},
               {"environment", encode_base64(joined(environment_of(launch, at)))}};
  if (runs_script(spec)) data["script"] = encode_base64(launch.script);
  const json secret = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"type", "Opaque"},
      {"immutable", true},
      {"metadata",
       {{"name", name},
        {"namespace", space_of(*spec.spec, settings)},
        {"labels", {{"app.kubernetes.io/managed-by", "ares"}, {kClusterLabel, settings.cluster}}},
        {"ownerReferences",
         json::array(
             {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", name}, {"uid", pod_uid}}})}}},
      {"data", std::move(data)}};
  return secret.dump();
}

std::string binding_manifest(const std::string& pod, const std::string& uid,
                             const std::string& version, const std::string& node) {
  json metadata = {{"name", pod}, {"uid", uid}};
  if (!version.empty()) metadata["resourceVersion"] = version;
  return json{{"apiVersion", "v1"},
              {"kind", "Binding"},
              {"metadata", std::move(metadata)},
              {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}}
      .dump();
}

std::string annotation_patch(const std::string& uid,
                             const std::vector<std::pair<std::string, std::string>>& annotations) {
  json values = json::object();
  for (const auto& [name, value] : annotations) values[name] = value;
  return json{{"metadata", {{"uid", uid}, {"annotations", std::move(values)}}}}.dump();
}

std::string finalizer_patch(const std::string& uid) {
  return json{{"metadata",
               {{"uid", uid}, {"$deleteFromPrimitiveList/finalizers", json::array({kFinalizer})}}}}
      .dump();
}

std::string delete_options(const std::string& uid, std::int64_t grace_s) {
  return json{{"apiVersion", "v1"},
              {"kind", "DeleteOptions"},
              {"gracePeriodSeconds", grace_s},
              {"preconditions", {{"uid", uid}}}}
      .dump();
}

GateGo go_of(const node::StepSpec& spec, Time at, const std::string& boot_id,
             std::vector<std::string> hosts) {
  GateGo go;
  go.fence = spec.launch.fence;
  go.at = at;
  go.boot_id = boot_id;
  for (std::string& item : node::job_environment(spec, "", kStateFolder, at))
    if (const std::string_view name = std::string_view(item).substr(0, item.find('='));
        name.ends_with("_JOB_START_TIME") || name.ends_with("_JOB_END_TIME"))
      go.variables.push_back(std::move(item));
  if (!hosts.empty()) {
    go.variables.push_back("MASTER_ADDR=" + hosts.front());
    if (spec.launch.master_port != 0)
      go.variables.push_back("MASTER_PORT=" + std::to_string(spec.launch.master_port));
  }
  go.hosts = std::move(hosts);
  return go;
}

}  // namespace ares::kubernetes
