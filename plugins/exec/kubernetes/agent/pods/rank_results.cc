#include "exec/kubernetes/agent/pods/rank_results.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace ares::kubernetes {

bool has_failed(const AttemptReport& report) {
  return report.phase != AttemptPhase::done || report.exit != ExitStatus{};
}

AttemptReport as_running(AttemptReport report) {
  report.phase = AttemptPhase::running;
  report.exit = {};
  report.usage = {};
  report.ended_at.reset();
  report.detail.clear();
  return report;
}

AttemptReport joint_report(const std::vector<RankEnd>& ends) {
  const auto time_of = [&](std::size_t rank) {
    return ends[rank].report.ended_at.value_or(Time::max());
  };
  std::optional<std::size_t> first;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (!has_failed(ends[rank].report)) continue;
    // The kubelet tells ends by the second. One that was killed did not fail first.
    if (!first || std::tuple(ends[rank].was_killed, time_of(rank)) <
                      std::tuple(ends[*first].was_killed, time_of(*first)))
      first = rank;
  }
  AttemptReport report = ends[0].report;
  const bool have_all_never_run = std::all_of(ends.begin(), ends.end(), [](const RankEnd& end) {
    return end.report.phase == AttemptPhase::never_ran;
  });
  if (report.phase == AttemptPhase::never_ran && !have_all_never_run) {
    report.phase = AttemptPhase::lost;
    report.detail = "rank 0 never ran, others did: " + report.detail;
    return report;
  }
  if (!first || *first == 0) return report;
  const AttemptReport& failed = ends[*first].report;
  // A rank that never ran says so of itself alone.
  report.phase = failed.phase == AttemptPhase::never_ran && !have_all_never_run ? AttemptPhase::lost
                                                                                : failed.phase;
  report.fault = failed.fault;
  report.exit = failed.exit;
  // A text says that it is not the script that failed.
  report.detail.clear();
  if (!failed.detail.empty())
    report.detail = "rank " + std::to_string(*first) + ": " + failed.detail;
  return report;
}

}  // namespace ares::kubernetes
