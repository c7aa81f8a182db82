// Reservation: whole nodes for some users or accounts, or for maintenance, once or periodically.
// Owned by ClusterState; a value. Any thread may read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ares {

enum class Recurrence : std::uint8_t { none, daily, weekly };
inline constexpr Recurrence kLastRecurrence = Recurrence::weekly;

struct Reservation {
  std::string name;
  Time start{}, end{};  // of the current or next occurrence; start < end
  Recurrence recurrence = Recurrence::none;
  std::vector<std::string> nodes;  // names, ascending, each once
  // A job may use it if its user or its account is listed; no job may if it is for maintenance.
  std::vector<UserId> users;          // ascending
  std::vector<std::string> accounts;  // ascending
  bool maintenance = false;
  // Its jobs may also use other nodes, start before it and run on after it.
  bool flexible = false;
  bool ignore_jobs = false;  // may be created even if running jobs overlap it
  bool overlap = false;      // its nodes may be in other reservations at the same time
  std::string comment;
  // A node of it on which no job may start is exchanged for another, if one is free.
  bool replace_down = false;

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// Time between two occurrences; 0 = none. Wall clock changes shift it by an hour: the exact next
// times are set when an occurrence is over, and only later ones are computed with this period.
constexpr Duration period_of(Recurrence recurrence) {
  switch (recurrence) {
    case Recurrence::none: return Duration{0};
    case Recurrence::daily: return std::chrono::hours(24);
    case Recurrence::weekly: return std::chrono::hours(24 * 7);
  }
  return Duration{0};
}

constexpr std::string_view to_string(Recurrence recurrence) {
  switch (recurrence) {
    case Recurrence::none: return "";
    case Recurrence::daily: return "DAILY";
    case Recurrence::weekly: return "WEEKLY";
  }
  return "";
}

struct Window {  // [start, end)
  Time start{}, end{};
};

// The first occurrence that ends after `at`; none if all are over.
inline std::optional<Window> occurrence_at(const Reservation& r, Time at) {
  if (at < r.end) return Window{r.start, r.end};
  const Duration period = period_of(r.recurrence);
  if (period == Duration{0}) return std::nullopt;
  const auto times = (at - r.end) / period + 1;
  return Window{r.start + times * period, r.end + times * period};
}

// Whether any occurrence overlaps [from, to); `to` nullopt = no end.
inline bool touches(const Reservation& r, Time from, std::optional<Time> to) {
  const auto next = occurrence_at(r, from);
  return next && (!to || next->start < *to);
}

inline bool is_active(const Reservation& r, Time at) {
  const auto next = occurrence_at(r, at);
  return next && next->start <= at;
}

inline bool has_node(const Reservation& r, const std::string& node) {
  return std::binary_search(r.nodes.begin(), r.nodes.end(), node);
}

inline bool may_use(const Reservation& r, UserId user, const std::string& account) {
  if (r.maintenance) return false;
  return std::binary_search(r.users.begin(), r.users.end(), user) ||
         (!account.empty() && std::binary_search(r.accounts.begin(), r.accounts.end(), account));
}

}  // namespace ares
