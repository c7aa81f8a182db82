#include "exec/kubernetes/api/http.h"

#include <curl/curl.h>
#include <sys/epoll.h>

#include <array>
#include <map>
#include <utility>

#include "exec/kubernetes/api/curl_transfer.h"
#include "os/clock.h"
#include "os/fd.h"

namespace ares::kubernetes {
namespace {

struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

class CurlEngine final : public HttpEngine {
 public:
  explicit CurlEngine(const Settings& settings) : settings_(settings) {}
  ~CurlEngine() override {
    for (auto& [id, transfer] : transfers_)
      curl_multi_remove_handle(multi_.get(), transfer->easy());
    transfers_.clear();
  }

  Status set_up();
  Id send(HttpRequest request, HttpDone done, HttpData data) override;
  void cancel(Id id) override;
  std::size_t in_flight() const override { return transfers_.size(); }
  int event_fd() const override { return events_.get(); }
  std::optional<BootTime> next_deadline() const override;
  void dispatch() override;

 private:
  struct Ended {
    std::shared_ptr<CurlTransfer> transfer;
    HttpAnswer answer;
  };

  static int watch_socket(CURL*, curl_socket_t socket, int what, void* self, void* known);
  static int set_timer(CURLM*, long milliseconds, void* self);
  void act(curl_socket_t socket, int events);
  void deliver_streams();
  void end_transfers();

  Settings settings_;
  os::Fd events_;
  std::optional<BootTime> timer_;
  std::unique_ptr<CURLM, FreeMulti> multi_;  // its destructor calls watch_socket() and set_timer()
  std::map<Id, std::shared_ptr<CurlTransfer>> transfers_;
  std::map<Id, Ended> ended_;  // not yet called back
  Id last_ = 0;
};

Status CurlEngine::set_up() {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(ErrorCode::failed_precondition, "libcurl cannot be used");
  events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!events_) return fail(os::errno_error("cannot wait for connections"));
  multi_.reset(curl_multi_init());
  if (!multi_) return fail(ErrorCode::failed_precondition, "libcurl cannot be used");
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, watch_socket);
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, set_timer);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, settings_.most_connections);
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, settings_.most_connections);
  return {};
}

int CurlEngine::watch_socket(CURL*, curl_socket_t socket, int what, void* to, void* known) {
  CurlEngine& self = *static_cast<CurlEngine*>(to);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(self.events_.get(), EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
  event.data.fd = socket;
  const int action = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(self.events_.get(), action, socket, &event) < 0 && !known)
    ::epoll_ctl(self.events_.get(), EPOLL_CTL_MOD, socket, &event);
  curl_multi_assign(self.multi_.get(), socket, &self);  // marks it as known
  return 0;
}

int CurlEngine::set_timer(CURLM*, long milliseconds, void* to) {
  CurlEngine& self = *static_cast<CurlEngine*>(to);
  self.timer_.reset();
  if (milliseconds >= 0) self.timer_ = os::boot_now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

HttpEngine::Id CurlEngine::send(HttpRequest request, HttpDone done, HttpData data) {
  const Id id = ++last_;
  auto transfer =
      std::make_shared<CurlTransfer>(id, std::move(request), std::move(done), std::move(data));
  const Status is_set_up = transfer->set_up(settings_.http2);
  if (is_set_up && curl_multi_add_handle(multi_.get(), transfer->easy()) == CURLM_OK) {
    transfers_.emplace(id, std::move(transfer));
    return id;
  }
  HttpAnswer answer;
  answer.error = is_set_up ? "libcurl does not accept the request" : is_set_up.error().message;
  answer.is_final = true;
  ended_.emplace(id, Ended{std::move(transfer), std::move(answer)});
  return id;
}

void CurlEngine::cancel(Id id) {
  ended_.erase(id);
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  curl_multi_remove_handle(multi_.get(), found->second->easy());
  transfers_.erase(found);
}

std::optional<BootTime> CurlEngine::next_deadline() const {
  if (!ended_.empty()) return BootTime{};
  return timer_;
}

void CurlEngine::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &running);
}

void CurlEngine::dispatch() {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& one = ready[static_cast<std::size_t>(i)];
    const int events =
        (one.events & EPOLLIN ? CURL_CSELECT_IN : 0) |
        (one.events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
        (one.events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR | CURL_CSELECT_IN : 0);
    act(one.data.fd, events);
  }
  if (timer_ && os::boot_now() >= *timer_) {
    timer_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  }
  // Callbacks come now, when libcurl is in none of its own: they may send and cancel.
  deliver_streams();
  end_transfers();
}

void CurlEngine::deliver_streams() {
  std::vector<Id> streams;
  for (const auto& [id, transfer] : transfers_)
    if (transfer->is_streamed()) streams.push_back(id);
  for (const Id id : streams) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    const std::shared_ptr<CurlTransfer> transfer =
        found->second;  // it may be cancelled during its callback
    transfer->deliver();
  }
}

void CurlEngine::end_transfers() {
  int left = 0;
  while (CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CurlTransfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    auto node = transfers_.extract(transfer->id());
    ended_.emplace(node.key(), Ended{std::move(node.mapped()), transfer->finish(code)});
  }
  std::vector<Id> ids;
  for (const auto& [id, ended] : ended_) ids.push_back(id);
  for (const Id id : ids)
    if (auto node = ended_.extract(id); !node.empty())  // a callback before may have cancelled it
      node.mapped().transfer->done()(std::move(node.mapped().answer));
}

}  // namespace

Result<std::unique_ptr<HttpEngine>> HttpEngine::open(const Settings& settings) {
  auto engine = std::make_unique<CurlEngine>(settings);
  if (const Status done = engine->set_up(); !done) return fail(done.error());
  return engine;
}

}  // namespace ares::kubernetes
