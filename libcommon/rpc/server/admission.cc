#include "rpc/server/admission.h"

#include <algorithm>
#include <utility>

namespace ares::rpc {
namespace {

std::string megabytes(std::size_t bytes) {
  return std::to_string(bytes >> 20) + " MB";
}

}  // namespace

Admission::Connection::Connection(Admission& admission, PeerName name, Socket socket,
                                  const AdmissionLimits& limits)
    : admission_(admission),
      name_(std::move(name)),
      socket_(std::move(socket)),
      meter_(limits.max_message_bytes) {}

bool Admission::Connection::received(std::string_view bytes) {
  return trusted_.load(std::memory_order_relaxed) || admission_.received(*this, bytes);
}

Admission::Admission(AdmissionLimits limits, std::vector<UserId> trusted, Problems& problems)
    : limits_(limits), trusted_(std::move(trusted)), problems_(problems) {}

Admission::~Admission() = default;

std::shared_ptr<Admission::Connection> Admission::admit(PeerName name, Socket socket,
                                                        Clock::time_point now) {
  auto connection =
      std::make_shared<Connection>(*this, std::move(name), std::move(socket), limits_);
  const Lock lock(mutex_);
  cut_oldest_if_full(connection->name_.address);
  connection->id_ = ++last_id_;
  connection->since_ = now;
  unproven_.emplace(connection->id_, connection.get());
  ++addresses_[connection->name_.address].connections;
  by_peer_.insert_or_assign(connection->name_.peer, connection);
  return connection;
}

// An honest caller authenticates within milliseconds, so it is rarely the oldest.
void Admission::cut_oldest_if_full(const std::string& address) {
  const auto at = addresses_.find(address);
  const bool address_full =
      at != addresses_.end() && at->second.connections >= limits_.unproven_per_address;
  if (!address_full && unproven_.size() < limits_.unproven) return;
  const auto oldest = std::find_if(unproven_.begin(), unproven_.end(), [&](const auto& entry) {
    return !address_full || entry.second->name_.address == address;
  });
  if (oldest == unproven_.end()) return;
  problems_.report("unproven connections", "too many connections from " +
                                               oldest->second->name_.address +
                                               " do not authenticate; the oldest are cut");
  cut(*oldest->second);
}

void Admission::cut(Connection& connection) {
  connection.cut_ = true;
  ::shutdown(connection.socket_.fd(), SHUT_RDWR);
  if (connection.standing_ == Connection::Standing::unproven) forget_unproven(connection);
}

// It holds no place any more. Its bytes still count until it has ended.
void Admission::forget_unproven(Connection& connection) {
  if (unproven_.erase(connection.id_) == 0) return;
  --addresses_[connection.name_.address].connections;
  tidy(connection.name_.address);
}

void Admission::tidy(const std::string& address) {
  const auto found = addresses_.find(address);
  if (found != addresses_.end() && found->second.connections == 0 && found->second.bytes == 0)
    addresses_.erase(found);
}

void Admission::tidy(UserId user) {
  const auto found = users_.find(user);
  if (found != users_.end() && found->second.connections == 0 && found->second.unsent_bytes == 0)
    users_.erase(found);
}

// Its bytes count for its address no longer.
void Admission::discount_unproven(Connection& connection) {
  addresses_[connection.name_.address].bytes -= connection.counted_;
  unproven_bytes_ -= connection.counted_;
  connection.counted_ = 0;
  tidy(connection.name_.address);
}

bool Admission::received(Connection& connection, std::string_view bytes) {
  const Lock lock(mutex_);
  if (connection.cut_) return false;
  const bool fits =
      connection.meter_.take(bytes) &&
      (connection.standing_ == Connection::Standing::unproven ? count_unproven(connection)
                                                              : count_partial(connection));
  if (!fits) cut(connection);
  return fits;
}

// Everything counts: what has come as a whole waits for munge, and is kept as well.
bool Admission::count_unproven(Connection& connection) {
  const std::size_t received = connection.meter_.received_bytes();
  if (connection.meter_.opened_streams() > limits_.unproven_streams) return false;
  if (received <= limits_.free_bytes) return true;
  Address& address = addresses_[connection.name_.address];
  const std::size_t more = received - limits_.free_bytes - connection.counted_;
  connection.counted_ += more;
  address.bytes += more;
  unproven_bytes_ += more;
  if (received <= limits_.max_message_bytes + limits_.free_bytes &&
      address.bytes <= limits_.unproven_bytes_per_address &&
      unproven_bytes_ <= limits_.unproven_bytes)
    return true;
  problems_.report("unproven bytes", "a connection from " + connection.name_.address +
                                         " was cut: it sent " + megabytes(received) +
                                         " without authenticating; all connections of "
                                         "that address sent " +
                                         megabytes(address.bytes));
  return false;
}

bool Admission::count_partial(Connection& connection) {
  const std::size_t partial = connection.meter_.partial_bytes();
  const std::size_t counted = partial > limits_.free_bytes ? partial : 0;
  User& user = users_[connection.user_];
  user.bytes += counted - connection.counted_;
  connection.counted_ = counted;
  if (user.bytes <= limits_.partial_bytes_per_user) return true;
  problems_.report("partial bytes",
                   "a connection of uid " + std::to_string(connection.user_.value()) + " from " +
                       connection.name_.address + " was cut: " + megabytes(user.bytes) +
                       " of the user's requests are half sent");
  return false;
}

Status Admission::authenticated(const std::string& peer, UserId user) {
  const Lock lock(mutex_);
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return {};
  Connection& connection = *found->second;
  if (connection.standing_ != Connection::Standing::unproven || connection.cut_) return {};
  const bool trusted = std::find(trusted_.begin(), trusted_.end(), user) != trusted_.end();
  const auto others = users_.find(user);
  if (!trusted && others != users_.end() &&
      others->second.connections >= limits_.connections_per_user)
    return fail(ErrorCode::unavailable, "too many connections are open; close some, or wait");
  discount_unproven(connection);
  forget_unproven(connection);
  connection.user_ = user;
  connection.standing_ = trusted ? Connection::Standing::trusted : Connection::Standing::user;
  connection.trusted_ = trusted;
  if (!trusted) ++users_[user].connections;
  return {};
}

Admission::Kept Admission::keep_answer(const std::string& peer, std::size_t bytes) {
  const auto unbounded = [] { return std::make_shared<const bool>(true); };
  const Lock lock(mutex_);
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end() || found->second->standing_ != Connection::Standing::user)
    return unbounded();
  const UserId uid = found->second->user_;
  User& user = users_[uid];
  // One answer of any size is kept for every user.
  if (user.unsent_bytes > 0 && user.unsent_bytes + bytes > limits_.unsent_bytes_per_user)
    return nullptr;
  user.unsent_bytes += bytes;
  return {static_cast<const void*>(this), [this, uid, bytes](const void*) {
            const Lock again(mutex_);
            users_[uid].unsent_bytes -= bytes;
            tidy(uid);
          }};
}

void Admission::expire(Clock::time_point now) {
  const Lock lock(mutex_);
  while (!unproven_.empty() && now - unproven_.begin()->second->since_ > limits_.time_to_prove)
    cut(*unproven_.begin()->second);
}

void Admission::drop(const std::shared_ptr<Connection>& connection) {
  const Lock lock(mutex_);
  Connection& c = *connection;
  if (const auto found = by_peer_.find(c.name_.peer);
      found != by_peer_.end() && found->second == connection)
    by_peer_.erase(found);
  switch (std::exchange(c.standing_, Connection::Standing::gone)) {
    case Connection::Standing::unproven:
      discount_unproven(c);
      forget_unproven(c);
      break;
    case Connection::Standing::user: {
      User& user = users_[c.user_];
      user.bytes -= c.counted_;
      --user.connections;
      tidy(c.user_);
      break;
    }
    case Connection::Standing::trusted:
    case Connection::Standing::gone: break;
  }
  c.cut_ = true;
}

std::size_t Admission::unproven() const {
  const Lock lock(mutex_);
  return unproven_.size();
}

std::size_t Admission::unproven_bytes() const {
  const Lock lock(mutex_);
  return unproven_bytes_;
}

}  // namespace ares::rpc
