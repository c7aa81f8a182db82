// FakeEngine: an HttpEngine for tests that answers as a function says, in the next dispatch(). Owned by the client of a test; one thread.
#pragma once

#include <sys/eventfd.h>

#include <functional>
#include <map>
#include <vector>

#include "exec/kubernetes/api/http.h"
#include "os/fd.h"

namespace ares::kubernetes {

class FakeEngine final : public HttpEngine {
 public:
  // None: the request stays without an answer.
  using Answer = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;

  FakeEngine(Answer answer, std::vector<HttpRequest>& log)
      : answer_(std::move(answer)), log_(log), event_(::eventfd(0, EFD_CLOEXEC)) {}

  Id send(HttpRequest request, HttpDone done, HttpData) override {
    log_.push_back(request);
    sent_.emplace(++last_, std::make_pair(std::move(request), std::move(done)));
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
      auto answer = answer_(found->second.first);
      if (!answer) continue;
      const HttpDone done = std::move(found->second.second);
      sent_.erase(found);
      done(std::move(*answer));
    }
  }

 private:
  Answer answer_;
  std::vector<HttpRequest>& log_;
  os::Fd event_;
  Id last_ = 0;
  std::map<Id, std::pair<HttpRequest, HttpDone>> sent_;
};

}  // namespace ares::kubernetes
