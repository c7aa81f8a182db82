// Gangs: jobs of one user that name the same gang start together or not at all. The request in a
// job's specification, and the key of the index of a gang's members. Plain data; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace ares {

// The same for all members. The name is chosen by the user and is local to that user.
struct GangRequest {
  std::string name;
  std::uint32_t size = 0;  // members that start together; each task of an array is one
  std::uint32_t min = 0;   // enough if others are lost before the start; 0 = none may be lost
  // How long after its first member became eligible the gang must start; none = no limit.
  std::optional<Seconds> timeout;
  friend bool operator==(const GangRequest&, const GangRequest&) = default;
};

// Key of a member that has not ended; the record of an array stands for its tasks without records.
// Sorts by user, name and gang: members of a started gang may still exist while the next gang of
// that name forms.
struct GangMember {
  UserId user;
  std::string name;
  JobId gang;  // number of the gang: the id of its first member
  JobKey job;
  friend auto operator<=>(const GangMember&, const GangMember&) = default;
};

}  // namespace ares
