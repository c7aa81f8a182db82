#include "sched/adapter/plugin_set.h"

#include <array>
#include <cstring>

namespace ares::sched {
namespace {

using MessageBuffer = std::array<char, 512>;

// The text of a plugin: truncated if the plugin did not terminate it, and made printable.
std::string text_of(MessageBuffer& words) {
  words.back() = 0;
  std::string text(words.data());
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return text;
}

PluginFacts facts_of(const PluginSource& source, const ares_sched_plugin& table) {
  PluginFacts facts;
  facts.name = source.name;
  facts.partitions = source.partitions;
  facts.looks_at = static_cast<PluginLooks>(table.looks_at);
  facts.filters = table.filter != nullptr;
  facts.scores = table.score != nullptr;
  facts.permits = table.permit != nullptr;
  return facts;
}

// Runs code of a plugin. No exception of the plugin leaves this function.
template <class Run>
auto call_plugin(CallGuard& guard, const std::string& mark, Run&& run) noexcept {
  struct LeaveOnExit {
    CallGuard& guard;
    ~LeaveOnExit() { guard.leave(); }
  };
  guard.enter(mark);
  const LeaveOnExit leave_on_exit{guard};
  return run();
}

}  // namespace

void CallGuard::enter(const std::string&) noexcept {}
void CallGuard::leave() noexcept {}

PluginSet::Loaded PluginSet::load(std::vector<PluginSource> sources,
                                  std::shared_ptr<CallGuard> guard) {
  if (!guard) guard = std::make_shared<CallGuard>();
  std::shared_ptr<PluginSet> set(new PluginSet(std::move(guard)));
  set->open_.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (Status added = set->add(sources[i]); !added)
      return tl::unexpected<Refused>(Refused{i, added.error()});
  return set;
}

Status PluginSet::add(const PluginSource& source) {
  OpenPlugin& open = open_.emplace_back();
  open.mark = source.mark;
  open.table = source.table;
  const Lock lock(guard_->mutex());
  const auto run = [&]() -> Status {
    if (!open.table) {
      auto loaded = plugin::load_sched_plugin(source.path);
      if (!loaded) return fail(loaded.error());
      open.table = loaded->plugin;
      open.library.emplace(std::move(*loaded));
    } else if (Status usable = plugin::check_sched_plugin(open.table, source.name); !usable) {
      return usable;
    }
    std::vector<ares_sched_option> options;
    for (const auto& [key, value] : source.options) options.push_back({key.c_str(), value.c_str()});
    const ares_sched_host host{sizeof host, source.name.c_str(), options.size(), options.data()};
    MessageBuffer error{};
    open.self = open.table->open(&host, error.data(), error.size());
    if (open.self) return {};
    const std::string why = text_of(error);
    return fail(ErrorCode::failed_precondition,
                "plugin refused: " + (why.empty() ? "it cannot be opened" : why));
  };
  Status done = call_plugin(*guard_, open.mark, run);
  if (!done) {
    open_.pop_back();
    return done;
  }
  facts_.push_back(facts_of(source, *open.table));
  return {};
}

PluginSet::~PluginSet() {
  for (OpenPlugin& open : open_) {
    const Lock lock(guard_->mutex());
    call_plugin(*guard_, open.mark, [&] {
      open.table->close(open.self);
      open.library.reset();
    });
  }
}

void PluginSet::filter(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                       Bitset& allowed, std::string* why) const {
  const OpenPlugin& open = open_[plugin];
  const Lock lock(guard_->mutex());
  std::vector<std::uint64_t> words((nodes.size() + 63) / 64, ~std::uint64_t{0});
  if (nodes.size() % 64 != 0) words.back() = (std::uint64_t{1} << (nodes.size() % 64)) - 1;
  MessageBuffer text{};
  const ares_sched_job* job_view = views_.job(job, facts_[plugin].looks_at);
  const ares_sched_node* const* node_views = views_.nodes(nodes);
  call_plugin(*guard_, open.mark, [&] {
    open.table->filter(open.self, job_view, node_views, nodes.size(), words.data(),
                       why ? text.data() : nullptr, why ? text.size() : 0);
  });
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if ((words[i / 64] >> (i % 64) & 1) == 0) allowed.reset(i);
  if (why) *why = text_of(text);
}

void PluginSet::score(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                      std::span<std::int64_t> scores) const {
  const OpenPlugin& open = open_[plugin];
  const Lock lock(guard_->mutex());
  const ares_sched_job* job_view = views_.job(job, facts_[plugin].looks_at);
  const ares_sched_node* const* node_views = views_.nodes(nodes);
  call_plugin(*guard_, open.mark, [&] {
    open.table->score(open.self, job_view, node_views, nodes.size(), scores.data());
  });
}

bool PluginSet::permit(std::size_t plugin, std::span<const PluginPlacement> placements,
                       std::string& why) const {
  const OpenPlugin& open = open_[plugin];
  const Lock lock(guard_->mutex());
  MessageBuffer text{};
  const ares_sched_placement* const* views = views_.placements(placements);
  const bool yes = call_plugin(*guard_, open.mark, [&] {
    return open.table->permit(open.self, views, placements.size(), text.data(), text.size()) != 0;
  });
  if (!yes) why = text_of(text);
  return yes;
}

}  // namespace ares::sched
