// What a position that a node has heard says about this state: whether the state may be an older
// copy of the database. Pure; any thread.
#pragma once

#include <string>

#include "model/engine/journal_position.h"
#include "model/engine/node_message.h"
#include "model/engine/state.h"

namespace ares::core {

enum class HeardPosition : std::uint8_t {
  covered,         // the state has all of it, or a rollback that was accepted ended that history
  later,           // the state lacks commits that were acknowledged
  other_database,  // it says nothing about this one
};

// The epoch that a controller took when it loaded its state, and the last event that it loaded.
struct Recovered {
  Epoch epoch;
  Lsn lsn;
};

// Everything that the node has heard of. Its highest fence and epoch may be newer than the position
// that it was told.
JournalPosition heard_by(const Register& r);

// Whether it is the state's history or one that an accepted rollback ended; none at all counts as the
// state's.
bool is_known_history(const ClusterState& state, const std::string& history);

// A position without a history is taken for one of this history. What an earlier controller told
// must have been loaded: what this one has committed since has the same positions as what is
// missing.
HeardPosition compare_heard(const ClusterState& state, const Recovered& recovered,
                            const JournalPosition& heard);

// "node n1 has heard of …", and what the administrator can do. Precondition: it is later.
std::string describe_later(const ClusterState& state, const std::string& node,
                           const JournalPosition& heard);

}  // namespace ares::core
