// The lines of aprio as text. Pure functions; any thread.
#pragma once

#include <string>

#include "aprio/query.h"

namespace ares::aprio {

// Each line ends in a newline.
std::string print(const Query& query, const api::Priorities& priorities);

}  // namespace ares::aprio
