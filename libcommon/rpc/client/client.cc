#include "rpc/client/client.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/printable.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/backoff.h"
#include "rpc/client/connection.h"
#include "rpc/wire/address.h"

namespace ares::rpc {
namespace {

using Clock = std::chrono::steady_clock;

Result<std::string> encode(api::Request& request, std::size_t max_bytes) {
  if (request.request_id().empty()) request.set_request_id(new_request_id());
  if (request.client_version().empty()) request.set_client_version(ARES_VERSION);
  std::string payload = request.SerializeAsString();
  if (payload.size() > max_bytes)
    return fail(ErrorCode::invalid_argument,
                "the request has " + std::to_string(payload.size()) + " bytes; at most " +
                    std::to_string(max_bytes) +
                    " can be sent: make the script or environment smaller");
  return payload;
}

struct Answer {
  Result<api::Response> response;
  std::chrono::milliseconds retry_after{0};
};

Answer decode(Result<std::string> payload) {
  if (!payload) return {fail(std::move(payload.error()))};
  api::Response response;
  if (!response.ParseFromString(*payload))
    return {fail(ErrorCode::internal,
                 "the controller's answer cannot be read; is it of another version?")};
  if (!response.has_failure()) return {std::move(response)};
  api::Failure& failure = *response.mutable_failure();
  const bool known = failure.code() >= 0 && failure.code() <= static_cast<int>(ErrorCode::internal);
  return {fail(known ? static_cast<ErrorCode>(failure.code()) : ErrorCode::internal,
               std::move(*failure.mutable_message())),
          std::chrono::milliseconds{failure.retry_after_ms()}};
}

std::chrono::milliseconds time_for(const api::Request& request, const ClientOptions& options) {
  if (!request.has_wait_job()) return options.timeout;
  return options.timeout + std::chrono::seconds{request.wait_job().seconds()};
}

// From then on the user is told that a controller that may be hung has not answered.
constexpr std::chrono::milliseconds kSlow{5'000};

// Calls `tell` if it still exists after that time.
class SlowNotice {
 public:
  SlowNotice(std::chrono::milliseconds after, std::function<void()> tell)
      : thread_([this, after, tell = std::move(tell)] {
          Lock lock(mutex_);
          if (!changed_.wait_for(lock, after, [this]() ARES_REQUIRES(mutex_) { return over_; }))
            tell();
        }) {}
  ~SlowNotice() {
    {
      const Lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  Mutex mutex_;
  Condition changed_;
  bool over_ ARES_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace

std::string new_request_id() {
  // 130 random bits, in letters and digits that are easy to distinguish.
  constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::array<unsigned char, 26> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string id;
  for (const unsigned char byte : bytes) id += kDigits[byte % kDigits.size()];
  return id;
}

// Connections live as long as the client and are destroyed on its owner's thread, because gRPC
// joins threads with the last channel, which must not happen on one of those threads.
struct Client::State {
  ClientOptions options;
  std::vector<std::unique_ptr<Connection>> connections;  // one for each address
  std::atomic<std::size_t> current = 0;
  std::atomic<bool> told_slow = false;

  // Sends the payload; says once that the answer does not come.
  Result<std::string> call(Connection& connection, const std::string& payload,
                           std::chrono::milliseconds time) {
    const auto after = time - options.timeout + kSlow;  // a WaitJob takes its time
    std::optional<SlowNotice> notice;
    const auto tell = [&] {
      if (!told_slow.exchange(true))
        options.on_retry("the controller at " + connection.peer() + " has not answered for " +
                         std::to_string(after.count() / 1000) + " s, waiting");
    };
    if (options.on_retry && !told_slow && after < time) try {
        notice.emplace(after, tell);
      } catch (const std::system_error&) {  // the user may start no more threads: without a notice
      }
    auto answer = connection.call(payload, Connection::Clock::now() + time);
    if (answer) told_slow = false;
    return answer;
  }

  ~State() {
    for (const auto& connection : connections) connection->shut_down();
  }

  Connection& connection() { return *connections[current]; }

  // Later calls use the next address, because `failed` did not answer.
  void move_on(const Connection& failed) {
    std::size_t index = current;
    if (connections[index].get() == &failed)
      current.compare_exchange_strong(index, (index + 1) % connections.size());
  }
};

Result<Client> Client::open(ClientOptions options) {
  auto state = std::make_unique<State>();
  for (const std::string& text : options.addresses) {
    auto address = parse_address(text);
    if (!address) return fail(std::move(address.error()));
    if (address->kind == Address::Kind::tcp && address->port == 0)
      return fail(ErrorCode::invalid_argument,
                  "address " + quote(text) + ": port 0 cannot be connected to");
    state->connections.push_back(std::make_unique<Connection>(
        std::move(*address), Signer{options.munge_socket, options.server_uid}));
  }
  if (state->connections.empty())
    return fail(ErrorCode::invalid_argument,
                "no controller to connect to; set controller.connect in ares.yaml");
  state->options = std::move(options);
  return Client(std::move(state));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Client::~Client() = default;

Result<api::Response> Client::call(api::Request request, Retry retry) {
  State& s = *state_;
  auto payload = encode(request, s.options.max_request_bytes);
  if (!payload) return fail(std::move(payload.error()));

  Backoff backoff(s.options.first_delay, s.options.max_delay);
  Backoff spread(s.options.first_delay, s.options.first_delay);  // many clients see it return
  const auto give_up = Clock::now() + s.options.retry_for;
  const auto time = time_for(request, s.options);
  bool told = false;  // what a controller that answers says
  for (std::size_t tries = 1;; ++tries) {
    Connection& connection = s.connection();
    auto raw = s.call(connection, *payload, time);
    const bool answered = raw.has_value();
    Answer answer = decode(std::move(raw));
    if (answer.response || answer.response.error().code != ErrorCode::unavailable ||
        retry == Retry::never)
      return std::move(answer.response);

    const std::string& why = answer.response.error().message;
    if ((tries == 1 || (answered && !told)) && s.options.on_retry)
      s.options.on_retry(why + ", retrying");
    told = told || answered;
    if (!answered) s.move_on(connection);
    // Try every address before the first wait.
    if (!answered && tries % s.connections.size() != 0) continue;
    const auto delay = std::max(backoff.next(), std::min(answer.retry_after, s.options.max_delay));
    if (Clock::now() + delay >= give_up)
      return fail(ErrorCode::unavailable,
                  why + "; gave up after " + std::to_string(tries) + " tries");
    // A server that answered wants the full delay. Otherwise a new connection may end it early.
    if (answered) {
      std::this_thread::sleep_for(delay);
    } else {
      s.connection().await(delay);
      std::this_thread::sleep_for(spread.next());
    }
  }
}

void Client::call_async(api::Request request, std::function<void(Result<api::Response>)> done) {
  State& s = *state_;
  auto payload = encode(request, s.options.max_request_bytes);
  if (!payload) return done(fail(std::move(payload.error())));
  Connection& connection = s.connection();
  // Both exist until `done` has returned: the client waits for it.
  connection.call_async(std::move(*payload),
                        Connection::Clock::now() + time_for(request, s.options),
                        [&s, &connection, done = std::move(done)](Result<std::string> raw) {
                          if (!raw && raw.error().code == ErrorCode::unavailable)
                            s.move_on(connection);
                          done(decode(std::move(raw)).response);
                        });
}

}  // namespace ares::rpc
