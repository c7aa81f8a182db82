#include "kubernetes_scale/simulated/requests.h"

#include <algorithm>
#include <utility>

#include "exec/kubernetes/api/login/sources.h"

namespace ares::kubernetes_scale {
namespace {

constexpr unsigned kMostTries = 20;
constexpr std::chrono::milliseconds kTryAgain{500};

bool is_worth_another_try(long status) {
  return status == 0 || status == 429 || status >= 500;
}

}  // namespace

Result<std::unique_ptr<Requests>> Requests::open(const std::string& kubeconfig,
                                                 std::size_t most_at_once) {
  auto credentials = kubernetes::Credentials::open(kubernetes::from_kubeconfig(kubeconfig, ""));
  if (!credentials) return fail(credentials.error());
  if ((*credentials)->prepare() != kubernetes::Credentials::State::ready)
    return fail(ErrorCode::failed_precondition,
                kubeconfig + " has no certificate or token that can be used at once");
  auto engine = kubernetes::HttpEngine::open({.most_connections = static_cast<long>(most_at_once)});
  if (!engine) return fail(engine.error());
  return std::make_unique<Requests>(std::move(*engine), std::move(*credentials), most_at_once);
}

Requests::Requests(std::unique_ptr<kubernetes::HttpEngine> engine,
                   std::unique_ptr<kubernetes::Credentials> credentials, std::size_t most_at_once)
    : engine_(std::move(engine)),
      credentials_(std::move(credentials)),
      most_at_once_(most_at_once) {}

void Requests::send(Request request, RequestDone done) {
  queue_.push_back(std::make_shared<Pending>(Pending{std::move(request), std::move(done)}));
}

std::optional<BootTime> Requests::next_deadline() const {
  std::optional<BootTime> next = engine_->next_deadline();
  if (!queue_.empty() && under_way_ < most_at_once_) return BootTime{};
  if (!later_.empty()) next = std::min(next.value_or(later_.begin()->first), later_.begin()->first);
  return next;
}

void Requests::dispatch(BootTime now) {
  now_ = now;
  while (!later_.empty() && later_.begin()->first <= now) {
    queue_.push_back(std::move(later_.begin()->second));
    later_.erase(later_.begin());
  }
  send_queued();
  engine_->dispatch();
  send_queued();  // what callbacks have asked for
}

void Requests::send_queued() {
  const kubernetes::ServerAccess& access = credentials_->access();
  const kubernetes::Login& login = credentials_->login();
  while (!queue_.empty() && under_way_ < most_at_once_) {
    std::shared_ptr<Pending> pending = std::move(queue_.front());
    queue_.pop_front();
    ++under_way_;
    ++pending->tries;
    kubernetes::HttpRequest http;
    http.method = pending->request.method;
    http.url = access.server + pending->request.path;
    http.headers = {"Accept: application/json", "User-Agent: simulated-kubelet",
                    std::string("Content-Type: ") + pending->request.content_type};
    if (!login.token.empty()) http.headers.push_back("Authorization: Bearer " + login.token);
    http.body = pending->request.body;
    http.ca_pem = access.ca_pem;
    http.certificate_pem = login.certificate_pem;
    http.key_pem = login.key_pem;
    http.tls_server_name = access.tls_server_name;
    http.proxy_url = access.proxy_url;
    engine_->send(std::move(http), [this, pending](const kubernetes::HttpAnswer& answer) {
      finish(pending, answer);
    });
  }
}

void Requests::finish(const std::shared_ptr<Pending>& pending,
                      const kubernetes::HttpAnswer& answer) {
  --under_way_;
  if (is_worth_another_try(answer.status) && pending->tries < kMostTries) {
    ++retries_;
    later_.emplace(now_ + kTryAgain, pending);
    return;
  }
  pending->done(answer.status);
}

}  // namespace ares::kubernetes_scale
