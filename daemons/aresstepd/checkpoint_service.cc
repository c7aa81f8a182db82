#include "aresstepd/checkpoint_service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clip.h"
#include "checkpoint/manifest.h"
#include "node/checkpoint_fields.h"
#include "node/job_files.h"
#include "node/records.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/sockets/local_socket.h"

namespace ares::stepd {
namespace {

// A job that opens more connections gets its later ones closed.
constexpr std::size_t kMostClients = 16;
// Numbers that one connection may take without using them.
constexpr std::size_t kMostGiven = 16;
// Between two reports of commits to the controller.
constexpr Duration kReportInterval = std::chrono::seconds(1);
constexpr std::size_t kLongestPath = 4095;  // as the controller reads it

}  // namespace

CheckpointService::CheckpointService(const LaunchSpec& launch, std::string directory, Hooks hooks)
    : launch_(launch), directory_(std::move(directory)), hooks_(std::move(hooks)) {
  for (const Checkpoint& one : launch_.checkpoints) {
    committed_.push_back(one.sequence);
    next_ = std::max(next_, one.sequence + 1);
  }
}

Status CheckpointService::listen() {
  Result<os::Fd> listener =
      os::listen_in(directory_, checkpoint::kSocketName, launch_.spec->uid.value());
  if (!listener) return fail(listener.error());
  listener_ = std::move(*listener);
  return {};
}

void CheckpointService::start() {
  hooks_.watch(listener_.get(), true);
}

bool CheckpointService::serve(int fd) {
  if (fd == listener_.get()) {
    accept();
    return true;
  }
  const auto client = std::find_if(clients_.begin(), clients_.end(),
                                   [fd](const Client& c) { return c.socket.get() == fd; });
  if (client == clients_.end()) return false;
  if (!read(*client)) {
    hooks_.watch(fd, false);
    clients_.erase(client);
  }
  return true;
}

void CheckpointService::accept() {
  os::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const uid_t owner = launch_.spec->uid.value();
  if (peer.uid != 0 && peer.uid != owner) return;
  if (clients_.size() >= kMostClients) {
    Client refused{std::move(socket), {}, {}, {}};
    return answer(refused, checkpoint::Refusal{"more than " + std::to_string(kMostClients) +
                                               " processes of the job commit at once"});
  }
  hooks_.watch(socket.get(), true);
  clients_.push_back({std::move(socket), {}, {}, {}});
}

bool CheckpointService::read(Client& client) {
  char buffer[checkpoint::kLongestLine];
  const ssize_t count = ::recv(client.socket.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  client.input.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end; (end = client.input.find('\n')) != std::string::npos;) {
    const auto request = checkpoint::parse_request(std::string_view(client.input).substr(0, end));
    client.input.erase(0, end + 1);
    if (!request) return false;
    std::visit([&](const auto& r) { handle(client, r); }, *request);
  }
  return client.input.size() < checkpoint::kLongestLine;
}

void CheckpointService::handle(Client& client, const checkpoint::BeginRequest&) {
  if (client.given.size() >= kMostGiven)
    return answer(client, checkpoint::Refusal{"too many checkpoints were begun and not committed"});
  client.given.insert(next_);
  answer(client, checkpoint::Begun{next_++, launch_.attempt.attempt.value(),
                                   std::to_string(launch_.own_id.value())});
}

void CheckpointService::handle(Client& client, const checkpoint::CommitRequest& request) {
  if (!client.given.contains(request.sequence))
    return answer(client, checkpoint::Refusal{"the checkpoint was not begun"});
  const std::uint64_t newest = std::max(pending_.empty() ? 0 : pending_.back().sequence,
                                        committed_.empty() ? 0 : committed_.front());
  if (request.sequence < newest)
    return answer(client, checkpoint::Refusal{"a newer checkpoint was committed meanwhile"});
  std::string uri = node::checkpoint_directory(launch_) + "/" +
                    checkpoint::directory_name(request.sequence, launch_.attempt.attempt.value());
  if (uri.size() > kLongestPath)
    return answer(client, checkpoint::Refusal{"the path of the checkpoint is too long"});
  std::vector<Checkpoint> pending = pending_;
  pending.push_back({request.sequence, launch_.attempt.attempt, request.manifest, request.size,
                     std::move(uri), os::wall_now()});
  // The controller would drop the older ones.
  if (pending.size() > launch_.spec->checkpoint->keep) pending.erase(pending.begin());
  if (const Status recorded = record(pending); !recorded)
    return answer(client, checkpoint::Refusal{"the node cannot record the checkpoint: " +
                                              clip(recorded.error().message)});
  pending_ = std::move(pending);
  client.given.erase(request.sequence);  // if it is refused, acheckpoint moves the directory back
  client.waits_for = request.sequence;
  const BootTime now = os::boot_now();
  const bool first = !tell_at_;
  if (first) tell_at_ = told_at_ ? std::max(now, *told_at_ + kReportInterval) : now;
  answer(client, checkpoint::Recorded{std::max(Duration{}, Duration{*tell_at_ - now})});
  if (first) tick(now);
}

void CheckpointService::tick(BootTime now) {
  if (!tell_at_ || now < *tell_at_) return;
  tell_at_.reset();
  told_at_ = now;
  hooks_.changed();
}

// Older ones may be removed. One that is being published has a number already.
std::uint64_t CheckpointService::oldest_needed() const {
  std::uint64_t oldest = committed_.back();
  for (const Client& client : clients_)
    if (!client.given.empty()) oldest = std::min(oldest, *client.given.begin());
  return oldest;
}

void CheckpointService::known(std::uint64_t sequence) {
  const auto first_unknown =
      std::find_if(pending_.begin(), pending_.end(),
                   [&](const Checkpoint& one) { return one.sequence > sequence; });
  if (first_unknown == pending_.begin()) return;
  for (auto one = pending_.begin(); one != first_unknown; ++one)
    committed_.insert(committed_.begin(), one->sequence);
  if (committed_.size() > launch_.spec->checkpoint->keep)
    committed_.resize(launch_.spec->checkpoint->keep);
  pending_.erase(pending_.begin(), first_unknown);
  // If the disk is full they are reported again, and the controller says the same again.
  (void)record(pending_);
  for (Client& client : clients_)
    if (client.waits_for && *client.waits_for <= sequence) {
      client.waits_for.reset();
      answer(client, checkpoint::Known{oldest_needed()});
    }
  hooks_.changed();
}

// A client that does not read its answers misses them.
void CheckpointService::answer(Client& client, const checkpoint::Answer& answer) {
  const std::string line = checkpoint::to_line(answer) + "\n";
  (void)::send(client.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Not durable: after a power loss the controller does not take the word of the attempt any more.
Status CheckpointService::record(const std::vector<Checkpoint>& pending) const {
  return os::publish_file(
      directory_ + "/" + std::string(node::file_name(node::Record::checkpoints)),
      node::encode(pending), 0600);
}

}  // namespace ares::stepd
