// The properties that `update` can change, one row each. The parser, help, the manual page and
// completion use the same row. Constant data and pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/output/text.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Target is the request that the properties are written to.
template <class Target>
struct Key {
  std::string name;  // "TimeLimit"; matched ignoring case.
  std::string argument;
  std::string help;
  std::function<Status(Target&, const std::string&, Time now)> apply;
  std::vector<std::string> aliases{};  // lower case
};

// A property of scontrol that stays as it is.
struct RefusedKey {
  std::string name;  // lower case
  std::string why;   // and what to do in its place
};

template <class Target>
struct Keys {
  std::string subject;  // "a job"
  std::vector<Key<Target>> rows;
  // Names of scontrol, lower case. Those that no row has are not supported.
  std::vector<std::string> of_scontrol{};
  std::vector<RefusedKey> refused{};
};

// The parsed words after `create reservation` and `update reservation`. The words that name the
// object (`jobid` and the like) are not among the properties.
struct ReservationWords {
  api::UpdateReservation update;
  std::uint32_t node_count = 0;  // Only for creation.
  std::string partition;         // Only for creation.
  bool keeps_nodes = false;      // Only for creation.
};

// Of `update step`.
struct StepChange {
  Seconds time_limit{};  // 0: none but that of the job
};

const Keys<api::JobAction>& job_keys();
// For the manual page: who may change which property of a job, and when.
std::vector<std::string> job_change_texts();
const Keys<StepChange>& step_keys();
const Keys<api::UpdateNode>& node_keys();
const Keys<api::UpdatePartition>& partition_keys();
const Keys<ReservationWords>& reservation_keys();

// The error for an unknown property, with the nearest known name.
Error unknown_key(const std::string& name, const std::string& subject,
                  std::span<const std::string> known, std::span<const std::string> of_scontrol);

// Parses the value into the target. Errors (invalid_argument) name the property.
template <class Target>
Status apply_key(const Keys<Target>& keys, Target& target, const std::string& name,
                 const std::string& value, Time now) {
  std::vector<std::string> known;
  for (const Key<Target>& row : keys.rows) {
    known.push_back(cli::lower(row.name));
    const bool alias = std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end();
    if (known.back() != name && !alias) continue;
    const Status done = row.apply(target, value, now);
    if (done) return {};
    return fail(done.error().code, row.name + ": " + done.error().message);
  }
  for (const RefusedKey& row : keys.refused)
    if (row.name == name)
      return invalid("updating " + name + " of " + keys.subject + " is not supported: " + row.why);
  return fail(unknown_key(name, keys.subject, known, keys.of_scontrol));
}

// Text for the manual page: "TimeLimit=LIMIT: Longest run."
template <class Target>
std::vector<std::string> key_texts(const Keys<Target>& keys) {
  std::vector<std::string> texts;
  for (const Key<Target>& row : keys.rows)
    texts.push_back(row.name + "=" + row.argument + ": " + row.help);
  return texts;
}

}  // namespace ares::actl
