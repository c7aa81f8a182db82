#include "rpc/client/node_link.h"

#include <thread>
#include <utility>

#include "auth/munge.h"
#include "base/mutex.h"
#include "proto/gen/node.pb.h"
#include "rpc/client/backoff.h"
#include "rpc/client/channel.h"
#include "rpc/client/link_stream.h"
#include "rpc/wire/address.h"

namespace ares::rpc {

// The thread opens one session after the other; gRPC's threads transport their messages.
struct NodeLink::State {
  NodeLinkOptions options;
  std::vector<Address> addresses;
  OnMessage on_message;
  OnState on_state;

  Mutex mutex;
  Condition changed;
  bool stopping ARES_GUARDED_BY(mutex) = false;
  std::shared_ptr<LinkStream> stream ARES_GUARDED_BY(mutex);  // of the current session

  // Used by the thread, and by gRPC's threads while it waits for the end of a session.
  std::string last_why;
  std::thread thread;

  void run();
  std::string attempt(const Address& address, bool* was_connected);
  void report_failure(const std::string& why, bool was_connected);
};

void NodeLink::State::run() {
  Backoff backoff(options.first_delay, options.max_delay);
  for (std::size_t tries = 0;; ++tries) {
    bool was_connected = false;
    const std::string why = attempt(addresses[tries % addresses.size()], &was_connected);
    {
      const Lock lock(mutex);
      if (stopping) return;
    }
    report_failure(why, was_connected);
    if (was_connected) backoff.reset();
    Lock lock(mutex);
    if (changed.wait_for(lock, backoff.next(), [this]() ARES_REQUIRES(mutex) { return stopping; }))
      return;
  }
}

// Runs one session from its credential to its end; returns why it ended.
std::string NodeLink::State::attempt(const Address& address, bool* was_connected) {
  const auto key = auth::SessionKey::random();
  auto credential =
      auth::munge_encode(key.to_credential_payload(), options.munge_socket, options.server_uid);
  if (!credential) return credential.error().message;

  auto current = std::make_shared<LinkStream>(
      address, key, LinkStream::Limits{options.queue_messages, options.queue_bytes},
      [this](api::NodeDown message) { on_message(std::move(message)); },
      [this, &address] {
        last_why.clear();
        on_state(true, "connected to the controller at " + to_string(address));
      });
  {
    const Lock lock(mutex);
    if (stopping) return {};
    stream = current;
  }
  current->start(std::move(*credential));
  Error end = current->wait(options.connect_timeout);
  *was_connected = current->was_connected();
  const Lock lock(mutex);
  stream = nullptr;
  return std::move(end.message);
}

void NodeLink::State::report_failure(const std::string& why, bool was_connected) {
  if (!was_connected && why == last_why) return;
  last_why = why;
  on_state(false, why);
}

Result<std::unique_ptr<NodeLink>> NodeLink::open(NodeLinkOptions options, OnMessage on_message,
                                                 OnState on_state) {
  auto state = std::make_shared<State>();
  for (const std::string& text : options.addresses) {
    auto address = parse_address(text);
    if (!address) return fail(std::move(address.error()));
    state->addresses.push_back(std::move(*address));
  }
  if (state->addresses.empty())
    return fail(ErrorCode::invalid_argument,
                "no controller to connect to; set controller.connect in ares.yaml");
  state->options = std::move(options);
  state->on_message = std::move(on_message);
  state->on_state = std::move(on_state);
  state->thread = std::thread([raw = state.get()] { raw->run(); });
  return std::unique_ptr<NodeLink>(new NodeLink(std::move(state)));
}

NodeLink::NodeLink(std::shared_ptr<State> state) : state_(std::move(state)) {}

NodeLink::~NodeLink() {
  {
    const Lock lock(state_->mutex);
    state_->stopping = true;
    if (state_->stream) state_->stream->cancel();
    state_->changed.notify_all();
  }
  state_->thread.join();
}

void NodeLink::send(api::NodeUp message) {
  std::shared_ptr<LinkStream> stream;
  {
    const Lock lock(state_->mutex);
    stream = state_->stream;
  }
  if (stream) stream->send(message.SerializeAsString());
}

}  // namespace ares::rpc
