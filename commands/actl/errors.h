// Errors shared by the commands of actl. Any thread.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace ares::actl {

inline tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

}  // namespace ares::actl
