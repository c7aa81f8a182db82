// Device filter: a BPF program by which a group of the unified hierarchy, which has no devices controller, denies its processes some
// devices. Any thread.
#pragma once

#include <linux/bpf.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::os {

// The program: opening or making any of these devices ("c 195:0", "b 8:1") is denied, all else is allowed as far as
// the groups around allow it. invalid_argument if one is not a device.
Result<std::vector<bpf_insn>> device_filter(const std::vector<std::string>& denied);

// Loads the program and attaches it to the group. It stays until the group is removed. Needs root (CAP_BPF, CAP_NET_ADMIN)
// and a kernel with CONFIG_CGROUP_BPF.
Status attach_device_filter(const std::string& group, const std::vector<std::string>& denied);

}  // namespace ares::os
