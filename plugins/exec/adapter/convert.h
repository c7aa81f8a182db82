// Conversion of keys, times and reports between the model and the exec ABI.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "model/engine/node_message.h"
#include "plugin/exec_abi.h"

namespace ares::exec {

ares_exec_key to_abi(const AttemptKey& key, ares_exec_node node);
AttemptKey from_abi(const ares_exec_key& key);  // without the node

inline ares_exec_text to_abi(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view from_abi(const ares_exec_text& text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

template <class Point>
std::int64_t to_abi(const std::optional<Point>& time) {
  return time ? time->time_since_epoch().count() : ARES_EXEC_NONE;
}
template <class Point>
std::optional<Point> time_from_abi(std::int64_t us) {
  return us == ARES_EXEC_NONE ? std::nullopt : std::optional<Point>(Point(Duration(us)));
}

// The result points into `report`. Its checkpoints and what it was restored from are for the caller to add, because
// they are texts made of several fields.
ares_exec_report to_abi(const AttemptReport& report, ares_exec_node node);
AttemptReport from_abi(const ares_exec_report& report);

}  // namespace ares::exec
