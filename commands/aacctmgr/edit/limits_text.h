// Parses and prints limits: "cpu=100,gres/gpu:a100=4,mem=2T", "2-00:00:00", "10". Pure functions;
// any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/accounts/accounts.h"

namespace ares::aacctmgr {

// Sets a limit. For TRES limits only the named TRES change. The amount "-1" removes the limit of
// that TRES; "-1" or "" as the whole value removes all. Memory is in MiB unless K, M, G, T or P
// follows. Times are minutes or [D-]HH:MM:SS, rounded up to minutes. Returns invalid_argument
// naming the limit.
Status set_limit(Limits& limits, const LimitRow& row, std::string_view value);

// Returns the text that set_limit() parses back to the same limit; "" if there is no limit.
std::string limit_text(const Limits& limits, LimitKind kind);

}  // namespace ares::aacctmgr
