#include "acheckpoint/places.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/printable.h"
#include "checkpoint/adapter/plugin_backend.h"
#include "checkpoint/file/plugin.h"
#include "checkpoint/uri.h"
#include "config/config.h"
#include "node/text_fields.h"
#include "plugin/checkpoint_loader.h"

namespace ares::acheckpoint {
namespace {

namespace fs = std::filesystem;

// Beside the programs where they were built, and where they are installed.
constexpr const char* kFolders[] = {"../plugins/checkpoint",
                                    "../" ARES_LIBDIR "/ares/plugins/checkpoint"};

// "" if there is none for that scheme.
std::string plugin_file(std::string_view scheme) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* folder : kFolders) {
    const fs::path path = program.parent_path() / folder / (std::string(scheme) + ".so");
    if (fs::exists(path, error)) return path.string();
  }
  return {};
}

void print_warning(const std::string& line) {
  std::fprintf(stderr, "acheckpoint: %s\n", printable(line).c_str());
}

}  // namespace

struct Place::Library {
  plugin::LoadedCheckpointPlugin loaded;
};

Place::Place() = default;
Place::Place(Place&&) noexcept = default;
Place::~Place() = default;

Result<Place> Place::of(const std::string& uri, const std::string& config) {
  Place place;
  const std::string_view scheme = checkpoint::scheme_of(uri);
  const ares_checkpoint_plugin* table = checkpoint::file::plugin();
  std::string options;
  if (!scheme.empty()) {
    const std::string file = plugin_file(scheme);
    if (file.empty())
      return fail(
          ErrorCode::failed_precondition,
          quote(uri) + ": there is no plugin for checkpoints at " + std::string(scheme) + "://");
    if (scheme == "s3") {
      Result<std::string> read = s3_options(config);
      if (!read) return fail(read.error());
      options = std::move(*read);
    }
    auto loaded = plugin::load_checkpoint_plugin(file, scheme);
    if (!loaded) return fail(loaded.error());
    table = loaded->plugin;
    place.library_ = std::make_unique<Library>(Library{std::move(*loaded)});
  }
  auto backend = checkpoint::PluginBackend::open(*table, options, print_warning);
  if (!backend) return fail(backend.error());
  place.backend_ = std::move(*backend);
  place.moves_ = table->moves != 0;
  return place;
}

Result<std::string> s3_options(const std::string& config_path) {
  const auto config = config::load_checkpoint(config::default_path(config_path));
  if (!config) return fail(config.error());
  const config::CheckpointS3Config& s3 = config->s3;
  node::FieldWriter out;
  out.put("endpoint", s3.endpoint).put("region", s3.region).put("ca_file", s3.ca_file);
  out.put("part_size", s3.part_size).put("retries", s3.retries);
  out.put("timeout", s3.timeout.count());
  for (const std::string& endpoint : s3.allowed_endpoints) out.put("allowed_endpoint", endpoint);
  return out.take();
}

}  // namespace ares::acheckpoint
