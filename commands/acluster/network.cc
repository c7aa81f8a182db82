#include "acluster/network.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "acluster/process.h"
#include "acluster/service.h"
#include "os/file.h"

namespace ares::acluster {
namespace {

constexpr const char* kHub = "hub";
constexpr const char* kPort = "7117";

std::string role_of(const std::string& name) {
  return "netns@" + name;
}
std::string ready_file(const Layout& layout, const std::string& name) {
  return layout.state() + "/netns." + name;
}

// "10.77.0.1" for the hub; node 1 is 10.77.0.2, and so on.
std::string address_of(unsigned number) {
  const unsigned host = number + 1;
  return "10.77." + std::to_string(host / 256) + "." + std::to_string(host % 256);
}

std::string hosts_file(const Layout& layout) {
  return layout.dir + "/hosts";
}

std::string namespace_of(const Layout& layout, const std::string& name, const char* kind) {
  const auto holder = read_record(layout.record(role_of(name)));
  return "/proc/" + std::to_string(holder ? holder->pid : 0) + "/ns/" + kind;
}

bool ready(const Layout& layout, const std::string& name) {
  const auto holder = read_record(layout.record(role_of(name)));
  const auto recorded = read_record(ready_file(layout, name));
  return holder && recorded && *holder == *recorded && alive(*holder);
}

// Runs `ip` with the words of `line`, in the namespace `enter` if that is not empty.
Status ip(const std::string& line, const std::string& enter = {}) {
  const pid_t pid = ::fork();
  if (pid < 0) return fail(os::errno_error("cannot run ip"));
  if (pid == 0) {
    if (!enter.empty()) {
      const os::Fd ns(::open(enter.c_str(), O_RDONLY | O_CLOEXEC));
      if (!ns || ::setns(ns.get(), CLONE_NEWNET) != 0) ::_exit(126);
    }
    std::vector<std::string> words = {"ip"};
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t space = std::min(line.find(' ', at), line.size());
      words.push_back(line.substr(at, space - at));
      at = space + 1;
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp("ip", argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::failed_precondition, "ip " + line + " failed");
  return {};
}

Status in_order(const std::vector<std::pair<std::string, std::string>>& lines) {
  for (const auto& [line, enter] : lines)
    if (auto done = ip(line, enter); !done) return done;
  return {};
}

Status make_hub() {
  return in_order({{"link set lo up", ""},
                   {"link add br0 type bridge", ""},
                   {"addr add " + address_of(0) + "/16 dev br0", ""},
                   {"link set br0 up", ""}});
}

Status connect_node(const Layout& layout, unsigned number) {
  const std::string hub = namespace_of(layout, kHub, "net");
  const std::string port = "v" + std::to_string(number);
  // The link of an earlier holder may remain while jobs keep its namespace in use.
  const Status gone = ip("link del " + port, hub);
  (void)gone;
  return in_order(
      {{"link add " + port + " type veth peer name eth0 netns " + std::to_string(::getpid()), hub},
       {"link set " + port + " master br0 up", hub},
       {"link set lo up", ""},
       {"addr add " + address_of(number) + "/16 dev eth0", ""},
       {"link set eth0 up", ""}});
}

// The node's own host name, and addresses of the others by theirs.
Status name_hosts(const Layout& layout, const std::string& node) {
  if (::sethostname(node.data(), node.size()) != 0)
    return fail(os::errno_error("cannot set the host name"));
  if (::mount(hosts_file(layout).c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0)
    return fail(os::errno_error("cannot show the addresses of nodes in /etc/hosts"));
  return {};
}

// Hides the other nodes' spools, the database and the controller's state from the node.
Status hide_the_rest(const Layout& layout, const std::string& node) {
  const std::string spool = layout.spool() + "/" + node;
  if (auto made = os::make_directories(spool, 0755); !made) return made;
  const os::Fd own(::open(spool.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string own_path = "/proc/self/fd/" + std::to_string(own.get());
  if (!own) return fail(os::errno_error("cannot open " + spool));
  for (const std::string& path :
       {layout.spool(), layout.state(), layout.postgres_run, layout.postgres_data()})
    if (::mount("ares", path.c_str(), "tmpfs", 0, "mode=0755,size=1m") != 0)
      return fail(os::errno_error("cannot hide " + path));
  if (auto made = os::make_directories(spool, 0755); !made) return made;
  if (::mount(own_path.c_str(), spool.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return fail(os::errno_error("cannot show " + spool));
  return {};
}

Status make_namespace(const Layout& layout, const std::string& name, unsigned number) {
  if (::unshare(number == 0 ? CLONE_NEWNET : CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS) != 0)
    return fail(os::errno_error("cannot make a namespace"));
  if (number == 0) return make_hub();
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail(os::errno_error("cannot make a mount namespace"));
  if (auto connected = connect_node(layout, number); !connected) return connected;
  if (auto named = name_hosts(layout, name); !named) return named;
  return hide_the_rest(layout, name);
}

}  // namespace

Status check_isolation() {
  if (::geteuid() != 0)
    return fail(ErrorCode::permission_denied,
                "--isolate gives every node a network of its own, which only root can; run as root "
                "or without it");
  for (const char* path : {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"})
    if (::access(path, X_OK) == 0) return {};
  return fail(ErrorCode::not_found, "--isolate needs the tool ip; install the package iproute2");
}

std::string isolated_address() {
  return address_of(0) + ":" + kPort;
}

std::string node_config(const Layout& layout) {
  return layout.dir + "/node.yaml";
}

Status write_hosts(const Layout& layout, const std::vector<std::string>& nodes) {
  std::string text = "127.0.0.1 localhost\n::1 localhost\n";
  for (unsigned i = 0; i < nodes.size(); ++i) text += address_of(i + 1) + " " + nodes[i] + "\n";
  if (auto written = os::replace_file(hosts_file(layout), text); !written) return written;
  ::chmod(hosts_file(layout).c_str(), 0644);
  return {};
}

void add_namespaces(const Layout& layout, const std::vector<std::string>& nodes,
                    std::vector<Service>& services) {
  const auto add = [&](const std::string& name, unsigned number, std::function<bool()> may_start) {
    services.push_back({role_of(name),
                        [=] {
                          Launch launch;
                          launch.argv = {layout.bin + "/acluster", "hold-namespace", layout.dir,
                                         name, std::to_string(number)};
                          launch.log = layout.log(role_of(name));
                          launch.record = layout.record(role_of(name));
                          return launch;
                        },
                        std::move(may_start)});
  };
  add(kHub, 0, [] { return true; });
  for (unsigned i = 0; i < nodes.size(); ++i)
    add(nodes[i], i + 1, [=] { return ready(layout, kHub); });
}

bool namespaces_ready(const Layout& layout, const std::vector<std::string>& nodes) {
  if (!ready(layout, kHub)) return false;
  for (const std::string& node : nodes)
    if (!ready(layout, node)) return false;
  return true;
}

std::vector<std::string> controller_namespaces(const Layout& layout) {
  return {namespace_of(layout, kHub, "net")};
}

std::vector<std::string> node_namespaces(const Layout& layout, const std::string& node) {
  return {namespace_of(layout, node, "net"), namespace_of(layout, node, "mnt"),
          namespace_of(layout, node, "uts")};
}

int hold_namespace(const Layout& layout, const std::string& name, unsigned number) {
  // The path is computed before the state folder is hidden from the node. The file is written under
  // a temporary name and then renamed.
  const std::string record = ready_file(layout, name);
  const auto self = read_record(layout.record(role_of(name)));
  const os::Fd state(::open(layout.state().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!self || !state) return std::fprintf(stderr, "no record of this process\n"), 1;
  if (const Status made = make_namespace(layout, name, number); !made)
    return std::fprintf(stderr, "%s: %s\n", name.c_str(), made.error().message.c_str()), 1;
  const std::string file = "netns." + name;
  const os::Fd out(
      ::openat(state.get(), file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const std::string text = "pid " + std::to_string(self->pid) + "\nstart_ticks " +
                           std::to_string(self->start_ticks) + "\n";
  if (!out || ::write(out.get(), text.data(), text.size()) < 0)
    return std::fprintf(stderr, "cannot write %s\n", record.c_str()), 1;
  for (;;) ::pause();
}

}  // namespace ares::acluster
