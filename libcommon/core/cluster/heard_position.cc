#include "core/cluster/heard_position.h"

#include <algorithm>

namespace ares::core {
namespace {

std::string describe(Epoch epoch, Lsn lsn) {
  return "epoch " + std::to_string(epoch.value()) + ", event " + std::to_string(lsn.value());
}

}  // namespace

JournalPosition heard_by(const Register& r) {
  JournalPosition heard = r.position;
  heard.epoch = std::max(heard.epoch, r.highest_epoch);
  heard.lsn = std::max(heard.lsn, r.highest_lsn);
  return heard;
}

bool is_known_history(const ClusterState& state, const std::string& history) {
  const auto& past = state.past_histories;
  return history.empty() || history == state.history ||
         std::find(past.begin(), past.end(), history) != past.end();
}

HeardPosition compare_heard(const ClusterState& state, const Recovered& recovered,
                            const JournalPosition& heard) {
  const bool known = is_known_history(state, heard.history);
  if (!known && database_of(heard.history) != database_of(state.history))
    return HeardPosition::other_database;
  // A rollback that was accepted continued above everything that was known then.
  const Lsn last = heard.epoch < recovered.epoch ? recovered.lsn : state.lsn;
  const bool covered = known && heard.lsn <= last && heard.epoch <= state.epoch;
  return covered ? HeardPosition::covered : HeardPosition::later;
}

std::string describe_later(const ClusterState& state, const std::string& node,
                           const JournalPosition& heard) {
  const bool same = heard.history.empty() || heard.history == state.history;
  return "node " + node + " has seen the database at " + describe(heard.epoch, heard.lsn) +
         (same ? "" : " of a later history") + ", and this controller is at " +
         describe(state.epoch, state.lsn) +
         ": another controller took over, or an older database was restored" +
         (heard.history.empty() ? ", or the spool of the node is of another database" : "") +
         ". Restore a newer copy; or start the controller once with --accept-rollback to go on "
         "without what is missing";
}

}  // namespace ares::core
