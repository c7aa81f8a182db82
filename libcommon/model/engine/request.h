// Who asks, and what was answered: the identity behind every command and the table that makes retries harmless.
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

// An authenticated caller. Made by auth/ from a credential, never from what the caller says of itself.
struct Principal {
  UserId uid;
  GroupId gid;
  std::string
      user;  // resolved by the controller; "uid 1234" style where the name service knows none
  std::string host;  // where the credential was made
  friend bool operator==(const Principal&, const Principal&) = default;
};

// Chosen by the client; unique per user for the retention time.
struct RequestKey {
  UserId uid;
  std::string id;
  friend auto operator<=>(const RequestKey&, const RequestKey&) = default;
};

using Digest = std::array<std::uint8_t, 32>;

// What a mutating command was answered. The same id and digest get the same reply; another digest is refused.
struct Request {
  RequestKey key;
  Digest digest{};  // of the content without ambient environment
  Time at{};
  Time expires{};
  Error error;  // meaningful when failed
  bool failed = false;
  std::vector<JobKey> jobs;  // acted on; for a submission the new job
  std::string text;          // what the reply said beyond that
  friend bool operator==(const Request&, const Request&) = default;
};

// Who did what from where, and what came of it.
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
