#include "core/job/gang.h"

#include <algorithm>
#include <set>

#include "base/duration.h"
#include "model/policy/request_limits.h"

namespace ares::core {
namespace {

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, "Invalid gang specification: " + std::move(message)};
}

// Visits the user's unended members of gangs of that name, ascending, while visit(job) is true.
template <class Visit>
void each_member(const ClusterState& state, const GangMember& from, Visit&& visit) {
  state.gangs.for_each_from(from, [&](const GangMember& at, const Lsn&) {
    if (at.user != from.user || at.name != from.name) return false;
    const Job* job = state.jobs.find(at.job);
    return !job || visit(*job);
  });
}

GangMember first_of(const JobSpec& spec, JobId gang) {
  return {spec.uid, spec.gang->name, gang, JobKey{JobId{0}, TaskIndex{0}}};
}

std::string members_text(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " member" : " members");
}

// "4 members, at least 2, timeout 5:00, in partition main".
std::string terms(const GangRequest& request, const std::string& partition) {
  std::string text = members_text(request.size);
  if (request.min > 0) text += ", at least " + std::to_string(request.min);
  text += request.timeout ? ", timeout " + format_duration(*request.timeout) : ", no timeout";
  return text + ", in partition " + partition;
}

}  // namespace

std::uint32_t members_in(const Job& job) {
  return job.array ? static_cast<std::uint32_t>(job.array->waiting.count()) : 1;
}

Gang gang_of(const ClusterState& state, const Job& member) {
  Gang gang{*member.spec->gang, {}, 0, 0};
  each_member(state, first_of(*member.spec, member.gang), [&](const Job& job) {
    if (job.gang != member.gang) return false;
    if (!waits_with_gang(job)) return true;
    gang.members.push_back(&job);
    gang.present += members_in(job);
    gang.lost += job.gang_lost;
    return true;
  });
  return gang;
}

std::uint32_t remaining_members(const ClusterState& state, const Job& member) {
  std::uint32_t count = 0;
  each_member(state, first_of(*member.spec, member.gang), [&](const Job& job) {
    if (job.gang == member.gang) count += members_in(job);
    return job.gang == member.gang;
  });
  return count;
}

std::uint32_t active_members(const ClusterState& state, const Job& member) {
  std::uint32_t count = 0;
  each_member(state, first_of(*member.spec, member.gang), [&](const Job& job) {
    if (job.gang == member.gang && holds_resources(job.state) && job.state != JobState::completing)
      ++count;
    return job.gang == member.gang;
  });
  return count;
}

std::string gang_progress_text(const Gang& gang) {
  return std::to_string(gang.present) + " of " + members_text(gang.needed()) + " of gang " +
         gang.request.name + (gang.present == 1 ? " is here" : " are here") +
         (gang.lost > 0 ? " (" + std::to_string(gang.lost) + " lost)" : "");
}

std::optional<JobId> open_gang_of(const ClusterState& state, const JobSpec& spec) {
  std::optional<JobId> found;
  each_member(state, first_of(spec, JobId{0}), [&](const Job& job) {
    if (waits_with_gang(job)) found = job.gang;
    return !found;
  });
  return found;
}

std::vector<EventBody> events_of_lost_member(const ClusterState& state, const Job& lost) {
  std::vector<EventBody> out;
  const Gang gang = gang_of(state, lost);
  if (gang.members.empty()) return out;
  const GangRequest& request = gang.request;
  // Of an array those that never had a record; the others ended before.
  const std::uint64_t now =
      lost.array ? lost.spec->array->count() - lost.array->completed - lost.array->unsuccessful : 1;
  if (now == 0) return out;
  const auto all_lost = static_cast<std::uint32_t>(gang.lost + lost.gang_lost + now);
  if (request.min > 0 && all_lost + request.min <= request.size) {
    const Job& heir = *gang.members.front();
    Modified counted;
    counted.key = heir.key;
    counted.gang_lost = all_lost - (gang.lost - heir.gang_lost);
    out.emplace_back(std::move(counted));
    return out;
  }
  for (const Job* member : gang.members)
    out.emplace_back(Ended{member->key, JobState::cancelled, Reason::gang_member_lost, {}});
  return out;
}

Status check_gang(const JobSpec& spec) {
  if (!spec.gang) return {};
  const GangRequest& gang = *spec.gang;
  if (gang.name.empty()) return fail(bad("--gang-size, --gang-min and --gang-timeout need --gang"));
  if (gang.size == 0)
    return fail(bad("gang " + gang.name + " needs a size: --gang-size says how many jobs it has"));
  if (gang.size > kMaxGangSize)
    return fail(bad("gang " + gang.name + " is to have " + members_text(gang.size) + "; at most " +
                    std::to_string(kMaxGangSize) + " are allowed"));
  if (gang.min > gang.size)
    return fail(bad("at least " + members_text(gang.min) + " of gang " + gang.name +
                    " are to start, which has " + std::to_string(gang.size)));
  if (gang.timeout && *gang.timeout <= Seconds{0})
    return fail(bad("the timeout of gang " + gang.name + " must be longer than nothing"));
  if (spec.array_throttle > 0)
    return fail(
        bad("the tasks of an array in a gang start together, so their number cannot be limited: "
            "leave out %" +
            std::to_string(spec.array_throttle)));
  if (spec.exclusive_user)
    return fail(
        bad("--exclusive=user cannot be asked for by a member of a gang: its members would keep "
            "each other off their nodes"));
  if (spec.partitions.size() > 1)
    return fail(bad("all members of a gang wait in one and the same partition: name one"));
  if (spec.time_min)
    return fail(
        bad("--time-min cannot be asked for by a member of a gang: all start together "
            "with the whole of their time limits"));
  return {};
}

Status GangAdmission::join(const ClusterState& state, const JobSpec& spec) {
  if (!spec.gang) return {};
  const GangRequest& asked = *spec.gang;
  const std::string& partition = spec.partitions.front();
  const auto [place, first] = gangs_.try_emplace(asked.name, Known{asked, partition});
  Known& known = place->second;
  if (first) {
    const Job* alive = nullptr;
    each_member(state, first_of(spec, JobId{0}), [&](const Job& job) {
      alive = &job;
      return !waits_with_gang(job);
    });
    if (alive && !waits_with_gang(*alive))
      return fail(ErrorCode::failed_precondition,
                  "gang " + asked.name + " of user " + spec.user +
                      " has started and takes no more members; its name is free again when all "
                      "of them have ended");
    if (alive) {
      const Gang gang = gang_of(state, *alive);
      known = {gang.request, alive->spec->partitions.front(), gang.present + gang.lost};
    }
  }
  if (known.request != asked || known.partition != partition)
    return fail(bad("gang " + asked.name + " was begun with other terms (" +
                    terms(known.request, known.partition) + ") than are asked for now (" +
                    terms(asked, partition) + "); all members must name the same"));
  const std::uint64_t more = spec.array ? spec.array->count() : 1;
  if (known.count < known.request.size && known.count + more > known.request.size)
    return fail(bad("gang " + asked.name + " has room for " +
                    members_text(known.request.size - known.count) + ", and the array has " +
                    std::to_string(more) + " tasks"));
  if (known.count >= known.request.size)
    return fail(ErrorCode::failed_precondition,
                "gang " + asked.name + " of user " + spec.user + " has all of its " +
                    members_text(known.request.size) +
                    " already, those it has lost among them; use another name");
  known.count += static_cast<std::uint32_t>(more);
  return {};
}

bool starts_whole_gangs(const ClusterState& state, const std::vector<JobKey>& starting) {
  const std::set<JobKey> keys(starting.begin(), starting.end());
  std::set<JobId> seen;
  const auto starts = [&](const Job& member) {
    if (!member.array) return keys.contains(member.key);
    return std::all_of(member.array->waiting.begin(), member.array->waiting.end(),
                       [&](std::uint32_t task) {
                         return keys.contains({member.key.job, TaskIndex{task}});
                       });
  };
  return std::all_of(starting.begin(), starting.end(), [&](const JobKey& key) {
    const Job* job = state.jobs.find(key);
    if (!job) job = state.jobs.find(JobKey{key.job, {}});
    if (!job || !waits_with_gang(*job) || !seen.insert(job->gang).second) return true;
    const Gang gang = gang_of(state, *job);
    return gang.complete() && std::all_of(gang.members.begin(), gang.members.end(),
                                          [&](const Job* member) { return starts(*member); });
  });
}

}  // namespace ares::core
