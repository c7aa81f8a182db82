#include "store/pg/pg_history.h"

#include <map>
#include <string>
#include <utility>

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

constexpr PgStatement kNodeSpan{
    "node_span",
    "INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) "
    "SELECT n.node_id, $6::timestamptz, n.state, n.name, n.ids::integer[], n.counts::bigint[] "
    "FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) "
    "AS n(node_id, state, name, ids, counts) LEFT JOIN LATERAL "
    "(SELECT s.state, s.tres_ids, s.tres_counts FROM node_span s WHERE s.node_id = n.node_id "
    "ORDER BY s.began DESC LIMIT 1) AS was ON true "
    "WHERE (was.state, was.tres_ids, was.tres_counts) IS DISTINCT FROM "
    "(n.state, n.ids::integer[], n.counts::bigint[]) "
    "ON CONFLICT (node_id, began) DO UPDATE SET state = EXCLUDED.state, name = EXCLUDED.name, "
    "tres_ids = EXCLUDED.tres_ids, tres_counts = EXCLUDED.tres_counts"};

// $1: the nodes that are gone; if $2 is 1: the nodes that exist, all others are gone.
constexpr PgStatement kNodeSpanGone{
    "node_span_gone",
    "INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) "
    "SELECT was.node_id, $3::timestamptz, 'gone', was.name, '{}', '{}' FROM "
    "(SELECT DISTINCT ON (s.node_id) s.node_id, s.state, s.name FROM node_span s "
    "WHERE (s.node_id = ANY($1::bigint[])) <> ($2::bigint = 1) "
    "ORDER BY s.node_id, s.began DESC) AS was WHERE was.state <> 'gone' "
    "ON CONFLICT (node_id, began) DO UPDATE SET state = 'gone', tres_ids = '{}', "
    "tres_counts = '{}'"};

// Ends the spans of removed or changed reservations; if $7 is 1 of all that are not named.
constexpr PgStatement kReservationSpanEnd{
    "reservation_span_end",
    "WITH stays AS (SELECT n.name, n.starts, n.ends, n.maintenance = 1 AS maintenance, "
    "convert_from(n.nodes, 'UTF8') AS node_list FROM unnest($1::text[], $2::timestamptz[], "
    "$3::timestamptz[], $4::bigint[], $5::bytea[]) "
    "AS n(name, starts, ends, maintenance, nodes)) "
    "UPDATE reservation_span s SET until = $8::timestamptz WHERE s.until IS NULL "
    "AND (s.name = ANY($6::text[]) OR $7::bigint = 1 OR s.name IN (SELECT name FROM stays)) "
    "AND NOT EXISTS (SELECT FROM stays WHERE stays.name = s.name AND stays.starts = s.starts "
    "AND stays.ends = s.ends AND stays.maintenance = s.maintenance "
    "AND stays.node_list = s.node_list AND s.node_ids = ARRAY(SELECT node.node_id "
    "FROM node WHERE node.name = ANY(string_to_array(stays.node_list, ',')) ORDER BY 1))"};

constexpr PgStatement kReservationSpan{
    "reservation_span",
    "INSERT INTO reservation_span (name, since, starts, ends, maintenance, node_list, node_ids) "
    "SELECT n.name, $6::timestamptz, n.starts, n.ends, n.maintenance = 1, "
    "convert_from(n.nodes, 'UTF8'), ARRAY(SELECT node.node_id FROM node "
    "WHERE node.name = ANY(string_to_array(convert_from(n.nodes, 'UTF8'), ',')) ORDER BY 1) "
    "FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::bytea[]) "
    "AS n(name, starts, ends, maintenance, nodes) WHERE NOT EXISTS "
    "(SELECT FROM reservation_span s WHERE s.name = n.name AND s.until IS NULL) "
    "ON CONFLICT (name, since) DO UPDATE SET until = NULL, starts = EXCLUDED.starts, "
    "ends = EXCLUDED.ends, maintenance = EXCLUDED.maintenance, node_list = EXCLUDED.node_list, "
    "node_ids = EXCLUDED.node_ids"};

// A node that is gone has the name of its last event.
constexpr PgStatement kNodeEvent{
    "node_event",
    "INSERT INTO node_event (at, node_id, name, what, uid, detail) "
    "SELECT n.at, n.node_id, coalesce(nullif(n.name, ''), (SELECT e.name FROM node_event e "
    "WHERE e.node_id = n.node_id ORDER BY e.id DESC LIMIT 1), ''), n.what, n.uid, n.detail "
    "FROM unnest($1::timestamptz[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], "
    "$6::text[]) WITH ORDINALITY AS n(at, node_id, name, what, uid, detail, place) "
    "ORDER BY n.place"};

// "{1,5}"
template <class Number>
std::string literal(const TresCounts& counts, Number&& number) {
  std::string text = "{";
  for (const auto& item : counts) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number(item));
  }
  return text + '}';
}

void node_steps(const Batch& batch, const Catalogue& catalogue, Time at,
                std::vector<PgStep>& steps) {
  std::map<NodeId, const Node*> nodes;
  for (const auto& node : batch.node_history) nodes[node->id] = node.get();
  if (!nodes.empty()) {
    ArrayParam id(Element::bigint), state(Element::text), name(Element::text), ids(Element::text),
        counts(Element::text);
    for (const auto& [number, node] : nodes) {
      const TresCounts tres = catalogue.interned(Catalogue::capacity(*node));
      id.add(number.value());
      state.add(availability_of(*node));
      name.add(std::string_view(node->name));
      ids.add(std::string_view(literal(tres, [](auto& t) { return t.first.value(); })));
      counts.add(std::string_view(literal(tres, [](auto& t) { return t.second; })));
    }
    PgParams params;
    params.array(std::move(id)).array(std::move(state)).array(std::move(name));
    params.array(std::move(ids)).array(std::move(counts)).timestamp(at);
    steps.push_back({&kNodeSpan, std::move(params)});
  }
  if (!batch.all_history && batch.removed_nodes.empty()) return;
  ArrayParam named(Element::bigint);
  if (batch.all_history)
    for (const auto& [number, node] : nodes) named.add(number.value());
  else
    for (const NodeId number : batch.removed_nodes) named.add(number.value());
  PgParams params;
  params.array(std::move(named)).bigint(std::int64_t{batch.all_history}).timestamp(at);
  steps.push_back({&kNodeSpanGone, std::move(params)});
}

void reservation_steps(const Batch& batch, Time at, std::vector<PgStep>& steps) {
  if (batch.reservation_history.empty() && batch.removed_reservations.empty() && !batch.all_history)
    return;
  std::map<std::string, const Reservation*> kept;
  for (const auto& reservation : batch.reservation_history)
    kept[clean_text(reservation->name)] = reservation.get();
  PgParams end, begin;
  for (PgParams* params : {&end, &begin}) {
    ArrayParam name(Element::text), starts(Element::timestamptz), ends(Element::timestamptz),
        maintenance(Element::bigint);
    ArrayParam nodes(
        Element::bytea);  // as bytes: the list of thousands of nodes exceeds the limit for texts
    for (const auto& [key, reservation] : kept) {
      name.add(std::string_view(key));
      starts.add(reservation->start);
      ends.add(reservation->end);
      maintenance.add(std::int64_t{reservation->maintenance});
      std::string list;
      for (const std::string& node : reservation->nodes) list += (list.empty() ? "" : ",") + node;
      nodes.add(std::string_view(list));
    }
    params->array(std::move(name)).array(std::move(starts)).array(std::move(ends));
    params->array(std::move(maintenance)).array(std::move(nodes));
  }
  ArrayParam removed(Element::text);
  for (const std::string& name : batch.removed_reservations) removed.add(std::string_view(name));
  end.array(std::move(removed)).bigint(std::int64_t{batch.all_history}).timestamp(at);
  begin.timestamp(at);
  steps.push_back({&kReservationSpanEnd, std::move(end)});
  if (!kept.empty()) steps.push_back({&kReservationSpan, std::move(begin)});
}

void node_event_steps(const Batch& batch, std::vector<PgStep>& steps) {
  if (batch.node_events.empty()) return;
  ArrayParam at(Element::timestamptz), node(Element::bigint), name(Element::text),
      what(Element::text), uid(Element::bigint), detail(Element::text);
  for (const NodeEvent& event : batch.node_events) {
    at.add(event.at);
    node.add(std::uint64_t{event.node.value()});
    name.add(std::string_view(event.name));
    what.add(event.what);
    if (event.by)
      uid.add(std::uint64_t{event.by->value()});
    else
      uid.add_null();
    detail.add(std::string_view(event.detail));
  }
  PgParams params;
  params.array(std::move(at)).array(std::move(node)).array(std::move(name));
  params.array(std::move(what)).array(std::move(uid)).array(std::move(detail));
  steps.push_back({&kNodeEvent, std::move(params)});
}

}  // namespace

std::string_view availability_of(const Node& node) {
  if (node.contact != Contact::registered || node.admin == AdminState::down) return "down";
  return node.admin != AdminState::up || node.leaving ? "drained" : "up";
}

std::vector<const PgStatement*> history_statements() {
  return {&kNodeSpan, &kNodeSpanGone, &kReservationSpanEnd, &kReservationSpan, &kNodeEvent};
}

void history_steps(const Batch& batch, const Catalogue& catalogue, std::vector<PgStep>& steps) {
  const Time at = batch.events.front()->at;
  node_steps(batch, catalogue, at, steps);
  reservation_steps(batch, at, steps);
  node_event_steps(batch, steps);
}

}  // namespace ares::store
