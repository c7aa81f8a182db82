// Plugins of the scheduler that tests write as lambdas and that count their calls. For the tests of
// core/sched only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/policy/sched_plugins.h"

namespace ares::core::sched {

struct TestPlugin {
  PluginFacts facts;
  std::function<bool(const PluginJob&, const PluginNode&)> allows;
  std::function<std::int64_t(const PluginJob&, const PluginNode&)> scores;
  std::function<bool(std::span<const PluginPlacement>)> permits;
  std::string words;
};

class TestPlugins final : public SchedPlugins {
 public:
  explicit TestPlugins(std::vector<TestPlugin> plugins) : plugins_(std::move(plugins)) {
    for (TestPlugin& plugin : plugins_) {
      plugin.facts.filters = plugin.allows != nullptr;
      plugin.facts.scores = plugin.scores != nullptr;
      plugin.facts.permits = plugin.permits != nullptr;
      facts_.push_back(plugin.facts);
    }
  }

  const std::vector<PluginFacts>& facts() const override { return facts_; }

  void filter(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
              Bitset& allowed, std::string* why) const override {
    ++filter_calls;
    filtered_nodes += nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!plugins_[plugin].allows(job, nodes[i])) allowed.reset(i);
    if (why) *why = plugins_[plugin].words;
  }
  void score(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
             std::span<std::int64_t> scores) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      scores[i] = plugins_[plugin].scores(job, nodes[i]);
  }
  bool permit(std::size_t plugin, std::span<const PluginPlacement> placements,
              std::string& why) const override {
    why = plugins_[plugin].words;
    return plugins_[plugin].permits(placements);
  }

  mutable int filter_calls = 0;
  mutable std::size_t filtered_nodes = 0;

 private:
  std::vector<TestPlugin> plugins_;
  std::vector<PluginFacts> facts_;
};

inline PluginLooks looks_of(std::initializer_list<PluginLook> all) {
  PluginLooks looks = 0;
  for (const PluginLook one : all) looks |= static_cast<PluginLooks>(one);
  return looks;
}

}  // namespace ares::core::sched
