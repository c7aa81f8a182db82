// OutputFollower: reads the logs of pods whose output is in no file, and has the controller store it. It asks for what has been added, again
// and again, less often where nothing is, and for so many pods at the same time; the scripts of the others wait when their log is as far
// ahead as the gate lets it be. It does not let the API follow a log: at a rotation, kubelets go over to the new file without the end of
// the old one, and nothing tells that bytes are missing. Only of a pod that is being deleted it does, since the log goes with the pod.
// Owned by the ClusterAgent; one thread, that of the client, which must outlive it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "exec/kubernetes/agent/output/pod_output.h"
#include "exec/kubernetes/api/client.h"

namespace ares::kubernetes {

struct OutputHooks {
  // For the controller.
  std::function<void(const std::string& pod, const PodOutput::Part& part)> output;
  // The annotation of the pod shall be this.
  std::function<void(const std::string& pod, const OutputState& state)> annotate;
  // All is stored, or as much as there was.
  std::function<void(const std::string& pod)> complete;
  std::function<void(const std::string& text)> say;
  std::function<BootTime()> now;
};

class OutputFollower {
 public:
  static constexpr std::size_t kMostConnections = 64;

  OutputFollower(ApiClient& client, OutputHooks hooks);
  ~OutputFollower();
  OutputFollower(const OutputFollower&) = delete;
  OutputFollower& operator=(const OutputFollower&) = delete;

  // Whether the controller stores output. Before the first call that is not known: nothing is read, and nothing is complete.
  void take(bool taken);
  bool is_taken() const { return is_taken_.value_or(false); }

  // User code of the pod may run. `told`: what its annotation says.
  void follow(const std::string& pod, const std::string& space, OutputState told);
  // The log of the pod will be removed soon: it is followed to its end.
  void pod_is_going(const std::string& pod);
  void pod_ended(const std::string& pod, bool by_itself);
  // There is no such pod any more.
  void pod_gone(const std::string& pod);
  void stored(const std::string& pod, std::uint64_t size, bool ended);
  void forget(const std::string& pod);

  // Nothing of the pod is still to be stored, as far as the controller wants it. Of a pod that is not followed yet, all is.
  bool is_complete(const std::string& pod) const;

  std::optional<BootTime> next_deadline() const;
  void dispatch();  // when the deadline has passed; no hook is called outside of it

 private:
  struct Followed {
    PodOutput output;
    std::string space;
    ApiClient::Id connection = 0;
    BootTime retry_at{};
    Duration pause{};         // until the next connection
    bool has_news = false;    // from this one
    bool is_waiting = false;  // for a connection
    bool is_going = false;    // its log
    bool was_complete = false;
    std::optional<BootTime> due{};
  };

  void wake(const std::string& pod, BootTime at);
  void work(const std::string& pod, Followed& followed, BootTime now);
  void connect(const std::string& pod, Followed& followed);
  void disconnect(Followed& followed);
  void connection_ended(const std::string& pod, const ApiResult& result);
  void connect_next();

  ApiClient& client_;
  OutputHooks hooks_;
  std::optional<bool> is_taken_{};
  std::map<std::string, Followed> pods_;
  std::set<std::pair<BootTime, std::string>> due_;
  std::deque<std::string> waiting_;  // for a connection; may have pods that no longer do
  std::size_t connections_ = 0;
};

}  // namespace ares::kubernetes
