#include "aresctld/reconfigurer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "config/default_memory.h"

namespace ares::aresctld {
namespace {

api::ConfigChange::Effect effect_of(config::TakesEffect effect) {
  switch (effect) {
    case config::TakesEffect::at_once: return api::ConfigChange::AT_ONCE;
    case config::TakesEffect::controller_restart: return api::ConfigChange::CONTROLLER_RESTART;
    case config::TakesEffect::node_restart: return api::ConfigChange::NODE_RESTART;
    case config::TakesEffect::never: return api::ConfigChange::REFUSED;
  }
  return api::ConfigChange::REFUSED;
}

api::Reconfigured answer(const std::vector<config::Change>& changes, const std::string& path,
                         bool applied) {
  api::Reconfigured out;
  out.set_applied(applied);
  out.set_path(path);
  for (const config::Change& change : changes) {
    api::ConfigChange* row = out.add_changes();
    row->set_subject(change.subject);
    row->set_field(change.field);
    row->set_before(change.before);
    row->set_after(change.after);
    row->set_effect(effect_of(change.effect));
    row->set_undoes_command(change.undoes_command);
  }
  return out;
}

// Without the nodes that joined: no configuration names them, and they stay.
std::vector<Partition> partitions_of(const ClusterState& state) {
  const auto joined = [&](const std::string& name) {
    const NodeId* id = state.node_ids.find(name);
    const Node* node = id ? state.nodes.find(*id) : nullptr;
    return node && !node->joined.empty();
  };
  std::vector<Partition> partitions;
  state.partitions.for_each([&](const std::string&, const Partition& partition) {
    partitions.push_back(partition);
    std::erase_if(partitions.back().nodes, joined);
  });
  return partitions;
}

const Inventory* reported_by(const ClusterState& state, const std::string& name) {
  const NodeId* id = state.node_ids.find(name);
  const Node* node = id ? state.nodes.find(*id) : nullptr;
  if (!node || node->contact == Contact::never) return nullptr;
  return node->reported ? &*node->reported : &node->inventory;
}

// Reports plugins that are enabled again, although the configuration is the same.
void note_plugins(const SharedPlugins& before, const SharedPlugins& after,
                  std::vector<config::Change>& changes) {
  if (before == after || !after.value) return;
  for (const PluginFacts& is : after.value->facts()) {
    const std::string subject = "plugin " + is.name;
    bool known = std::any_of(changes.begin(), changes.end(), [&](const config::Change& change) {
      return change.subject == subject;
    });
    if (before.value)
      for (const PluginFacts& was : before.value->facts()) known = known || was.name == is.name;
    if (!known) changes.push_back({subject, "state", "set aside", "on"});
  }
}

// With the partitions that the state has after it is applied.
config::Config as_in_state(config::Config config) {
  config.partitions = config::partitions_with_memory(config);
  return config;
}

}  // namespace

ApplyConfig to_command(const config::Config& config) {
  ApplyConfig apply;
  apply.hash = config.policy.config_hash;
  apply.partitions = config::partitions_with_memory(config);
  apply.lease = config.policy.lease;
  for (const auto& node : config.nodes) apply.nodes.emplace_back(node.name, node.inventory);
  return apply;
}

Result<Reconfigurer::Evaluation> Reconfigurer::evaluate(Result<config::Config> read,
                                                        bool load) const {
  if (!read) return fail(read.error());
  const auto running = config_holder_.read();
  Evaluation evaluation;
  const std::shared_ptr<const ClusterState> state = views_.read().state;
  evaluation.changes =
      config::diff(as_in_state(*running), partitions_of(*state), as_in_state(*read),
                   [&](const std::string& node) { return reported_by(*state, node); });
  config::Config next = config::keep_until_restart(*running, std::move(*read));
  if (load && plugins_) {
    const auto set = plugins_->load(next);
    if (!set) return fail(set.error());
    next.policy.plugins = *set;
    note_plugins(running->policy.plugins, *set, evaluation.changes);
  }
  evaluation.next = std::make_shared<const config::Config>(std::move(next));
  return evaluation;
}

Result<api::Reconfigured> Reconfigurer::preview(const api::Reconfigure& request) const {
  const std::string own = config_holder_.read()->path;
  const std::string path = request.text().empty() ? own : request.path();
  const auto evaluation = evaluate(
      request.text().empty() ? config::load(own) : config::parse(request.text(), request.path()),
      false);
  if (!evaluation) return fail(evaluation.error());
  return answer(evaluation->changes, path, false);
}

// The engine did nothing for this repeated request: in force is what it or a later one set.
Result<api::Reconfigured> Reconfigurer::repeat_answer(const Evaluation& evaluation,
                                                      const std::string& path) const {
  if (config_holder_.read()->policy.config_hash == evaluation.next->policy.config_hash)
    return answer(evaluation.changes, path, true);
  return fail(ErrorCode::failed_precondition,
              "this request was carried out before, and " + path +
                  " has changed since: reconfigure once more to apply that");
}

void Reconfigurer::apply(Principal caller, std::string request_id, const Digest& digest,
                         Done done) {
  {
    const Lock lock(mutex_);
    if (busy_)
      return done(fail(ErrorCode::unavailable, "another reconfiguration is under way; retry"));
    busy_ = true;
  }
  const auto finish = [this, done = std::move(done)](Result<api::Reconfigured> result) {
    {
      const Lock lock(mutex_);
      busy_ = false;
    }
    done(std::move(result));
  };
  const std::string path = config_holder_.read()->path;
  auto evaluation = evaluate(config::load(path), true);
  if (!evaluation) return finish(fail(evaluation.error()));
  for (const config::Change& change : evaluation->changes) {
    if (change.effect != config::TakesEffect::never) continue;
    return finish(fail(ErrorCode::failed_precondition,
                       path + ": " + change.field + " cannot change from " + change.before +
                           " to " + change.after +
                           " while the cluster lives: its database belongs to the one before"));
  }
  UserCommand command;
  command.who = std::move(caller);
  command.request_id = std::move(request_id);
  command.digest = digest;
  command.body =
      Reconfigure{to_command(*evaluation->next),
                  std::shared_ptr<const Policy>(evaluation->next, &evaluation->next->policy)};
  engine_.post(Command{std::move(command)},
               [this, finish, path, evaluation = std::move(*evaluation)](const core::Reply& reply) {
                 if (reply.failed) return finish(fail(reply.error));
                 if (reply.repeated) return finish(repeat_answer(evaluation, path));
                 config_holder_.publish(evaluation.next);
                 // Published after the state, so a pass may have used it with the old policy.
                 views_.wake_waiters();
                 spdlog::info("reconfigured from {}", path);
                 spdlog::set_level(spdlog::level::from_str(evaluation.next->log.level));
                 finish(answer(evaluation.changes, path, true));
               });
}

}  // namespace ares::aresctld
