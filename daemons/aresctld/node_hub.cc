#include "aresctld/node_hub.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/duration.h"
#include "cli/values/job_ids.h"
#include "node/records.h"
#include "os/clock.h"
#include "proto/convert.h"
#include "proto/convert_node.h"
#include "proto/gen/node.pb.h"
#include "steps/handshake.h"
#include "steps/ticket.h"

namespace ares::aresctld {
namespace {

constexpr std::size_t kCacheBytes = 64 << 20;
constexpr Seconds kTicketLasts{60};
// How often it looks for nodes that have not answered in time.
constexpr Seconds kLookForSilent{1};
constexpr std::size_t kMostRemarks = 8;  // of a node; the others follow when these are settled

// An attempt that runs has a detail only if its supervisor has died and its end is not proven.
std::vector<std::string> remarks_in(const Heartbeat& heartbeat) {
  std::vector<std::string> remarks;
  for (const AttemptReport& report : heartbeat.attempts)
    if (report.phase == AttemptPhase::running && !report.ended_at && !report.detail.empty() &&
        remarks.size() < kMostRemarks)
      remarks.push_back("attempt " + cli::format_job_id(report.attempt.job) + "." +
                        std::to_string(report.attempt.attempt.value()) + ": " + report.detail);
  return remarks;
}

// "HOST:PORT" where a node that speaks from `peer` (rpc/wire/peer_address.h) takes steps. A node on a Unix
// socket is on this machine.
std::string step_address(std::string_view peer, std::uint16_t port) {
  if (port == 0) return {};
  std::string host = "127.0.0.1";
  for (const std::string_view family : {"ipv4:", "ipv6:"})
    if (peer.starts_with(family))
      host = peer.substr(family.size(), peer.rfind(':') - family.size());
  return host + ":" + std::to_string(port);
}

}  // namespace

NodeHub::NodeHub(store::Journal& journal, const ViewHolder& views, Clock& clock,
                 OutputStore& output, std::string holder, std::function<Seconds()> max_clock_offset)
    : journal_(journal),
      views_(views),
      clock_(clock),
      output_(output),
      holder_(std::move(holder)),
      max_clock_offset_(std::move(max_clock_offset)) {}

NodeHub::~NodeHub() {
  stop();
}

void NodeHub::start(EngineLoop& engine) {
  engine_ = &engine;
  thread_ = std::thread([this] { run(); });
}

void NodeHub::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  script_messages_.end_all();
}

void NodeHub::send(Effects effects) {
  {
    const Lock lock(mutex_);
    for (Effect& effect : effects) queue_.push_back(std::move(effect));
  }
  wake_.notify_one();
}

std::optional<Time> NodeHub::last_heard(const std::string& node) const {
  const Lock lock(mutex_);
  const auto found = peers_.find(node);
  if (found == peers_.end() || found->second.last_message_at == Time{}) return std::nullopt;
  return found->second.last_message_at;
}

bool NodeHub::connected(const std::string& node) const {
  const Lock lock(mutex_);
  const auto found = peers_.find(node);
  return found != peers_.end() && found->second.session != nullptr;
}

std::vector<std::string> NodeHub::remarks(const std::string& node) const {
  const Lock lock(mutex_);
  const auto found = peers_.find(node);
  return found == peers_.end() ? std::vector<std::string>{} : found->second.remarks;
}

MachineLoad NodeHub::load(const std::string& node) const {
  const Lock lock(mutex_);
  const auto found = peers_.find(node);
  return found == peers_.end() ? MachineLoad{} : found->second.load;
}

std::optional<NodeHub::HeardUse> NodeHub::use_of(const std::string& node,
                                                 const AttemptKey& attempt) const {
  const Lock lock(mutex_);
  const auto peer = peers_.find(node);
  if (peer == peers_.end()) return std::nullopt;
  const auto found = peer->second.used.find(attempt);
  if (found == peer->second.used.end()) return std::nullopt;
  return HeardUse{found->second, peer->second.used_at};
}

void NodeHub::attached(std::shared_ptr<rpc::NodeSession> session) {
  spdlog::info("node session from {}", session->peer());
}

void NodeHub::received(std::shared_ptr<rpc::NodeSession> session, api::NodeUp message) {
  if (message.has_output()) return store_output(session, std::move(message));
  if (message.has_script_told()) {
    const api::ScriptTold& told = message.script_told();
    if (heard(session, message.node()))
      script_messages_.answered(
          message.node(), told.id(),
          told.why().empty() ? Status() : fail(ErrorCode::failed_precondition, told.why()));
    return;
  }
  auto converted = proto::from_api(message);
  if (!converted) {
    spdlog::warn("dropping a session from {}: {}", session->peer(), converted.error().message);
    session->close(converted.error().message);
    return;
  }
  const std::string name = converted->node;
  auto* registration = std::get_if<Register>(&converted->body);
  const bool registers = registration != nullptr;
  std::optional<Time> rival_heard;
  {
    const Lock lock(mutex_);
    Peer& peer = peers_[name];
    const auto note_clock = [&](std::optional<Time> at, std::string& fault) ARES_REQUIRES(mutex_) {
      if (!at) return;
      peer.clock_ahead = *at - os::wall_now();
      if (fault.empty()) fault = clock_fault(peer.clock_ahead);
    };
    if (registers) {
      note_clock(registration->clock, registration->fault);
      peer.step_address = step_address(session->peer(), registration->step_port);
    }
    if (!registers && peer.session == session) {
      peer.last_message_at = clock_.now();
      if (auto* heartbeat = std::get_if<Heartbeat>(&converted->body)) {
        note_clock(heartbeat->clock, heartbeat->fault);
        peer.remarks = remarks_in(*heartbeat);
        peer.used.clear();
        for (AttemptUse& use : std::exchange(heartbeat->used, {})) peer.used[use.attempt] = use;
        peer.used_at = peer.last_message_at;
        peer.load = heartbeat->load;
      }
    }
    if (registers && peer.session && peer.session != session) rival_heard = peer.last_message_at;
  }
  // The engine decides whether the session speaks for the node, because it knows the incarnation.
  engine_->post(Command{NodeCommand{std::move(*converted), session->peer(), rival_heard}},
                [this, session, name, registers](const core::Reply& reply) {
                  if (reply.failed)
                    refuse(session, name, reply.error);
                  else if (registers)
                    accept(session, name);
                });
}

bool NodeHub::heard(const std::shared_ptr<rpc::NodeSession>& session, const std::string& node) {
  const Lock lock(mutex_);
  const auto peer = peers_.find(node);
  if (peer == peers_.end() || peer->second.session != session) return false;
  peer->second.last_message_at = clock_.now();
  return true;
}

void NodeHub::store_output(const std::shared_ptr<rpc::NodeSession>& session, api::NodeUp message) {
  if (!heard(session, message.node())) return;
  output_.add(message.node(), std::move(*message.mutable_output()),
              [this, session, node = message.node()](const api::OutputStored& stored) {
                api::NodeDown answer;
                answer.set_node(node);
                answer.set_epoch(views_.read().state->epoch.value());
                *answer.mutable_output_stored() = stored;
                session->send(std::move(answer));
              });
}

// If most of the nodes disagree with this machine, it is the one that is wrong.
std::string NodeHub::clock_fault(Duration ahead) const {
  const Duration most = max_clock_offset_();
  const auto off = [&](Duration by) { return most > Duration{0} && std::chrono::abs(by) > most; };
  if (!off(ahead)) return {};
  std::size_t connected = 0, wrong = 0;
  for (const auto& [name, peer] : peers_) {
    connected += peer.session ? 1 : 0;
    wrong += peer.session && off(peer.clock_ahead) ? 1 : 0;
  }
  if (connected > 2 && 2 * wrong > connected) {
    spdlog::error(
        "the clocks of {} of {} nodes differ from that of this machine: its own is probably wrong",
        wrong, connected);
    return {};
  }
  return "its clock is " +
         format_duration(std::chrono::duration_cast<Seconds>(std::chrono::abs(ahead))) +
         (ahead > Duration{0} ? " ahead of" : " behind") + " the controller's (max_clock_offset)";
}

void NodeHub::refuse(const std::shared_ptr<rpc::NodeSession>& session, const std::string& name,
                     const Error& error) {
  // A stopping controller sends no refusals: the node retries later or at another controller.
  if (error.code != ErrorCode::unavailable) {
    spdlog::warn("refused node {} from {}: {}", name, session->peer(), error.message);
    api::NodeDown refusal;
    proto::to_api(ToNode{name, views_.read().state->epoch, Refused{error.message}}, &refusal);
    session->send(std::move(refusal));
  }
  // One aresd may simulate thousands of nodes: keep the session for the others.
  bool shared = false;
  {
    const Lock lock(mutex_);
    for (const auto& [other, peer] : peers_)
      shared = shared || (other != name && peer.session == session);
  }
  if (!shared) session->close(error.message);
}

void NodeHub::accept(const std::shared_ptr<rpc::NodeSession>& session, const std::string& name) {
  const Lock lock(mutex_);
  Peer& peer = peers_[name];
  peer.session = session;
  peer.last_message_at = clock_.now();
}

void NodeHub::detached(std::shared_ptr<rpc::NodeSession> session) {
  std::vector<std::string> gone;
  {
    const Lock lock(mutex_);
    for (auto& [name, peer] : peers_) {
      if (peer.session != session) continue;
      peer.session.reset();
      gone.push_back(name);
    }
  }
  for (const std::string& name : gone) {
    spdlog::info("node {} disconnected", name);
    script_messages_.lost(name);
  }
}

void NodeHub::tell_script(const std::string& node, const AttemptKey& attempt,
                          const std::string& line, ScriptMessages::Done done) {
  std::shared_ptr<rpc::NodeSession> session;
  {
    const Lock lock(mutex_);
    if (const auto peer = peers_.find(node); peer != peers_.end()) session = peer->second.session;
  }
  if (!session)
    return done(fail(ErrorCode::unavailable, "its node is not connected to the controller"));
  api::NodeDown message;
  message.set_node(node);
  message.set_epoch(views_.read().state->epoch.value());
  api::TellScript& tell = *message.mutable_tell_script();
  proto::to_api(attempt, tell.mutable_attempt());
  tell.set_id(script_messages_.add(node, std::move(done)));
  tell.set_line(line);
  session->send(std::move(message));
}

void NodeHub::run() {
  for (;;) {
    std::deque<Effect> work;
    {
      Lock lock(mutex_);
      wake_.wait_for(lock, kLookForSilent,
                     [&]() ARES_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      work.swap(queue_);
    }
    script_messages_.expire();
    for (Effect& effect : work) deliver(std::move(effect));
  }
}

void NodeHub::deliver(Effect effect) {
  const View view = views_.read();
  const Node* node = view.state->nodes.find(effect.node);
  if (!node) return;
  std::shared_ptr<rpc::NodeSession> session;
  {
    const Lock lock(mutex_);
    const auto found = peers_.find(node->name);
    if (found != peers_.end()) session = found->second.session;
  }
  if (!session) return;
  if (auto* prepare = std::get_if<Prepare>(&effect.body)) {
    const JobSpec& spec = *prepare->launch.spec;
    auto script = blob(spec.script);
    auto environment = blob(spec.environment);
    if (!script || !environment) {
      // The launch stays pending: the node's next heartbeat triggers another attempt.
      spdlog::warn("cannot read the script of job {}: {}",
                   cli::format_job_id(prepare->launch.attempt.job),
                   (script ? environment : script).error().message);
      return;
    }
    prepare->script = *script;
    prepare->environment = *environment;
    if (prepare->launch.layout->names.size() > 1 || takes_steps(node->name))
      if (Status added = add_step_access(prepare->launch); !added) {
        // As above. Nodes register again within a heartbeat after the controller has started.
        spdlog::info("job {} waits to be launched: {}",
                     cli::format_job_id(prepare->launch.attempt.job), added.error().message);
        return;
      }
  }
  // What the view shows is committed.
  const ClusterState& state = *view.state;
  std::optional<JournalPosition> position;
  if (std::holds_alternative<HeartbeatAck>(effect.body) ||
      std::holds_alternative<Welcome>(effect.body))
    position = {state.history, state.epoch, holder_, state.lsn, state.next_job_id};
  api::NodeDown message;
  proto::to_api(ToNode{node->name, state.epoch, std::move(effect.body), std::move(position)},
                &message);
  if (message.has_welcome()) message.mutable_welcome()->set_takes_output(output_.is_on());
  session->send(std::move(message));
}

// What the nodes of the attempt need to reach each other. unavailable: one of them has not registered with
// this controller yet.
Status NodeHub::add_step_access(LaunchSpec& launch) {
  const Result<std::string> secret = this->secret();
  if (!secret) return fail(secret.error());
  launch.step_key = steps::attempt_key(*secret, node::directory_name(launch.attempt), launch.fence,
                                       launch.spec->uid, launch.layout->list);
  const Lock lock(mutex_);
  for (const std::string& name : launch.layout->names) {
    const auto peer = peers_.find(name);
    if (peer == peers_.end() || !peer->second.step_address)
      return fail(ErrorCode::unavailable, "node " + name + " has not registered yet");
    launch.step_addresses.push_back(*peer->second.step_address);
  }
  return {};
}

bool NodeHub::takes_steps(const std::string& node) const {
  const Lock lock(mutex_);
  const auto peer = peers_.find(node);
  return peer != peers_.end() && !peer->second.step_address.value_or("").empty();
}

Result<std::string> NodeHub::secret() {
  const Lock lock(secret_mutex_);
  if (secret_.empty()) {
    Result<std::string> read = journal_.secret();
    if (!read) return fail(read.error());
    secret_ = std::move(*read);
  }
  return secret_;
}

Result<api::StepTicket> NodeHub::step_ticket(const Job& job, const NodeLayout& layout,
                                             UserId caller) {
  const Result<std::string> secret = this->secret();
  if (!secret) return fail(secret.error());
  const std::string& node = layout.names.front();
  std::string address;
  {
    const Lock lock(mutex_);
    const auto peer = peers_.find(node);
    if (peer == peers_.end() || !peer->second.step_address)
      return fail(ErrorCode::unavailable, "node " + node + " has not registered yet");
    address = *peer->second.step_address;
  }
  if (address.empty())
    return fail(ErrorCode::failed_precondition,
                "node " + node + " takes no connections from outside of its jobs");
  steps::Ticket ticket;
  ticket.attempt = node::directory_name(AttemptKey{job.key, job.attempt});
  ticket.fence = job.allocation->fence;
  ticket.caller = caller;
  ticket.expires = std::chrono::ceil<Seconds>(clock_.now() + kTicketLasts);
  const std::string key =
      steps::attempt_key(*secret, ticket.attempt, ticket.fence, job.spec->uid, layout.list);
  api::StepTicket out;
  out.set_address(address);
  out.set_attempt(ticket.attempt);
  out.set_fence(ticket.fence.value());
  out.set_uid(caller.value());
  out.set_expires(ticket.expires.time_since_epoch().count());
  out.set_key(steps::ticket_key(ticket, key));
  return out;
}

Result<std::shared_ptr<const std::string>> NodeHub::blob(const BlobId& id) {
  if (const auto found = cached_.find(id); found != cached_.end()) {
    cache_.splice(cache_.begin(), cache_, found->second);
    return cache_.front().second;
  }
  auto content = journal_.blob(id);
  if (!content) return content;
  cache_.emplace_front(id, *content);
  cached_[id] = cache_.begin();
  cached_bytes_ += (*content)->size();
  while (cached_bytes_ > kCacheBytes && cache_.size() > 1) {
    cached_bytes_ -= cache_.back().second->size();
    cached_.erase(cache_.back().first);
    cache_.pop_back();
  }
  return content;
}

}  // namespace ares::aresctld
