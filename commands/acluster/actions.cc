#include "acluster/actions.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "acluster/cluster_config.h"
#include "acluster/munge.h"
#include "acluster/network.h"
#include "acluster/postgres.h"
#include "acluster/readiness.h"
#include "acluster/services.h"
#include "acluster/supervisor.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::acluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStartTimeout{60'000};
constexpr milliseconds kEndPatience{60'000};

// Allows one `up` or `down` of a cluster at a time.
Result<os::Fd> lock(const Layout& layout) {
  auto held = os::lock_file(layout.lock());
  if (!held && held.error().code == ErrorCode::already_exists)
    return fail(ErrorCode::failed_precondition,
                "another acluster up or down is at work in " + layout.dir);
  return held;
}

std::optional<ProcessId> running(const Layout& layout, const std::string& role) {
  const auto process = read_record(layout.record(role));
  return process && alive(*process) ? process : std::nullopt;
}

bool anything_runs(const Layout& layout) {
  const auto roles = recorded_roles(layout);
  return std::any_of(roles.begin(), roles.end(),
                     [&](const std::string& role) { return running(layout, role).has_value(); });
}

Result<Settings> stored_settings(const Layout& layout) {
  const auto text = os::read_file(layout.settings());
  if (!text) return fail(text.error());
  return parse_settings(*text);
}

Settings with(Settings settings, const UpOptions& options) {
  if (options.nodes) settings.nodes = *options.nodes;
  if (options.cpus) settings.cpus = *options.cpus;
  if (options.memory) settings.memory = *options.memory;
  if (options.gpus) settings.gpus = *options.gpus, settings.topology.clear();
  if (options.topology) {
    settings.topology = std::filesystem::absolute(*options.topology).string();
    settings.gpus.clear();
  }
  if (options.exec) settings.exec = *options.exec;
  if (options.kubeconfig) {
    // Beside it nodes of this machine are the exception. Pods of two clusters must not have the same names.
    if (settings.kubeconfig.empty() && !options.nodes) settings.nodes = 0;
    if (settings.name.empty())
      settings.name = "demo-" + os::fresh_uuid().value_or("0").substr(0, 8);
    settings.kubeconfig = std::filesystem::absolute(*options.kubeconfig).string();
  }
  if (options.gate_image) settings.gate_image = *options.gate_image;
  if (options.image) settings.image = *options.image;
  if (options.mount) settings.mount = *options.mount;
  if (options.config) settings.has_base = true;
  settings.isolate = settings.isolate || options.isolate;
  return settings;
}

Status copy_base(const Layout& layout, const UpOptions& options) {
  if (!options.config) return {};
  auto text = os::read_file(*options.config);
  if (!text) return fail(text.error());
  return os::replace_file(layout.base_config(), *text);
}

Result<ClusterConfig> config_of(const Layout& layout, const Settings& settings, bool by_hand) {
  const auto tcp = settings.isolate ? std::optional(isolated_address()) : std::nullopt;
  return by_hand ? read_config(layout, settings, tcp) : make_config(layout, settings, tcp);
}

Result<ClusterConfig> configure(const Layout& layout, const Settings& settings, bool by_hand) {
  auto config = config_of(layout, settings, by_hand);
  if (!config) return config;
  if (!config->by_hand) {
    // The copy comes last: if it is missing, the next up finds the same text and knows it.
    for (const std::string& file : {layout.config(), layout.written_config()})
      if (auto written = os::replace_file(file, config->yaml); !written)
        return fail(written.error());
    ::chmod(layout.config().c_str(), 0644);
  }
  if (!config->kubernetes_yaml.empty()) {
    if (auto written = os::replace_file(layout.kubernetes_config(), config->kubernetes_yaml);
        !written)
      return fail(written.error());
  }
  if (!settings.isolate) return config;
  std::string yaml = config->yaml;
  const std::string unix_address = "unix:" + layout.controller_socket;
  const std::size_t key = yaml.find("  connect:");
  const std::size_t at = key == std::string::npos ? key : yaml.find(unix_address, key);
  if (at == std::string::npos)
    return fail(ErrorCode::internal, "the configuration has no connect line");
  yaml.replace(at, unix_address.size(), "tcp:" + isolated_address());
  if (auto written = os::replace_file(node_config(layout), yaml); !written)
    return fail(written.error());
  if (auto written = write_hosts(layout, config->nodes); !written) return fail(written.error());
  return config;
}

struct Prepared {
  Settings settings;
  ClusterConfig config;
  Postgres postgres;
};

// A file that is not as acluster wrote it is the user's, and is not replaced.
Error not_of_a_cluster(const Layout& layout) {
  return {ErrorCode::already_exists,
          layout.config() +
              " is there without a cluster, and would be replaced. To begin with it, "
              "move it to another folder and name it with --config"};
}
Error keep_changes(const Layout& layout) {
  return {ErrorCode::failed_precondition,
          layout.config() +
              " was changed by hand, and is not replaced by what these options say. "
              "Make the change there, and give no options; or move it away, and it "
              "is written from the options again"};
}

// Performs all checks that do not need a running process.
Result<Prepared> prepare(Layout& layout, const UpOptions& options) {
  if (options.gpus && options.topology)
    return fail(ErrorCode::invalid_argument, "--gpus and --topology exclude each other");
  const auto before = stored_settings(layout);
  const Settings settings = with(before ? *before : Settings{}, options);
  if (auto fine = check(settings); !fine) return fail(fine.error());
  if (settings.isolate)
    if (auto fine = check_isolation(); !fine) return fail(fine.error());
  if (!settings.kubeconfig.empty() && ::access(settings.kubeconfig.c_str(), R_OK) != 0)
    return fail(os::errno_error("cannot read the kubeconfig " + settings.kubeconfig));
  const bool changed = !before || *before != settings || options.config;
  if (before && changed && anything_runs(layout))
    return fail(ErrorCode::failed_precondition,
                "the cluster in " + layout.dir +
                    " runs with other options; end it first: acluster down --dir " + layout.dir);

  if (!before && is_changed_by_hand(layout, std::nullopt)) return fail(not_of_a_cluster(layout));
  auto postgres = find_postgres();
  if (!postgres) return fail(postgres.error());
  if (auto made = make_folders(layout); !made) return fail(made.error());
  const bool by_hand = before && is_changed_by_hand(layout, *before);
  if (by_hand && changed) return fail(keep_changes(layout));
  if (auto copied = copy_base(layout, options); !copied) return fail(copied.error());
  auto config = configure(layout, settings, by_hand);
  if (!config) return fail(config.error());
  if (auto done = prepare_munge(layout); !done) return fail(done.error());
  if (auto done = prepare_postgres(*postgres, layout); !done) return fail(done.error());
  if (changed)
    if (auto written = os::replace_file(layout.settings(), to_text(settings)); !written)
      return fail(written.error());
  return Prepared{settings, *std::move(config), *std::move(postgres)};
}

// A running supervisor starts no daemons of nodes that came into the file since it began.
Status check_daemons(const Layout& layout, const Prepared& prepared) {
  if (prepared.settings.exec == "mock") return {};
  for (const std::string& node : prepared.config.nodes)
    if (::access(layout.record("aresd@" + node).c_str(), F_OK) != 0)
      return fail(ErrorCode::failed_precondition,
                  "node " + node + " of " + layout.config() +
                      " is new, and the daemons of nodes are started together: end the cluster "
                      "first, with acluster down --dir " +
                      layout.dir + ", and then up again");
  return {};
}

Status start_supervisor(const Layout& layout) {
  if (running(layout, "supervisor")) return {};
  Launch supervisor;
  supervisor.argv = {layout.bin + "/acluster", "supervise", layout.dir};
  supervisor.log = layout.log("supervisor");
  supervisor.record = layout.record("supervisor");
  if (auto started = launch(supervisor); !started) return fail(started.error());
  return {};
}

std::string last_lines(const std::string& path, std::size_t count) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::string text;
  for (std::size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i)
    text += "\n  " + lines[i];
  return text;
}

// Adds the last lines of logs, which show the likely cause.
Error not_ready(const Layout& layout, std::string text, const std::vector<const char*>& roles) {
  for (const char* role : roles)
    if (const std::string lines = last_lines(layout.log(role), 5); !lines.empty())
      text += "\nlast of " + layout.log(role) + ":" + lines;
  return {ErrorCode::unavailable, text};
}

// How many nodes of Kubernetes have to answer. Their number is not known: at least one must have joined, and all that have must
// answer, or kSettle must have passed since the first one did.
class KubernetesNodes {
 public:
  explicit KubernetesNodes(std::size_t others) : others_(others) {}
  bool are_ready(const ControllerStatus& answer) {
    if (answer.responding <= others_) return false;
    const auto now = std::chrono::steady_clock::now();
    settled_at_ = std::min(settled_at_, now + kSettle);
    return answer.responding == answer.nodes || now > settled_at_;
  }

 private:
  static constexpr milliseconds kSettle{5'000};
  std::size_t others_;
  std::chrono::steady_clock::time_point settled_at_ = std::chrono::steady_clock::time_point::max();
};

// Whether the role was started since then, and its process is not there any more.
bool has_ended(const Layout& layout, const std::string& role,
               std::filesystem::file_time_type since) {
  std::error_code error;
  const auto at = std::filesystem::last_write_time(layout.record(role), error);
  if (error || at < since) return false;
  const auto process = read_record(layout.record(role));
  return process && !alive(*process);
}

// `nodes`: on this machine. Returns how many answer.
Result<std::size_t> wait_ready(const Layout& layout, std::size_t nodes, bool has_kubernetes,
                               std::filesystem::file_time_type started) {
  KubernetesNodes kubernetes(nodes);
  const auto deadline = std::chrono::steady_clock::now() + kStartTimeout;
  std::string what = "the controller did not answer";
  while (std::chrono::steady_clock::now() < deadline) {
    if (::access(layout.controller_socket.c_str(), F_OK) == 0) {
      const auto answer = ping(layout);
      if (answer && answer->state == "active" && answer->responding >= nodes &&
          (!has_kubernetes || kubernetes.are_ready(*answer)))
        return answer->responding;
      what = !answer          ? answer.error().message
             : has_kubernetes ? std::to_string(answer->responding) +
                                    " nodes answer, and no node of Kubernetes is among them"
                              : std::to_string(answer->responding) + " of " +
                                    std::to_string(nodes) + " nodes answer";
    }
    // It ends only if it cannot work, such as with a kubeconfig that is refused.
    if (has_kubernetes && has_ended(layout, kKubernetesRole, started))
      return fail(not_ready(layout, "the agent of Kubernetes has ended", {kKubernetesRole}));
    ::poll(nullptr, 0, 15);
  }
  std::vector<const char*> roles = {"supervisor", "aresctld"};
  if (has_kubernetes) roles.push_back(kKubernetesRole);
  return fail(not_ready(
      layout, "not ready after " + std::to_string(kStartTimeout.count() / 1000) + " s: " + what,
      roles));
}

}  // namespace

Result<int> up(Layout layout, const UpOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  for (const char* program : {"aresctld", "aresd", "aresstepd"})
    if (::access((layout.bin + "/" + program).c_str(), X_OK) != 0)
      return fail(ErrorCode::not_found, std::string(program) + " is not beside acluster, in " +
                                            layout.bin + "; build it first");
  if (auto made = os::make_directories(layout.dir, 0755); !made) return fail(made.error());
  auto held = lock(layout);
  if (!held) return fail(held.error());
  auto prepared = prepare(layout, options);
  if (!prepared) return fail(prepared.error());

  const auto started = std::filesystem::file_time_type::clock::now();
  if (running(layout, "supervisor"))
    if (auto fine = check_daemons(layout, *prepared); !fine) return fail(fine.error());
  if (prepared->config.by_hand)
    std::printf("%s was changed by hand, and is used as it is\n", layout.config().c_str());
  if (options.supervise) {
    if (auto supervised = start_supervisor(layout); !supervised) return fail(supervised.error());
  } else {
    if (running(layout, "supervisor"))
      return fail(
          ErrorCode::failed_precondition,
          "a supervisor runs already; end the cluster first: acluster down --dir " + layout.dir);
    ServiceSupervisor supervisor(
        layout, services_of(layout, prepared->settings, prepared->config, prepared->postgres));
    if (auto all = supervisor.start_all(kStartTimeout); !all) return fail(all.error());
  }
  const auto ready = wait_ready(layout, prepared->config.nodes.size(),
                                !prepared->config.kubernetes_yaml.empty(), started);
  if (!ready) return fail(ready.error());
  const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("cluster in %s is up: %zu nodes, %.1f s\n", layout.dir.c_str(), *ready, took);
  std::printf("use it with: eval \"$(%s/acluster env --dir '%s')\"\n", layout.bin.c_str(),
              layout.dir.c_str());
  return 0;
}

Result<int> supervise(Layout layout) {
  if (auto found = find_run_folder(layout); !found) return fail(found.error());
  // A second supervisor would start everything twice, so it exits.
  const auto only = os::lock_file(layout.dir + "/supervisor.lock");
  if (!only) return fail(only.error());
  const auto settings = stored_settings(layout);
  if (!settings) return fail(settings.error());
  const auto postgres = find_postgres();
  if (!postgres) return fail(postgres.error());
  const auto config = config_of(layout, *settings, is_changed_by_hand(layout, *settings));
  if (!config) return fail(config.error());
  return ServiceSupervisor(layout, services_of(layout, *settings, *config, *postgres)).supervise();
}

Result<int> down(Layout layout) {
  if (auto found = find_run_folder(layout); !found) return fail(found.error());
  auto held = lock(layout);
  if (!held) return fail(held.error());
  if (const auto supervisor = running(layout, "supervisor")) {
    send_signal(*supervisor, SIGTERM);
    send_signal(*supervisor, SIGCONT);
    if (!wait_end(*supervisor, kEndPatience)) {
      send_signal(*supervisor, SIGKILL);
      wait_end(*supervisor, milliseconds(5000));
    }
  }
  stop_everything(layout);
  ::unlink(layout.record("supervisor").c_str());
  remove_run_folder(layout);
  std::printf("cluster in %s is down; its data is kept\n", layout.dir.c_str());
  return 0;
}

Result<int> status(Layout layout) {
  if (auto found = find_run_folder(layout); !found) return fail(found.error());
  const auto settings = stored_settings(layout);
  if (!settings) return fail(settings.error());
  bool all = true;
  std::printf("%-16s %8s  %s\n", "ROLE", "PID", "STATE");
  for (const std::string& role : recorded_roles(layout)) {
    const auto process = running(layout, role);
    all = all && process;
    std::printf("%-16s %8s  %s\n", role.c_str(),
                process ? std::to_string(process->pid).c_str() : "-",
                process ? "running" : "not running");
  }
  const auto answer = ping(layout);
  if (answer)
    std::printf("controller: %s, %u of %u nodes answer\n", answer->state.c_str(),
                answer->responding, answer->nodes);
  else
    std::printf("controller: no answer (%s)\n", answer.error().message.c_str());
  return all && answer && answer->responding == answer->nodes ? 0 : 1;
}

Result<int> env(Layout layout) {
  if (auto found = find_run_folder(layout); !found) return fail(found.error());
  std::printf("export ACLUSTER_DIR='%s'\nexport ARES_CONF='%s'\nexport PATH='%s':\"$PATH\"\n",
              layout.dir.c_str(), layout.config().c_str(), layout.bin.c_str());
  return 0;
}

Result<int> logs(const Layout& layout, const std::vector<std::string>& roles, bool follow,
                 unsigned lines) {
  std::vector<std::string> words = {"tail", "-n", std::to_string(lines)};
  if (follow) words.push_back("-F");
  std::vector<std::string> files;
  for (const std::string& role : roles) files.push_back(layout.log(role));
  if (roles.empty())
    if (const auto names = os::list_directory(layout.logs())) {
      for (const std::string& name : *names) files.push_back(layout.logs() + "/" + name);
      std::sort(files.begin(), files.end());
    }
  if (files.empty()) return fail(ErrorCode::not_found, layout.dir + " has no logs");
  for (const std::string& file : files)
    if (::access(file.c_str(), R_OK) != 0)
      return fail(ErrorCode::not_found, "there is no log " + file);
  words.insert(words.end(), files.begin(), files.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp("tail", argv.data());
  return fail(os::errno_error("cannot run tail"));
}

Result<int> pid(const Layout& layout, const std::string& role) {
  const auto process = running(layout, role);
  if (!process)
    return fail(ErrorCode::not_found,
                role + " does not run in " + layout.dir +
                    " (roles: supervisor, munged, "
                    "postgres, aresctld, aresd@NODE; aresd with --exec=mock; aresd@kubernetes)");
  std::printf("%d\n", process->pid);
  return 0;
}

}  // namespace ares::acluster
