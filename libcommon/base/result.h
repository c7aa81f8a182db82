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

// A class of its own, because an alias cannot be [[nodiscard]].
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result() = default;
  Result(const Base& base) : Base(base) {}
  Result(Base&& base) : Base(std::move(base)) {}

  // The Result of `next(value)`, or the error.
  template <class F>
  auto and_then(F&& next) const& {
    using Next = decltype(next(**this));
    return this->has_value() ? next(**this) : Next(tl::unexpected<Error>(this->error()));
  }
  template <class F>
  auto and_then(F&& next) && {
    using Next = decltype(next(*std::move(*this)));
    return this->has_value() ? next(*std::move(*this))
                             : Next(tl::unexpected<Error>(std::move(this->error())));
  }
};

template <class T>
bool operator==(const Result<T>& a, const Result<T>& b) {
  using Base = typename Result<T>::Base;
  return static_cast<const Base&>(a) == static_cast<const Base&>(b);
}

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// What the user wrote is wrong.
inline tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace ares
