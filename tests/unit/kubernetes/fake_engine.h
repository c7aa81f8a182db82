// FakeEngine: an HttpEngine for tests that answers as a function says, in the next dispatch(). Owned by the client of a test; one thread.
#pragma once

#include <sys/eventfd.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "exec/kubernetes/api/http.h"
#include "os/fd.h"

namespace ares::kubernetes {

class FakeEngine final : public HttpEngine {
 public:
  // None: the request stays without an answer. Status 100: the body is a part, and more follows.
  using Answer = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;

  FakeEngine(Answer answer, std::vector<HttpRequest>& log)
      : answer_(std::move(answer)), log_(log), event_(::eventfd(0, EFD_CLOEXEC)) {}

  Id send(HttpRequest request, HttpDone done, HttpData data) override {
    log_.push_back(request);
    sent_.emplace(++last_, Sent{std::move(request), std::move(done), std::move(data)});
    return last_;
  }
  void cancel(Id id) override { sent_.erase(id); }
  std::size_t in_flight() const override { return sent_.size(); }
  int event_fd() const override { return event_.get(); }
  std::optional<BootTime> next_deadline() const override {
    return sent_.empty() ? std::nullopt : std::optional<BootTime>(BootTime{});
  }
  void dispatch() override {
    std::vector<Id> ids;
    for (const auto& [id, request] : sent_) ids.push_back(id);
    for (const Id id : ids) {
      const auto found = sent_.find(id);
      if (found == sent_.end()) continue;
      auto answer = answer_(found->second.request);
      if (!answer) continue;
      if (found->second.data && (answer->status == 100 || answer->status == 200))
        HttpData(found->second.data)(std::exchange(answer->body, ""));
      if (answer->status == 100 || !sent_.contains(id)) continue;
      const HttpDone done = std::move(found->second.done);
      sent_.erase(found);
      done(std::move(*answer));
    }
  }

 private:
  Answer answer_;
  std::vector<HttpRequest>& log_;
  os::Fd event_;
  Id last_ = 0;
  struct Sent {
    HttpRequest request;
    HttpDone done;
    HttpData data;
  };
  std::map<Id, Sent> sent_;
};

}  // namespace ares::kubernetes
