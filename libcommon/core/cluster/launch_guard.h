// The launch guard: the controller sets a node aside whose launches fail by its own fault, or that
// reports a fault, and takes it back when it is mended. Pure functions that append events; apply()
// stores what they say, so a new controller goes on where the last one was. Engine thread.
//
// A node is set aside by the state DRAIN without a user. An operator's decision (resume, drain, down)
// replaces what the guard says.
#pragma once

#include <string>
#include <vector>

#include "model/cluster/node.h"
#include "model/engine/event.h"
#include "model/policy/policy.h"

namespace ares::core {

using Events = std::vector<EventBody>;

// Whether the controller has set the node aside; an operator has not.
bool is_set_aside(const Node& node);

// The only way by which the controller takes a node out of service and back. `guard`: what is known of
// the node from now on. Out of service: while the node reports a fault, has less than what is
// configured, or is not to be tried yet. Does nothing about a node that an operator has out of service,
// except that it remembers `guard`.
void settle(const Node& node, NodeGuard guard, const Inventory& found, Events& out);

// A launch on the node has failed. `blame`: whether that counts. After LaunchGuard::failures within
// the window, or one while the node is on trial, the node is set aside.
void launch_failed(const Policy& policy, const Node& node, LaunchBlame blame,
                   const std::string& cause, Time now, Events& out);

// An attempt runs on the node: a trial has passed.
void attempt_runs(const Node& node, Events& out);

// With the fault that the node reports; empty: none. The text of its beginning is kept, because it may
// have numbers that change. When it ends, a node that was set aside because of launches is tried at once.
NodeGuard with_fault(NodeGuard guard, const std::string& fault);

// What the node reports with every heartbeat.
void fault_reported(const Node& node, const std::string& fault, Events& out);

// The prolog or the epilog of an attempt failed there. Only an operator knows what that left behind: the
// node is set aside until one resumes it.
void problem_reported(const Node& node, const std::string& problem, Events& out);

// Its machine was started again, which may have mended it: a node that was set aside because of
// launches is tried at once.
NodeGuard after_restart(const NodeGuard& guard);

// Time has passed: a node whose time has come is back on trial.
void try_again(const Node& node, Time now, Events& out);

}  // namespace ares::core
