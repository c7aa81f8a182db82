// PluginSet: the plugins of the scheduler that the configuration names, loaded and opened, behind the interface that the scheduler's core
// asks. Immutable; shared by whoever has a policy that holds it. Any thread: calls wait for each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/policy/sched_plugins.h"
#include "plugin/sched_loader.h"
#include "sched/adapter/plugin_views.h"

namespace ares::sched {

// Lets one thread at a time call plugins, and sees it enter and leave one. This one only looks on.
class CallGuard {
 public:
  virtual ~CallGuard() = default;
  std::mutex& mutex() { return mutex_; }
  // Between these the calling thread, whose turn it is, runs code of a plugin: its shared object is loaded, called or closed. `mark`: of
  // its source; lies where it is until leave().
  virtual void enter(const std::string& mark) noexcept;
  virtual void leave() noexcept;

 private:
  std::mutex mutex_;
};

struct PluginSource {
  std::string name;
  std::string path;
  std::vector<std::string> partitions;
  std::map<std::string, std::string> options;
  std::string mark{};                        // for the guard
  const ares_sched_plugin* table = nullptr;  // of a plugin within this program, which has no path
};

class PluginSet final : public SchedPlugins {
 public:
  // Why a plugin was refused, and which one.
  struct Refused {
    std::size_t source = 0;
    Error error;
  };
  using Loaded = tl::expected<std::shared_ptr<const PluginSet>, Refused>;

  // An exception that a plugin lets out ends the process, here and in every call.
  static Loaded load(std::vector<PluginSource> sources, std::shared_ptr<CallGuard> guard);
  ~PluginSet() override;

  const std::vector<PluginFacts>& facts() const override { return facts_; }
  void filter(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
              Bitset& allowed, std::string* why) const override;
  void score(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
             std::span<std::int64_t> scores) const override;
  bool permit(std::size_t plugin, std::span<const PluginPlacement> placements,
              std::string& why) const override;

 private:
  struct OpenPlugin {
    std::string mark;
    std::optional<plugin::LoadedSchedPlugin> library;
    const ares_sched_plugin* table = nullptr;
    void* self = nullptr;
  };
  explicit PluginSet(std::shared_ptr<CallGuard> guard) : guard_(std::move(guard)) {}
  Status add(const PluginSource& source);

  std::shared_ptr<CallGuard> guard_;
  std::vector<PluginFacts> facts_;
  std::vector<OpenPlugin> open_;
  mutable PluginViews views_;  // whoever is in a call
};

}  // namespace ares::sched
