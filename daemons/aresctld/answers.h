// The form of answers to clients. Pure; any thread.
#pragma once

#include <cstdint>
#include <utility>

#include "aresctld/query/query_pool.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// Maximum duration of a long poll, so that a client notices that the controller has gone.
inline constexpr Seconds kLongestWait{60};
// Sent to callers that are refused because the engine is overloaded.
inline constexpr std::uint32_t kRetryAfterMs = 200;

inline Error unknown_request() {
  return {ErrorCode::invalid_argument,
          "this controller does not know that request; is the command newer than it?"};
}

inline api::Response refused(const Error& error, std::uint32_t retry_after_ms = 0) {
  api::Response response;
  response.mutable_failure()->set_code(static_cast<std::int32_t>(error.code));
  response.mutable_failure()->set_message(error.message);
  response.mutable_failure()->set_retry_after_ms(retry_after_ms);
  return response;
}

inline api::Response refused(const QueryPool::Refusal& full) {
  return refused(Error{ErrorCode::unavailable, full.why},
                 static_cast<std::uint32_t>(full.retry_after.count()));
}

// Stores a value in the field of the response that `field` returns, or an error in `failure`.
template <class T, class Field>
api::Response answer_with(Result<T> result, Field field) {
  if (!result) return refused(result.error());
  api::Response response;
  *(response.*field)() = std::move(*result);
  return response;
}

}  // namespace ares::aresctld
