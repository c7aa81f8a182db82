#include "plugin/checkpoint_loader.h"

#include <cstddef>

namespace ares::plugin {
namespace {

// Minimum size of the table in this ABI version; functions after `remove_older` would be optional.
constexpr std::size_t kLeast =
    offsetof(ares_checkpoint_plugin, remove_older) + sizeof(ares_checkpoint_plugin::remove_older);

}  // namespace

Status check_checkpoint_plugin(const ares_checkpoint_plugin* plugin, std::string_view scheme,
                               const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::failed_precondition, "plugin refused: " + where + " " + why);
  };
  if (!plugin) return refuse("has nothing behind its entry " ARES_CHECKPOINT_ENTRY_NAME);
  if (plugin->abi_version != ARES_CHECKPOINT_ABI_VERSION)
    return refuse("is built for version " + std::to_string(plugin->abi_version) +
                  " of the checkpoint interface, this program has version " +
                  std::to_string(ARES_CHECKPOINT_ABI_VERSION) + "; build it again");
  if (plugin->size < kLeast || !plugin->open || !plugin->close || !plugin->prepare ||
      !plugin->publish || !plugin->withdraw || !plugin->read || !plugin->verify || !plugin->fetch ||
      !plugin->list || !plugin->remove_older)
    return refuse("lacks functions that this program calls");
  if (!plugin->scheme || plugin->scheme != scheme)
    return refuse("is not for URIs that begin with " + std::string(scheme) + "://");
  return {};
}

Result<LoadedCheckpointPlugin> load_checkpoint_plugin(const std::string& path,
                                                      std::string_view scheme) {
  Result<SharedObject> library = SharedObject::open(path);
  if (!library) return fail(library.error());
  Result<void*> entry = library->symbol(ARES_CHECKPOINT_ENTRY_NAME);
  if (!entry) return fail(entry.error());
  const ares_checkpoint_plugin* plugin = reinterpret_cast<ares_checkpoint_entry_fn>(*entry)();
  if (Status usable = check_checkpoint_plugin(plugin, scheme, path); !usable)
    return fail(usable.error());
  return LoadedCheckpointPlugin{std::move(*library), plugin};
}

}  // namespace ares::plugin
