// aresd: the node daemon. Connects nodes to the controller; runs until a
// signal. Jobs outlive it.
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include <spdlog/spdlog.h>

#include "aresd/arguments.h"
#include "aresd/chosen_plugin.h"
#include "aresd/confirm.h"
#include "aresd/controller_link.h"
#include "aresd/found_nodes.h"
#include "aresd/gpus/discovery.h"
#include "aresd/gpus/gpu_devices.h"
#include "aresd/gpus/gpu_look.h"
#include "aresd/gpus/gpu_numa.h"
#include "aresd/gpus/gpu_watch.h"
#include "aresd/health_check.h"
#include "aresd/inventory.h"
#include "aresd/message_loss.h"
#include "aresd/node_host.h"
#include "aresd/reboot.h"
#include "aresd/reserved.h"
#include "aresd/script_messages.h"
#include "aresd/step_gate.h"
#include "aresd/step_signal.h"
#include "base/hostlist.h"
#include "base/standard_descriptors.h"
#include "config/config.h"
#include "log/log.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/namespace.h"
#include "os/priority.h"
#include "os/topology/machine_layout.h"
#include "rpc/client/node_link.h"

namespace {

using ares::ErrorCode;
using ares::fail;
using ares::Result;
using ares::Status;
using ares::aresd::Arguments;
using ares::aresd::Plugin;

// Where every limit is enforced; see os/enforced.h.
constexpr std::string_view kAllLimits = "cpus,memory,processes,devices";
constexpr std::string_view kDevices = ",devices";

std::optional<ares::node::SiteProgram> site_program(const std::string& path,
                                                    ares::Seconds timeout) {
  if (path.empty()) return std::nullopt;
  return ares::node::SiteProgram{path, timeout};
}

const ares::config::ConfiguredNode* find_node(const ares::config::Config& config,
                                              const std::string& name) {
  for (const auto& node : config.nodes)
    if (node.name == name) return &node;
  return nullptr;
}

// Empty where it cannot be found out; jobs then run without what depends on it.
ares::CpuLayout find_cpu_layout() {
  const Result<ares::CpuLayout> layout = ares::os::machine_layout();
  const std::optional<std::string> replaced = ares::os::replaced_machine();
  if (!layout)
    spdlog::warn("jobs are not bound to cores and NUMA nodes: {}", layout.error().message);
  else
    spdlog::log(replaced ? spdlog::level::warn : spdlog::level::info, "the machine has {}{}",
                summary(*layout), replaced ? ", by " + *replaced : "");
  return layout.value_or(ares::CpuLayout());
}

// What watches the GPUs of the machine.
struct GpuWatchers {
  bool by_nvml = false;                        // they were found by NVIDIA's library
  std::unique_ptr<ares::aresd::GpuLook> look;  // null: GPUs are not looked at before jobs get them
};

std::unique_ptr<ares::aresd::GpuLook> make_gpu_look(ares::aresd::NodeHost& host,
                                                    const ares::config::NodeConfig& node,
                                                    const std::string& source,
                                                    const std::optional<ares::gres::Offer>& found) {
  if (!node.check_gpus || !found || found->gpus.empty() || !ares::aresd::is_looked_at(source))
    return nullptr;
  ares::aresd::GpuLookSetup setup{.source = source,
                                  .timeout = node.gpu_discovery_timeout,
                                  .gpus = {},
                                  .idle_memory = node.gpu_idle_memory,
                                  .system_programs = node.gpu_system_programs};
  for (const ares::gres::OfferedGpu& gpu : found->gpus) setup.gpus.emplace(gpu.gpu.index, gpu.name);
  return std::make_unique<ares::aresd::GpuLook>(
      std::move(setup), [&host, before = std::string()](ares::node::GpuLook look) mutable {
        std::string text = look ? "" : "the state of GPUs cannot be read: " + look.error().message;
        if (look)
          for (const auto& [gpu, why] : *look)
            text += (text.empty() ? "GPU " : "; GPU ") + std::to_string(gpu.value()) +
                    " is not clean: " + why;
        if (!text.empty() && text != before) spdlog::warn("{}", text);
        before = std::move(text);
        host.put(ares::aresd::NodeHost::GpusLookedAt{std::move(look)});
      });
}

// None where no steps of other nodes can run.
std::unique_ptr<ares::aresd::StepGate> open_step_gate(const ares::config::Config& config,
                                                      const Plugin& plugin,
                                                      const std::string& node) {
  if (plugin.in_memory) return nullptr;
  auto gate =
      ares::aresd::StepGate::open(config.node.step_port, {config.node.spool_of(node)},
                                  [](const std::string& text, bool refused) {
                                    spdlog::log(refused ? spdlog::level::warn : spdlog::level::info,
                                                "a connection to the steps of a job: {}", text);
                                  });
  if (gate) return std::move(*gate);
  spdlog::warn(
      "jobs of several nodes have no steps here, and arun and aalloc cannot reach jobs from "
      "outside: {}",
      gate.error().message);
  return nullptr;
}

// Adds every node of the list to the host.
Status add_nodes(ares::aresd::NodeHost& host, const std::vector<std::string>& names,
                 const ares::config::Config& config, const Plugin& plugin,
                 const ares::aresd::HostedNode::Send& send, bool join,
                 std::unique_ptr<ares::aresd::StepGate>& steps, GpuWatchers& gpus) {
  if (!config.node.pam_service.empty() && !plugin.in_memory && ::geteuid() != 0)
    return fail(ErrorCode::failed_precondition,
                "node.pam_service in " + config.path + " needs an aresd that runs as root");
  const ares::Inventory machine = ares::aresd::machine_inventory();
  const ares::CpuLayout machine_layout = plugin.in_memory ? ares::CpuLayout() : find_cpu_layout();
  Result<std::string> boot_id = ares::os::boot_id();
  if (!boot_id) return fail(boot_id.error());
  for (const std::string& name : names) {
    const ares::config::ConfiguredNode* configured = find_node(config, name);
    ares::config::ConfiguredNode joining;
    joining.name = name;
    const bool joins = join && !configured;
    if (joins) configured = &joining;
    if (!configured)
      return fail(ErrorCode::not_found, config.path + " has no node " + name +
                                            "; add it under `nodes`, or let it join (--join)");
    const auto found = ares::aresd::find_gpus(
        *configured, config.node.gpu_discovery_timeout, plugin.in_memory,
        [&name](const std::string& text, bool concerns_operator) {
          spdlog::log(concerns_operator ? spdlog::level::warn : spdlog::level::info, "{}: {}", name,
                      text);
        });
    if (!found) return fail(found.error());
    gpus.by_nvml = gpus.by_nvml || (*found && (*found)->source == "nvml" && !plugin.in_memory);
    if (!plugin.in_memory)
      gpus.look = make_gpu_look(host, config.node, configured->gpu_discovery, *found);
    Result<ares::Inventory> inventory = ares::aresd::node_inventory(*configured, machine, *found);
    if (!inventory) return fail(inventory.error());
    const ares::IntervalSet& reserved = configured->reserved_cpus;
    const ares::CpuLayout layout =
        ares::aresd::without_reserved(machine_layout, reserved, inventory->cpus);
    inventory->cpu_layout = ares::SharedText(format_cpu_layout(layout));
    if (!reserved.empty())
      spdlog::info("{}: CPUs {} are set aside for the system", name, format_interval_set(reserved));
    Result<std::string> uuid = ares::os::fresh_uuid();
    if (!uuid) return fail(uuid.error());
    ares::aresd::GpuDevices devices;
    if (!plugin.in_memory) devices = ares::aresd::gpu_devices(*configured, *inventory, *found);
    for (const std::string& problem : devices.problems)
      spdlog::warn("{}: gpu_devices: {}; jobs are not kept from it", name, problem);
    std::string enforced = plugin.enforced;
    if (!enforced.empty() && devices.of.size() < inventory->gpus.size()) {
      spdlog::warn(
          "{}: the device files of its GPUs are not known; jobs are "
          "not kept from GPUs of "
          "others, see ISOLATION in aresd(8)",
          name);
      if (enforced.ends_with(kDevices)) enforced.resize(enforced.size() - kDevices.size());
      if (enforced == kDevices.substr(1)) enforced = "none";
    }
    if (!enforced.empty())
      spdlog::log(enforced == kAllLimits ? spdlog::level::info : spdlog::level::warn,
                  "{}: jobs are held to: {}; see ISOLATION in aresd(8)", name, enforced);
    auto gpu_names = ares::aresd::gpu_names(*found, enforced.ends_with(kDevices.substr(1)));
    ares::aresd::HostedNodeSetup setup;
    setup.agent = {
        .name = name,
        .inventory = *inventory,
        .can_freeze = plugin.can_freeze,
        .version = ARES_VERSION,
        .boot_id = *boot_id,
        .fresh_uuid = *uuid,
        .enforced = std::move(enforced),
        .max_processes_per_cpu = config.node.max_processes_per_cpu,
        .gpu_devices = std::move(devices.of),
        .prolog = site_program(config.node.prolog, config.node.prolog_timeout),
        .epilog = site_program(config.node.epilog, config.node.epilog_timeout),
        .task_prolog = config.node.task_prolog,
        .task_epilog = site_program(config.node.task_epilog, config.node.task_epilog_timeout),
        .pam_service = plugin.in_memory ? std::string() : config.node.pam_service,
        .private_tmp = config.node.private_tmp,
        .joins = joins,
        .cpu_layout = layout,
        .offered_cpus = reserved.empty() ? ares::IntervalSet() : layout.cpus(),
        .gpu_numa_nodes = ares::aresd::gpu_numa_nodes(*inventory, layout),
        .gpu_names = std::move(gpu_names),
        .allocation_timeout = config.node.allocation_timeout,
        .slurm_variables = config.node.slurm_variables};
    if (gpus.look) setup.agent.look_at_gpus = [&look = *gpus.look] { look.ask(); };
    if (const std::string& program = config.node.reboot_program; !program.empty())
      setup.agent.reboot = [program, name] {
        spdlog::warn("{}: the controller orders a reboot: {}", name, program);
        return ares::aresd::start_reboot(program, name, [name](const std::string& why) {
          spdlog::error("{}: the reboot failed: {}", name, why);
        });
      };
    if (!plugin.in_memory) setup.agent.load = ares::aresd::machine_load;
    if (!plugin.in_memory) setup.spool = config.node.spool_of(name);
    if (plugin.private_ipc && ares::os::hidden_by_own_ipc(setup.spool))
      return fail(ErrorCode::invalid_argument,
                  "node.spool is " + setup.spool +
                      ", which jobs cannot see: each has a /dev/shm of its "
                      "own; choose another "
                      "directory, or set node.private_ipc: false in " +
                      config.path);
    if (!plugin.in_memory)
      setup.agent.signal_step = [spool = setup.spool, name](const ares::SignalStep& message) {
        if (const Status told = ares::aresd::signal_step(spool, message); !told)
          spdlog::warn("{}: {}", name, told.error().message);
      };
    if (Status possible = ares::aresd::can_hide_tmp(config, plugin, setup.spool); !possible)
      return possible;
    steps = open_step_gate(config, plugin, name);
    if (steps) setup.agent.step_port = steps->port();
    auto node = ares::aresd::HostedNode::open(std::move(setup), host.plugin(), send,
                                              ares::aresd::log_of(name),
                                              {ares::os::wall_now(), ares::os::boot_now()});
    if (!node) return fail(node.error().code, "node " + name + ": " + node.error().message);
    host.add(name, std::move(*node));
  }
  return {};
}

// The nodes to serve besides those that the plugin finds.
Result<std::vector<std::string>> names_of(const Arguments& arguments,
                                          const ares::config::Config& config) {
  const bool none = !arguments.nodes_given && arguments.confirm_ended.empty() &&
                    ares::aresd::finds_nodes(config.node);
  return none ? std::vector<std::string>() : ares::expand_hostlist(arguments.nodes);
}

// Whether HUP may start this program again: it would end with a configuration
// that cannot be read.
bool can_start_again(const Arguments& arguments) {
  const auto config = ares::config::load(ares::config::default_path(arguments.config));
  if (!config) spdlog::error("HUP is ignored: {}", config.error().message);
  return config.has_value();
}

bool is_pending(int signal) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

// Null: a signal came while the plugin waited in its open(), and `again` is set if it was HUP. `stop_fd` is readable then.
Result<std::unique_ptr<ares::aresd::NodeHost>> open_host(const Plugin& plugin, int stop_fd,
                                                         const Arguments& arguments,
                                                         std::atomic<bool>& again) {
  for (;;) {
    auto host = ares::aresd::NodeHost::make(*plugin.table, plugin.options, stop_fd);
    if (host) return host;
    if (is_pending(SIGTERM) || is_pending(SIGINT)) {
      spdlog::info("aresd stops");
      return nullptr;
    }
    if (!is_pending(SIGHUP)) return fail(host.error());
    sigset_t taken;
    ::sigemptyset(&taken);
    ::sigaddset(&taken, SIGHUP);
    int signal = 0;
    (void)::sigwait(&taken, &signal);
    again = can_start_again(arguments);
    if (!again) continue;
    spdlog::info("aresd starts again");
    return nullptr;
  }
}

// `again`: it stops in order to read the configuration and look for its GPUs
// anew.
Status run(const Arguments& arguments, std::atomic<bool>& again) {
  if (arguments.watch_gpus_here) return ares::aresd::print_gpu_errors();
  if (!arguments.discover_here.empty())
    return ares::aresd::print_found_here(arguments.discover_here);
  if (!arguments.discover.empty())
    return ares::aresd::print_found(arguments.discover,
                                    ares::config::NodeConfig{}.gpu_discovery_timeout);
  Result<ares::config::Config> config =
      ares::config::load(ares::config::default_path(arguments.config));
  if (!config) return fail(config.error());
  if (Status logging = ares::start_log(
          {"aresd", config->log.file, config->log.level, "%Y-%m-%dT%H:%M:%S.%f%z %l %v"});
      !logging)
    return logging;
  Result<std::vector<std::string>> names = names_of(arguments, *config);
  if (!names) return fail(names.error());
  if (!arguments.confirm_ended.empty() && names->size() != 1)
    return fail(ErrorCode::invalid_argument, "--confirm-ended needs one node; name it with --node");
  if (!arguments.confirm_ended.empty())
    return ares::aresd::confirm_ended(config->node.spool_of(names->front()),
                                      arguments.confirm_ended);
  const bool default_config = arguments.config.empty() && !std::getenv("ARES_CONF");
  Result<Plugin> plugin = ares::aresd::choose_plugin(
      config->node, default_config ? "" : std::filesystem::absolute(config->path).string(),
      config->policy.cluster_name);
  if (!plugin) return fail(plugin.error());
  if (names->size() != 1 && !plugin->in_memory)
    return fail(ErrorCode::invalid_argument,
                "one aresd serves one node unless ares.yaml says `exec: mock`; "
                "start one for each "
                "of " +
                    arguments.nodes);

  // Before any thread, so that all inherit the mask. One thread waits for these
  // signals.
  sigset_t handled;
  ::sigemptyset(&handled);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&handled, signal);
  sigset_t ending = handled;
  ::sigdelset(&ending, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &handled, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  const ares::os::Fd stop(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  Result<std::unique_ptr<ares::aresd::NodeHost>> host =
      open_host(*plugin, stop.get(), arguments, again);
  if (!host) return fail(host.error());
  if (!*host) return {};
  (*host)->on_refused([](const std::string& node, const std::string& why) {
    spdlog::error("the controller does not take node {}: {}", node, why);
  });
  ares::aresd::MessageLoss loss(plugin->loss_rate);
  ares::aresd::ScriptMessages messages(ares::aresd::spools_of(*config, *plugin));
  std::unique_ptr<ares::rpc::NodeLink> link;
  const auto send = ares::aresd::sender(link, loss);
  (*host)->on_output(ares::aresd::output_sender(link, loss));
  std::unique_ptr<ares::aresd::StepGate> steps;
  GpuWatchers gpus;
  if (Status added = add_nodes(**host, *names, *config, *plugin, send, arguments.join, steps, gpus);
      !added)
    return added;
  (*host)->on_found(ares::aresd::make_found_node(**host, *config, *plugin, arguments.join, send));
  Result<std::unique_ptr<ares::rpc::NodeLink>> opened =
      ares::aresd::open_link(*config, **host, loss, messages);
  if (!opened) return fail(opened.error());
  link = std::move(*opened);
  if (Status started = messages.start(ares::aresd::message_answer(link)); !started) return started;
  spdlog::info("aresd {} serves {} by {}", ARES_VERSION,
               names->empty() ? "what it finds" : ares::compress_hostlist(*names),
               plugin->table->name);
  if (!plugin->why_no_namespaces.empty())
    spdlog::warn(
        "jobs on this node run without pid namespaces and leases, see "
        "NAMESPACES in aresd(8): {}",
        plugin->why_no_namespaces);
  else if (!plugin->can_freeze)
    spdlog::info("jobs on this node run without leases, see NAMESPACES in aresd(8)");
  if (!plugin->why_shared_ipc.empty())
    spdlog::warn(
        "what jobs leave in shared memory stays, see NAMESPACES in "
        "aresd(8): {}",
        plugin->why_shared_ipc);
  ares::aresd::log_shared_groups(plugin->slice);

  std::jthread signals([&handled, &host, &arguments, &again] {
    int signal = 0;
    while (::sigwait(&handled, &signal) != 0 || signal == SIGHUP || signal == SIGUSR1) {
      if (signal == SIGHUP && can_start_again(arguments)) {
        again = true;
        break;
      }
      if (signal != SIGUSR1) continue;
      if (Status reopened = ares::reopen_log(); !reopened)
        spdlog::error("{}", reopened.error().message);
    }
    (*host)->stop();
  });
  std::optional<ares::aresd::GpuWatch> watch;
  if (gpus.by_nvml) {
    auto started = ares::aresd::GpuWatch::start([](const std::string& text, bool look_again) {
      spdlog::warn("{}", text);
      if (look_again) ::kill(::getpid(), SIGHUP);
    });
    if (started)
      watch = std::move(*started);
    else
      spdlog::warn("errors of GPUs are not watched: {}", started.error().message);
  }
  std::optional<ares::aresd::HealthCheck> health_check;
  if (!plugin->in_memory && !config->node.health_check.empty())
    health_check.emplace(
        ares::aresd::HealthCheckSetup{config->node.health_check, config->node.health_check_interval,
                                      config->node.health_check_timeout},
        [&host](std::string unhealthy) {
          if (!unhealthy.empty()) spdlog::warn("{}", unhealthy);
          (*host)->put(ares::aresd::NodeHost::Health{std::move(unhealthy)});
        });
  if (!plugin->in_memory) {
    // Only this thread, which renews the leases, gets the priority.
    (void)ares::os::lock_memory();
    (void)ares::os::raise_priority(ares::os::Priority::high);
  }
  Status ran = (*host)->run();
  if (!ran) ::kill(::getpid(), SIGTERM);  // ends the thread that waits for signals
  spdlog::info(again ? "aresd starts again; jobs run on" : "aresd stops; jobs run on");
  health_check.reset();
  gpus.look.reset();
  messages.stop();
  link.reset();  // no callback reaches the host after this
  plugin->slice.remove();
  return ran;
}

}  // namespace

int main(int argc, char** argv) {
  ares::open_standard_descriptors();
  Result<Arguments> arguments = ares::aresd::parse_arguments(argc, argv);
  std::atomic<bool> again = false;
  Status status = arguments ? run(*arguments, again) : fail(arguments.error());
  if (status && again) {
    ::execvp(argv[0], argv);
    ::execv("/proc/self/exe", argv);
    status = fail(ErrorCode::unavailable, "cannot start again; start aresd");
  }
  if (status) return 0;
  std::fprintf(stderr, "aresd: %s\n", status.error().message.c_str());
  return 1;
}
