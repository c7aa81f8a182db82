// What a step's daemon and its arespmixd tell each other over a Unix stream socket. arespmixd hosts the
// server library of PMIx for the ranks of one step on one node; it runs as the job's user, so what it
// sends is read as the text of a user. Plain data and pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "pmi/task_map.h"

namespace ares::pmi {

// From arespmixd. Ready comes first, and once, or Failed.

// The ranks may start.
struct PmixReady {
  std::vector<Environment> of_local_ranks;  // in their order
  friend bool operator==(const PmixReady&, const PmixReady&) = default;
};
// It cannot serve, and exits.
struct PmixFailed {
  std::string message;
  friend bool operator==(const PmixFailed&, const PmixFailed&) = default;
};
// The local ranks reached a fence. Data of all nodes that take part is to be collected under the fence's
// name, which is the same on each of them and different for each fence of the step.
struct PmixFence {
  std::uint64_t id = 0;
  std::string name;
  std::vector<std::uint32_t> nodes;  // that take part, ascending
  std::string data;                  // of this node; any bytes
  friend bool operator==(const PmixFence&, const PmixFence&) = default;
};
// A local rank wants what this rank of another node published.
struct PmixModexRequest {
  std::uint64_t id = 0;
  std::uint32_t rank = 0;
  friend bool operator==(const PmixModexRequest&, const PmixModexRequest&) = default;
};
// The answer to PmixModexAsk; nothing if there is none.
struct PmixModexData {
  std::uint64_t id = 0;
  std::optional<std::string> data;
  friend bool operator==(const PmixModexData&, const PmixModexData&) = default;
};
// The step is to be ended.
struct PmixAbort {
  std::uint32_t rank = 0;
  std::int32_t exit_code = 1;
  std::string message;
  friend bool operator==(const PmixAbort&, const PmixAbort&) = default;
};
using PmixEvent =
    std::variant<PmixReady, PmixFailed, PmixFence, PmixModexRequest, PmixModexData, PmixAbort>;

// To arespmixd.

// The first one.
struct PmixSetup {
  // Of these messages. A step's daemon may be older than the arespmixd that was installed since.
  static constexpr std::uint32_t kVersion = 1;
  std::uint32_t version = kVersion;
  std::string library;  // "libpmix.so.2", or its path
  TaskMap map;
  std::string space;                   // names the step, as for PMI-1
  std::vector<std::string> hostnames;  // of the nodes, as gethostname() gives them there
  std::string directory;               // of this step on this node, writable for the user
  friend bool operator==(const PmixSetup&, const PmixSetup&) = default;
};
// The data of the nodes that take part, one after the other in the order of nodes; nothing if the fence
// failed.
struct PmixFenceResult {
  std::uint64_t id = 0;
  std::optional<std::string> data;
  friend bool operator==(const PmixFenceResult&, const PmixFenceResult&) = default;
};
// The answer to PmixModexRequest.
struct PmixModexResult {
  std::uint64_t id = 0;
  std::optional<std::string> data;
  friend bool operator==(const PmixModexResult&, const PmixModexResult&) = default;
};
// Another node wants what this local rank published. `id` is the asker's.
struct PmixModexAsk {
  std::uint64_t id = 0;
  std::uint32_t rank = 0;
  friend bool operator==(const PmixModexAsk&, const PmixModexAsk&) = default;
};
// The process of the rank has ended. If it did not finalize, PmixAbort follows.
struct PmixRankEnded {
  std::uint32_t rank = 0;
  friend bool operator==(const PmixRankEnded&, const PmixRankEnded&) = default;
};
using PmixCommand =
    std::variant<PmixSetup, PmixFenceResult, PmixModexResult, PmixModexAsk, PmixRankEnded>;

// A frame: the length of its body in four bytes, least significant first, and the body. An event may
// come from a program of the user; a command contains the data of all nodes.
inline constexpr std::size_t kMostPmixEvent = 64 << 20;
inline constexpr std::size_t kMostPmixCommand = 1 << 30;

std::string frame(const PmixEvent& event);
std::string frame(const PmixCommand& command);

// The body of a frame. invalid_argument for whatever frame() does not produce. What an event says is to be
// checked as well, see pmix_check.h.
Result<PmixEvent> read_event(std::string_view body);
Result<PmixCommand> read_command(std::string_view body);

// Cuts what arrives into bodies. Holds at most one frame more than it was given and not asked for.
class PmixFrames {
 public:
  // `most` is the longest body.
  explicit PmixFrames(std::size_t most) : most_(most) {}

  void add(std::string_view bytes) { bytes_.append(bytes); }
  // The next body, if all of it has arrived. invalid_argument for a frame that is too long; the
  // connection is of no use after that.
  Result<std::optional<std::string>> next();

 private:
  std::size_t most_;
  std::string bytes_;
  std::size_t begin_ = 0;  // of what is not yet taken
};

}  // namespace ares::pmi
