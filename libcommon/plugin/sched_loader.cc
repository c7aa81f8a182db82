#include "plugin/sched_loader.h"

namespace ares::plugin {
namespace {

// Minimum size of the table in this ABI version; functions after `permit` would be optional.
constexpr std::size_t kLeast =
    offsetof(ares_sched_plugin, permit) + sizeof(ares_sched_plugin::permit);

}  // namespace

Status check_sched_plugin(const ares_sched_plugin* plugin, const std::string& where) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::failed_precondition, "plugin refused: " + where + " " + why);
  };
  if (!plugin) return refuse("has nothing behind its entry " ARES_SCHED_ENTRY_NAME);
  if (plugin->abi_version != ARES_SCHED_ABI_VERSION)
    return refuse("is built for version " + std::to_string(plugin->abi_version) +
                  " of the scheduler's interface, this program has version " +
                  std::to_string(ARES_SCHED_ABI_VERSION) + "; build it again");
  if (plugin->size < kLeast || !plugin->open || !plugin->close)
    return refuse("lacks functions that this program calls");
  if (!plugin->filter && !plugin->score && !plugin->permit)
    return refuse("has none of the stages filter, score and permit");
  return {};
}

Result<LoadedSchedPlugin> load_sched_plugin(const std::string& path) {
  Result<SharedObject> library = SharedObject::open_copy(path);
  if (!library) return fail(library.error());
  Result<void*> entry = library->symbol(ARES_SCHED_ENTRY_NAME);
  if (!entry) return fail(entry.error());
  const ares_sched_plugin* plugin = reinterpret_cast<ares_sched_entry_fn>(*entry)();
  if (Status usable = check_sched_plugin(plugin, path); !usable) return fail(usable.error());
  return LoadedSchedPlugin{std::move(*library), plugin};
}

}  // namespace ares::plugin
