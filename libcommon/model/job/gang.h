// Gangs: jobs of one user that name the same gang start together or not at all. What a job asks for, and where the index of a
// gang's members has it. Plain data; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace ares {

// The same for all members; the name is the user's own.
struct GangRequest {
  std::string name;
  std::uint32_t size = 0;  // members that start together
  std::uint32_t min = 0;   // so few will do if others are lost before; 0 = none may be lost
  std::optional<Seconds>
      timeout;  // the start is due so long after the first could have; none = whenever
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

// A member that has not ended. Those of one gang lie together, ascending, and the gangs of one user and name beside each other:
// members of a gang that has started may still be there when the next of that name gathers.
struct GangMember {
  UserId user;
  std::string name;
  JobId gang;  // its number: that of its first member
  JobId job;
  friend auto operator<=>(const GangMember&, const GangMember&) = default;
};

}  // namespace ares
