// Requests: what the client of the agent has no calls for, such as the status of a pod, sent over its HTTP engine. At most a number of them
// is under way, and each is sent again after an answer that asks for it. Owned by a program; one thread, in which all callbacks run.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/http.h"
#include "exec/kubernetes/api/login/credentials.h"

namespace ares::kubernetes_scale {

inline constexpr const char* kJson = "application/json";
inline constexpr const char* kMergePatch = "application/merge-patch+json";
inline constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

struct Request {
  std::string method{};
  std::string path{};
  std::string body{};
  const char* content_type = kJson;
};

// `status`: 0 if there was no answer after all tries.
using RequestDone = std::function<void(long status)>;

class Requests {
 public:
  static Result<std::unique_ptr<Requests>> open(const std::string& kubeconfig,
                                                std::size_t most_at_once);
  Requests(std::unique_ptr<kubernetes::HttpEngine> engine,
           std::unique_ptr<kubernetes::Credentials> credentials, std::size_t most_at_once);

  void send(Request request, RequestDone done);
  std::size_t waiting() const { return queue_.size() + later_.size() + under_way_; }
  std::size_t retries() const { return retries_; }

  int event_fd() const { return engine_->event_fd(); }
  std::optional<BootTime> next_deadline() const;
  void dispatch(BootTime now);

 private:
  struct Pending {
    Request request;
    RequestDone done;
    unsigned tries = 0;
  };

  void send_queued();
  void finish(const std::shared_ptr<Pending>& pending, const kubernetes::HttpAnswer& answer);

  std::unique_ptr<kubernetes::HttpEngine> engine_;
  std::unique_ptr<kubernetes::Credentials> credentials_;
  std::size_t most_at_once_;
  std::size_t under_way_ = 0, retries_ = 0;
  BootTime now_{};
  std::deque<std::shared_ptr<Pending>> queue_;
  std::multimap<BootTime, std::shared_ptr<Pending>> later_;
};

}  // namespace ares::kubernetes_scale
