// Loads checkpoint plugins with the same checks as exec plugins (loader.h). Any thread.
#pragma once

#include <string>
#include <string_view>

#include "plugin/checkpoint_abi.h"
#include "plugin/loader.h"

namespace ares::plugin {

// failed_precondition if this program cannot use the plugin for that scheme: both versions, or what it lacks.
Status check_checkpoint_plugin(const ares_checkpoint_plugin* plugin, std::string_view scheme,
                               const std::string& where);

struct LoadedCheckpointPlugin {
  SharedObject library;
  const ares_checkpoint_plugin* plugin = nullptr;
};
// Runs code of the shared object: its constructors and its entry point.
Result<LoadedCheckpointPlugin> load_checkpoint_plugin(const std::string& path,
                                                      std::string_view scheme);

}  // namespace ares::plugin
