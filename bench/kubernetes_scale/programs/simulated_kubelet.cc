// The kubelets of many nodes in one process, against a real API server.
//
//   bench_simulated_kubelet --kubeconfig=FILE --timeline=FILE [--nodes=1000] [--run-ms=2000] [--lease-s=100] [--connections=32]
//                           [--cpus=16] [--memory-gib=64] [--pods=110]
//
// Registers the nodes node-00000 and so on, renews the Lease of each, and takes the pods that are bound to them to running and, after the
// run time, to their end. A pod with the gate of Ares waits for its go first. Pods that are deleted are killed and removed. Writes how
// many pods have reached each state into the timeline, a line each 200 ms in which that has changed. Ends with SIGTERM.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/login/sources.h"
#include "exec/kubernetes/api/object_watch.h"
#include "kubernetes_scale/simulated/arguments.h"
#include "kubernetes_scale/simulated/event_loop.h"
#include "kubernetes_scale/simulated/objects.h"
#include "kubernetes_scale/simulated/pods.h"
#include "kubernetes_scale/simulated/requests.h"
#include "kubernetes_scale/simulated/timeline.h"
#include "os/clock.h"

namespace {

using namespace ares;
using namespace ares::kubernetes_scale;
namespace kube = ares::kubernetes;

constexpr std::chrono::milliseconds kTimelineStep{200};
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

volatile std::sig_atomic_t is_ended = 0;

struct Options {
  std::size_t nodes;
  NodeShape shape;
  Duration run_time, lease_interval;
};

class Kubelets {
 public:
  Kubelets(const Options& options, kube::ApiClient& client, Requests& requests,
           std::ofstream& timeline)
      : options_(options),
        client_(client),
        requests_(requests),
        out_(timeline),
        pods_(options.run_time) {}

  void run() {
    for (std::size_t node = 0; node < options_.nodes; ++node) register_node(node);
    while (!is_ended && ready_ < options_.nodes) turn();
    std::printf("%zu nodes are ready\n", ready_);
    std::fflush(stdout);
    watch_ = std::make_unique<kube::ObjectWatch>(
        client_, kube::WatchScope{.list = kube::Call::list_pods, .watch = kube::Call::watch_pods},
        kube::WatchSettings{}, 1, [this](const kube::Change& change) { changed(change); },
        os::boot_now);
    next_lease_ = os::boot_now();
    while (!is_ended) turn();
    write_timeline();
    std::printf("ended; %zu requests were sent again, %zu were refused\n", requests_.retries(),
                refused_);
  }

 private:
  // The server gives each new node a taint, which the controller manager would take away.
  void register_node(std::size_t node) {
    const std::string name = node_name(node);
    requests_.send({"POST", "/api/v1/nodes", node_manifest(name, options_.shape, os::wall_now())},
                   [this, name](long) {
                     requests_.send(
                         {"PATCH", "/api/v1/nodes/" + name, untainting_patch(), kMergePatch},
                         [this](long status) {
                           ++ready_;
                           check(status);
                         });
                   });
    requests_.send({"POST", kLeases, lease_manifest(name, os::wall_now())}, [](long) {});
  }

  // One node after the other, so that each has its turn once an interval.
  void renew_leases(BootTime now) {
    const Duration step = options_.lease_interval / static_cast<std::int64_t>(options_.nodes);
    while (next_lease_ && *next_lease_ <= now) {
      const std::string path = std::string(kLeases) + "/" + node_name(leased_);
      requests_.send({"PATCH", path, lease_renewal(os::wall_now()), kMergePatch},
                     [this](long status) { check(status); });
      leased_ = (leased_ + 1) % options_.nodes;
      *next_lease_ += std::max(step, Duration(1));
    }
  }

  void changed(const kube::Change& change) {
    if (change.kind == kube::Change::Kind::deleted) {
      pods_.gone(change.uid);
      timeline_.count(change.space, change.uid, PodState::gone);
      return timeline_.forget(change.uid);
    }
    const SeenPod pod = read_seen_pod(*change.object);
    timeline_.count(pod.space, pod.uid, PodState::created);
    if (pod.is_bound) timeline_.count(pod.space, pod.uid, PodState::bound);
    pods_.see(pod, os::boot_now());
  }

  void perform(const PodCall& call) {
    const std::string path = "/api/v1/namespaces/" + call.pod.space + "/pods/" + call.pod.name;
    const Time now = os::wall_now();
    Request request{"PATCH", path + "/status", {}, kStrategicPatch};
    switch (call.kind) {
      case PodCall::Kind::report_running: request.body = running_patch(call.pod, now); break;
      case PodCall::Kind::report_ended:
        request.body = ended_patch(call.pod, call.is_killed, now);
        break;
      case PodCall::Kind::remove: request = {"DELETE", path, removal_options(call.pod)}; break;
    }
    requests_.send(std::move(request), [this, call](long status) {
      // What is gone already needs nothing.
      const bool succeeded = (status >= 200 && status < 300) || status == 404 || status == 409;
      check(succeeded ? 200 : status);
      if (status == 200 && call.kind == PodCall::Kind::report_running)
        timeline_.count(call.pod.space, call.pod.uid, PodState::running);
      if (status == 200 && call.kind == PodCall::Kind::report_ended)
        timeline_.count(call.pod.space, call.pod.uid, PodState::ended);
      pods_.done(call, succeeded, os::boot_now());
    });
  }

  void check(long status) {
    if (status >= 200 && status < 300) return;
    if (++refused_ <= 10) std::printf("refused: %ld\n", status);
    std::fflush(stdout);
  }

  void turn() {
    wait_for_events(client_.event_fd(), requests_.event_fd(),
                    {client_.next_deadline(), requests_.next_deadline(), pods_.next_deadline(),
                     watch_ ? watch_->next_deadline() : std::nullopt, next_lease_});
    client_.dispatch();
    const BootTime now = os::boot_now();
    if (watch_ && watch_->next_deadline() && *watch_->next_deadline() <= now) watch_->dispatch();
    renew_leases(now);
    for (const PodCall& call : pods_.due(now)) perform(call);
    requests_.dispatch(now);
    if (timeline_.has_news() && now >= next_line_) {
      next_line_ = now + kTimelineStep;
      write_timeline();
    }
  }

  void write_timeline() { out_ << timeline_.line(os::wall_now()) << std::endl; }

  Options options_;
  kube::ApiClient& client_;
  Requests& requests_;
  std::ofstream& out_;
  SimulatedPods pods_;
  Timeline timeline_;
  std::unique_ptr<kube::ObjectWatch> watch_;
  std::size_t ready_ = 0, refused_ = 0, leased_ = 0;
  std::optional<BootTime> next_lease_;
  BootTime next_line_{};
};

int failed(const Error& error) {
  std::fprintf(stderr, "bench_simulated_kubelet: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Arguments> arguments = Arguments::read(argc, argv);
  if (!arguments) return failed(arguments.error());
  const std::string kubeconfig = arguments->text("kubeconfig", "");
  const Options options{.nodes = std::max<std::size_t>(1, arguments->number("nodes", 1000)),
                        .shape = {static_cast<unsigned>(arguments->number("cpus", 16)),
                                  static_cast<unsigned>(arguments->number("memory-gib", 64)),
                                  static_cast<unsigned>(arguments->number("pods", 110))},
                        .run_time = std::chrono::milliseconds(arguments->number("run-ms", 2000)),
                        .lease_interval = Seconds(arguments->number("lease-s", 100))};
  std::ofstream timeline(arguments->text("timeline", "/dev/null"));
  auto requests = Requests::open(kubeconfig, arguments->number("connections", 32));
  if (!requests) return failed(requests.error());
  auto credentials = kube::Credentials::open(kube::from_kubeconfig(kubeconfig, ""));
  if (!credentials) return failed(credentials.error());
  auto engine = kube::HttpEngine::open({.most_connections = 4});
  if (!engine) return failed(engine.error());
  kube::ApiClient client({.user_agent = "simulated-kubelet"},
                         {std::move(*engine), std::move(*credentials), os::boot_now, 1});
  std::signal(SIGTERM, [](int) { is_ended = 1; });
  std::signal(SIGINT, [](int) { is_ended = 1; });
  Kubelets(options, client, **requests, timeline).run();
  return 0;
}
