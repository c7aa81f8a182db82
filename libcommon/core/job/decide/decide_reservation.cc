// Reservations: create, update, delete, move to the next occurrence, and exchange nodes that are down.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/duration.h"
#include "base/printable.h"
#include "core/accounts/account_directory.h"
#include "core/job/decide/decision_context.h"
#include "core/state/timers.h"
#include "model/job/text_check.h"

namespace ares::core {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxReservations = 10'000;
constexpr auto kLatest = std::chrono::minutes(1);  // how far in the past a start may be
constexpr auto kLongest = std::chrono::hours(24 * 366 * 10);
constexpr auto kFarthest = std::chrono::hours(24 * 366 * 100);  // from now, past or future
// Number of overlap checks between two recurring reservations, at most.
constexpr int kCompared = 400;

Error bad(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Status may_reserve(const DecisionContext& q, const Principal& who) {
  if (is_operator(q.policy, who.uid)) return {};
  return fail(
      ErrorCode::permission_denied,
      "user " + who.user + " may not change reservations: only operators and administrators may");
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

// For a reservation that is made without a name: "physics_1", after its account, or else after who
// makes it. A name that a job still asks for is not given again.
std::string new_name(const DecisionContext& q, const Reservation& r, const Principal& who) {
  std::set<std::string_view> asked_for;
  q.state.jobs.for_each([&](const JobKey&, const Job& job) {
    asked_for.insert(job.spec->reservations.begin(), job.spec->reservations.end());
  });
  std::string base = r.accounts.empty() ? who.user : r.accounts.front();
  if (!is_valid_name(base) || base.size() > kMaxName / 2) base = "reservation";
  for (std::uint64_t number = 1;; ++number) {
    std::string name = base + "_" + std::to_string(number);
    if (!q.state.reservations.find(name) && !asked_for.contains(name)) return name;
  }
}

// The times of a reservation, by themselves.
Status check_times(const Reservation& r, Time now) {
  const std::string which = "reservation " + r.name;
  if (r.start > now + kFarthest || r.start < now - kFarthest || r.end > now + 2 * kFarthest ||
      r.end < now - kFarthest)
    return fail(bad(which + ": it would be more than a hundred years away"));
  if (r.end <= r.start) return fail(bad(which + ": it would end before it begins"));
  if (r.end - r.start > kLongest) return fail(bad(which + ": it would last more than ten years"));
  if (r.recurrence != Recurrence::none && r.end - r.start >= period_of(r.recurrence))
    return fail(bad(which + ": it would come again before it is over"));
  return {};
}

// Everything but the times, by itself.
Status check_reservation(const Reservation& r) {
  const std::string which = "reservation " + r.name;
  if (!is_valid_name(r.name))
    return fail(bad("a reservation's name has 1 to " + std::to_string(kMaxName) +
                    " letters, digits, or any of _ - ."));
  if (r.nodes.empty()) return fail(bad(which + ": it needs at least one node"));
  if (!r.maintenance && r.users.empty() && r.accounts.empty())
    return fail(bad(which + ": name users or accounts who may use it, or the flag MAINT"));
  if (r.maintenance && (!r.users.empty() || !r.accounts.empty()))
    return fail(bad(which + ": no jobs run during maintenance; leave out users and accounts"));
  if (r.maintenance && r.replace_down)
    return fail(bad(which + ": nodes under maintenance are not replaced; leave out REPLACE_DOWN"));
  if (Status s = check_plain(which + ": comment", r.comment); !s) return s;
  for (const std::string& account : r.accounts)
    if (Status s = check_plain(which + ": account", account); !s) return s;
  return {};
}

// Where jobs need an account that exists, one that does not would keep the nodes from all.
Status check_accounts(const DecisionContext& q, const Reservation& r) {
  if (q.policy.accounting.enforce == Enforce::none) return {};
  for (const std::string& account : r.accounts)
    if (!find_account(q.state.accounting, account))
      return fail(bad("reservation " + r.name + ": there is no account " + account));
  return {};
}

// Bounds the start before it is used in arithmetic.
Status check_far(Time at, Time now) {
  if (at <= now + kFarthest && at >= now - kFarthest) return {};
  return fail(bad("a reservation cannot begin more than a hundred years away"));
}

bool sets(const UpdateReservation& c, std::string_view field) {
  return std::find(c.fields.begin(), c.fields.end(), field) != c.fields.end();
}

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The start of the first overlap of the two, if there is one.
std::optional<Time> both(const Reservation& a, const Reservation& b) {
  Time at = std::max(a.start, b.start);
  for (int i = 0; i < kCompared; ++i) {
    const auto x = occurrence_at(a, at), y = occurrence_at(b, at);
    if (!x || !y) return std::nullopt;
    const Time begin = std::max(x->start, y->start);
    if (begin < std::min(x->end, y->end)) return begin;
    at = std::min(x->end, y->end);
  }
  return std::nullopt;
}

// Why a node cannot be in the reservation; none if it can.
class Obstacles {
 public:
  // `strict`: in spite of flags that permit other reservations and jobs on its nodes.
  Obstacles(const DecisionContext& q, const Reservation& r, bool strict = false)
      : q_(q), wanted_(r), ignores_jobs_(r.ignore_jobs && !strict) {
    q.state.reservations.for_each([&](const std::string&, const Reservation& other) {
      if (other.name == r.name) return;
      if (!strict && (r.overlap || other.overlap || r.maintenance || other.maintenance)) return;
      if (both(r, other)) rivals_.push_back(&other);
    });
  }

  std::optional<std::string> on(const Node& node) const {
    for (const Reservation* rival : rivals_)
      if (has_node(*rival, node.name))
        return "node " + node.name + " is in reservation " + rival->name +
               " at the same time; another time, other nodes, or the flag OVERLAP would do";
    if (ignores_jobs_) return std::nullopt;
    for (const Charge& charge : node.charges) {
      const Job* job = q_.state.jobs.find(charge.attempt.job);
      if (!job || job->attempt != charge.attempt.attempt || !runs_into(*job)) continue;
      return "job " + job_text(job->key) + " on node " + node.name +
             " may still run then; a later start, other nodes, or the flag IGNORE_JOBS would do";
    }
    return std::nullopt;
  }

 private:
  bool runs_into(const Job& job) const {
    if (job.ending || !job.allocation) return false;
    const auto& requested = job.spec->reservations;
    if (std::find(requested.begin(), requested.end(), wanted_.name) != requested.end())
      return false;
    if (!job.allocation->time_limit) return touches(wanted_, q_.now, std::nullopt);
    if (job.started) return touches(wanted_, q_.now, limit_end(job));
    return touches(wanted_, q_.now,
                   std::max(job.allocation->at, q_.now) + *job.allocation->time_limit);
  }

  const DecisionContext& q_;
  const Reservation& wanted_;
  const bool ignores_jobs_;
  std::vector<const Reservation*> rivals_;
};

// The names, ascending; all nodes of the cluster if `all`.
Result<std::vector<std::string>> known_nodes(const ClusterState& state,
                                             std::vector<std::string> names, bool all) {
  if (all) {
    names.clear();
    state.nodes.for_each([&](NodeId, const Node& node) {
      if (!node.leaving) names.push_back(node.name);
    });
  }
  sort_unique(names);
  for (const std::string& name : names) {
    const NodeId* id = state.node_ids.find(name);
    if (!id || state.nodes.find(*id)->leaving)
      return fail(bad("Invalid node name specified: " + name));
  }
  return names;
}

// Chooses c.node_count nodes without obstacles, nodes in service first, by id. Returns them sorted.
Result<std::vector<std::string>> choose_nodes(const DecisionContext& q, const CreateReservation& c,
                                              const Reservation& r) {
  const Partition* partition = nullptr;
  if (!c.partition.empty()) {
    partition = q.state.partitions.find(c.partition);
    if (!partition) return fail(bad("Invalid partition name specified: " + c.partition));
  }
  const Obstacles obstacles(q, r), strict(q, r, true);
  // Best first: those that others use at the same time, and those that start no jobs now, come last.
  std::vector<std::string> good, shared, poor;
  std::size_t considered = 0;
  q.state.nodes.for_each([&](NodeId, const Node& node) {
    if (node.leaving || (partition && !q.state.members.find({partition->name, node.name}))) return;
    ++considered;
    if (obstacles.on(node)) return;
    (!takes_jobs(node) ? poor : strict.on(node) ? shared : good).push_back(node.name);
  });
  std::move(shared.begin(), shared.end(), std::back_inserter(good));
  std::move(poor.begin(), poor.end(), std::back_inserter(good));
  if (good.size() < c.node_count)
    return fail(ErrorCode::failed_precondition,
                "reservation " + r.name + ": " + std::to_string(c.node_count) +
                    " nodes are asked for; " + std::to_string(good.size()) + " of " +
                    std::to_string(considered) +
                    " are free of other reservations and of jobs that may still run then");
  good.resize(c.node_count);
  sort_unique(good);
  return good;
}

Status check_obstacles(const DecisionContext& q, const Reservation& r) {
  const Obstacles obstacles(q, r);
  for (const std::string& name : r.nodes) {
    const NodeId* id = q.state.node_ids.find(name);
    if (auto why = id ? obstacles.on(*q.state.nodes.find(*id)) : std::nullopt)
      return fail(ErrorCode::failed_precondition, "reservation " + r.name + ": " + *why);
  }
  return {};
}

template <auto Member>
void copy(const Reservation& from, Reservation& to) {
  to.*Member = from.*Member;
}

// Fields that a command may change, named as in api.proto's Reservation. `duration` is not here.
struct Field {
  std::string_view name;
  void (*copy)(const Reservation& from, Reservation& to);
};
constexpr Field kFields[] = {
    {"start", copy<&Reservation::start>},
    {"end", copy<&Reservation::end>},
    {"nodes", copy<&Reservation::nodes>},
    {"recurrence", copy<&Reservation::recurrence>},
    {"users", copy<&Reservation::users>},
    {"accounts", copy<&Reservation::accounts>},
    {"maintenance", copy<&Reservation::maintenance>},
    {"flexible", copy<&Reservation::flexible>},
    {"ignore_jobs", copy<&Reservation::ignore_jobs>},
    {"overlap", copy<&Reservation::overlap>},
    {"comment", copy<&Reservation::comment>},
    {"replace_down", copy<&Reservation::replace_down>},
};

// Jobs will not start on it until an operator or the node itself acts. A node that is rebooted comes back.
bool is_out_of_service(const Node& node) {
  if (node.leaving) return true;
  return !node.reboot && (node.admin != AdminState::up || node.contact != Contact::registered);
}

std::map<std::string_view, std::size_t> gpus_by_type(const Inventory& inventory) {
  std::map<std::string_view, std::size_t> counts;
  for (const Gpu& gpu : inventory.gpus) ++counts[gpu.type];
  return counts;
}

// Whether a node has the CPUs, memory and GPUs of another.
bool has_amounts_of(const Node& node, const Node& gone) {
  const Inventory &has = node.inventory, &had = gone.inventory;
  if (cpu_thousandths_of(has) < cpu_thousandths_of(had) || has.memory < had.memory) return false;
  const auto gpus = gpus_by_type(has), needed = gpus_by_type(had);
  return std::all_of(needed.begin(), needed.end(), [&](const auto& one) {
    const auto there = gpus.find(one.first);
    return there != gpus.end() && there->second >= one.second;
  });
}

std::vector<std::string> partitions_of(const ClusterState& state, const Node& node) {
  std::vector<std::string> names;
  state.partitions.for_each([&](const std::string& name, const Partition&) {
    if (state.members.find({name, node.name})) names.push_back(name);
  });
  return names;
}

// Smaller is better: nodes with all features of the other, then idle ones, then ones of its size.
auto rank_of_substitute(const Node& node, const Node& gone) {
  const auto& features = node.inventory.features;
  const bool lacks_features = std::any_of(
      gone.inventory.features.begin(), gone.inventory.features.end(), [&](const auto& feature) {
        return std::find(features.begin(), features.end(), feature) == features.end();
      });
  const Inventory &a = node.inventory, &b = gone.inventory;
  const bool other_size = cpu_thousandths_of(a) != cpu_thousandths_of(b) || a.memory != b.memory ||
                          a.gpus.size() != b.gpus.size();
  return std::tuple(lacks_features, !node.charges.empty(), other_size);
}

// Exchanges nodes of one reservation. A node gets into one reservation at a time.
class Replacement {
 public:
  Replacement(const DecisionContext& q, const Reservation& r, std::set<NodeId>& taken)
      : q_(q), reservation_(r), taken_(taken) {}

  // The best node in the place of `gone`, the first by id of equal ones; null if none is free.
  const Node* find(const Node& gone) {
    const auto partitions = partitions_of(q_.state, gone);
    const Node* best = nullptr;
    for (const Node* node : free_nodes()) {
      if (taken_.contains(node->id) || !has_amounts_of(*node, gone)) continue;
      if (best && rank_of_substitute(*best, gone) <= rank_of_substitute(*node, gone)) continue;
      if (std::all_of(partitions.begin(), partitions.end(), [&](const std::string& name) {
            return q_.state.members.find({name, node->name});
          }))
        best = node;
    }
    if (best) taken_.insert(best->id);
    return best;
  }

 private:
  // Found when first needed: mostly no node of a reservation is down.
  const std::vector<const Node*>& free_nodes() {
    if (free_) return *free_;
    free_.emplace();
    const Obstacles obstacles(q_, reservation_, true);
    q_.state.nodes.for_each([&](NodeId, const Node& node) {
      if (takes_jobs(node) && !node.leaving && !has_node(reservation_, node.name) &&
          !obstacles.on(node))
        free_->push_back(&node);
    });
    return *free_;
  }

  const DecisionContext& q_;
  const Reservation& reservation_;
  std::set<NodeId>& taken_;
  std::optional<std::vector<const Node*>> free_;
};

Decision refuse(const Error& error) {
  return core::refuse(error.code, error.message);
}

}  // namespace

Decision decide_admin(const DecisionContext& q, const Principal& who, const CreateReservation& c) {
  if (Status s = may_reserve(q, who); !s) return refuse(s.error());
  Reservation r = c.values;
  if (r.name.empty()) r.name = new_name(q, r, who);
  if (r.start == Time{}) r.start = q.now;
  if (c.duration && r.end != Time{})
    return refuse(bad("reservation " + r.name + ": give an end or a duration, not both"));
  if (c.node_count > 0 && (c.all_nodes || !r.nodes.empty()))
    return refuse(bad("reservation " + r.name + ": name nodes or their number, not both"));
  if (!c.partition.empty() && c.node_count == 0)
    return refuse(bad("reservation " + r.name +
                      ": a partition is where nodes are chosen from; give their number as well"));
  if (Status s = check_far(r.start, q.now); !s) return refuse(s.error());
  if (c.duration) r.end = r.start + *c.duration;
  if (r.end == Time{})
    return refuse(bad("reservation " + r.name + ": say when it ends, or how long it lasts"));
  sort_unique(r.users);
  sort_unique(r.accounts);
  if (q.state.reservations.find(r.name))
    return core::refuse(ErrorCode::already_exists,
                        "there is a reservation " + r.name + " already; update or delete it");
  if (q.state.reservations.size() >= kMaxReservations)
    return core::refuse(ErrorCode::resource_exhausted, "there are as many reservations as may be");
  if (r.start < q.now - kLatest)
    return refuse(bad("reservation " + r.name + ": it would begin in the past"));
  if (Status s = check_times(r, q.now); !s) return refuse(s.error());
  const bool chosen = c.node_count > 0;
  auto nodes =
      chosen ? choose_nodes(q, c, r) : known_nodes(q.state, std::move(r.nodes), c.all_nodes);
  if (!nodes) return refuse(nodes.error());
  r.nodes = std::move(*nodes);
  if (chosen && !c.keeps_nodes && !r.maintenance) r.replace_down = true;
  if (Status s = check_reservation(r); !s) return refuse(s.error());
  if (Status s = check_accounts(q, r); !s) return refuse(s.error());
  if (!chosen)
    if (Status s = check_obstacles(q, r); !s) return refuse(s.error());
  Decision d;
  d.text = "reservation " + r.name + " created";
  d.events.emplace_back(ReservationSet{std::move(r)});
  return d;
}

Decision decide_admin(const DecisionContext& q, const Principal& who, const UpdateReservation& c) {
  if (Status s = may_reserve(q, who); !s) return refuse(s.error());
  const Reservation* found = q.state.reservations.find(c.name);
  if (!found) return core::refuse(ErrorCode::not_found, "there is no reservation " + c.name);
  if (c.fields.empty()) return refuse(bad("nothing to change"));
  Reservation r = *found;
  for (const std::string& name : c.fields) {
    if (name == "duration" && c.duration) continue;  // applied below, when the start is known
    const auto* field = std::find_if(std::begin(kFields), std::end(kFields),
                                     [&](const Field& row) { return row.name == name; });
    if (field == std::end(kFields))
      return refuse(bad("this controller cannot change " + quote(name) + " of a reservation"));
    field->copy(c.values, r);
  }
  if (c.duration && sets(c, "end"))
    return refuse(bad("reservation " + r.name + ": give an end or a duration, not both"));
  if (Status s = check_far(r.start, q.now); !s) return refuse(s.error());
  if (c.duration) r.end = r.start + *c.duration;
  // With a new start alone it lasts as long as before.
  else if (sets(c, "start") && !sets(c, "end"))
    r.end = r.start + (found->end - found->start);
  sort_unique(r.users);
  sort_unique(r.accounts);
  if (sets(c, "nodes")) {  // an unchanged list may contain nodes that have left
    auto nodes = known_nodes(q.state, std::move(r.nodes), c.all_nodes);
    if (!nodes) return refuse(nodes.error());
    r.nodes = std::move(*nodes);
  }
  if (Status s = check_times(r, q.now); !s) return refuse(s.error());
  if (Status s = check_reservation(r); !s) return refuse(s.error());
  if (Status s = check_accounts(q, r); !s) return refuse(s.error());
  if (!occurrence_at(r, q.now))
    return refuse(bad("reservation " + r.name + ": it would be over already; delete it instead"));
  const bool moves = r.start != found->start || r.end != found->end || r.nodes != found->nodes ||
                     r.recurrence != found->recurrence || r.overlap != found->overlap ||
                     r.maintenance != found->maintenance || r.ignore_jobs != found->ignore_jobs;
  if (moves)
    if (Status s = check_obstacles(q, r); !s) return refuse(s.error());
  Decision d;
  if (r != *found) d.events.emplace_back(ReservationSet{std::move(r)});
  return d;
}

Decision decide_admin(const DecisionContext& q, const Principal& who, const DeleteReservations& c) {
  if (Status s = may_reserve(q, who); !s) return refuse(s.error());
  if (c.names.empty()) return refuse(bad("no reservations given"));
  std::vector<std::string> names = c.names;
  sort_unique(names);
  Decision d;
  for (const std::string& name : names) {
    if (!q.state.reservations.find(name))
      return core::refuse(ErrorCode::not_found, "there is no reservation " + name);
    d.events.emplace_back(ReservationRemoved{name});
  }
  return d;
}

void replace_down_nodes(const DecisionContext& q, Decision& d) {
  std::set<NodeId> taken;
  q.state.reservations.for_each([&](const std::string&, const Reservation& r) {
    if (!r.replace_down || r.maintenance || r.end <= q.now) return;
    ReservationSet change{r, {}};
    Replacement replacement(q, r, taken);
    for (const std::string& name : r.nodes) {
      const NodeId* id = q.state.node_ids.find(name);
      const Node* gone = id ? q.state.nodes.find(*id) : nullptr;
      if (!gone || !is_out_of_service(*gone)) continue;
      const Node* found = replacement.find(*gone);
      if (!found) continue;
      change.replaced.push_back({gone->id, found->id});
      auto& nodes = change.reservation.nodes;
      std::replace(nodes.begin(), nodes.end(), name, found->name);
      std::sort(nodes.begin(), nodes.end());
    }
    if (!change.replaced.empty()) d.events.emplace_back(std::move(change));
  });
}

Decision decide_time(const DecisionContext& q, const NextOccurrence& c) {
  Decision d;
  const Reservation* r = q.state.reservations.find(c.reservation);
  if (!r || r->recurrence == Recurrence::none || r->end > q.now) return d;
  if (c.when.start < r->end || c.when.end <= std::max(c.when.start, q.now)) return d;
  Reservation next = *r;
  next.start = c.when.start;
  next.end = c.when.end;
  d.events.emplace_back(ReservationSet{std::move(next)});
  return d;
}

}  // namespace ares::core
