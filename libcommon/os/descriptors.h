// How many descriptors this process may have open.
// Functions that ask and tell the system; any thread, but raise before others open many.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace ares::os {

struct DescriptorLimit {
  std::size_t before = 0;
  std::size_t now = 0;
};

// Raises the soft limit to the hard one, at most to a million: the usual soft limit of 1024 is kept for programs that use
// select(). resource_exhausted with the reason if the system refuses.
Result<DescriptorLimit> raise_descriptor_limit();

}  // namespace ares::os
