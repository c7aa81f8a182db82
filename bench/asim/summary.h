// Summary: the results of a run as table rows: name, unit, meaning, value. Text and JSON are made
// from the same rows. Pure functions over an Outcome; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "asim/outcome.h"
#include "asim/workload.h"

namespace ares::sim {

// Lower bound for run times in bounded slowdown (Feitelson and Rudolph, JSSPP 1998).
inline constexpr Seconds kTau{10};

// max(1, (wait + run) / max(run, tau)) of a job that has ended; nullopt for others.
std::optional<double> bounded_slowdown(const JobOutcome& job, Time submitted);

struct Row {
  std::string name;             // "wait_mean"
  std::string unit;             // "s"; "" = a plain number
  std::string label;            // "wait, mean"
  std::optional<double> value;  // nullopt: no job to compute it from
  int decimals = 0;
};

std::vector<Row> summarise(const Workload& workload, const Outcome& outcome);

// The value at rank `share` (nearest rank); nullopt for an empty list. Reorders the list.
std::optional<double> percentile(std::vector<double>& values, double share);

// Jain's fairness index: 1 = all equal, 1/n = one has all (Jain, Chiu, Hawe, DEC-TR-301, 1984).
std::optional<double> jain(const std::vector<double>& values);

}  // namespace ares::sim
