// Reservation: whole nodes kept for some users, or for maintenance, during a time that may come again.
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
  Time start{}, end{};  // of the occurrence that is on, or comes next; start < end
  Recurrence recurrence = Recurrence::none;
  std::vector<std::string> nodes;  // names, ascending, each once
  // Whose jobs may use it, whatever of the two matches. Nobody's if it is for maintenance.
  std::vector<UserId> users;          // ascending
  std::vector<std::string> accounts;  // ascending
  bool maintenance = false;
  bool flexible =
      false;  // its jobs may use other nodes as well, begin before it and run on after it
  bool ignore_jobs = false;  // it was made although jobs may still run on its nodes when it begins
  bool overlap = false;      // its nodes may be in another reservation at the same time
  std::string comment;

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// Between the starts of two occurrences. By the clock on the wall it may be an hour more or less: the exact times of the next
// occurrence are set when the one before it is over; later ones are reckoned with this. Zero: it does not come again.
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

// The first occurrence that is not over at that time; none if all are.
inline std::optional<Window> occurrence_at(const Reservation& r, Time at) {
  if (at < r.end) return Window{r.start, r.end};
  const Duration period = period_of(r.recurrence);
  if (period == Duration{0}) return std::nullopt;
  const auto times = (at - r.end) / period + 1;
  return Window{r.start + times * period, r.end + times * period};
}

// Whether any occurrence has a moment in [from, to); `to` nullopt = for ever.
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
