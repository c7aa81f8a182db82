// Loads scheduler plugins with the same checks as exec plugins (loader.h). Any thread.
#pragma once

#include <string>

#include "plugin/loader.h"
#include "plugin/sched_abi.h"

namespace ares::plugin {

// failed_precondition if this program cannot use the plugin, with both versions or what it lacks.
Status check_sched_plugin(const ares_sched_plugin* plugin, const std::string& where);

struct LoadedSchedPlugin {
  SharedObject library;
  const ares_sched_plugin* plugin = nullptr;
};
// Runs code of the shared object: its constructors and its entry point.
Result<LoadedSchedPlugin> load_sched_plugin(const std::string& path);

}  // namespace ares::plugin
