#include "auth/session_table.h"

#include <list>
#include <unordered_map>
#include <utility>

#include <sodium.h>

#include "auth/sodium.h"
#include "base/mutex.h"

namespace ares::auth {
namespace {

using Clock = SessionTable::Clock;

struct Entry;
// Sessions from the longest idle to the most recently used.
using Order = std::list<Entry*>;

struct Entry {
  Session session;
  ReplayWindow window;
  Clock::time_point used;
  Order::iterator in_all;
  Order::iterator in_user;
};

}  // namespace

struct SessionTable::State {
  Limits limits;
  mutable Mutex mutex;
  std::unordered_map<std::uint64_t, Entry> sessions ARES_GUARDED_BY(mutex);
  Order all ARES_GUARDED_BY(mutex);
  std::unordered_map<UserId, Order> by_user ARES_GUARDED_BY(mutex);

  void drop(Entry& entry) ARES_REQUIRES(mutex) {
    all.erase(entry.in_all);
    const UserId user = entry.session.identity->uid;
    Order& mine = by_user[user];
    mine.erase(entry.in_user);
    if (mine.empty()) by_user.erase(user);
    sessions.erase(entry.session.id);
  }

  void drop_idle(Clock::time_point now) ARES_REQUIRES(mutex) {
    while (!all.empty() && now - all.front()->used > limits.idle) drop(*all.front());
  }

  void touch(Entry& entry, Clock::time_point now) ARES_REQUIRES(mutex) {
    entry.used = now;
    all.splice(all.end(), all, entry.in_all);
    Order& mine = by_user[entry.session.identity->uid];
    mine.splice(mine.end(), mine, entry.in_user);
  }

  std::uint64_t new_id() const ARES_REQUIRES(mutex) {
    std::uint64_t id = 0;
    do {
      randombytes_buf(&id, sizeof id);
    } while (id == 0 || sessions.contains(id));
    return id;
  }
};

SessionTable::SessionTable() : SessionTable(Limits{}) {}

SessionTable::SessionTable(Limits limits) : state_(std::make_unique<State>()) {
  ensure_sodium();
  state_->limits = limits;
}

SessionTable::~SessionTable() = default;

Session SessionTable::open(SessionKey key, Identity identity, Clock::time_point now) {
  State& s = *state_;
  const Lock lock(s.mutex);
  s.drop_idle(now);
  // A user with too many sessions loses their own longest idle one, not another user's.
  if (auto mine = s.by_user.find(identity.uid);
      mine != s.by_user.end() && mine->second.size() >= s.limits.sessions_per_user)
    s.drop(*mine->second.front());
  if (!s.all.empty() && s.sessions.size() >= s.limits.sessions) s.drop(*s.all.front());

  const std::uint64_t id = s.new_id();
  Entry& entry = s.sessions[id];
  entry.session = Session{id, std::make_shared<const SessionKey>(key),
                          std::make_shared<const Identity>(std::move(identity))};
  entry.used = now;
  entry.in_all = s.all.insert(s.all.end(), &entry);
  Order& mine = s.by_user[entry.session.identity->uid];
  entry.in_user = mine.insert(mine.end(), &entry);
  return entry.session;
}

Result<Session> SessionTable::accept(std::uint64_t session, std::uint64_t sequence,
                                     std::string_view payload, std::string_view mac,
                                     Clock::time_point now) {
  const auto unknown = [] {
    return fail(ErrorCode::unauthenticated, std::string(kSessionUnknown));
  };
  Session found;
  {
    const Lock lock(state_->mutex);
    state_->drop_idle(now);
    auto entry = state_->sessions.find(session);
    if (entry == state_->sessions.end()) return unknown();
    found = entry->second.session;
  }
  // Outside the lock, because a large payload takes milliseconds.
  if (auto sealed = verify_seal(*found.key, Direction::request, session, sequence, payload, mac);
      !sealed)
    return fail(sealed.error());

  const Lock lock(state_->mutex);
  auto entry = state_->sessions.find(session);
  if (entry == state_->sessions.end()) return unknown();
  if (!entry->second.window.accept(sequence))
    return fail(ErrorCode::unauthenticated,
                "this message was received before, or far too late: it is not taken again");
  state_->touch(entry->second, now);
  return found;
}

std::size_t SessionTable::size() const {
  const Lock lock(state_->mutex);
  return state_->sessions.size();
}

}  // namespace ares::auth
