#include "aresd/hosted_node.h"

#include <unistd.h>

#include <spdlog/spdlog.h>

#include "exec/baremetal/file_spool.h"
#include "node/memory_spool.h"
#include "os/users.h"

namespace ares::aresd {
namespace {

std::string_view name_of(AttemptPhase phase) {
  switch (phase) {
    case AttemptPhase::accepted: return "accepted";
    case AttemptPhase::ready: return "ready";
    case AttemptPhase::running: return "running";
    case AttemptPhase::done: return "done";
    case AttemptPhase::never_ran: return "never ran";
    case AttemptPhase::lost: return "lost";
  }
  return "unknown";
}

std::string describe(const AttemptReport& report) {
  std::string text =
      node::directory_name(report.attempt) + " " + std::string(name_of(report.phase));
  if (report.phase == AttemptPhase::done) {
    text += ", exit code " + std::to_string(report.exit.code);
    if (report.exit.signal != 0) text += ", signal " + std::to_string(report.exit.signal);
    if (report.exit.timed_out) text += ", time limit";
    if (report.exit.out_of_memory) text += ", out of memory";
  }
  if (!report.detail.empty()) text += ": " + report.detail;
  if (!report.node_problem.empty()) text += "; the node: " + report.node_problem;
  return text;
}

// A running attempt has a detail only if its supervisor has died and its end is not proven, a ready one if that may happen.
bool concerns_operator(const AttemptReport& report) {
  if (!report.node_problem.empty()) return true;
  return (report.phase == AttemptPhase::running || report.phase == AttemptPhase::ready) &&
         !report.ended_at && !report.detail.empty();
}

}  // namespace

class HostedNode::MachineUsers final : public node::Users {
 public:
  // A simulated node executes nothing, so it looks up no accounts.
  explicit MachineUsers(bool simulated) : simulated_(simulated) {}

  Result<node::UserIdentity> find(UserId uid, GroupId gid) override {
    if (simulated_) return node::UserIdentity{{}, gid, {}, {}, {}};
    if (::geteuid() != 0 && ::geteuid() != uid.value())
      return fail(ErrorCode::permission_denied, "aresd runs as uid " + std::to_string(::geteuid()) +
                                                    " and cannot run jobs of uid " +
                                                    std::to_string(uid.value()));
    Result<os::User> user = os::find_user(uid);
    if (!user) return fail(user.error());
    Result<std::vector<GroupId>> groups = os::groups_of(*user, gid);
    if (!groups) return fail(groups.error());
    return node::UserIdentity{user->name, gid, std::move(*groups), user->home, user->shell};
  }

 private:
  bool simulated_;
};

HostedNode::HostedNode(Send send, Log log) : send_(std::move(send)), log_(std::move(log)) {}

HostedNode::~HostedNode() = default;

Result<std::unique_ptr<HostedNode>> HostedNode::open(HostedNodeSetup setup,
                                                     exec::OpenPlugin& plugin, Send send, Log log,
                                                     node::Moment now) {
  std::unique_ptr<HostedNode> self(new HostedNode(std::move(send), std::move(log)));
  const bool simulated = setup.spool.empty();
  if (simulated) {
    self->spool_ = std::make_unique<node::MemorySpool>();
    if (setup.incarnation != 0)
      (void)self->spool_->write_identity(encode(node::NodeIdentity{.uuid = setup.agent.fresh_uuid,
                                                                   .boot_id = setup.agent.boot_id,
                                                                   .incarnation = setup.incarnation,
                                                                   .highest_epoch = {},
                                                                   .highest_lsn = {}}));
  } else {
    Result<std::unique_ptr<exec::FileSpool>> spool = exec::FileSpool::open(setup.spool);
    if (!spool) return fail(spool.error());
    self->spool_ = std::move(*spool);
  }
  self->users_ = std::make_unique<MachineUsers>(simulated);
  node::Uplink& uplink = *self;
  const exec::PluginNode node{setup.agent.name, setup.spool, setup.agent.boot_id};
  self->agent_ = std::make_unique<node::NodeAgent>(std::move(setup.agent), *self->spool_,
                                                   *self->users_, uplink);
  Result<std::unique_ptr<node::Executor>> executor = plugin.add_node(node, *self->spool_, *self);
  if (!executor) return fail(executor.error());
  self->executor_ = std::move(*executor);
  if (Status recovered = self->agent_->recover(*self->executor_, now); !recovered)
    return fail(recovered.error());
  for (const AttemptReport& report : self->agent_->attempts())
    if (concerns_operator(report)) self->log_(describe(report), true);
  return self;
}

void HostedNode::attempt_changed(const AttemptReport& report, node::Moment now) {
  log_(describe(report), concerns_operator(report));
  agent_->attempt_changed(report, now);
  on_event_();
}

void HostedNode::launch_failed(const AttemptKey& key, Fence fence, bool node_fault,
                               const std::string& cause, node::Moment now) {
  log_(node::directory_name(key) + " could not be started: " + cause, false);
  agent_->launch_failed(key, fence, node_fault, cause, now);
  on_event_();
}

HostedNode::Log log_of(const std::string& node) {
  return [node](const std::string& text, bool concerns_operator) {
    spdlog::log(concerns_operator ? spdlog::level::warn : spdlog::level::debug, "{}: attempt {}",
                node, text);
  };
}

}  // namespace ares::aresd
