#include "rpc/client.h"

#include <sys/random.h>

#include <array>
#include <thread>
#include <utility>

#include "proto/gen/api.pb.h"
#include "rpc/address.h"
#include "rpc/backoff.h"
#include "rpc/channel.h"
#include "rpc/connection.h"

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

}  // namespace

std::string new_request_id() {
  // 130 random bits, in letters and digits that nobody confuses.
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

struct Client::State {
  ClientOptions options;
  std::vector<Address> addresses;

  std::mutex mutex;
  std::size_t current = 0;  // index of addresses
  std::shared_ptr<Connection> connection;
  std::vector<std::weak_ptr<Connection>> older;  // with calls still in flight

  std::shared_ptr<Connection> connect() {
    const std::lock_guard lock(mutex);
    if (!connection)
      connection = std::make_shared<Connection>(addresses[current],
                                                Signer{options.munge_socket, options.server_uid});
    return connection;
  }

  // `failed` did not answer: the next call goes to the next address, with a new connection.
  void move_on(const std::shared_ptr<Connection>& failed) {
    const std::lock_guard lock(mutex);
    if (connection != failed) return;
    std::erase_if(older, [](const auto& weak) { return weak.expired(); });
    older.push_back(connection);
    connection = nullptr;
    current = (current + 1) % addresses.size();
  }
};

Result<Client> Client::open(ClientOptions options) {
  auto state = std::make_shared<State>();
  for (const std::string& text : options.addresses) {
    auto address = parse_address(text);
    if (!address) return fail(std::move(address.error()));
    if (address->kind == Address::Kind::tcp && address->port == 0)
      return fail(ErrorCode::invalid_argument,
                  "address \"" + text + "\": port 0 cannot be connected to");
    state->addresses.push_back(std::move(*address));
  }
  if (state->addresses.empty())
    return fail(ErrorCode::invalid_argument,
                "no controller to connect to; set controller.connect in ares.yaml");
  state->options = std::move(options);
  return Client(std::move(state));
}

Client::Client(std::shared_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Client::~Client() {
  if (!state_) return;
  if (state_->connection) state_->connection->shut_down();
  for (const auto& weak : state_->older)
    if (const auto connection = weak.lock()) connection->shut_down();
}

Result<api::Response> Client::call(api::Request request, Retry retry) {
  State& s = *state_;
  auto payload = encode(request, s.options.max_request_bytes);
  if (!payload) return fail(std::move(payload.error()));

  Backoff backoff(s.options.first_delay, s.options.max_delay);
  const auto give_up = Clock::now() + s.options.retry_for;
  const auto time = time_for(request, s.options);
  for (std::size_t tries = 1;; ++tries) {
    const std::shared_ptr<Connection> connection = s.connect();
    auto raw = connection->call(*payload, Connection::Clock::now() + time);
    const bool answered = raw.has_value();
    Answer answer = decode(std::move(raw));
    if (answer.response || answer.response.error().code != ErrorCode::unavailable ||
        retry == Retry::never)
      return std::move(answer.response);

    const std::string& why = answer.response.error().message;
    if (tries == 1 && s.options.on_retry) s.options.on_retry(why + ", retrying");
    if (!answered) s.move_on(connection);
    // Every address is tried before the first wait.
    if (!answered && tries % s.addresses.size() != 0) continue;
    const auto delay = std::max(backoff.next(), std::min(answer.retry_after, s.options.max_delay));
    if (Clock::now() + delay >= give_up)
      return fail(ErrorCode::unavailable,
                  why + "; gave up after " + std::to_string(tries) + " tries");
    std::this_thread::sleep_for(delay);
  }
}

void Client::call_async(api::Request request, std::function<void(Result<api::Response>)> done) {
  State& s = *state_;
  auto payload = encode(request, s.options.max_request_bytes);
  if (!payload) return done(fail(std::move(payload.error())));
  const std::shared_ptr<Connection> connection = s.connect();
  connection->call_async(
      std::move(*payload), Connection::Clock::now() + time_for(request, s.options),
      [weak = std::weak_ptr(state_), connection, done = std::move(done)](Result<std::string> raw) {
        if (!raw && raw.error().code == ErrorCode::unavailable)
          if (const auto state = weak.lock()) state->move_on(connection);
        done(decode(std::move(raw)).response);
      });
}

}  // namespace ares::rpc
