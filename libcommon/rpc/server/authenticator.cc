#include "rpc/server/authenticator.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "auth/munge.h"

namespace ares::rpc {
namespace {

constexpr std::size_t kMaxWaiting = 4096;
constexpr std::size_t kMaxWaitingOfOne = 256;
constexpr std::size_t kMaxWaitingBytes = 128u << 20;
constexpr std::size_t kMaxCredential = 4096;  // Ares's own have about 250 bytes
constexpr std::size_t kMaxNames = 65536;
constexpr std::chrono::seconds kNameLife{60};

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

std::string system_user_name(UserId uid) {
  const long hint = sysconf(_SC_GETPW_R_SIZE_MAX);
  std::vector<char> buffer(hint > 0 ? static_cast<std::size_t>(hint) : 1024);
  passwd entry{};
  passwd* found = nullptr;
  while (getpwuid_r(uid.value(), &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < (1u << 20))
    buffer.resize(buffer.size() * 2);
  return found ? found->pw_name : "uid " + std::to_string(uid.value());
}

Authenticator::Authenticator(std::string munge_socket, std::size_t threads, UserName user_name)
    : munge_socket_(std::move(munge_socket)),
      user_name_(user_name ? std::move(user_name) : UserName(system_user_name)),
      host_(host_name()) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { run(); });
}

Authenticator::~Authenticator() {
  stop();
}

void Authenticator::authenticate(std::string credential, const std::string& source,
                                 std::size_t bytes, Gone gone, Done done) {
  enqueue({source, bytes, std::move(gone),
           [this, credential = std::move(credential), done = std::move(done)](const Status& may) {
             done(may ? check(credential) : fail(may.error()));
           }});
}

void Authenticator::identify(UserId uid, GroupId gid, std::size_t bytes, Gone gone,
                             Identified done) {
  if (auto name = known_name(uid)) return done(local_identity(uid, gid, std::move(*name)));
  enqueue({"uid " + std::to_string(uid.value()), bytes, std::move(gone),
           [this, uid, gid, done = std::move(done)](const Status& may) {
             if (!may) return done(fail(may.error()));
             done(local_identity(uid, gid, name_of(uid)));
           }});
}

void Authenticator::enqueue(Waiting waiting) {
  std::optional<Error> refused;
  {
    const Lock lock(mutex_);
    refused = refusal(waiting);
    if (!refused) {
      ++waiting_of_[waiting.source];
      waiting_bytes_ += waiting.bytes;
      waiting_.push_back(std::move(waiting));
    }
  }
  if (refused)
    // NOLINTNEXTLINE(bugprone-use-after-move): moved only if it is not refused
    waiting.work(fail(std::move(*refused)));
  else
    wake_.notify_one();
}

std::optional<Error> Authenticator::refusal(const Waiting& waiting) const {
  if (stopping_) return Error{ErrorCode::unavailable, "the controller is stopping"};
  const auto same = waiting_of_.find(waiting.source);
  const bool too_many = same != waiting_of_.end() && same->second >= kMaxWaitingOfOne;
  if (too_many || waiting_.size() >= kMaxWaiting ||
      (!waiting_.empty() && waiting_bytes_ + waiting.bytes > kMaxWaitingBytes))
    return Error{ErrorCode::unavailable, "too many callers wait to be authenticated"};
  return std::nullopt;
}

void Authenticator::stop() {
  std::deque<Waiting> waiting;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    waiting.swap(waiting_);
  }
  wake_.notify_all();
  threads_.clear();  // joins
  for (const Waiting& one : waiting)
    one.work(fail(ErrorCode::unavailable, "the controller is stopping"));
}

void Authenticator::run() {
  for (;;) {
    Waiting next;
    {
      Lock lock(mutex_);
      wake_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= next.bytes;
      const auto same = waiting_of_.find(next.source);
      if (--same->second == 0) waiting_of_.erase(same);
    }
    const bool gone = next.gone && next.gone();
    next.work(gone ? fail(ErrorCode::unavailable, "the caller has gone") : Status{});
  }
}

Result<AuthenticatedPeer> Authenticator::check(const std::string& credential) {
  if (credential.size() > kMaxCredential)
    return fail(ErrorCode::unauthenticated, "credential refused: it is not one of Ares's");
  auto decoded = auth::munge_decode(credential, munge_socket_);
  if (!decoded) {
    // The munged of this machine failed, not the caller's.
    if (decoded.error().code == ErrorCode::unavailable)
      return fail(ErrorCode::unavailable,
                  "on the controller's machine, " + decoded.error().message);
    return fail(std::move(decoded.error()));
  }
  auto key = auth::SessionKey::from_credential_payload(decoded->payload);
  explicit_bzero(decoded->payload.data(), decoded->payload.size());
  if (!key) return fail(std::move(key.error()));
  return AuthenticatedPeer{*key, auth::Identity{decoded->uid, decoded->gid, name_of(decoded->uid),
                                                std::move(decoded->host)}};
}

auth::Identity Authenticator::local_identity(UserId uid, GroupId gid, std::string name) const {
  return {uid, gid, std::move(name), host_};
}

std::optional<std::string> Authenticator::known_name(UserId uid) {
  const auto now = std::chrono::steady_clock::now();
  const Lock lock(names_mutex_);
  const auto found = names_.find(uid);
  if (found == names_.end() || found->second.until <= now) return std::nullopt;
  return found->second.text;
}

// Cached for a minute: a directory service may be slow, and a user's commands come in bursts.
std::string Authenticator::name_of(UserId uid) {
  if (auto name = known_name(uid)) return std::move(*name);
  std::string name = user_name_(uid);
  const Lock lock(names_mutex_);
  if (names_.size() >= kMaxNames) names_.clear();
  names_[uid] = {name, std::chrono::steady_clock::now() + kNameLife};
  return name;
}

}  // namespace ares::rpc
