#include "checkpoint/file/plugin.h"

#include "checkpoint/adapter/table.h"
#include "checkpoint/file/store.h"

namespace ares::checkpoint::file {
namespace {

Result<std::unique_ptr<Backend>> open(std::string_view, Warn) {
  return std::make_unique<FileStore>();
}

}  // namespace

const ares_checkpoint_plugin* plugin() {
  static constexpr ares_checkpoint_plugin kPlugin = table_of<open>("", true);
  return &kPlugin;
}

}  // namespace ares::checkpoint::file

#ifdef ARES_PLUGIN_MODULE
extern "C" const ares_checkpoint_plugin* ARES_CHECKPOINT_ENTRY(void) {
  return ares::checkpoint::file::plugin();
}
#endif
