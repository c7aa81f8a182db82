// Checkpoints of a job: what it asked for, and what it has committed. Plain data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"

namespace ares {

inline constexpr std::uint32_t kMostCheckpointsKept = 16;

// The job saves its state itself, and is told when to (asub --checkpoint).
struct CheckpointRequest {
  std::string place;       // absolute path of a directory; the job has a directory of its own in it
  std::uint32_t keep = 2;  // how many committed ones are kept, 1 to kMostCheckpointsKept
  friend bool operator==(const CheckpointRequest&, const CheckpointRequest&) = default;
};

struct Checkpoint {
  std::uint64_t sequence = 0;               // ascends over all attempts of the job; the first is 1
  AttemptNo attempt{0};                     // that wrote it
  std::array<std::uint8_t, 32> manifest{};  // SHA-256 of its manifest, which has those of the files
  Bytes size{};                             // of its files together
  std::string uri;                          // absolute path of its directory
  Time at{};                                // when it was published
  Duration suspended{};  // of the attempt until then; known to the controller only
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// From which checkpoint an attempt began.
struct Restored {
  AttemptNo attempt{0};           // that began
  std::uint64_t sequence = 0;     // 0: from its start, because none could be used
  std::uint32_t passed_over = 0;  // newer ones that are damaged or missing
  friend bool operator==(const Restored&, const Restored&) = default;
};

}  // namespace ares
