// ApiClient: calls of the Kubernetes API, sent again as retry.h says, at most as fast as the rate limit allows, with fresh credentials.
// It never waits: the owner's event loop drives it. Owned by the plugin; one thread, in which all callbacks run.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/calls.h"
#include "exec/kubernetes/api/http.h"
#include "exec/kubernetes/api/login/credentials.h"
#include "exec/kubernetes/api/rate_limit.h"
#include "exec/kubernetes/api/reply.h"
#include "exec/kubernetes/api/retry.h"
#include "os/fd.h"

namespace ares::kubernetes {

using Query = std::vector<std::pair<std::string, std::string>>;  // unescaped

// Which of the calls that wait for a limit is sent first. Within a turn: in the order of the calls.
enum class Turn {
  urgent,   // at once, not delayed by a limit: for the renewal of a lease, and to see what happens
  next,     // so that what has begun goes on; also what is tried again
  begin,    // what begins something
  removal,  // what cleans up; two for each of `begin`, since a pod takes as many
};

struct ApiRequest {
  Call call;
  Target target{};
  Query query{};
  std::string body{};
  std::string content_type = "application/json";  // of the body
  std::chrono::milliseconds timeout{30'000};      // of each try
  std::chrono::seconds idle_timeout{0};           // as for HttpRequest
  std::size_t most_of_answer = std::size_t{8} << 20;
  Turn turn = Turn::next;
  // Sent once; the caller repeats it, as for watches.
  bool is_single = false;
};

struct ApiFailure {
  Failure failure = Failure::unavailable;
  Error error{};            // names the call and the object
  bool is_silence = false;  // nothing was received for too long
  Duration delay{};         // that the server asked for before the next try
};

struct ApiAnswer {
  long status = 0;
  std::string body{};
};

using ApiResult = tl::expected<ApiAnswer, ApiFailure>;
using ApiDone = std::function<void(ApiResult)>;

struct ClientSettings {
  Rate rate{};
  // Calls that are sent at the same time, besides urgent ones and those with `data`. The time-out of one that waits for its turn begins
  // when it is sent. 0: no limit.
  std::size_t most_in_flight = 0;
  RetryRules retry{};
  std::string user_agent = "ares";
  // A write that can be given less time than this is not sent; see set_write_until().
  std::chrono::milliseconds least_write_timeout{1000};
};

// What a client needs of the world.
struct ClientParts {
  std::unique_ptr<HttpEngine> engine;
  std::unique_ptr<Credentials> credentials;
  std::function<BootTime()> now;
  std::uint64_t seed = 1;
};

class ApiClient {
 public:
  using Id = std::uint64_t;

  ApiClient(const ClientSettings& settings, ClientParts parts);
  ~ApiClient();

  // `done` is called once from dispatch(), unless the call is cancelled. `data`: as for HttpEngine::send().
  Id call(ApiRequest request, ApiDone done, HttpData data = nullptr);
  // GET of a path that needs no rule, since each authenticated user may read it: /version, /api, /apis and what is below it.
  Id discover(const std::string& path, ApiDone done);
  void cancel(Id id);
  std::size_t in_flight() const { return pending_.size(); }

  // The version of a group in the paths of its calls; Discovery sets it. Default: v1.
  void set_version(const std::string& group, std::string version);
  // Whether the server rejects unknown fields on request: then POST, PUT and PATCH ask for it.
  void set_strict_fields(bool strict) { strict_fields_ = strict; }

  // Calls for the active agent alone (calls.h) end by then: their time-outs are shortened, and what is left when too little time remains
  // is answered with Failure::unavailable without being sent; removals wait for a later time instead. Default: no limit.
  void set_write_until(BootTime until) { write_until_ = until; }
  // Whether one that is made now would be sent.
  bool can_write() const { return time_to_write(parts_.now()) >= settings_.least_write_timeout; }
  // Whether such calls have been sent and not been answered yet.
  bool has_writes_in_flight() const;

  const ServerAccess& access() const { return parts_.credentials->access(); }

  // As for exec plugins (plugin/exec_abi.h): a descriptor that stays the same, and the time by which dispatch() must be called.
  int event_fd() const { return events_.get(); }
  std::optional<BootTime> next_deadline() const;
  void dispatch();

 private:
  struct Pending;

  Id add(std::unique_ptr<Pending> pending);
  void send(Pending& pending);
  bool may_send(Pending& pending, BootTime now);
  void enqueue(const Pending& pending);
  std::deque<Id>& queue_of(Turn turn) { return queues_[static_cast<std::size_t>(turn)]; }
  bool has_queued(Turn turn) const { return !queues_[static_cast<std::size_t>(turn)].empty(); }
  static Turn turn_of(const Pending& pending);
  std::optional<Turn> next_turn() const;
  // For which a call for the active agent may last.
  std::chrono::milliseconds time_to_write(BootTime now) const;
  bool is_counted(const Pending& pending) const;
  void transfer_ended(Pending& pending);
  HttpRequest http_request(const Pending& pending) const;
  void finish(Id id, HttpAnswer answer);
  void complete(Id id, ApiResult result);
  void send_queued();
  void watch_credentials();
  void fail_queued(const Error& error);

  ClientSettings settings_;
  ClientParts parts_;
  Random random_;
  RateLimit limit_;
  os::Fd events_;  // watches the engine's descriptor and that of the credentials
  int watched_program_ = -1;
  bool awaits_login_ = false;
  std::map<std::string, std::string> versions_;
  bool strict_fields_ = false;
  BootTime write_until_ = BootTime::max();
  Id last_ = 0;
  std::map<Id, std::unique_ptr<Pending>> pending_;
  std::array<std::deque<Id>, 4>
      queues_{};               // by Turn: to be sent as soon as limits and credentials allow
  unsigned removals_due_ = 0;  // before the next one of `begin`
  std::size_t counted_ = 0;    // in flight, of those that the limit counts
  bool is_full_ = false;       // the next one waits for the end of another
  std::multimap<BootTime, Id> delayed_;              // to be queued then
  std::vector<std::pair<Id, ApiResult>> completed_;  // without having been sent
  std::optional<BootTime> queue_at_;                 // when the limit allows the next one
};

// "a=b&c=d", percent-encoded (RFC 3986).
std::string encode_query(const Query& query);

}  // namespace ares::kubernetes
