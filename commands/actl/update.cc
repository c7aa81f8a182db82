// `update`: changes properties given as NAME=VALUE words.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "config/suggest.h"

namespace ares::actl {
namespace {

using Assignments = std::vector<Assignment>;

// The keywords that name the object to change, and the function that handles the remaining words.
struct Subject {
  std::vector<std::string> names;
  Result<int> (*update)(Context&, const std::string& which, const Assignments& rest);
};

template <class Target>
Status apply_all(const Keys<Target>& keys, Target& target, const Assignments& all) {
  if (all.empty())
    return invalid("nothing to change; name at least one property of " + keys.subject);
  const Time now = cli::clock_now();
  for (const Assignment& one : all)
    if (Status done = apply_key(keys, target, one.key, one.value, now); !done) return done;
  return {};
}

Result<int> update_selected(Context& context, const std::string& jobs, const Assignments& all) {
  api::Request request;
  api::JobAction& action = *request.mutable_job_action();
  action.set_kind(api::JobAction::UPDATE);
  if (Status added = add_jobs(jobs, *action.mutable_jobs()); !added) return fail(added.error());
  if (Status done = apply_all(job_keys(), action, all); !done) return fail(done.error());
  return context.change(request);
}

Result<int> update_jobs(Context& context, const std::string& ids, const Assignments& all) {
  return update_selected(context, ids, all);
}

Result<int> update_jobs_of_name(Context& context, const std::string& name, const Assignments& all) {
  return update_selected(context, "name=" + name, all);
}

// "ALL" stands for all nodes, as in scontrol.
Result<std::string> node_list(Context& context, const std::string& nodes) {
  if (nodes != "ALL") return nodes;
  api::Request look;
  look.mutable_list_nodes();
  const auto found = context.call_for_all(look);
  if (!found) return fail(found.error());
  std::vector<std::string> names;
  for (const api::Node& node : found->nodes().nodes()) names.push_back(node.name());
  return compress_hostlist(names);
}

Result<int> update_nodes(Context& context, const std::string& nodes, const Assignments& all) {
  api::Request request;
  api::UpdateNode& update = *request.mutable_update_node();
  update.set_kind(api::UpdateNode::REASON);  // Unless a state is given.
  const auto names = node_list(context, nodes);
  if (!names) return fail(names.error());
  update.set_nodes(*names);
  if (Status done = apply_all(node_keys(), update, all); !done) return fail(done.error());
  return send_node_update(context, update);
}

Result<int> update_partitions(Context& context, const std::string& names, const Assignments& all) {
  api::Request request;
  api::UpdatePartition& partitions = *request.mutable_update_partition();
  for (const std::string& name : cli::split(names, ',')) partitions.add_names(name);
  if (Status done = apply_all(partition_keys(), partitions, all); !done) return fail(done.error());
  return context.change(request);
}

const std::vector<Subject>& subjects() {
  // The first matching row decides: a reservation also has the properties partition and nodes.
  static const std::vector<Subject> all = {
      {{"jobid", "job"}, update_jobs},
      {{"reservationname", "reservation"}, update_reservations},
      {{"nodename", "node"}, update_nodes},
      {{"stepid", "step"}, update_steps},
      {{"partitionname", "partition"}, update_partitions},
      // Without an id the name says which jobs; with one it is their new name.
      {{"jobname", "name"}, update_jobs_of_name}};
  return all;
}

// Objects of scontrol that stay as they are.
struct RefusedSubject {
  std::string_view name, why;
};
constexpr RefusedSubject kRefused[] = {
    {"suspendexcnodes", "nodes are not switched off"},
    {"suspendexcparts", "nodes are not switched off"},
    {"suspendexcstates", "nodes are not switched off"},
};

}  // namespace

Result<int> update(Context& context, const Words& operands) {
  auto all = assignments(join_subject(operands));
  if (!all) return fail(all.error());
  std::vector<std::string> known;
  for (const Subject& subject : subjects()) {
    std::string which;
    Assignments rest;
    bool named = false;
    for (const Assignment& one : *all) {
      if (std::find(subject.names.begin(), subject.names.end(), one.key) == subject.names.end()) {
        rest.push_back(one);
        continue;
      }
      which += (which.empty() ? "" : ",") + one.value;
      named = true;
    }
    if (named) return subject.update(context, which, rest);
    if (subject.update != update_jobs_of_name) known.push_back(subject.names.front());
  }
  for (const Assignment& one : *all)
    for (const RefusedSubject& refused : kRefused)
      if (one.key == refused.name)
        return invalid("update with " + one.key +
                       "= is not supported: " + std::string(refused.why));
  return invalid("update what? Name it first: " + cli::join(known, "=…, ") + "=…");
}

Result<int> send_node_update(Context& context, const api::UpdateNode& update) {
  const auto names = expand_hostlist(update.nodes());
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("name the nodes");
  const bool back =
      update.kind() == api::UpdateNode::RESUME || update.kind() == api::UpdateNode::UNDRAIN;
  if (update.reason().empty() && !back) return invalid("say why: reason=TEXT");
  if (has_control(update.reason())) return invalid("the reason holds a control character");
  api::Request request;
  *request.mutable_update_node() = update;
  return context.change(request);
}

Error unknown_key(const std::string& name, const std::string& subject,
                  std::span<const std::string> known, std::span<const std::string> of_scontrol) {
  const bool later = std::find(of_scontrol.begin(), of_scontrol.end(), name) != of_scontrol.end();
  return {ErrorCode::invalid_argument,
          later ? "updating " + excerpt(name) + " of " + subject + " is not supported yet"
                : subject + " has no " + quote(name) + " that can be changed" +
                      config::suggestion(name, known)};
}

}  // namespace ares::actl
