// Limits as people write them: "cpu=100,gres/gpu:a100=4,mem=2T", "2-00:00:00", "10".
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/accounts/accounts.h"

namespace ares::aacctmgr {

// Of TRES those named are set and the others stay; "-1" as the amount of one takes its limit away, and as the whole value, or nothing,
// those of all. Units: memory is in MiB unless K, M, G, T or P follows; times are minutes or [D-]HH:MM:SS, rounded up to minutes.
// invalid_argument, naming the limit.
Status set_limit(Limits& limits, const LimitRow& row, std::string_view value);

// What set_limit() reads back to the same; "" where there is none.
std::string limit_text(const Limits& limits, LimitKind kind);

}  // namespace ares::aacctmgr
