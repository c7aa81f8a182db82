// One Attach on the side of aresd: a session from its credential to its end.
// Owned by the link's thread, which waits for its end; send() and cancel() from any thread.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "auth/seal.h"
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
  void write_next();
  void give_up(Error error);

  const std::string peer_;
  const auth::SessionKey key_;
  const std::function<void(api::NodeDown)> on_message_;
  const std::function<void()> on_connected_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<api::Ares::Stub> stub_;
  grpc::ClientContext context_;

  api::Sealed in_;
  std::uint64_t received_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  SendQueue queue_;
  api::Sealed out_;
  std::uint64_t sent_ = 0;
  bool connected_ = false;
  bool batches_ = false;  // the server reads them
  bool writing_ = false;
  bool read_ended_ = false;  // reading has ended: no new operation may be started
  bool done_ = false;
  bool gave_up_ = false;
  Error end_;
};

}  // namespace ares::rpc
