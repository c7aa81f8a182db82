#include "exec/kubernetes/api/reply.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/clip.h"
#include "base/printable.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes {
namespace {

constexpr std::int64_t kMostRetryAfter = 3600;

std::optional<Duration> seconds(std::int64_t count) {
  if (count < 0) return std::nullopt;
  return std::chrono::seconds(std::min(count, kMostRetryAfter));
}

// Only the number of seconds: API servers send no dates.
std::optional<Duration> retry_after(const HttpHeaders& headers) {
  const auto found = headers.find("retry-after");
  if (found == headers.end()) return std::nullopt;
  const std::string& text = found->second;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return seconds(count);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Failure forbidden_kind(const Reply& reply) {
  if (contains(reply.message, "exceeded quota")) return Failure::quota;
  if (contains(reply.message, "is being terminated")) return Failure::terminating;
  return Failure::forbidden;
}

}  // namespace

std::string_view to_string(Failure failure) {
  switch (failure) {
    case Failure::none: return "none";
    case Failure::not_found: return "not found";
    case Failure::already_exists: return "already exists";
    case Failure::conflict: return "conflict";
    case Failure::gone: return "gone";
    case Failure::invalid: return "invalid";
    case Failure::quota: return "quota";
    case Failure::forbidden: return "forbidden";
    case Failure::terminating: return "terminating";
    case Failure::unauthenticated: return "unauthenticated";
    case Failure::unavailable: return "unavailable";
    case Failure::unusable: return "unusable";
  }
  return "";
}

ErrorCode code_of(Failure failure) {
  switch (failure) {
    case Failure::none: return ErrorCode::internal;
    case Failure::not_found: return ErrorCode::not_found;
    case Failure::already_exists: return ErrorCode::already_exists;
    case Failure::conflict:
    case Failure::gone: return ErrorCode::stale;
    case Failure::invalid: return ErrorCode::invalid_argument;
    case Failure::quota: return ErrorCode::resource_exhausted;
    case Failure::forbidden: return ErrorCode::permission_denied;
    case Failure::terminating:
    case Failure::unusable: return ErrorCode::failed_precondition;
    case Failure::unauthenticated: return ErrorCode::unauthenticated;
    case Failure::unavailable: return ErrorCode::unavailable;
  }
  return ErrorCode::internal;
}

Reply read_reply(long status, const HttpHeaders& headers, std::string_view body) {
  Reply reply{.status = status};
  if (reply.is_success()) return reply;
  reply.retry_after = retry_after(headers);
  const auto object = parse_object(body, "the answer");
  if (object && text_at(*object, {"kind"}) == "Status") {
    reply.reason = printable(clip(text_at(*object, {"reason"}), 64));
    reply.message = printable(clip(text_at(*object, {"message"})));
    if (!reply.retry_after)
      if (const auto count = number_at(*object, {"details", "retryAfterSeconds"});
          count && *count > 0)
        reply.retry_after = seconds(*count);
  }
  if (reply.message.empty()) reply.message = "status " + std::to_string(status);
  return reply;
}

Failure failure_of(const Reply& reply) {
  if (reply.status == 0) return reply.is_final ? Failure::unusable : Failure::unavailable;
  if (reply.is_success()) return Failure::none;
  switch (reply.status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422: return Failure::invalid;
    case 401: return Failure::unauthenticated;
    case 403: return forbidden_kind(reply);
    case 404: return Failure::not_found;
    case 408:
    case 429: return Failure::unavailable;
    case 409: return reply.reason == "AlreadyExists" ? Failure::already_exists : Failure::conflict;
    case 410: return Failure::gone;
    default: break;
  }
  return reply.status >= 500 && reply.status < 600 ? Failure::unavailable : Failure::unusable;
}

}  // namespace ares::kubernetes
