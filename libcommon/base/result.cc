#include "base/result.h"

namespace ares {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::permission_denied: return "permission denied";
    case ErrorCode::unauthenticated: return "unauthenticated";
    case ErrorCode::already_exists: return "already exists";
    case ErrorCode::failed_precondition: return "failed precondition";
    case ErrorCode::resource_exhausted: return "resource exhausted";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::stale: return "stale";
    case ErrorCode::data_loss: return "data loss";
    case ErrorCode::internal: return "internal error";
  }
  return "unknown error";
}

}  // namespace ares
