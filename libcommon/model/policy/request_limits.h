// Upper bounds for one request, so that a message of a few bytes cannot cause gigabytes or seconds
// of work. They are far above real needs; no site has to change them. Constants; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace ares {

// The largest memory size of a request, per node, CPU or GPU: 1 PiB.
inline constexpr Bytes kMaxRequestedMemory = Bytes(std::int64_t{1} << 50);

// GPUs in one list (per node, per task, in total), and CPU or task counts used as factors.
inline constexpr std::uint32_t kMaxRequestedGpus = 1'000'000;
inline constexpr std::uint32_t kMaxRequestedCpus = 1'000'000;  // per task, per GPU; tasks per node

// Entries in a list of GPUs. Each one is searched for on every node.
inline constexpr std::size_t kMaxGpuKinds = 64;

// Separate ranges of an array's tasks. Each task start and end copies the ranges still waiting.
inline constexpr std::size_t kMaxArrayRanges = 10'000;

// Ranges in a list of node counts. The job record carries the list for its whole life.
inline constexpr std::size_t kMaxNodeCountRanges = 1000;

// Ranges in all lists of one request together.
inline constexpr std::size_t kMaxRangesOfRequest = 1'000'000;

// Dependencies of a job. Each is evaluated at submission and when its target ends.
inline constexpr std::size_t kMaxDependencies = 1000;

// Events of one submission (jobs and dependencies) or one change, which are committed together.
inline constexpr std::size_t kMaxSubmitEvents = 100'000;

// Array tasks that depend on tasks of other arrays (aftercorr); each is looked up at submission.
inline constexpr std::uint64_t kMaxCorrespondingTasks = 1'000'000;

// Members of a gang. All are planned and started together, and cancelled if a required one is lost.
inline constexpr std::uint32_t kMaxGangSize = 1000;

// Names in each of the lists of required and of excluded nodes.
inline constexpr std::size_t kMaxNamedNodes = 10'000;

// Feature names in all constraints of a job. Each is searched for on every node.
inline constexpr std::size_t kMaxFeatureNames = 256;

// Jobs and tasks that one command names individually.
inline constexpr std::size_t kMaxNamedJobs = 100'000;

}  // namespace ares
