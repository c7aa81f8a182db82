// Loads scheduler plugins; what could not be trusted or would not fit is refused, as exec plugins are (loader.h). Any thread.
#pragma once

#include <string>

#include "plugin/loader.h"
#include "plugin/sched_abi.h"

namespace ares::plugin {

// Whether this program can use the plugin; failed_precondition that names both versions, or what it lacks.
Status check_sched_plugin(const ares_sched_plugin* plugin, const std::string& where);

struct LoadedSchedPlugin {
  SharedObject library;
  const ares_sched_plugin* plugin = nullptr;
};
// Runs code of the shared object: its constructors and its entry.
Result<LoadedSchedPlugin> load_sched_plugin(const std::string& path);

}  // namespace ares::plugin
