#include "rpc/client/grpc_transport.h"

#include <grpcpp/client_context.h>

#include <optional>
#include <thread>
#include <utility>

#include "rpc/client/channel.h"

namespace ares::rpc {

struct GrpcTransport::Flight {
  std::optional<grpc::ClientContext> context;
  api::Sealed request, answer;
  Done done;
};

GrpcTransport::GrpcTransport(const Address& address)
    : peer_(to_string(address)),
      channel_(make_channel(address, Purpose::calls)),
      stub_(api::Ares::NewStub(channel_)) {}

Result<api::Sealed> GrpcTransport::call(const api::Sealed& request, Clock::time_point deadline) {
  grpc::ClientContext context;
  context.set_deadline(deadline);
  api::Sealed answer;
  const grpc::Status status = stub_->Call(&context, request, &answer);
  if (!status.ok()) return fail(to_error(status, peer_));
  return answer;
}

void GrpcTransport::call_async(api::Sealed request, Clock::time_point deadline, Done done) {
  auto flight = std::make_shared<Flight>();
  flight->request = std::move(request);
  flight->done = std::move(done);
  flight->context.emplace();
  flight->context->set_deadline(deadline);
  {
    const Lock lock(mutex_);
    flying_.insert(flight);
    if (shut_) flight->context->TryCancel();
  }
  stub_->async()->Call(
      &*flight->context, &flight->request, &flight->answer,
      [this, flight](const grpc::Status& status) {
        if (status.ok())
          flight->done(std::move(flight->answer));
        else
          flight->done(fail(to_error(status, peer_)));
        const Lock lock(mutex_);
        flight->context
            .reset();  // holds the channel; this thread must not release the last reference
        flying_.erase(flight);
        landed_.notify_all();
      });
}

void GrpcTransport::await(std::chrono::milliseconds at_most) {
  // An idle channel does not read and would not notice that it is connected again.
  if (channel_->GetState(true) == GRPC_CHANNEL_READY)
    std::this_thread::sleep_for(at_most);
  else
    channel_->WaitForConnected(Clock::now() + at_most);
}

void GrpcTransport::shut_down() {
  Lock lock(mutex_);
  shut_ = true;
  for (const auto& flight : flying_) flight->context->TryCancel();
  landed_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return flying_.empty(); });
}

}  // namespace ares::rpc
