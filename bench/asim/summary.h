// Summary: what a run comes to, as rows of a table: name, unit, meaning, value. The text and the JSON are made from the same rows.
// Pure functions over an Outcome; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "asim/outcome.h"
#include "asim/workload.h"

namespace ares::sim {

// Of jobs whose limit is shorter than this the slowdown is bounded (Feitelson and Rudolph, JSSPP 1998).
inline constexpr Seconds kTau{10};

// max(1, (wait + run) / max(run, tau)) of a job that is over; none of others.
std::optional<double> bounded_slowdown(const JobOutcome& job, Time submitted);

struct Row {
  std::string name;             // "wait_mean"
  std::string unit;             // "s"; "" = a plain number
  std::string label;            // "wait, mean"
  std::optional<double> value;  // none: there is nothing to say it of
  int decimals = 0;
};

std::vector<Row> summarise(const Workload& workload, const Outcome& outcome);

// The number that `share` of all are not above (nearest rank); none of an empty list. Reorders it.
std::optional<double> percentile(std::vector<double>& values, double share);

// Jain's index of fairness: 1 = all alike, 1/n = one has everything (Jain, Chiu, Hawe, DEC-TR-301, 1984).
std::optional<double> jain(const std::vector<double>& values);

}  // namespace ares::sim
