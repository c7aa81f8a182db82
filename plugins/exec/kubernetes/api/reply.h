// What came back from an API server for one request: a status, and for failures the object Status that explains it; and what kind
// of failure it is. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ares::kubernetes {

// What a caller can do about a failure.
enum class Failure {
  none,
  not_found,
  already_exists,   // an object of that name: look whether it is ours
  conflict,         // it has changed, or is in a state that forbids the call: read it again
  gone,             // a resource version or continue token is too old: list again
  invalid,          // the server refuses the object: final
  quota,            // a quota of the namespace is used up: may succeed later
  forbidden,        // a permission is missing
  terminating,      // the namespace is being deleted
  unauthenticated,  // the server does not accept the credentials
  unavailable,      // no answer, or one that asks to come back later
  unusable,         // an answer that no API server gives, or one that is too long
};

std::string_view to_string(Failure failure);

// The code with which such a failure is reported.
ErrorCode code_of(Failure failure);

// As HTTP gives them: names in lower case.
using HttpHeaders = std::map<std::string, std::string>;

struct Reply {
  long status = 0;        // of HTTP; 0: there was no answer
  std::string reason{};   // of Status: "AlreadyExists"
  std::string message{};  // fit to show
  std::optional<Duration> retry_after{};
  bool is_final = false;  // without an answer: another try fails alike, as with a wrong certificate

  bool is_success() const { return status >= 200 && status < 300; }
};

// Reads the status and, if it is not one of success, the object Status in `body`.
Reply read_reply(long status, const HttpHeaders& headers, std::string_view body);

Failure failure_of(const Reply& reply);

}  // namespace ares::kubernetes
