#include "exec/kubernetes/agent/lease/lease_holder.h"

#include <utility>

#include "os/clock.h"

namespace ares::kubernetes {
namespace {

constexpr std::chrono::seconds kMostOfRelease{2};
constexpr std::chrono::seconds kMostAfterPause{2};

}  // namespace

LeaseHolder::LeaseHolder(ApiClient& client, LeaseParts parts)
    : client_(client), parts_(std::move(parts)), lease_(encode(parts_.self), parts_.times) {
  client_.set_write_until({});
}

void LeaseHolder::dispatch() {
  const BootTime now = parts_.now();
  const bool had_paused = was_paused(now);
  if (const std::optional<LeaseCall> next = lease_.next(now)) call(*next);
  // After this others do their work: they should not speak for nodes that another agent serves.
  if (had_paused)
    (void)run_until(
        {.client = client_, .most = kMostAfterPause},
        [&] { return !lost_.empty() || lease_.write_until() > parts_.now(); }, "the lease");
}

// Whether so much time has passed since the last call that another agent may have become active.
bool LeaseHolder::was_paused(BootTime now) {
  const std::optional<BootTime> before = std::exchange(dispatched_, now);
  return is_held() && before && now - *before > parts_.times.duration;
}

void LeaseHolder::call(const LeaseCall& call) {
  const Target one{parts_.place.space, parts_.place.name};
  ApiRequest request{.call = Call::get_lease, .target = one};
  if (const WriteLease* write = std::get_if<WriteLease>(&call)) {
    const Time now = os::wall_now();
    if (write->is_taken || acquired_ == Time{}) acquired_ = now;
    request.call = write->version.empty() ? Call::create_lease : Call::update_lease;
    if (write->version.empty()) request.target.name.clear();
    request.body = lease_body(*write, parts_.place, parts_.times.duration, acquired_, now);
  }
  request.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.times.timeout);
  request.turn = Turn::urgent;
  request.is_single = true;
  client_.call(std::move(request), [this](const ApiResult& result) { answered(result); });
}

void LeaseHolder::answered(const ApiResult& result) {
  LeaseAnswer answer;
  std::string problem;
  if (result) {
    Result<LeaseRecord> record = read_lease(result->body);
    if (record) {
      const std::optional<AgentIdentity> holder = parse_identity(record->holder);
      answer.has_holder_ended = holder && has_ended(*holder, parts_.self);
      answer.record = std::move(*record);
    } else {
      answer.failure = Failure::unusable;
      problem = record.error().message;
    }
  } else {
    answer.failure = result.error().failure;
    const bool is_expected = answer.failure == Failure::not_found ||
                             answer.failure == Failure::conflict ||
                             answer.failure == Failure::already_exists;
    if (!is_expected) problem = result.error().error.message;
  }
  const bool was_held = is_held();
  lease_.answered(answer, parts_.now());
  client_.set_write_until(lease_.write_until());
  if (problem != std::exchange(problem_, problem) && !problem.empty()) parts_.say(problem);
  const std::string& name = parts_.place.name;
  if (lease_.state() == AgentLease::State::lost)
    lost_ = "another agent, " +
            (lease_.holder().empty() ? "which has ended" : describe_holder(lease_.holder())) +
            ", has taken the lease " + name + " in namespace " + parts_.place.space +
            ": this one ends";
  else if (is_held() && !was_held)
    parts_.say("this agent holds the lease " + name + " in namespace " + parts_.place.space);
  // Without a delay, such as to take a lease that was found free.
  const std::optional<LeaseCall> next = lease_.next(parts_.now());
  if (lease_.state() == AgentLease::State::standby && !next) tell();
  if (next) this->call(*next);
}

void LeaseHolder::tell() {
  if (lease_.holder() == told_) return;
  told_ = lease_.holder();
  if (!told_.empty() && told_ != encode(parts_.self))
    parts_.say("standing by: " + describe_holder(told_) + " holds the lease " + parts_.place.name +
               " in namespace " + parts_.place.space);
}

void LeaseHolder::release() {
  if (!is_held()) return;
  client_.set_write_until({});
  // Otherwise it could be carried out after the first calls of another agent.
  const Status written = run_until(
      {.client = client_, .most = kMostOfRelease}, [&] { return !client_.has_writes_in_flight(); },
      "writes");
  if (!written) return;
  lease_.give_up();
  (void)run_until(
      {.client = client_, .lease = this, .most = kMostOfRelease},
      [&] { return lease_.state() != AgentLease::State::held; }, "the lease");
}

}  // namespace ares::kubernetes
