// Reservations, as `actl show reservation` prints them.
#include "aresctld/query/queries.h"
#include "base/hostlist.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(Time at) {
  return at.time_since_epoch().count();
}

void describe(const Reservation& r, Identity& identity, Time now, api::Reservation& out) {
  const Window when = occurrence_at(r, now).value_or(Window{r.start, r.end});
  out.set_name(r.name);
  out.set_start(micros(when.start));
  out.set_end(micros(when.end));
  out.set_recurrence(std::string(to_string(r.recurrence)));
  out.set_nodes(compress_hostlist(r.nodes));
  out.set_node_count(static_cast<std::uint32_t>(r.nodes.size()));
  for (const UserId user : r.users) out.add_users(identity.name_of(user));
  for (const std::string& account : r.accounts) out.add_accounts(account);
  out.set_maintenance(r.maintenance);
  out.set_flexible(r.flexible);
  out.set_ignore_jobs(r.ignore_jobs);
  out.set_overlap(r.overlap);
  out.set_comment(r.comment);
  out.set_replace_down(r.replace_down);
  out.set_state(is_active(r, now) ? "ACTIVE" : "INACTIVE");
}

}  // namespace

Result<api::Reservations> list_reservations(const View& view, Identity& identity,
                                            const api::ListReservations& filter, Time now) {
  api::Reservations out;
  out.set_now(micros(now));
  if (filter.names().empty()) {
    view.state->reservations.for_each([&](const std::string&, const Reservation& r) {
      describe(r, identity, now, *out.add_reservations());
    });
    return out;
  }
  for (const std::string& name : filter.names()) {
    const Reservation* r = view.state->reservations.find(name);
    if (!r) return fail(ErrorCode::not_found, "there is no reservation " + name);
    describe(*r, identity, now, *out.add_reservations());
  }
  return out;
}

}  // namespace ares::aresctld
