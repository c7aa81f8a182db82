// Names, labels and annotations of the objects that the agent makes. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace ares::kubernetes {

inline constexpr const char* kClusterLabel = "ares.io/cluster";
inline constexpr const char* kJobLabel = "ares.io/job";
inline constexpr const char* kTaskLabel = "ares.io/task";
inline constexpr const char* kAttemptLabel = "ares.io/attempt";
inline constexpr const char* kFenceLabel = "ares.io/fence";
inline constexpr const char* kRankLabel = "ares.io/rank";

inline constexpr const char* kSpecAnnotation = "ares.io/spec";      // the record `spec`
inline constexpr const char* kNodeAnnotation = "ares.io/node-uid";  // of the node that it is for
inline constexpr const char* kIncarnationAnnotation = "ares.io/node-incarnation";
inline constexpr const char* kGoAnnotation = "ares.io/go";             // GateGo
inline constexpr const char* kSignalAnnotation = "ares.io/signal";     // GateSignal
inline constexpr const char* kWarningAnnotation = "ares.io/warning";   // GateSignal
inline constexpr const char* kLimitAnnotation = "ares.io/time-limit";  // seconds, or "unlimited"
inline constexpr const char* kOutputAnnotation =
    "ares.io/output";  // OutputState: the agent reads the log
inline constexpr const char* kEndAnnotation = "ares.io/end";  // "time limit": why it is ended

// Keeps the pod until its result is recorded.
inline constexpr const char* kFinalizer = "ares.io/result";

inline constexpr const char* kMainContainer = "main";
inline constexpr const char* kGateContainer = "gate";

// "ares-CLUSTER-FENCE-RANK": a fence is never used twice.
std::string pod_name(std::string_view cluster, Fence fence, std::uint32_t rank);

}  // namespace ares::kubernetes
