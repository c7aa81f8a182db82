// How much one request may ask for, whoever sends it: bounds that keep a message of a few bytes from becoming gigabytes or
// seconds of work. Far above what anybody needs; no site has to change them. Constants; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace ares {

// Of each memory size. A thousand million times as much is still a number that can be multiplied and added up.
inline constexpr Bytes kMaxRequestedMemory = Bytes(std::int64_t{1} << 50);

// GPUs of one list (per node, per task, in total), and CPUs or tasks of one kind that are multiplied with others.
inline constexpr std::uint32_t kMaxRequestedGpus = 1'000'000;
inline constexpr std::uint32_t kMaxRequestedCpus = 1'000'000;  // per task, per GPU; tasks per node

// Entries in a list of GPUs: each is looked for on every node.
inline constexpr std::size_t kMaxGpuKinds = 64;

// Separate ranges of an array's tasks. Each start and each end of a task copies those that still wait.
inline constexpr std::size_t kMaxArrayRanges = 10'000;

// As many numbers of nodes as anybody will write; a list of millions would be carried along for ever.
inline constexpr std::size_t kMaxNodeCountRanges = 1000;

// Ranges of all the lists that one request carries.
inline constexpr std::size_t kMaxRangesOfRequest = 1'000'000;

// Dependencies of a job. Each is judged when it comes and whenever its target ends.
inline constexpr std::size_t kMaxDependencies = 1000;

// Jobs of a submission and what is said of their dependencies at once, or that alone of a change: all is committed together.
inline constexpr std::size_t kMaxSubmitEvents = 100'000;

// Tasks of arrays that wait for tasks of other arrays, one by one (aftercorr): each is looked up when it is submitted.
inline constexpr std::uint64_t kMaxCorrespondingTasks = 1'000'000;

// Members of a gang: all are planned, started and, if one is lost, cancelled at once.
inline constexpr std::uint32_t kMaxGangSize = 1000;

// Names of nodes to use, and as many to leave out.
inline constexpr std::size_t kMaxNamedNodes = 10'000;

// Names of features in all constraints of a job: each is looked for on every node.
inline constexpr std::size_t kMaxFeatureNames = 256;

// Jobs and tasks of one command that are named one by one.
inline constexpr std::size_t kMaxNamedJobs = 100'000;

}  // namespace ares
