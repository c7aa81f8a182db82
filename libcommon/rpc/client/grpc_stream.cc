#include "rpc/client/grpc_stream.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/mutex.h"
#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/channel.h"
#include "rpc/client/stream_seal.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

// One message is kept; the next is read when it has been taken, so that a reader that is slow is noticed by the server.
class GrpcStream::Reader final : public grpc::ClientReadReactor<api::Sealed> {
 public:
  explicit Reader(const Address& address)
      : peer_(to_string(address)),
        channel_(make_channel(address, Purpose::node_link)),
        stub_(api::Ares::NewStub(channel_)),
        event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  Status connect(std::chrono::milliseconds within, int interrupt) {
    // gRPC does not wait for descriptors.
    constexpr std::chrono::milliseconds kBetweenLooks{100};
    using Clock = std::chrono::system_clock;
    const auto until = Clock::now() + within;
    while (!channel_->WaitForConnected(std::min(until, Clock::now() + kBetweenLooks))) {
      pollfd ready{interrupt, POLLIN, 0};
      if (Clock::now() >= until || (interrupt >= 0 && ::poll(&ready, 1, 0) > 0))
        return fail(ErrorCode::unavailable,
                    "the controller at " + peer_ + " is unavailable (it cannot be reached)");
    }
    return {};
  }

  void start(api::Sealed request) {
    request_ = std::move(request);
    stub_->async()->Stream(&context_, &request_, this);
    AddHold();  // the next read may start outside of gRPC's callbacks
    {
      const Lock lock(mutex_);
      started_ = true;
    }
    StartRead(&in_);
    StartCall();
  }

  void stop() {
    Lock lock(mutex_);
    if (!started_) return;
    stopping_ = true;
    context_.TryCancel();
    if (std::exchange(full_, false)) release_hold();
    changed_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return done_; });
  }

  Result<std::optional<api::Sealed>> take() {
    Lock lock(mutex_);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(event_.fd(), &count, sizeof count);
    if (full_) {
      full_ = false;
      api::Sealed message = std::move(in_);
      StartRead(&in_);
      return std::optional(std::move(message));
    }
    if (!done_) return std::optional<api::Sealed>();
    if (end_.ok())
      return fail(ErrorCode::unavailable, "the controller at " + peer_ + " ended the stream");
    return fail(to_error(end_, peer_));
  }

  int fd() const { return event_.fd(); }

  void OnReadDone(bool ok) override {
    const Lock lock(mutex_);
    if (!ok || stopping_) return release_hold();
    full_ = true;
    wake();
  }
  void OnDone(const grpc::Status& status) override {
    const Lock lock(mutex_);
    end_ = status;
    done_ = true;
    wake();
    changed_.notify_all();
  }

 private:
  void release_hold() ARES_REQUIRES(mutex_) {
    if (!std::exchange(released_, true)) RemoveHold();
  }
  void wake() ARES_REQUIRES(mutex_) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(event_.fd(), &one, sizeof one);
  }

  const std::string peer_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<api::Ares::Stub> stub_;
  const Socket event_;
  grpc::ClientContext context_;
  api::Sealed request_;

  Mutex mutex_;
  Condition changed_;
  api::Sealed in_;  // gRPC's while it reads
  bool started_ ARES_GUARDED_BY(mutex_) = false;
  bool full_ ARES_GUARDED_BY(mutex_) = false;  // `in_` is to be taken
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  bool released_ ARES_GUARDED_BY(mutex_) = false;
  bool done_ ARES_GUARDED_BY(mutex_) = false;
  grpc::Status end_ ARES_GUARDED_BY(mutex_);
};

GrpcStream::GrpcStream(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

GrpcStream::~GrpcStream() {
  reader_->stop();
}

int GrpcStream::fd() const {
  return reader_->fd();
}

Result<std::optional<api::Sealed>> GrpcStream::receive() {
  return reader_->take();
}

Result<std::unique_ptr<Stream>> GrpcStream::open(const ClientOptions& options,
                                                 const Address& address, const std::string& payload,
                                                 int interrupt) {
  std::unique_ptr<GrpcStream> stream(new GrpcStream(std::make_unique<Reader>(address)));
  if (Status connected = stream->reader_->connect(options.timeout, interrupt); !connected)
    return fail(std::move(connected.error()));
  auto request = sealed_request(options, payload, stream->seal_);
  if (!request) return fail(std::move(request.error()));
  stream->reader_->start(std::move(*request));
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace ares::rpc
