// acluster: runs a complete private cluster on one machine.
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "acluster/actions.h"
#include "acluster/network.h"
#include "base/printable.h"
#include "base/standard_descriptors.h"
#include "cli/options/frame.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"

namespace ares::acluster {
namespace {

struct Words {
  std::string dir;
  UpOptions up;
  bool follow = false;
  std::uint32_t lines = 20;
  bool help = false, version = false;
};

template <class T>
std::function<Status(const std::string&)> set_number(const char* name, T& out) {
  return [name, &out](const std::string& text) -> Status {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      return fail(ErrorCode::invalid_argument,
                  std::string(name) + ": " + quote(text) + " is not a number");
    out = number;
    return {};
  };
}

std::function<Status(const std::string&)> set_optional(std::optional<std::string>& out) {
  return [&out](const std::string& text) -> Status { return out = text, Status{}; };
}

cli::OptionTable table_of(Words& w) {
  return {
      .options = {
          {'d', "dir", "DIR",
           "The cluster's folder. Default: $ACLUSTER_DIR, else ~/.acluster, or /var/lib/acluster "
           "for root.",
           cli::set_text(w.dir)},
          {'n', "nodes", "N", "How many nodes, n1 to nN. Default: 4.",
           set_number("--nodes", w.up.nodes)},
          {'c', "cpus", "N", "CPUs of each node. Default: 4.", set_number("--cpus", w.up.cpus)},
          {'m', "memory", "SIZE", "Memory of each node. Default: 4000M.",
           set_optional(w.up.memory)},
          {'g', "gpus", "TYPE:N",
           "GPUs of each node, simulated: a100:4, or a100:2,h100:2. Default: none.",
           set_optional(w.up.gpus)},
          {0, "topology", "FILE",
           "Take each node's GPUs, and how they are linked, from this file: what nvidia-smi topo "
           "-m "
           "prints.",
           set_optional(w.up.topology)},
          {'x', "exec", "KIND",
           "baremetal runs real processes under one aresd for each node; mock simulates them, "
           "thousands of nodes in one aresd; or the absolute path of a plugin. Default: baremetal.",
           set_optional(w.up.exec)},
          {0, "config", "FILE",
           "An ares.yaml to begin with: policy, nodes, partitions, operators. Addresses, folders "
           "and the database in it "
           "are replaced. It is copied.",
           set_optional(w.up.config)},
          {'k', "kubernetes", "KUBECONFIG",
           "Serve the nodes of the Kubernetes cluster of this kubeconfig too, as kube-NAME, by one "
           "aresd@kubernetes; jobs on them run as pods. --nodes is 0 then unless it is given. "
           "See ares-kubernetes(7).",
           set_optional(w.up.kubeconfig)},
          {0, "gate-image", "IMAGE", "With --kubernetes: an image with the program /ares-gate.",
           set_optional(w.up.gate_image)},
          {0, "image", "IMAGE", "With --kubernetes: the image in which jobs run.",
           set_optional(w.up.image)},
          {0, "mount", "DIR",
           "With --kubernetes: a folder that the nodes and this machine have in common; jobs see "
           "it, and their output below it is in files.",
           set_optional(w.up.mount)},
          {0, "no-supervise", "",
           "Start everything once and leave it: nothing that ends is started again.",
           cli::set_flag(w.up.supervise, false)},
          {0, "isolate", "",
           "Every node in a network and mount namespace of its own, with its own spool and host "
           "name; "
           "root only.",
           cli::set_flag(w.up.isolate)},
          {'f', "follow", "", "logs: continue to print what is added.", cli::set_flag(w.follow)},
          {0, "lines", "N", "logs: how many lines of each file. Default: 20.",
           set_number("--lines", w.lines)},
          {'h', "help", "", "Print this text and stop.", cli::set_flag(w.help)},
          {'V', "version", "", "Print the version and stop.", cli::set_flag(w.version)},
      }};
}

cli::Manual manual() {
  return {
      .name = "acluster",
      .summary = "a whole private cluster on one machine",
      .synopsis = {"up [OPTION]...", "down", "status", "env",
                   "logs [ROLE[@NODE]]... [--follow] [--lines=N]", "pid ROLE[@NODE]"},
      .description =
          {"Keeps a private PostgreSQL, a private munged with a key of its own, a controller and "
           "nodes in one folder. No root is needed: without it everything runs as the caller, and "
           "jobs too. As root PostgreSQL runs as the user postgres (or ares-pg), the rest as root, "
           "and jobs as the users that submitted them. Any number of clusters may run side by "
           "side; no port is opened. Other users of the machine can use the commands; they cannot "
           "connect to PostgreSQL and munged.",
           "up starts the processes that do not run, and returns when the controller and all nodes "
           "answer. If the folder already holds a cluster, its data is kept, and options that are "
           "not given are those of the first up. A supervisor restarts processes that end, and "
           "waits longer each time one ends at once.",
           "The folder's ares.yaml is written by the first up. Once it is changed by hand, it is "
           "kept and used as it is, and options that would change it are refused; move it away to "
           "have it written again. A change that actl reconfigure cannot make, such as of nodes, "
           "takes effect after down and up.",
           "down ends everything that belongs to the cluster, running jobs too, and nothing else, "
           "also when the supervisor is gone. The data stays: delete the folder to remove it.",
           "status shows every process and asks the controller; it exits with 0 if "
           "all is well. env prints lines for the "
           "shell's eval that let the other commands find the cluster. logs prints "
           "the ends of logs, pid the number of a "
           "process. Roles are supervisor, munged, postgres, aresctld and "
           "aresd@NODE (aresd alone with --exec=mock, aresd@kubernetes for all nodes of "
           "Kubernetes).",
           "Pods are not ended by down: the next up finds them, and jobs that run as pods run on. "
           "Cancel them before."},
      .examples =
          {{"acluster up --dir=/tmp/c --nodes=2 --gpus=a100:4",
            "Start two nodes of four GPUs each."},
           {"acluster up --kubernetes ~/.kube/config --gate-image registry.example/ares-gate:1 "
            "--image debian:12",
            "Run jobs as pods of a Kubernetes cluster."},
           {"eval \"$(acluster env --dir=/tmp/c)\"", "Let asub and the others use it."},
           {"kill -9 $(acluster pid aresctld)", "See the supervisor start the controller again."}},
      .exit_status = {{"0", "Done."},
                      {"1", "Refused or failed; a line on standard error says why."}},
      .see_also = {"asub(1)", "ares.yaml(5)", "ares-kubernetes(7)"}};
}

std::string default_dir() {
  if (const char* dir = std::getenv("ACLUSTER_DIR"); dir && *dir) return dir;
  // PostgreSQL's user has no access below /root.
  if (::geteuid() == 0) return "/var/lib/acluster";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.acluster";
}

Result<int> act(const Words& w, const std::vector<std::string>& operands) {
  const auto refuse = [](std::string text) {
    return fail(ErrorCode::invalid_argument, std::move(text) + "; try acluster --help");
  };
  if (operands.empty()) return refuse("say what to do: up, down, status, env, logs or pid");
  auto layout = layout_of(w.dir.empty() ? default_dir() : w.dir);
  if (!layout) return fail(layout.error());
  const std::string& action = operands[0];
  if (action == "logs")
    return logs(*layout, {operands.begin() + 1, operands.end()}, w.follow, w.lines);
  if (action == "pid") {
    if (operands.size() != 2) return refuse("pid takes one role, such as aresctld or aresd@n1");
    return pid(*layout, operands[1]);
  }
  if (operands.size() != 1) return refuse(action + " takes no " + quote(operands[1]));
  if (action == "up") return up(*layout, w.up);
  if (action == "down") return down(*layout);
  if (action == "status") return status(*layout);
  if (action == "env") return env(*layout);
  return refuse(quote(action) + " is none of up, down, status, env, logs, pid");
}

// Internal commands that acluster uses to start itself. They are not in the tables of commands.
std::optional<Result<int>> own_process(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "supervise") {
    auto layout = layout_of(words[1]);
    return layout ? supervise(*layout) : Result<int>(fail(layout.error()));
  }
  if (words.size() == 4 && words[0] == "hold-namespace") {
    auto layout = layout_of(words[1]);
    if (layout)
      if (auto found = find_run_folder(*layout); !found) return Result<int>(fail(found.error()));
    return layout ? hold_namespace(*layout, words[2],
                                   static_cast<unsigned>(std::atoi(words[3].c_str())))
                  : Result<int>(fail(layout.error()));
  }
  return std::nullopt;
}

int run(int argc, char** argv) {
  const auto words = cli::words_of(argc, argv);
  Words w;
  const cli::OptionTable table = table_of(w);
  if (const auto done = cli::answer_hidden(manual(), table, words)) return *done;
  const auto finish = [](const Result<int>& result) {
    return result ? *result : cli::print_error("acluster", result.error());
  };
  if (const auto own = own_process(words)) return finish(*own);
  const auto operands = cli::take_options(table, words);
  if (!operands) return cli::print_error("acluster", operands.error());
  cli::CommonOptions common;
  common.help = w.help;
  common.version = w.version;
  if (const auto done = cli::answer_common(manual(), table, common)) return *done;
  return finish(act(w, *operands));
}

}  // namespace
}  // namespace ares::acluster

int main(int argc, char** argv) {
  ares::open_standard_descriptors();
  return ares::acluster::run(argc, argv);
}
