// What `acheckpoint commit` and the supervisor of its job say to each other: lines of text on a Unix stream socket in
// the directory of the attempt. The supervisor runs as root and believes nothing. Pure functions; any thread.
//
//   begin                        a number is wanted           -> begun SEQUENCE ATTEMPT JOB
//   commit SEQUENCE SHA256 SIZE  the directory is published   -> recorded MICROSECONDS, then known OLDEST
//
// `recorded`: the controller will hear of it after that time. `known`: it has committed it, and older ones than OLDEST are not needed.
// In place of each answer there may be `error TEXT`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"
#include "checkpoint/digest.h"

namespace ares::checkpoint {

inline constexpr const char* kSocketName = "checkpoint";
inline constexpr std::size_t kLongestLine = 1024;

struct BeginRequest {
  friend bool operator==(const BeginRequest&, const BeginRequest&) = default;
};
struct CommitRequest {
  std::uint64_t sequence = 0;
  Digest manifest{};
  Bytes size{};
  friend bool operator==(const CommitRequest&, const CommitRequest&) = default;
};
using Request = std::variant<BeginRequest, CommitRequest>;

struct Begun {
  std::uint64_t sequence = 0;
  std::uint32_t attempt = 0;
  std::string job;
  friend bool operator==(const Begun&, const Begun&) = default;
};
struct Recorded {
  Duration
      wait{};  // until the controller is told: it hears of the commits of a job at intervals only
  friend bool operator==(const Recorded&, const Recorded&) = default;
};
struct Known {
  std::uint64_t oldest_kept = 0;
  friend bool operator==(const Known&, const Known&) = default;
};
struct Refusal {
  std::string why;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};
using Answer = std::variant<Begun, Recorded, Known, Refusal>;

// Without the line feed. None: it is no such line.
std::string to_line(const Request& request);
std::string to_line(const Answer& answer);
std::optional<Request> parse_request(std::string_view line);
std::optional<Answer> parse_answer(std::string_view line);

}  // namespace ares::checkpoint
