#include "exec/kubernetes/api/client.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"

namespace ares::kubernetes {

struct ApiClient::Pending {
  Id id = 0;
  ApiRequest request{};
  std::string path;  // with the query
  std::string what;  // "create pods/binding jobs/ares-7-0", for messages
  std::string method;
  ApiDone done;
  HttpData data;
  Trial trial{.tries = 0};
  std::uint64_t generation = 0;  // of the credentials it was sent with
  std::string authority;         // that it was sent with
  HttpEngine::Id transfer = 0;
  bool is_for_active = false;           // as is_for_active_agent()
  std::chrono::milliseconds timeout{};  // of the next try
};

namespace {

constexpr unsigned kRemovalsOfAPod = 2;  // the deletion, and its finalizer

void append_escaped(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
}

bool writes(Verb verb) {
  return verb == Verb::create || verb == Verb::update || verb == Verb::patch;
}

std::string object_of(const Target& target) {
  if (target.space.empty()) return target.name;
  return target.name.empty() ? "in namespace " + target.space : target.space + "/" + target.name;
}

Reply reply_of(const HttpAnswer& answer) {
  if (answer.status != 0) return read_reply(answer.status, answer.headers, answer.body);
  return {.status = 0, .message = answer.error, .is_final = answer.is_final};
}

// What the user can do, where the server's words do not say it.
std::string_view advice_for(Failure failure, const std::string& message) {
  if (failure == Failure::forbidden && message.find("system:anonymous") != std::string::npos)
    return "; no credentials were sent: check the user in the kubeconfig";
  switch (failure) {
    case Failure::unauthenticated:
      return "; the token or the client certificate is wrong or has expired: renew what the "
             "kubeconfig names";
    case Failure::forbidden:
      return "; bind the ClusterRoles of etc/kubernetes/cluster_roles.yaml to this user";
    default: return "";
  }
}

}  // namespace

std::string encode_query(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    append_escaped(text, name);
    text += '=';
    append_escaped(text, value);
  }
  return text;
}

ApiClient::ApiClient(const ClientSettings& settings, ClientParts parts)
    : settings_(settings),
      parts_(std::move(parts)),
      random_(parts_.seed),
      limit_(settings.rate, parts_.now()),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, parts_.engine->event_fd(), &event);
}

ApiClient::~ApiClient() = default;

void ApiClient::set_version(const std::string& group, std::string version) {
  versions_[group] = std::move(version);
}

ApiClient::Id ApiClient::add(std::unique_ptr<Pending> pending) {
  const Id id = ++last_;
  pending->id = id;
  pending_.emplace(id, std::move(pending));
  return id;
}

ApiClient::Id ApiClient::call(ApiRequest request, ApiDone done, HttpData data) {
  const CallRow& row = row_of(request.call);
  auto pending = std::make_unique<Pending>();
  const auto version = versions_.find(std::string(row.group));
  auto path =
      path_of(request.call, version == versions_.end() ? "v1" : version->second, request.target);
  if (row.verb == Verb::watch) request.query.emplace_back("watch", "true");
  if (strict_fields_ && writes(row.verb)) request.query.emplace_back("fieldValidation", "Strict");
  if (path && !request.query.empty()) *path += "?" + encode_query(request.query);
  pending->what = describe(row);
  if (const std::string object = object_of(request.target); !object.empty())
    pending->what += " " + object;
  pending->method = http_method(row.verb);
  pending->is_for_active = is_for_active_agent(row);
  pending->path = path.value_or("");
  pending->done = std::move(done);
  pending->data = std::move(data);
  pending->request = std::move(request);
  const Id id = add(std::move(pending));
  if (path)
    enqueue(*pending_.at(id));
  else
    completed_.emplace_back(id, tl::unexpected(ApiFailure{Failure::invalid, path.error()}));
  return id;
}

void ApiClient::enqueue(const Pending& pending) {
  if (pending.request.turn == Turn::urgent) is_full_ = false;
  queue_of(turn_of(pending)).push_back(pending.id);
}

Turn ApiClient::turn_of(const Pending& pending) {
  const bool is_again = pending.trial.tries > 0;
  return is_again ? std::min(pending.request.turn, Turn::next) : pending.request.turn;
}

std::optional<Turn> ApiClient::next_turn() const {
  for (const Turn turn : {Turn::urgent, Turn::next})
    if (has_queued(turn)) return turn;
  const bool can_remove = has_queued(Turn::removal) && can_write();
  if (can_remove && (removals_due_ > 0 || !has_queued(Turn::begin))) return Turn::removal;
  return has_queued(Turn::begin) ? std::optional(Turn::begin) : std::nullopt;
}

std::chrono::milliseconds ApiClient::time_to_write(BootTime now) const {
  if (write_until_ == BootTime::max()) return std::chrono::milliseconds::max();
  return std::chrono::floor<std::chrono::milliseconds>(write_until_ - now);
}

bool ApiClient::is_counted(const Pending& pending) const {
  return settings_.most_in_flight > 0 && pending.request.turn != Turn::urgent && !pending.data;
}

void ApiClient::transfer_ended(Pending& pending) {
  pending.transfer = 0;
  if (!is_counted(pending)) return;
  --counted_;
  is_full_ = false;
}

ApiClient::Id ApiClient::discover(const std::string& path, ApiDone done) {
  auto pending = std::make_unique<Pending>();
  pending->what = "read " + path;
  pending->method = "GET";
  pending->path = path;
  pending->done = std::move(done);
  const Id id = add(std::move(pending));
  queue_of(Turn::next).push_back(id);
  return id;
}

void ApiClient::cancel(Id id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  if (found->second->transfer != 0) {
    parts_.engine->cancel(found->second->transfer);
    transfer_ended(*found->second);
  }
  pending_.erase(found);  // queues and delayed_ are passed over when their turn comes
}

std::optional<BootTime> ApiClient::next_deadline() const {
  std::optional<BootTime> first = parts_.engine->next_deadline();
  const auto take = [&](std::optional<BootTime> other) {
    if (other && (!first || *other < *first)) first = other;
  };
  take(parts_.credentials->next_deadline());
  if (!delayed_.empty()) take(delayed_.begin()->first);
  if (!completed_.empty()) take(BootTime{});
  // While the credentials are awaited their descriptor wakes the owner.
  if (next_turn() && !awaits_login_ && !is_full_) take(queue_at_.value_or(BootTime{}));
  return first;
}

void ApiClient::dispatch() {
  parts_.credentials->dispatch();
  watch_credentials();  // before another program can get the same descriptor
  const BootTime now = parts_.now();
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const auto first = delayed_.begin();
    if (const auto found = pending_.find(first->second); found != pending_.end())
      enqueue(*found->second);
    delayed_.erase(first);
  }
  send_queued();
  parts_.engine->dispatch();
  send_queued();  // what callbacks have asked for
  for (auto& [id, result] : std::exchange(completed_, {})) complete(id, std::move(result));
  watch_credentials();
}

// The descriptor of a credential program is another one in each run.
void ApiClient::watch_credentials() {
  const int program = parts_.credentials->event_fd();
  if (program == watched_program_) return;
  // The one before has been closed with its program, which took it out of the set.
  watched_program_ = program;
  if (program < 0) return;
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, program, &event);
}

void ApiClient::send_queued() {
  queue_at_.reset();
  awaits_login_ = is_full_ = false;
  while (const std::optional<Turn> turn = next_turn()) {
    std::deque<Id>& queue = queue_of(*turn);
    const auto found = pending_.find(queue.front());
    if (found == pending_.end()) {
      queue.pop_front();
      continue;
    }
    const Credentials::State state = parts_.credentials->prepare();
    if (state == Credentials::State::waiting) {
      awaits_login_ = true;
      break;
    }
    if (state == Credentials::State::failed) {
      fail_queued(parts_.credentials->problem());
      break;
    }
    const BootTime now = parts_.now();
    if (!may_send(*found->second, now)) {
      queue.pop_front();
      continue;
    }
    if (is_counted(*found->second) && counted_ >= settings_.most_in_flight) {
      is_full_ = true;
      break;
    }
    if (*turn == Turn::urgent) {
      limit_.take_anyway(now);
    } else if (!limit_.take(now)) {
      queue_at_ = limit_.next(now);
      break;
    }
    queue.pop_front();
    if (*turn == Turn::begin)
      removals_due_ = kRemovalsOfAPod;
    else if (*turn == Turn::removal && removals_due_ > 0)
      --removals_due_;
    send(*found->second);
  }
  watch_credentials();
}

// Otherwise the call is completed. In time for all of what the server may still do for the call after this.
bool ApiClient::may_send(Pending& pending, BootTime now) {
  pending.timeout = pending.request.timeout;
  if (!pending.is_for_active) return true;
  const std::chrono::milliseconds left = time_to_write(now);
  pending.timeout = std::min(pending.timeout, left);
  if (left >= settings_.least_write_timeout) return true;
  completed_.emplace_back(
      pending.id,
      tl::unexpected(ApiFailure{
          Failure::unavailable,
          {ErrorCode::unavailable, "cannot " + pending.what + " at " + access().server +
                                       ": the lease of this agent has not been renewed"}}));
  return false;
}

bool ApiClient::has_writes_in_flight() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const auto& one) {
    return one.second->is_for_active && one.second->transfer != 0;
  });
}

void ApiClient::fail_queued(const Error& error) {
  for (const Turn turn : {Turn::urgent, Turn::next, Turn::begin, Turn::removal}) {
    if (turn == Turn::removal && !can_write()) continue;  // they wait for the lease
    for (const Id id : std::exchange(queue_of(turn), {})) {
      const auto found = pending_.find(id);
      if (found == pending_.end()) continue;
      const std::string message = "cannot " + found->second->what + ": " + error.message;
      completed_.emplace_back(
          id, tl::unexpected(ApiFailure{Failure::unauthenticated, {error.code, message}}));
    }
  }
}

HttpRequest ApiClient::http_request(const Pending& pending) const {
  const ServerAccess& server = access();
  const Login& login = parts_.credentials->login();
  HttpRequest http;
  http.method = pending.method;
  http.url = server.server + pending.path;
  http.headers = {"Accept: application/json", "User-Agent: " + settings_.user_agent};
  if (!login.token.empty()) http.headers.push_back("Authorization: Bearer " + login.token);
  if (http.method != "GET") http.headers.push_back("Content-Type: " + pending.request.content_type);
  http.body = pending.request.body;
  http.most_of_answer = pending.request.most_of_answer;
  http.timeout = pending.timeout;
  http.idle_timeout = pending.request.idle_timeout;
  http.ca_pem = server.ca_pem;
  http.certificate_pem = login.certificate_pem;
  http.key_pem = login.key_pem;
  http.tls_server_name = server.tls_server_name;
  http.proxy_url = server.proxy_url;
  return http;
}

void ApiClient::send(Pending& pending) {
  ++pending.trial.tries;
  if (is_counted(pending)) ++counted_;
  pending.generation = parts_.credentials->generation();
  pending.authority = access().ca_pem;
  const Id id = pending.id;
  HttpData data;
  if (pending.data)
    data = [this, id](std::string_view bytes) {
      if (const auto found = pending_.find(id); found != pending_.end()) {
        const HttpData receive = found->second->data;  // the call may be cancelled meanwhile
        receive(bytes);
      }
    };
  pending.transfer = parts_.engine->send(
      http_request(pending), [this, id](HttpAnswer answer) { finish(id, std::move(answer)); },
      std::move(data));
}

void ApiClient::finish(Id id, HttpAnswer answer) {
  Pending& pending = *pending_.at(id);
  transfer_ended(pending);
  const Reply reply = reply_of(answer);
  // The file of the authority may have been replaced.
  if (answer.is_untrusted && !pending.trial.has_read_authority) {
    pending.trial.has_read_authority = true;
    if (pending.authority != access().ca_pem || parts_.credentials->reload_authority()) {
      queue_of(turn_of(pending)).push_front(id);
      return;
    }
  }
  const Verdict verdict = judge(reply, pending.trial, settings_.retry, random_);
  switch (verdict.next) {
    case Verdict::Next::done: return complete(id, ApiAnswer{answer.status, std::move(answer.body)});
    case Verdict::Next::reload:
      pending.trial.has_reloaded = true;
      parts_.credentials->reload(pending.generation);
      queue_of(turn_of(pending)).push_front(id);
      return;
    case Verdict::Next::again:
      if (pending.request.is_single) break;
      delayed_.emplace(parts_.now() + verdict.delay, id);
      return;
    case Verdict::Next::fail: break;
  }
  const std::string message =
      "cannot " + pending.what + " at " + access().server + ": " + reply.message;
  complete(id, tl::unexpected(
                   ApiFailure{verdict.failure,
                              {code_of(verdict.failure),
                               message + std::string(advice_for(verdict.failure, reply.message))},
                              answer.is_timeout,
                              asked_delay(reply, settings_.retry.back_off)}));
}

void ApiClient::complete(Id id, ApiResult result) {
  auto node = pending_.extract(id);
  if (!node.empty()) node.mapped()->done(std::move(result));
}

}  // namespace ares::kubernetes
