// The identity of a caller, and the table of answered requests that makes retries idempotent.
// Plain data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace ares {

// An authenticated caller. Made by auth/ from a credential; claims of the caller are not used.
struct Principal {
  UserId uid;
  GroupId gid;
  // Resolved by the controller; "uid 1234" if the name service does not know it.
  std::string user;
  std::string host;  // where the credential was created
  friend bool operator==(const Principal&, const Principal&) = default;
};

// Chosen by the client; unique per user for the retention time.
struct RequestKey {
  UserId uid;
  std::string id;
  friend auto operator<=>(const RequestKey&, const RequestKey&) = default;
};

using Digest = std::array<std::uint8_t, 32>;

// Recorded answer to a mutating command. A repeated id gets it again; with another digest an error.
struct Request {
  RequestKey key;
  Digest digest{};  // of the content without the ambient environment
  Time at{};
  Time expires{};
  Error error;  // valid if `failed`
  bool failed = false;
  std::vector<JobKey> jobs;  // jobs acted on; for a submission the new job
  std::string text;          // further text of the reply
  friend bool operator==(const Request&, const Request&) = default;
};

// Audit record: user, host, action and outcome.
struct AuditEntry {
  Time at{};
  UserId uid;
  std::string user;
  std::string host;
  std::string action;   // "submit", "cancel", "drain node"
  std::string subject;  // "job 12", "node n1"
  std::string outcome;  // "ok" or the error's text
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

}  // namespace ares
