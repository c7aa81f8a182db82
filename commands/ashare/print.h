// The lines of ashare as text. Pure functions; any thread.
#pragma once

#include <string>

#include "ashare/query.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::ashare {

std::string field_names();  // "Account, User, ..."

// Each line ends with a newline. Returns invalid_argument for a field that does not exist.
Result<std::string> print(const Query& query, const api::Shares& shares);

}  // namespace ares::ashare
