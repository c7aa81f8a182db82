// PluginBackend: the host's side of the checkpoint ABI, a plugin as a Backend. Owns what the plugin's open() made; the plugin
// must stay loaded as long. One thread.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/backend.h"
#include "plugin/checkpoint_abi.h"

namespace ares::checkpoint {

class PluginBackend final : public Backend {
 public:
  // The plugin was checked: see plugin/checkpoint_loader.h. `options` are `key value` lines.
  static Result<std::unique_ptr<PluginBackend>> open(const ares_checkpoint_plugin& plugin,
                                                     std::string_view options, Warn warn);
  ~PluginBackend() override;
  PluginBackend(const PluginBackend&) = delete;
  PluginBackend& operator=(const PluginBackend&) = delete;

  Status prepare(const std::string& place) override;
  Status publish(const std::string& directory, const std::string& uri,
                 const std::string& manifest) override;
  Status withdraw(const std::string& uri, const std::string& directory) override;
  Result<std::string> read(const std::string& uri) override;
  Result<std::string> verify(const std::string& uri, const std::optional<Digest>& digest) override;
  Status fetch(const std::string& uri, const std::optional<Digest>& digest,
               const std::string& directory) override;
  Result<std::vector<std::string>> list(const std::string& place) override;
  Status remove_older(const std::string& place, std::uint64_t oldest_kept) override;

 private:
  PluginBackend(const ares_checkpoint_plugin& plugin, Warn warn)
      : plugin_(plugin), warn_(std::move(warn)) {}

  const ares_checkpoint_plugin& plugin_;
  Warn warn_;
  void* self_ = nullptr;
};

}  // namespace ares::checkpoint
