#include "rpc/server/node_stream.h"

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "proto/gen/node.pb.h"
#include "rpc/client/channel.h"
#include "rpc/server/call_context.h"
#include "rpc/wire/envelope.h"
#include "rpc/wire/message_batch.h"
#include "rpc/wire/peer_address.h"
#include "rpc/wire/send_queue.h"

namespace ares::rpc {
namespace {

// Time for a closed session to read what was sent to it before.
constexpr std::chrono::seconds kDrain{5};

// The first message carries the credential. The first answer authenticates the server.
// Then each side numbers its messages consecutively and seals them with session 0.
class NodeStream final : public grpc::ServerBidiReactor<api::Sealed, api::Sealed>,
                         public NodeSession,
                         public std::enable_shared_from_this<NodeStream> {
 public:
  NodeStream(const AttachContext& attach_context, grpc::CallbackServerContext* context)
      : attach_context_(attach_context),
        peer_(plain_peer(context->peer())),
        context_(context),
        queue_(attach_context.queue_messages, attach_context.queue_bytes) {}

  void start() {
    self_ = shared_from_this();
    StartRead(&in_);
  }

  // --- NodeSession ---
  void send(api::NodeDown message) override {
    std::string payload = message.SerializeAsString();
    const Lock lock(mutex_);
    if (closing_) return;
    if (!queue_.push(std::move(payload))) {
      begin_close(
          {grpc::StatusCode::RESOURCE_EXHAUSTED, "the node does not read what is sent to it"});
      context_->TryCancel();
      return;
    }
    write_next();
  }
  void close(const std::string& reason) override {
    const Lock lock(mutex_);
    if (closing_) return;
    begin_close({grpc::StatusCode::UNAVAILABLE, reason});
    if (finished_) return;
    // Earlier messages are still sent, but a node that does not read must not delay the close.
    drain_limit_.emplace();
    drain_limit_->Set(std::chrono::system_clock::now() + kDrain,
                      [weak = weak_from_this()](bool expired) {
                        const auto stream = weak.lock();
                        if (stream && expired) stream->cut();
                      });
  }
  const Principal& principal() const override { return principal_; }
  const std::string& peer() const override { return peer_; }

  // --- gRPC ---
  void OnReadDone(bool ok) override {
    if (!ok) return end({grpc::StatusCode::OK, ""});
    if (!key_) return authenticate();
    const std::uint64_t expected = ++received_;
    if (in_.sequence() != expected)
      return end(to_status({ErrorCode::unauthenticated, "a message is missing or came twice"}));
    auto sealed = auth::verify_seal(*key_, auth::Direction::node_up, 0, in_.sequence(),
                                    in_.payload(), in_.mac());
    if (!sealed) return end(to_status(sealed.error()));
    const auto deliver = [this](api::NodeUp message) {
      attach_context_.handler->received(self_, std::move(message));
    };
    if (!for_each_message<api::NodeUp>(in_.payload(), deliver))
      return end(to_status({ErrorCode::invalid_argument,
                            "a message of the node cannot be read: it is damaged, or a name in it "
                            "is not UTF-8 text"}));
    StartRead(&in_);
  }

  void OnWriteDone(bool ok) override {
    const Lock lock(mutex_);
    writing_ = false;
    if (!ok) {
      queue_.clear();
      if (!closing_) begin_close({grpc::StatusCode::UNAVAILABLE, "the node is gone"});
    }
    write_next();
  }

  void OnCancel() override {
    const Lock lock(mutex_);
    queue_.clear();
    if (!closing_) begin_close({grpc::StatusCode::UNAVAILABLE, "the controller is stopping"});
    write_next();
  }

  void OnDone() override {
    {
      const Lock lock(mutex_);
      if (drain_limit_) drain_limit_->Cancel();
      closing_ = true;
      context_ = nullptr;
      queue_.clear();
    }
    const std::shared_ptr<NodeStream> self = std::exchange(self_, nullptr);
    if (attached_) attach_context_.handler->detached(self);
  }

 private:
  // While the handler handles attached(), OnDone must wait, because detached() comes after it.
  void authenticate() {
    {
      const Lock lock(mutex_);
      if (closing_) return;
      busy_ = true;
    }
    attach_context_.authenticator->authenticate(
        in_.credential(), machine_of(peer_), in_.credential().size() + in_.payload().size(),
        [stream = self_] { return stream->closing(); },
        [stream = self_](Result<AuthenticatedPeer> authenticated) {
          stream->on_authenticated(std::move(authenticated));
        });
  }

  bool closing() {
    const Lock lock(mutex_);
    return closing_;
  }

  void on_authenticated(Result<AuthenticatedPeer> authenticated) {
    const Status accepted = check(authenticated);
    if (accepted) {
      key_ = authenticated->key;
      principal_ = to_principal(authenticated->identity);
      received_ = in_.sequence();
      api::NodeUp first;
      const bool node_reads_batches = first.ParseFromString(in_.payload()) && first.reads_batches();
      {
        const Lock lock(mutex_);
        if (!closing_) {
          queue_.push(first_payload<api::NodeDown>());
          batches_ = node_reads_batches;
          attached_ = true;
        }
      }
      if (attached_) attach_context_.handler->attached(self_);
    }
    const Lock lock(mutex_);
    busy_ = false;
    if (!accepted && !closing_) begin_close(to_status(accepted.error()));
    write_next();
    if (!finished_) StartRead(&in_);
  }

  Status check(const Result<AuthenticatedPeer>& authenticated) const {
    if (!authenticated) return fail(authenticated.error());
    if (auto sealed = auth::verify_seal(authenticated->key, auth::Direction::node_up, 0,
                                        in_.sequence(), in_.payload(), in_.mac());
        !sealed)
      return sealed;
    if (!attach_context_.handler)
      return fail(ErrorCode::failed_precondition, "this server takes no nodes");
    const UserId uid = authenticated->identity.uid;
    if (std::find(attach_context_.users.begin(), attach_context_.users.end(), uid) ==
        attach_context_.users.end())
      return fail(ErrorCode::permission_denied, "user " + authenticated->identity.user +
                                                    " may not attach nodes; run aresd as root or "
                                                    "as the controller's user");
    return attach_context_.admission->authenticated(peer_, uid);
  }

  void end(const grpc::Status& status) {
    const Lock lock(mutex_);
    if (!closing_) begin_close(status);
  }

  void begin_close(grpc::Status status) ARES_REQUIRES(mutex_) {
    closing_ = true;
    status_ = std::move(status);
    write_next();
  }

  // Writes the next message, or finishes the stream after the last one.
  void write_next() ARES_REQUIRES(mutex_) {
    if (writing_ || finished_ || busy_) return;
    if (!queue_.empty()) {
      writing_ = true;
      out_.Clear();
      const bool alone = sent_ == 0 || !batches_;  // the first one is for the link itself
      put_sealed(&out_, *key_, auth::Direction::node_down, 0, ++sent_,
                 alone ? queue_.pop() : pop_batch<api::NodeDown>(queue_));
      StartWrite(&out_);
    } else if (closing_) {
      finished_ = true;
      Finish(status_);
    }
  }

  void cut() {
    const Lock lock(mutex_);
    if (context_ && !finished_) context_->TryCancel();
  }

  const AttachContext& attach_context_;
  const std::string peer_;
  std::shared_ptr<NodeStream> self_;  // until OnDone

  // Set once, before the handler gets the session.
  std::optional<auth::SessionKey> key_;
  Principal principal_;
  bool attached_ = false;

  api::Sealed in_;
  std::uint64_t received_ = 0;

  Mutex mutex_;
  grpc::CallbackServerContext* context_ ARES_GUARDED_BY(mutex_);  // null when done
  std::optional<grpc::Alarm> drain_limit_ ARES_GUARDED_BY(mutex_);
  SendQueue queue_ ARES_GUARDED_BY(mutex_);
  api::Sealed out_ ARES_GUARDED_BY(mutex_);
  std::uint64_t sent_ ARES_GUARDED_BY(mutex_) = 0;
  bool batches_ ARES_GUARDED_BY(mutex_) = false;  // the node reads them
  bool writing_ ARES_GUARDED_BY(mutex_) = false;
  bool busy_ ARES_GUARDED_BY(mutex_) = false;      // authentication in progress
  bool closing_ ARES_GUARDED_BY(mutex_) = false;   // further messages are dropped
  bool finished_ ARES_GUARDED_BY(mutex_) = false;  // Finish was called
  grpc::Status status_ ARES_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerBidiReactor<api::Sealed, api::Sealed>* start_attach(
    const AttachContext& attach_context, grpc::CallbackServerContext* context) {
  auto stream = std::make_shared<NodeStream>(attach_context, context);
  stream->start();
  return stream.get();
}

}  // namespace ares::rpc
