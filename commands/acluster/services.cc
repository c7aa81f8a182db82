#include "acluster/services.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>

#include "acluster/munge.h"
#include "acluster/network.h"
#include "base/hostlist.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/sweep.h"

namespace ares::acluster {
namespace {

using std::chrono::milliseconds;

bool listens(const std::string& path) {
  const os::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!fd || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Launch daemon(const Layout& layout, const std::string& role, const std::string& program,
              std::vector<std::string> more) {
  Launch launch;
  launch.argv = {layout.bin + "/" + program, "--config", layout.config()};
  launch.argv.insert(launch.argv.end(), more.begin(), more.end());
  launch.log = layout.log(role);
  launch.record = layout.record(role);
  return launch;
}

// How to end the processes of a role. The role is matched by prefix; processes are ended in the
// order of the table.
struct StopRule {
  std::string_view prefix;
  int signal;  // Signal for an orderly end.
  milliseconds timeout;
};
constexpr std::array kStopRules = {
    StopRule{"aresd", SIGTERM, milliseconds(5000)},
    StopRule{"aresctld", SIGTERM, milliseconds(10000)},
    StopRule{"postgres", SIGINT, milliseconds(10000)},  // Fast shutdown.
    StopRule{"munged", SIGTERM, milliseconds(3000)},
    StopRule{"netns", SIGKILL, milliseconds(3000)},
};
constexpr std::string_view kAfterNodes = "aresctld";

std::size_t rank_of(const std::string& role) {
  // No prefix is a prefix of another: "aresctld" does not begin with "aresd".
  for (std::size_t i = 0; i < kStopRules.size(); ++i)
    if (role.starts_with(kStopRules[i].prefix)) return i;
  return kStopRules.size();
}

void stop_together(const std::vector<ProcessId>& processes, int signal, milliseconds timeout) {
  for (const ProcessId& process : processes) send_signal(process, signal);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (const ProcessId& process : processes) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (wait_end(process, std::max(left, milliseconds(0)))) continue;
    send_signal(process, SIGKILL);
    wait_end(process, milliseconds(5000));
  }
}

// Collects a process and all its descendants, children last.
void add_tree(pid_t pid, std::vector<ProcessId>& out) {
  if (const auto ticks = os::process_start_ticks(pid)) out.push_back({pid, ticks});
  const auto children =
      os::read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  if (!children) return;
  for (const char* at = children->c_str(); *at;) {
    char* end = nullptr;
    const long child = std::strtol(at, &end, 10);
    if (end == at) break;
    add_tree(static_cast<pid_t>(child), out);
    at = end;
    while (*at == ' ') ++at;
  }
}

// Job supervisors intentionally outlive aresd. Their records in the spools identify them.
void end_jobs(const Layout& layout) {
  std::vector<ProcessId> trees;
  std::vector<std::string> groups;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(layout.spool(), std::filesystem::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    if (at->path().filename() != "started") continue;
    groups.push_back(recorded_groups(at->path()));
    // A reaper may be at work after the death of its supervisor.
    for (const auto& top : {recorded_reaper(at->path()), read_record(at->path())})
      if (top && alive(*top)) add_tree(top->pid, trees);
  }
  // Stopped first, so that no supervisor restarts, reports or records anything while its tree is
  // being killed.
  for (const ProcessId& process : trees) send_signal(process, SIGSTOP);
  stop_together(trees, SIGKILL, milliseconds(5000));
  for (const std::string& directories : groups) os::remove_groups(directories);
}

}  // namespace

std::vector<Service> services_of(const Layout& layout, const Settings& settings,
                                 const ClusterConfig& config, const Postgres& postgres) {
  const auto always = [] { return true; };
  std::vector<Service> services;
  services.push_back({"munged", [=] { return munge_launch(layout); }, always});
  services.push_back({"postgres", [=] { return postgres_launch(postgres, layout); }, always});

  const auto database = std::make_shared<bool>(false);
  if (settings.isolate) add_namespaces(layout, config.nodes, services);
  services.push_back({"aresctld",
                      [=] {
                        Launch launch = daemon(layout, "aresctld", "aresctld", {});
                        if (settings.isolate) launch.namespaces = controller_namespaces(layout);
                        return launch;
                      },
                      [=] {
                        if (!listens(layout.munge_socket) || !postgres_accepts(layout))
                          return false;
                        if (!*database) *database = ensure_database(postgres, layout).has_value();
                        return *database &&
                               (!settings.isolate || namespaces_ready(layout, config.nodes));
                      }});

  const auto controller_listens = [=] { return listens(layout.controller_socket); };
  if (!config.kubernetes_yaml.empty())
    services.push_back({kKubernetesRole,
                        [=] {
                          Launch launch = daemon(layout, kKubernetesRole, "aresd", {"--join"});
                          launch.argv[2] = layout.kubernetes_config();
                          return launch;
                        },
                        controller_listens});
  if (config.nodes.empty()) return services;
  if (settings.exec == "mock") {
    const std::string all = compress_hostlist(config.nodes);
    services.push_back({"aresd",
                        [=] {
                          return daemon(layout, "aresd", "aresd", {"--node", all});
                        },
                        controller_listens});
    return services;
  }
  for (const std::string& node : config.nodes)
    services.push_back(
        {"aresd@" + node,
         [=] {
           Launch launch = daemon(layout, "aresd@" + node, "aresd", {"--node", node});
           if (settings.isolate) {
             launch.argv[2] = node_config(layout);
             launch.namespaces = node_namespaces(layout, node);
           }
           return launch;
         },
         controller_listens});
  return services;
}

std::vector<std::string> recorded_roles(const Layout& layout) {
  std::vector<std::string> roles;
  if (const auto names = os::list_directory(layout.procs()))
    for (const std::string& name : *names)
      if (!name.ends_with(".new")) roles.push_back(name);
  std::sort(roles.begin(), roles.end(), [](const std::string& a, const std::string& b) {
    return std::pair(rank_of(a), a) < std::pair(rank_of(b), b);
  });
  return roles;
}

void stop_everything(const Layout& layout) {
  const auto roles = recorded_roles(layout);
  for (const StopRule& rule : kStopRules) {
    if (rule.prefix == kAfterNodes) end_jobs(layout);
    std::vector<ProcessId> group;
    for (const std::string& role : roles) {
      if (!role.starts_with(rule.prefix)) continue;
      if (const auto process = read_record(layout.record(role)); process && alive(*process))
        group.push_back(*process);
    }
    stop_together(group, rule.signal, rule.timeout);
  }
  for (const std::string& role : roles)
    if (role != "supervisor") ::unlink(layout.record(role).c_str());
}

}  // namespace ares::acluster
