// What the attempts of a ClusterAgent print, where no file gets it.
#include "exec/kubernetes/agent/cluster_agent.h"
#include "exec/kubernetes/agent/pods/pod_names.h"
#include "os/clock.h"

namespace ares::kubernetes {

OutputHooks ClusterAgent::output_hooks() {
  return {
      .output =
          [this](const std::string& pod, const PodOutput::Part& part) {
            const Entry& entry = attempts_.at(pod);
            const LaunchSpec& spec = entry.attempt.launch().spec.launch;
            if (node::ExecutorEvents* events = events_of(entry.node))
              events->output({spec.attempt, spec.fence, part.offset, part.data, part.ended});
          },
      .annotate =
          [this](const std::string& pod, const OutputState& state) {
            attempts_.at(pod).attempt.set_output(state);
            touched_.insert(pod);
          },
      .complete =
          [this](const std::string& pod) {
            touched_.insert(pod);
            for (const Entry* rank : ranks_of(attempts_.at(pod))) {
              const LaunchSpec& spec = rank->attempt.launch().spec.launch;
              touched_.insert(pod_name(settings_.cluster, spec.fence, spec.rank));
            }
          },
      .say = [this](const std::string& text) { events_.say(text); },
      .now = os::boot_now,
  };
}

void ClusterAgent::follow_output(const std::string& name, const Entry& entry) {
  const PodAttempt& attempt = entry.attempt;
  const std::optional<OutputState> told = attempt.output();
  if (!told || attempt.is_released()) return;
  output_->follow(name, entry.space, *told);
  if (attempt.has_vanished())
    output_->pod_gone(name);
  else if (attempt.has_ended())
    output_->pod_ended(name, attempt.has_script_ended());
  else if (attempt.is_log_going())
    output_->pod_is_going(name);
}

// It has ended, and what it printed is stored.
bool ClusterAgent::is_over(const Entry& entry) const {
  if (!entry.attempt.has_ended() || !entry.attempt.output()) return entry.attempt.has_ended();
  const LaunchSpec& spec = entry.attempt.launch().spec.launch;
  return output_->is_complete(pod_name(settings_.cluster, spec.fence, spec.rank));
}

}  // namespace ares::kubernetes
