// Creates and binds pods as fast as the API server takes them, with the client of the agent.
//
//   bench_pod_generator --kubeconfig=FILE --namespace=NAME [--pods=10000] [--nodes=1000] [--at-once=64] [--rate=0] [--secret=0]
//                       [--annotation=1500] [--remove=0]
//
// A fixed number of pods is under way at once, each with one call at a time: create, with --secret=1 a Secret as well, bind. The
// pods are like those of the agent: an init container and a container that mount four volumes, and an annotation of so many
// bytes. --rate: calls a second, 0 for no limit. --remove=1 deletes such pods instead. Prints one JSON object.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/client.h"
#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/login/sources.h"
#include "kubernetes_scale/simulated/arguments.h"
#include "kubernetes_scale/simulated/event_loop.h"
#include "kubernetes_scale/simulated/objects.h"
#include "os/clock.h"

namespace {

using namespace ares;
using namespace ares::kubernetes_scale;
using nlohmann::json;
namespace kube = ares::kubernetes;

constexpr double kNoLimit = 1e6;
constexpr std::size_t kSecretBytes = 2000;

struct Options {
  std::string space;
  std::size_t pods, nodes, at_once, annotation;
  bool has_secret, removes;
};

std::string name_of(std::size_t pod) {
  return "generated-" + std::to_string(pod);
}

json container(const char* name, bool is_init) {
  json mounts = json::array({{{"name", "program"}, {"mountPath", "/program"}}});
  if (!is_init)
    for (const char* volume : {"state", "job", "pod"})
      mounts.push_back({{"name", volume}, {"mountPath", std::string("/") + volume}});
  const json amounts = {{"cpu", "1"}, {"memory", "67108864"}};
  return {{"name", name},
          {"image", "simulated"},
          {"command", json::array({"/program/run"})},
          {"resources", {{"requests", amounts}, {"limits", amounts}}},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"privileged", false},
            {"capabilities", {{"drop", json::array({"ALL"})}}}}},
          {"terminationMessagePath", "/dev/termination-log"},
          {"volumeMounts", std::move(mounts)}};
}

std::string pod_text(const Options& options, std::size_t pod) {
  const std::string name = name_of(pod);
  const json go = {{"fieldRef", {{"fieldPath", "metadata.annotations['generated/go']"}}},
                   {"path", "go"}};
  return json{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", options.space},
        {"labels", {{"app.kubernetes.io/managed-by", "generator"}, {"generated/pod", name}}},
        {"annotations", {{"generated/spec", std::string(options.annotation, 'x')}}}}},
      {"spec",
       {{"schedulerName", "generator"},
        {"restartPolicy", "Never"},
        {"automountServiceAccountToken", false},
        {"enableServiceLinks", false},
        {"terminationGracePeriodSeconds", 1},
        {"securityContext", {{"runAsUser", 0}, {"runAsGroup", 0}}},
        {"initContainers", json::array({container("prepare", true)})},
        {"containers", json::array({container("main", false)})},
        {"volumes",
         json::array({{{"name", "program"}, {"emptyDir", json::object()}},
                      {{"name", "state"}, {"emptyDir", json::object()}},
                      {{"name", "job"}, {"secret", {{"secretName", name}, {"defaultMode", 0555}}}},
                      {{"name", "pod"}, {"downwardAPI", {{"items", json::array({go})}}}}})}}}}
      .dump();
}

std::string secret_text(const Options& options, std::size_t pod) {
  return json{{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"type", "Opaque"},
              {"immutable", true},
              {"metadata", {{"name", name_of(pod)}, {"namespace", options.space}}},
              {"data", {{"script", std::string(kSecretBytes, 'A')}}}}
      .dump();
}

std::string binding_text(const Options& options, std::size_t pod) {
  return json{{"apiVersion", "v1"},
              {"kind", "Binding"},
              {"metadata", {{"name", name_of(pod)}}},
              {"target",
               {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_name(pod % options.nodes)}}}}
      .dump();
}

class Generator {
 public:
  Generator(Options options, kube::ApiClient& client)
      : options_(std::move(options)), client_(client) {}

  // All pods have been bound, or removed.
  void run() {
    begin_ = os::wall_now();
    while (ended_ < options_.pods) {
      while (begun_ < options_.pods && begun_ - ended_ < options_.at_once) begin(begun_++);
      client_.dispatch();
      if (ended_ < options_.pods &&
          (begun_ == options_.pods || begun_ - ended_ >= options_.at_once))
        wait_for_events(client_.event_fd(), -1, {client_.next_deadline()});
    }
    const Duration took = os::wall_now() - begin_;
    const double seconds = std::chrono::duration<double>(took).count();
    std::printf("%s\n", json{{"pods", options_.pods},
                             {"calls", calls_},
                             {"failed", failed_},
                             {"seconds", seconds},
                             {"pods_per_s", static_cast<double>(options_.pods) / seconds}}
                            .dump()
                            .c_str());
  }
  bool has_failed() const { return failed_ > 0; }

 private:
  void begin(std::size_t pod) {
    if (options_.removes)
      return call({.call = kube::Call::delete_pod,
                   .target = {options_.space, name_of(pod)},
                   .body = R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})"},
                  [this] { ++ended_; });
    call({.call = kube::Call::create_pod,
          .target = {options_.space, ""},
          .body = pod_text(options_, pod)},
         [this, pod] { options_.has_secret ? create_secret(pod) : bind(pod); });
  }

  void create_secret(std::size_t pod) {
    call({.call = kube::Call::create_secret,
          .target = {options_.space, ""},
          .body = secret_text(options_, pod)},
         [this, pod] { bind(pod); });
  }

  void bind(std::size_t pod) {
    call({.call = kube::Call::bind_pod,
          .target = {options_.space, name_of(pod)},
          .body = binding_text(options_, pod)},
         [this] { ++ended_; });
  }

  // A pod whose call fails is done with.
  void call(kube::ApiRequest request, std::function<void()> next) {
    ++calls_;
    client_.call(std::move(request), [this, next = std::move(next)](const kube::ApiResult& result) {
      if (result) return next();
      if (failed_++ == 0) std::fprintf(stderr, "%s\n", result.error().error.message.c_str());
      ++ended_;
    });
  }

  Options options_;
  kube::ApiClient& client_;
  Time begin_{};
  std::size_t begun_ = 0, ended_ = 0, calls_ = 0, failed_ = 0;
};

int failed(const Error& error) {
  std::fprintf(stderr, "bench_pod_generator: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Arguments> arguments = Arguments::read(argc, argv);
  if (!arguments) return failed(arguments.error());
  const Options options{.space = arguments->text("namespace", "generator"),
                        .pods = arguments->number("pods", 10'000),
                        .nodes = std::max<std::size_t>(1, arguments->number("nodes", 1000)),
                        .at_once = std::max<std::size_t>(1, arguments->number("at-once", 64)),
                        .annotation = arguments->number("annotation", 1500),
                        .has_secret = arguments->number("secret", 0) > 0,
                        .removes = arguments->number("remove", 0) > 0};
  const std::size_t rate = arguments->number("rate", 0);
  auto credentials =
      kube::Credentials::open(kube::from_kubeconfig(arguments->text("kubeconfig", ""), ""));
  if (!credentials) return failed(credentials.error());
  auto engine = kube::HttpEngine::open({.most_connections = static_cast<long>(options.at_once)});
  if (!engine) return failed(engine.error());
  kube::ClientSettings settings;
  settings.user_agent = "generator";
  settings.rate.per_second = rate == 0 ? kNoLimit : static_cast<double>(rate);
  settings.rate.burst = 2 * settings.rate.per_second;
  kube::ApiClient client(settings, {std::move(*engine), std::move(*credentials), os::boot_now, 1});
  Generator generator(options, client);
  generator.run();
  return generator.has_failed() ? 1 : 0;
}
