#include "aresctld/query/view_dumps.h"

#include <algorithm>
#include <utility>

#include "base/fnv1a.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/plan_text.h"
#include "proto/view_dump.h"

namespace ares::aresctld {
namespace {

constexpr std::size_t kPart = 1 << 20;
// Dumps that were not fetched completely use memory; the oldest is dropped first.
constexpr std::size_t kMostKept = 4;

}  // namespace

Result<std::string> dump_view(const View& view, const config::Config& config, Time now) {
  const core::Budget budget;
  const config::PortableConfig portable = config::to_portable(config);
  const Time planned = std::max(now, view.state->now);
  proto::ViewDump dump;
  dump.state = *view.state;
  dump.now = planned;
  dump.budget = budget.units;
  dump.estimates = budget.estimates;
  dump.plan = fnv1a(core::plan_text(core::plan(*view.state, config.policy, budget, planned)));
  dump.config = portable.yaml;
  dump.topologies = portable.topologies;
  dump.release = ARES_VERSION;
  return proto::encode_view(dump);
}

api::ViewPart ViewDumps::keep(std::string dump) {
  const auto bytes = std::make_shared<const std::string>(std::move(dump));
  std::uint64_t id = 0;
  {
    const Lock lock(mutex_);
    id = ++last_;
    kept_.emplace(id, bytes);
    if (kept_.size() > kMostKept) kept_.erase(kept_.begin());
  }
  return cut(id, bytes, 0);
}

Result<api::ViewPart> ViewDumps::part(std::uint64_t dump, std::uint64_t offset) {
  Bytes bytes;
  {
    const Lock lock(mutex_);
    const auto found = kept_.find(dump);
    if (found != kept_.end()) bytes = found->second;
  }
  if (!bytes)
    return fail(ErrorCode::failed_precondition,
                "the controller has that dump no more: others were made since, or it was "
                "restarted; make a new one");
  if (offset >= bytes->size())
    return fail(ErrorCode::invalid_argument, "that dump has " + std::to_string(bytes->size()) +
                                                 " bytes; there is nothing at " +
                                                 std::to_string(offset));
  return cut(dump, bytes, offset);
}

api::ViewPart ViewDumps::cut(std::uint64_t dump, const Bytes& bytes, std::uint64_t offset) {
  api::ViewPart part;
  part.set_dump(dump);
  part.set_size(bytes->size());
  part.set_data(bytes->substr(offset, kPart));
  if (offset + part.data().size() == bytes->size()) {
    const Lock lock(mutex_);
    kept_.erase(dump);
  }
  return part;
}

}  // namespace ares::aresctld
