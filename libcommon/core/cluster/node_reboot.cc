#include "core/cluster/node_reboot.h"

#include "base/duration.h"

namespace ares::core {

void advance_reboot(const Policy& policy, const Node& node, Time now, std::vector<EventBody>& out) {
  if (!node.reboot) return;
  if (!node.reboot->issued_at) {
    if (node.contact != Contact::registered || !node.charges.empty()) return;
    NodeReboot issued = *node.reboot;
    issued.issued_at = now;
    issued.incarnation = node.incarnation;
    out.emplace_back(NodeRebootSet{node.id, std::move(issued)});
    return;
  }
  if (now < *node.reboot->issued_at + policy.resume_timeout) return;
  out.emplace_back(NodeRebootSet{node.id, {}});
  if (node.admin == AdminState::down) return;
  out.emplace_back(NodeAdminSet{node.id,
                                AdminState::down,
                                "did not register within " +
                                    format_duration(policy.resume_timeout) +
                                    " after its reboot (resume_timeout)",
                                {}});
}

bool reboot_ended(const Node& node, const Register& message, std::vector<EventBody>& out) {
  if (!node.reboot || !node.reboot->issued_at || message.incarnation <= node.reboot->incarnation)
    return false;
  const NodeReboot& reboot = *node.reboot;
  out.emplace_back(NodeRebootSet{node.id, {}});
  switch (reboot.after) {
    case AfterReboot::as_before: return false;
    case AfterReboot::up:
      if (node.admin != AdminState::up)
        out.emplace_back(NodeAdminSet{node.id, AdminState::up, {}, reboot.by});
      return true;
    case AfterReboot::down:
      out.emplace_back(NodeAdminSet{node.id, AdminState::down,
                                    reboot.reason.empty() ? "rebooted" : reboot.reason, reboot.by});
      return true;
  }
  return false;
}

}  // namespace ares::core
