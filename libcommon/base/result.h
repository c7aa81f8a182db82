// Result<T>: the value or the error of an operation that can fail because of a user or another
// machine. Plain data owned by its holder; any thread. Exceptions are not used for this: an
// exception means that the process must stop.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace ares {

// One enumeration for all libraries, with the meaning of each code or what a caller can do.
enum class ErrorCode {
  invalid_argument,     // the request is wrong and stays wrong: change it
  not_found,            // no such job, node, partition, file
  permission_denied,    // authenticated, but not allowed
  unauthenticated,      // no credential, or a forged, expired or replayed one
  already_exists,       // the id was used before for another object
  failed_precondition,  // valid request, wrong state (release of a running job)
  resource_exhausted,   // a limit or quota; may succeed later
  unavailable,          // the peer is not reachable: retry with the same request id
  stale,                // an older epoch, fence or incarnation than one seen before
  data_loss,            // stored data contradicts what was acknowledged: stop
  internal,             // a bug in Ares
};

std::string_view to_string(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // what was wrong, where, and what to do

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace ares
