// Changing a job's priority and time limit.
#include "core/job/acting.h"
#include "core/job/transitions.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";

// What bounds it now, in the partition it runs in, else the first it asked for.
std::optional<Seconds> current_limit(const ClusterState& state, const Job& job) {
  if (job.allocation && holds_resources(job.state)) return job.allocation->time_limit;
  const Partition* partition = state.partitions.find(job.spec->partitions.front());
  return partition ? effective_time_limit(job, *partition) : job.time_limit;
}

void update(Acting& acting, const Target& t, const UpdateJob& c) {
  const Job& job = *t.record;
  const bool privileged = is_operator(acting.question().policy, acting.who().uid);
  if (job.array && !t.in_array && job.array->waiting.empty() && !is_terminal(job.state)) return;
  if (!accepts(job.state, JobEvent::modified)) {
    return acting.cannot(t, transition(job.state, JobEvent::modified).remark);
  }
  if (c.priority && !privileged) {
    return acting.problem(ErrorCode::permission_denied,
                          "user " + acting.who().user + " may not set the priority of job " +
                              job_text(t.key) + ": only operators and administrators may");
  }
  if (c.set_time_limit && !privileged) {
    const std::optional<Seconds> now = current_limit(acting.question().state, job);
    const bool lower = c.time_limit && (!now || *c.time_limit <= *now);
    if (!lower) {
      return acting.problem(
          ErrorCode::permission_denied,
          "user " + acting.who().user + " may not raise the time limit of job " + job_text(t.key) +
              ": its owner may only lower it; operators and administrators may raise it");
    }
  }
  acting.event(t, Modified{t.key, c.priority, c.set_time_limit, c.time_limit});
}

}  // namespace

Decision decide_jobs(const Question& q, const Principal& who, const UpdateJob& c) {
  if (!c.priority && !c.set_time_limit)
    return refuse(ErrorCode::invalid_argument,
                  "nothing to update: give a priority or a time limit");
  if (c.set_time_limit && c.time_limit && *c.time_limit <= Seconds{0}) {
    return refuse(ErrorCode::invalid_argument,
                  std::string(kBadLimit) + ": it must be at least a second");
  }
  return Acting(q, who, "update").each(c.jobs, [&](Acting& acting, const Target& t) {
    update(acting, t, c);
  });
}

std::optional<Seconds> effective_time_limit(const Job& job, const Partition& partition) {
  if (job.time_limit) {
    if (*job.time_limit == Seconds{0}) return std::nullopt;
    return job.time_limit;
  }
  if (partition.default_time && partition.max_time)
    return std::min(*partition.default_time, *partition.max_time);
  return partition.default_time ? partition.default_time : partition.max_time;
}

}  // namespace ares::core
