// PluginSet: loads and opens the scheduler plugins that the configuration names, and implements the
// interface that the scheduler's core calls. Immutable; shared by all owners of a policy that
// contains it. Any thread; calls are serialised.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "model/policy/sched_plugins.h"
#include "plugin/sched_loader.h"
#include "sched/adapter/plugin_views.h"

namespace ares::sched {

// Serialises calls of plugins, and is notified when a thread enters and leaves one. This base class
// does nothing on these notifications.
class CallGuard {
 public:
  virtual ~CallGuard() = default;
  Mutex& mutex() ARES_RETURNS_MUTEX(mutex_) { return mutex_; }
  // Between these calls the calling thread, which holds the guard, runs code of a plugin: its
  // shared object is loaded, called or closed. `mark`: the mark of its source; valid until leave().
  virtual void enter(const std::string& mark) noexcept;
  virtual void leave() noexcept;

 private:
  Mutex mutex_;
};

struct PluginSource {
  std::string name;
  std::string path;
  std::vector<std::string> partitions;
  std::map<std::string, std::string> options;
  std::string mark{};  // for the guard
  // For a plugin within this program, which has no path.
  const ares_sched_plugin* table = nullptr;
};

class PluginSet final : public SchedPlugins {
 public:
  // Why a plugin was refused, and which one.
  struct Refused {
    std::size_t source = 0;
    Error error;
  };
  using Loaded = tl::expected<std::shared_ptr<const PluginSet>, Refused>;

  // An exception that leaves a plugin ends the process, here and in every other call.
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
  mutable PluginViews views_ ARES_GUARDED_BY(guard_->mutex());
};

}  // namespace ares::sched
