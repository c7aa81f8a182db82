#include "rpc/client/stream.h"

#include <utility>

#include "auth/munge.h"
#include "auth/seal.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/stream_seal.h"
#include "rpc/wire/envelope.h"

namespace ares::rpc {

// The request opens a session that only this stream has, so its parts are numbered from 1.
Result<api::Sealed> Stream::sealed_request(const ClientOptions& options, const std::string& payload,
                                           std::shared_ptr<StreamSeal>& seal) {
  seal = std::make_shared<StreamSeal>(StreamSeal{auth::SessionKey::random(), 0, 0});
  auto credential = auth::munge_encode(seal->key.to_credential_payload(), options.munge_socket,
                                       options.server_uid);
  if (!credential) return fail(std::move(credential.error()));
  api::Sealed request;
  request.set_credential(std::move(*credential));
  put_sealed(&request, seal->key, auth::Direction::request, 0, 1, payload);
  return request;
}

Result<std::optional<api::Response>> Stream::next() {
  auto received = receive();
  if (!received) return fail(std::move(received.error()));
  if (!*received) return std::optional<api::Response>();
  const api::Sealed& message = **received;
  if (seal_) {
    if (seal_->received == 0) seal_->session = message.session();
    const bool in_order =
        message.sequence() == ++seal_->received && message.session() == seal_->session;
    if (!in_order || !auth::verify_seal(seal_->key, auth::Direction::answer, message.session(),
                                        message.sequence(), message.payload(), message.mac()))
      return fail(ErrorCode::unauthenticated,
                  "a message is not what the controller sent: lost, changed on its way, or from "
                  "another sender");
  }
  api::Response response;
  if (!response.ParseFromString(message.payload()))
    return fail(ErrorCode::internal,
                "the controller's answer cannot be read; is it of another version?");
  if (!response.has_failure()) return std::optional(std::move(response));
  const int code = response.failure().code();
  const bool known = code >= 0 && code <= static_cast<int>(ErrorCode::internal);
  return fail(known ? static_cast<ErrorCode>(code) : ErrorCode::internal,
              response.failure().message());
}

}  // namespace ares::rpc
