// CpuLayouts: layouts of CPUs that nodes registered, each read once for all nodes that share it.
// Owned by a ClusterIndex or by the check of a submission; not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/bitset.h"
#include "model/cluster/cpu_layout.h"
#include "model/cluster/shared_text.h"

namespace ares::core::topology {

class CpuLayouts {
 public:
  // The address is stable. Null for an empty text, or one that this version cannot read: it is
  // checked when a node registers, but a newer release may have stored it.
  const CpuLayout* of(const SharedText& told);
  // The numbers of its CPUs if they are not the lowest ones: some are set aside, or not there. Else
  // null. The address is stable. `layout`: null, or from of().
  const Bitset* numbers_of(const CpuLayout* layout) const;

 private:
  std::map<std::string, std::unique_ptr<const CpuLayout>, std::less<>> layouts_;  // by text
  std::map<const CpuLayout*, Bitset> numbers_;                                    // with gaps
};

}  // namespace ares::core::topology
