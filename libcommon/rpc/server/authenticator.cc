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
constexpr std::size_t kMaxCredential = 4096;  // Ares's own have about 250 bytes
constexpr std::size_t kMaxNames = 65536;
constexpr std::chrono::seconds kNameLife{60};

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
      user_name_(user_name ? std::move(user_name) : UserName(system_user_name)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    threads_.emplace_back([this] { run(); });
}

Authenticator::~Authenticator() {
  stop();
}

void Authenticator::authenticate(std::string credential, Done done) {
  Error refusal;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refusal = {ErrorCode::unavailable, "the controller is stopping"};
    } else if (pending_.size() >= kMaxWaiting) {
      refusal = {ErrorCode::unavailable, "too many callers wait to be authenticated"};
    } else {
      pending_.push_back({std::move(credential), std::move(done)});
      wake_.notify_one();
      return;
    }
  }
  done(fail(std::move(refusal)));
}

void Authenticator::stop() {
  std::deque<PendingAuth> waiting;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting.swap(pending_);
  }
  wake_.notify_all();
  threads_.clear();  // joins
  for (PendingAuth& pending : waiting)
    pending.done(fail(ErrorCode::unavailable, "the controller is stopping"));
}

void Authenticator::run() {
  for (;;) {
    PendingAuth pending;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
      if (stopping_) return;
      pending = std::move(pending_.front());
      pending_.pop_front();
    }
    pending.done(check(pending.credential));
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

// Cached for a minute: a directory service may be slow, and a user's commands come in bursts.
std::string Authenticator::name_of(UserId uid) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(names_mutex_);
    if (auto found = names_.find(uid); found != names_.end() && found->second.until > now)
      return found->second.text;
  }
  std::string name = user_name_(uid);
  const std::lock_guard lock(names_mutex_);
  if (names_.size() >= kMaxNames) names_.clear();
  names_[uid] = {name, now + kNameLife};
  return name;
}

}  // namespace ares::rpc
