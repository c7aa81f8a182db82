// `show daemons`: which daemons of Ares belong on a machine, as ares.yaml says. Pure functions except for the
// command itself; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.h"

namespace ares::actl {

// `is_here` says whether the host of an address, a name or a number, is this machine; `name` is that of its node,
// without a domain.
std::vector<std::string> daemons_of(const config::Config& config, const std::string& name,
                                    const std::function<bool(const std::string& host)>& is_here);

}  // namespace ares::actl
