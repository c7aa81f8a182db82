// One Attach on the side of aresd: a session from its credential to its end.
// Owned by the link's thread, which waits for its end; send() and cancel() from any thread.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "auth/seal.h"
#include "base/mutex.h"
#include "base/result.h"
#include "proto/gen/api.grpc.pb.h"
#include "proto/gen/node.pb.h"
#include "rpc/wire/address.h"
#include "rpc/wire/send_queue.h"

namespace ares::rpc {

class LinkStream final : public grpc::ClientBidiReactor<api::Sealed, api::Sealed> {
 public:
  struct Limits {
    std::size_t messages;
    std::size_t bytes;
  };
  LinkStream(const Address& address, auth::SessionKey key, Limits limits,
             std::function<void(api::NodeDown)> on_message, std::function<void()> on_connected);

  void start(std::string credential);

  // Waits for the end of the session; ends it if the server has not authenticated within `timeout`.
  Error wait(std::chrono::milliseconds timeout);

  // Ignored before the session exists and after its end. If the queue is full the session ends.
  void send(std::string payload);
  void cancel() { context_.TryCancel(); }
  bool was_connected() const;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  bool handle_message();
  void begin_session(bool server_reads_batches);
  void write_next() ARES_REQUIRES(mutex_);
  void give_up(Error error) ARES_REQUIRES(mutex_);

  const std::string peer_;
  const auth::SessionKey key_;
  const std::function<void(api::NodeDown)> on_message_;
  const std::function<void()> on_connected_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<api::Ares::Stub> stub_;
  grpc::ClientContext context_;

  api::Sealed in_;
  std::uint64_t received_ = 0;

  mutable Mutex mutex_;
  Condition changed_;
  SendQueue queue_ ARES_GUARDED_BY(mutex_);
  api::Sealed out_ ARES_GUARDED_BY(mutex_);
  std::uint64_t sent_ ARES_GUARDED_BY(mutex_) = 0;
  bool connected_ ARES_GUARDED_BY(mutex_) = false;
  bool batches_ ARES_GUARDED_BY(mutex_) = false;  // the server reads them
  bool writing_ ARES_GUARDED_BY(mutex_) = false;
  // Reading has ended: no new operation may be started.
  bool read_ended_ ARES_GUARDED_BY(mutex_) = false;
  bool done_ ARES_GUARDED_BY(mutex_) = false;
  bool gave_up_ ARES_GUARDED_BY(mutex_) = false;
  Error end_ ARES_GUARDED_BY(mutex_);
};

}  // namespace ares::rpc
