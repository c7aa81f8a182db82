// CpuLayouts: layouts of CPUs that nodes registered, each read once for all nodes that share it.
// Owned by a ClusterIndex or by the check of a submission; not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "model/cluster/cpu_layout.h"
#include "model/cluster/shared_text.h"

namespace ares::core::topology {

class CpuLayouts {
 public:
  // The address is stable. Null for an empty text, or one that this version cannot read: it is
  // checked when a node registers, but a newer release may have stored it.
  const CpuLayout* of(const SharedText& told);

 private:
  std::map<std::string, std::unique_ptr<const CpuLayout>, std::less<>> layouts_;  // by text
};

}  // namespace ares::core::topology
