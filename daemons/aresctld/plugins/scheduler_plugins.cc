#include "aresctld/plugins/scheduler_plugins.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>

#include "aresctld/plugins/plugin_guard.h"
#include "base/printable.h"
#include "base/timespec.h"

namespace ares::aresctld {
namespace {

// Identifies a file, to detect that it was replaced or touched. "-": it does not exist.
std::string identity_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "-";
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" +
         std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

sched::PluginSource source_of(const config::PluginConfig& plugin) {
  return {plugin.name, plugin.path, plugin.partitions, plugin.options,
          plugin.name + " " + identity_of(plugin.path)};
}

bool same_source(const sched::PluginSource& a, const sched::PluginSource& b) {
  const auto parts = [](const sched::PluginSource& s) {
    return std::tie(s.name, s.path, s.partitions, s.options, s.mark);
  };
  return parts(a) == parts(b);
}

// Ignores lines that a crash truncated.
std::vector<SetAside> read_record(const std::string& path) {
  std::vector<SetAside> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, identity, cause;
    std::int64_t seconds = 0;
    if (words >> name >> identity >> cause >> seconds)
      all.push_back({name + " " + identity, cause, Time(Seconds(seconds))});
  }
  return all;
}

const SetAside* find(const std::vector<SetAside>& all, const std::string& mark) {
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const SetAside& one) { return one.mark == mark; });
  return found == all.rend() ? nullptr : &*found;
}

std::string stages_of(const PluginFacts& facts) {
  std::string text;
  for (const auto& [has, word] :
       {std::pair{facts.filters, "filter"}, std::pair{facts.scores, "score"},
        std::pair{facts.permits, "permit"}})
    if (has) text += (text.empty() ? "" : ",") + std::string(word);
  return text;
}

}  // namespace

Result<SharedPlugins> SchedulerPlugins::load(const config::Config& config) {
  const Lock lock(mutex_);
  std::vector<SetAside> aside = record_.empty() ? std::vector<SetAside>() : read_record(record_);
  std::vector<sched::PluginSource> sources;
  std::vector<int> lines;
  for (const config::PluginConfig& plugin : config.scheduler.plugins) {
    sched::PluginSource source = source_of(plugin);
    if (const SetAside* why = find(aside, source.mark)) {
      spdlog::error(
          "scheduler plugin {} is set aside: {} at {}; replace or touch {} and reconfigure",
          plugin.name, why->cause, format_local_time(why->at), plugin.path);
      continue;
    }
    sources.push_back(std::move(source));
    lines.push_back(plugin.line);
  }
  const bool same =
      std::equal(sources.begin(), sources.end(), loaded_.begin(), loaded_.end(), same_source);
  if (!same && sources.empty()) set_ = {};
  if (!sources.empty() && !guard_ && !record_.empty()) {
    auto guard = PluginGuard::start(record_, config.scheduler.plugin_timeout);
    if (!guard) return fail(guard.error());
    guard_ = *std::move(guard);
  }
  if (!same && !sources.empty()) {
    auto set = sched::PluginSet::load(sources, guard_);
    if (!set) {
      const std::size_t at = set.error().source;
      return fail(set.error().error.code, config.path + ":" + std::to_string(lines[at]) +
                                              ": scheduler plugin " + quote(sources[at].name) +
                                              ": " + set.error().error.message);
    }
    set_.value = *std::move(set);
    for (const PluginFacts& facts : set_.value->facts())
      spdlog::info("scheduler plugin {} loaded: {}", facts.name, stages_of(facts));
  }
  loaded_ = std::move(sources);
  aside_ = std::move(aside);
  return set_;
}

api::Plugins SchedulerPlugins::list(const config::Config& config) const {
  const Lock lock(mutex_);
  api::Plugins out;
  for (const config::PluginConfig& plugin : config.scheduler.plugins) {
    api::Plugins::Plugin* row = out.add_plugins();
    row->set_name(plugin.name);
    row->set_path(plugin.path);
    for (const std::string& partition : plugin.partitions) row->add_partitions(partition);
    for (const auto& [key, value] : plugin.options) row->add_options(key + "=" + value);
    if (config.policy.plugins.value)
      for (const PluginFacts& facts : config.policy.plugins.value->facts())
        if (facts.name == plugin.name) row->set_stages(stages_of(facts));
    if (!row->stages().empty()) continue;
    const auto why = std::find_if(aside_.rbegin(), aside_.rend(), [&](const SetAside& one) {
      return one.mark.starts_with(plugin.name + " ");
    });
    row->set_set_aside(why == aside_.rend() ? "not loaded" : why->cause);
    if (why != aside_.rend()) row->set_set_aside_at(why->at.time_since_epoch().count());
  }
  return out;
}

std::string set_aside_text(const api::Plugins& plugins) {
  std::string text;
  for (const api::Plugins::Plugin& plugin : plugins.plugins())
    if (!plugin.set_aside().empty())
      text += (text.empty() ? "" : "; ") + ("scheduler plugin " + plugin.name()) +
              " is set aside: " + plugin.set_aside();
  return text;
}

}  // namespace ares::aresctld
