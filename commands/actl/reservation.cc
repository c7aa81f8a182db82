// `create`, `update` and `delete` of reservations.
#include "actl/assign.h"
#include "actl/file_partitions.h"
#include "actl/spelling.h"
#include "actl/update_keys.h"
#include "base/printable.h"

namespace ares::actl {
namespace {

Status apply_all(ReservationWords& wanted, const std::vector<Assignment>& all) {
  const Time now = cli::clock_now();
  for (const Assignment& one : all)
    if (Status done = apply_key(reservation_keys(), wanted, one.key, one.value, now); !done)
      return done;
  return {};
}

bool names_reservation(const std::string& key) {
  return key == "reservationname" || key == "reservation";
}

// Removes the assignment of the name and returns its value; empty if there is none.
Result<std::string> take_name(std::vector<Assignment>& all) {
  std::string name;
  for (auto it = all.begin(); it != all.end();) {
    if (!names_reservation(it->key)) {
      ++it;
      continue;
    }
    if (!name.empty()) return invalid("name one reservation");
    name = it->value;
    it = all.erase(it);
  }
  return name;
}

}  // namespace

// `create reservation [NAME] …`, and scontrol's `create reservationname=NAME …`.
Result<int> create(Context& context, const Words& operands) {
  if (auto refused = refuse_new_partition(operands)) return fail(*std::move(refused));
  Words words = operands;
  const bool has_keyword = !words.empty() && is_reservation_word(words[0]);
  if (has_keyword) {
    words.erase(words.begin());
    if (!words.empty() && words[0].find('=') == std::string::npos)
      words[0] = "reservationname=" + words[0];
  }
  auto all = assignments(words);
  if (!all) return fail(all.error());
  for (const char* other : {"nodename", "node"})
    if (!has_keyword && !all->empty() && all->front().key == other)
      return invalid(
          "create with " + excerpt(all->front().key) +
          "= is not supported: write nodes into ares.yaml and run actl reconfigure, which "
          "leaves running jobs alone");
  const auto name = take_name(*all);
  if (!name) return fail(name.error());
  if (name->empty() && !has_keyword)
    return invalid("create what? Write create reservation, or reservationname=NAME");
  ReservationWords wanted;
  if (Status done = apply_all(wanted, *all); !done) return fail(done.error());
  api::Request request;
  api::CreateReservation& create = *request.mutable_create_reservation();
  *create.mutable_values() = wanted.update.values();
  create.mutable_values()->set_name(*name);
  if (wanted.update.has_duration()) create.set_duration(wanted.update.duration());
  create.set_all_nodes(wanted.update.all_nodes());
  create.set_node_count(wanted.node_count);
  create.set_partition(wanted.partition);
  create.set_keeps_nodes(wanted.keeps_nodes);
  return context.change(request);
}

Result<int> update_reservations(Context& context, const std::string& name,
                                const std::vector<Assignment>& all) {
  if (all.empty())
    return invalid("nothing to change; name at least one property of " +
                   reservation_keys().subject);
  ReservationWords wanted;
  if (Status done = apply_all(wanted, all); !done) return fail(done.error());
  if (wanted.node_count > 0 || !wanted.partition.empty())
    return invalid("nodes are chosen only when a reservation is made; name them: Nodes=");
  api::Request request;
  *request.mutable_update_reservation() = wanted.update;
  request.mutable_update_reservation()->set_name(name);
  return context.change(request);
}

// `delete reservation NAMES`, and scontrol's `delete reservationname=NAMES`.
Result<int> remove(Context& context, const Words& operands) {
  Words words = operands;
  for (const char* key : {"nodename=", "node="})
    if (!words.empty() && cli::lower(words[0]).starts_with(key))
      return delete_nodes(context, words);
  if (auto refused = refuse_deletion(words)) return fail(*std::move(refused));
  if (!words.empty() && is_reservation_word(words[0])) words.erase(words.begin());
  api::Request request;
  api::DeleteReservations& deletion = *request.mutable_delete_reservations();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string key = cli::lower(word.substr(0, equals));
    if (equals != std::string::npos && !names_reservation(key))
      return invalid("delete with " + excerpt(word.substr(0, equals)) +
                     "= is not supported; delete reservation NAMES, or delete node NODES");
    for (const std::string& name :
         cli::split(equals == std::string::npos ? word : word.substr(equals + 1), ','))
      if (!name.empty()) deletion.add_names(name);
  }
  if (deletion.names().empty()) return invalid("name the reservations");
  return context.change(request);
}

}  // namespace ares::actl
