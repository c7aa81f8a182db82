// Calls through gRPC, to controllers on other machines. Owned by a Connection; any thread.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "base/mutex.h"
#include "proto/gen/api.grpc.pb.h"
#include "rpc/client/transport.h"

namespace ares::rpc {

class GrpcTransport final : public Transport {
 public:
  explicit GrpcTransport(const Address& address);

  Result<api::Sealed> call(const api::Sealed& request, Clock::time_point deadline) override;
  void call_async(api::Sealed request, Clock::time_point deadline, Done done) override;
  void await(std::chrono::milliseconds at_most) override;
  void shut_down() override;

 private:
  struct Flight;

  const std::string peer_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<api::Ares::Stub> stub_;

  Mutex mutex_;
  Condition landed_;
  std::unordered_set<std::shared_ptr<Flight>> flying_ ARES_GUARDED_BY(mutex_);
  bool shut_ ARES_GUARDED_BY(mutex_) = false;
};

}  // namespace ares::rpc
