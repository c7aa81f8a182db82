#include "aresctld/reservation_commands.h"

#include "base/printable.h"

namespace ares::aresctld {
namespace {

Result<Reservation> to_reservation(const api::Reservation& from, Identity& identity) {
  // Limit that avoids overflows in calculations with microseconds.
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  for (const std::int64_t time : {from.start(), from.end()})
    if (time < 0 || time > kMost)
      return fail(ErrorCode::invalid_argument, "a time of the reservation is out of range");
  Reservation to;
  to.name = from.name();
  to.start = Time(Duration(from.start()));
  to.end = Time(Duration(from.end()));
  bool known = false;
  for (int i = 0; i <= static_cast<int>(kLastRecurrence) && !known; ++i) {
    to.recurrence = static_cast<Recurrence>(i);
    known = from.recurrence() == to_string(to.recurrence);
  }
  if (!known)
    return fail(ErrorCode::invalid_argument,
                quote(from.recurrence()) + " is no recurrence this controller knows");
  to.nodes.assign(from.members().begin(), from.members().end());
  for (const std::string& name : from.users()) {
    const auto uid = identity.uid_of(name);
    if (!uid) return fail(ErrorCode::not_found, "no user is named " + quote(name));
    to.users.push_back(*uid);
  }
  to.accounts.assign(from.accounts().begin(), from.accounts().end());
  to.maintenance = from.maintenance();
  to.flexible = from.flexible();
  to.ignore_jobs = from.ignore_jobs();
  to.overlap = from.overlap();
  to.comment = from.comment();
  to.replace_down = from.replace_down();
  return to;
}

// Maximum duration of a reservation; also used for reservations without an end.
constexpr std::int64_t kLongestReservation = 10LL * 365 * 24 * 3600;

template <class Message>
Result<std::optional<Duration>> duration_of(const Message& from) {
  if (!from.has_duration()) return std::optional<Duration>{};
  if (from.duration() < 0 || from.duration() > kLongestReservation)
    return fail(ErrorCode::invalid_argument, "a reservation lasts at most ten years");
  return std::optional<Duration>(
      Seconds(from.duration() == 0 ? kLongestReservation : from.duration()));
}

}  // namespace

Result<UserBody> to_create_reservation(const api::CreateReservation& from, Identity& identity) {
  auto values = to_reservation(from.values(), identity);
  if (!values) return fail(values.error());
  const auto duration = duration_of(from);
  if (!duration) return fail(duration.error());
  CreateReservation create;
  create.values = std::move(*values);
  create.node_count = from.node_count();
  create.all_nodes = from.all_nodes();
  create.partition = from.partition();
  create.keeps_nodes = from.keeps_nodes();
  create.duration = *duration;
  return create;
}

Result<UserBody> to_update_reservation(const api::UpdateReservation& from, Identity& identity) {
  auto values = to_reservation(from.values(), identity);
  if (!values) return fail(values.error());
  const auto duration = duration_of(from);
  if (!duration) return fail(duration.error());
  UpdateReservation update;
  update.name = from.name();
  update.fields.assign(from.fields().begin(), from.fields().end());
  update.values = std::move(*values);
  update.all_nodes = from.all_nodes();
  update.duration = *duration;
  return update;
}

Result<UserBody> to_delete_reservations(const api::DeleteReservations& from) {
  DeleteReservations gone;
  gone.names.assign(from.names().begin(), from.names().end());
  return gone;
}

}  // namespace ares::aresctld
