// Times as objects of Kubernetes contain them: "2026-01-02T03:04:05Z", with a fraction in MicroTime. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace ares::kubernetes {

// RFC 3339 with any offset; of a fraction six digits count. None: it is something else, or a day that does not exist.
std::optional<Time> parse_rfc3339(std::string_view text);

// With six digits of a fraction, as the fields of a Lease must have.
std::string format_micro_time(Time at);

}  // namespace ares::kubernetes
