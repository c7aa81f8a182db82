// The properties of reservations that `create` and `update` set.
#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/duration.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "base/timespec.h"

namespace ares::actl {
namespace {

using Wanted = ReservationWords;
using R = api::Reservation;

std::function<Status(Wanted&, const std::string&, Time)> time(const char* field,
                                                              void (R::*set)(std::int64_t)) {
  return [=](Wanted& wanted, const std::string& value, Time now) -> Status {
    const auto at = parse_timespec(value, now);
    if (!at) return fail(at.error());
    wanted.update.add_fields(field);
    (wanted.update.mutable_values()->*set)(at->time_since_epoch().count());
    return {};
  };
}

Status set_duration(Wanted& wanted, const std::string& value, Time) {
  const auto limit = parse_time_limit(value);
  if (!limit) return fail(limit.error());
  wanted.update.add_fields("duration");
  wanted.update.set_duration(*limit ? (*limit)->count() : 0);
  return {};
}

Status set_nodes(Wanted& wanted, const std::string& value, Time) {
  wanted.update.add_fields("nodes");
  if (cli::lower(value) == "all") {
    wanted.update.set_all_nodes(true);
    return {};
  }
  const auto names = expand_hostlist(value);
  if (!names) return fail(names.error());
  if (names->empty()) return invalid("name the nodes, or ALL");
  for (const std::string& name : *names) wanted.update.mutable_values()->add_members(name);
  return {};
}

Status set_count(Wanted& wanted, const std::string& value, Time) {
  const auto count = cli::parse_integer(value, 1, 1'000'000);
  if (!count) return fail(count.error());
  wanted.node_count = static_cast<std::uint32_t>(*count);
  return {};
}

Status set_partition(Wanted& wanted, const std::string& value, Time) {
  wanted.partition = value;
  return {};
}

std::function<Status(Wanted&, const std::string&, Time)> list(const char* field,
                                                              void (R::*add)(const std::string&)) {
  return [=](Wanted& wanted, const std::string& value, Time) -> Status {
    wanted.update.add_fields(field);
    if (cli::lower(value) == "none") return {};
    for (const std::string& name : cli::split(value, ','))
      if (!name.empty()) (wanted.update.mutable_values()->*add)(name);
    return {};
  };
}

R& values(Wanted& wanted) {
  return *wanted.update.mutable_values();
}

struct Flag {
  const char* word;
  void (*set)(Wanted&);
};
const Flag kFlags[] = {
    {"maint", [](Wanted& w) { values(w).set_maintenance(true); }},
    {"flex", [](Wanted& w) { values(w).set_flexible(true); }},
    {"ignore_jobs", [](Wanted& w) { values(w).set_ignore_jobs(true); }},
    {"overlap", [](Wanted& w) { values(w).set_overlap(true); }},
    {"replace_down", [](Wanted& w) { values(w).set_replace_down(true); }},
    {"static_alloc", [](Wanted& w) { w.keeps_nodes = true; }},
    {"daily", [](Wanted& w) { values(w).set_recurrence("DAILY"); }},
    {"weekly", [](Wanted& w) { values(w).set_recurrence("WEEKLY"); }},
};
const std::vector<std::string> kUnbuiltFlags = {
    "any_nodes",  "first_cores",        "force_start", "hourly",     "license_only",
    "magnetic",   "no_hold_jobs_after", "part_nodes",  "purge_comp", "replace",
    "spec_nodes", "time_float",         "user_delete", "weekday",    "weekend"};

// Sets all flags at once: flags that are not named are turned off.
Status set_flags(Wanted& wanted, const std::string& value, Time) {
  for (const char* field :
       {"maintenance", "flexible", "ignore_jobs", "overlap", "recurrence", "replace_down"})
    wanted.update.add_fields(field);
  const R& r = values(wanted);
  for (const std::string& text : cli::split(cli::lower(value), ',')) {
    if (text.empty() || text == "none") continue;
    std::vector<std::string> known;
    bool found = false;
    for (const Flag& flag : kFlags) {
      known.emplace_back(flag.word);
      if (text != flag.word) continue;
      if (!r.recurrence().empty() && (text == "daily" || text == "weekly"))
        return invalid("only one of DAILY and WEEKLY can be");
      flag.set(wanted);
      found = true;
    }
    if (found) continue;
    if (std::find(kUnbuiltFlags.begin(), kUnbuiltFlags.end(), text) != kUnbuiltFlags.end())
      return invalid("the flag " + excerpt(text) + " is not supported yet");
    return invalid("there is no flag " + quote(text) + "; known are " + cli::join(known, ", "));
  }
  if (wanted.keeps_nodes && r.replace_down())
    return invalid("only one of REPLACE_DOWN and STATIC_ALLOC can be");
  return {};
}

Status set_comment(Wanted& wanted, const std::string& value, Time) {
  wanted.update.add_fields("comment");
  wanted.update.mutable_values()->set_comment(value);
  return {};
}

}  // namespace

const Keys<ReservationWords>& reservation_keys() {
  static const Keys<Wanted> keys = {
      "a reservation",
      {{"StartTime",
        "TIME",
        "When it begins, as asub --begin takes it; now if it is made without. A new start alone "
        "moves "
        "the end with it.",
        time("start", &R::set_start),
        {"start"}},
       {"EndTime", "TIME", "When it ends.", time("end", &R::set_end), {"end"}},
       {"Duration", "LIMIT",
        "How long it lasts, as asub -t takes it, in place of an end. UNLIMITED: as long as a "
        "reservation may, ten years.",
        set_duration},
       {"Nodes", "NODES|ALL", "The nodes that are kept, whole.", set_nodes, {"nodelist"}},
       {"NodeCnt",
        "COUNT",
        "When it is made, in place of Nodes: so many, chosen among those that no other "
        "reservation and no running job needs then.",
        set_count,
        {"nodecount"}},
       {"PartitionName",
        "NAME",
        "When it is made with NodeCnt: whose nodes are chosen from.",
        set_partition,
        {"partition"}},
       {"Users",
        "NAMES",
        "Users whose jobs may use it; NONE for none.",
        list("users", &R::add_users),
        {"user"}},
       {"Accounts",
        "NAMES",
        "Accounts whose jobs may use it; NONE for none. Either is enough. The account is "
        "the one that the job names with asub -A.",
        list("accounts", &R::add_accounts),
        {"account"}},
       {"Flags",
        "LIST",
        "MAINT: maintenance, no jobs run; other reservations may have the same nodes. FLEX: its "
        "jobs may also use other nodes, begin "
        "before it and run on after it. DAILY, WEEKLY: it comes again at the same time of day. "
        "IGNORE_JOBS: make it although jobs may still run on its nodes then. OVERLAP: its nodes "
        "may be in another reservation at the same time; a job runs there then only if it asks for "
        "both. REPLACE_DOWN: a node of it that is down, drained or failing is exchanged, before "
        "and during its time, for one that no other reservation and no running job needs then: in "
        "the same partitions, with at least as many CPUs, GPUs and as much memory, if possible "
        "idle and with the same features. Its jobs run on where they are. If no node is free, the "
        "exchange waits for one. A reservation that is made with NodeCnt has this flag, unless "
        "STATIC_ALLOC or MAINT is given. Flags that are not named are otherwise off.",
        set_flags,
        {"flag"}},
       {"Comment", "TEXT", "A text kept with it.", set_comment}},
      {"burstbuffer", "corecnt", "features", "groups", "licenses", "maxstartdelay", "purgecomp",
       "qos", "skip", "tres", "trespernode", "watts", "allowedpartitions"}};
  return keys;
}

}  // namespace ares::actl
