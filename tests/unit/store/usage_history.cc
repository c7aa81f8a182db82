#include "unit/store/usage_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "model/job/whole_gpu.h"

namespace ares::store::testing {
namespace {

std::int64_t second_of(Time at) {
  return std::chrono::floor<Seconds>(at).time_since_epoch().count();
}

const std::vector<std::string> kTres = {"cpu",     "mem",      "node",
                                        "billing", "gres/gpu", "gres/gpu:a100"};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Told& t) {
  return out << t.allocated << " " << t.down << " " << t.drained << " " << t.reserved << " "
             << t.idle << " over " << t.over;
}

UsageHistory::UsageHistory(Journal& journal, const Opened& opened, std::uint64_t seed)
    : journal_(journal), random_(seed), epoch_(opened.epoch), lsn_(opened.state.lsn) {
  begin_ = now_ = Time(std::chrono::sys_days(std::chrono::year(2030) / 1 / 30)) +
                  std::chrono::hours(5) + Duration(below(3'600'000'000));
  Batch batch = begin_batch();
  batch.tres = {{kTresCpu, "cpu"},      {kTresMem, "mem"},
                {kTresNode, "node"},    {kTresBilling, "billing"},
                {kTresGpu, "gres/gpu"}, {kFirstDynamicTres, "gres/gpu:a100"}};
  batch.all_history = true;
  standings_.resize(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    Node node;
    node.id = NodeId(static_cast<std::uint32_t>(i + 1));
    node.name = "n" + std::to_string(i + 1);
    node.configured.cpus = 4;
    node.configured.memory = Bytes::mib(8000);
    nodes_.push_back(node);
    note_node(i, batch);
  }
  commit(std::move(batch));
}

Batch UsageHistory::begin_batch() {
  Batch batch;
  batch.epoch = epoch_;
  lsn_ = batch.first = batch.last = lsn_.next();
  batch.events.push_back(std::make_shared<const Event>(Event{lsn_, epoch_, now_, PlanPass{}}));
  batch.now = now_;
  batch.next_job_id = JobId(1'000'000);
  batch.next_node_id = NodeId(100);
  return batch;
}

void UsageHistory::commit(Batch batch) {
  const auto done = journal_.commit(batch);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(*done, CommitOutcome::committed);
}

void UsageHistory::live(int steps) {
  for (int step = 0; step < steps; ++step) {
    now_ += Duration(1 + below(900'000'000));
    switch (below(8)) {
      case 0: change_node(); break;
      case 1: change_reservation(); break;
      case 2:
      case 3: end_attempt(); break;
      default: start_attempt();
    }
  }
}

void UsageHistory::note_node(int number, Batch& batch) {
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  auto shared = std::make_shared<const Node>(node);
  batch.nodes.push_back(shared);
  batch.node_history.push_back(shared);
  const Inventory& has = node.inventory.cpus > 0 ? node.inventory : node.configured;
  Standing standing;
  standing.began = now_;
  standing.state = node.contact != Contact::registered || node.admin == AdminState::down ? "down"
                   : node.admin == AdminState::drain                                     ? "drained"
                                                                                         : "up";
  standing.has = {
      {"cpu", has.cpus}, {"billing", has.cpus}, {"mem", has.memory.value() >> 20}, {"node", 1}};
  if (!has.gpus.empty())
    standing.has["gres/gpu"] = standing.has["gres/gpu:a100"] =
        static_cast<std::int64_t>(has.gpus.size()) * kWholeGpu;
  standings_[static_cast<std::size_t>(number)].push_back(std::move(standing));
}

void UsageHistory::change_node() {
  const int number = static_cast<int>(below(kNodes));
  Node& node = nodes_[static_cast<std::size_t>(number)];
  node.contact = below(4) == 0 ? Contact::lost : Contact::registered;
  node.admin =
      std::array{AdminState::up, AdminState::up, AdminState::drain, AdminState::down}[below(4)];
  if (node.contact == Contact::registered) {
    node.inventory.cpus = static_cast<std::uint32_t>(2 + 2 * below(3));
    node.inventory.memory = Bytes::mib(8000);
    node.inventory.gpus.clear();
    if (number == 0)
      for (std::uint16_t gpu = 0; gpu < 2; ++gpu)
        node.inventory.gpus.push_back({GpuIndex(gpu), "a100", {}});
  }
  Batch batch = begin_batch();
  note_node(number, batch);
  commit(std::move(batch));
}

void UsageHistory::change_reservation() {
  Batch batch = begin_batch();
  const std::string name = "r" + std::to_string(below(2));
  for (Kept& kept : kept_)
    if (kept.name == name && !kept.until) kept.until = now_;
  if (below(3) == 0) {
    batch.removed_reservations.push_back(name);
  } else {
    Reservation r;
    r.name = name;
    r.start = now_ + std::chrono::minutes(below(120)) - std::chrono::minutes(30);
    r.end = r.start + std::chrono::minutes(1 + below(400));
    r.maintenance = below(2) == 0;
    r.nodes = {"n" + std::to_string(1 + below(2)), "n" + std::to_string(3 + below(2))};
    batch.reservations.push_back(std::make_shared<const Reservation>(r));
    batch.reservation_history = batch.reservations;
    kept_.push_back({name, r, now_, {}});
  }
  commit(std::move(batch));
}

void UsageHistory::start_attempt() {
  Held held;
  auto spec = std::make_shared<JobSpec>();
  spec->user = "user" + std::to_string(below(3));
  spec->uid = UserId(1000);
  spec->account = "account" + std::to_string(below(2));
  spec->qos = below(2) ? "normal" : "high";
  Attempt& attempt = held.attempt;
  attempt.key = {{JobId(++jobs_), {}}, AttemptNo(1)};
  attempt.own_id = attempt.key.job.job;
  attempt.spec = spec;
  attempt.state = JobState::running;
  attempt.submitted = now_;
  attempt.started = now_ + Duration(1);
  attempt.allocation.at = now_;
  attempt.allocation.partition = "main";
  // Sometimes more than the nodes have: a node may have become smaller.
  const int first = static_cast<int>(below(kNodes)), count = 1 + static_cast<int>(below(3));
  for (int i = 0; i < count; ++i) {
    const int number = (first + i) % kNodes;
    NodeShare share;
    share.node = NodeId(static_cast<std::uint32_t>(number + 1));
    share.cpus = static_cast<std::uint32_t>(1 + below(2));
    share.memory = Bytes::mib(static_cast<std::int64_t>(100 * (1 + below(3))));
    Amounts& of = held.of_node[number];
    of = {{"cpu", share.cpus},
          {"billing", share.cpus},
          {"mem", share.memory.value() >> 20},
          {"node", 1}};
    if (number == 0 && !nodes_[0].inventory.gpus.empty() && below(2) == 0) {
      share.gpus = {GpuIndex(0)};
      of["gres/gpu"] = of["gres/gpu:a100"] = kWholeGpu;
    }
    attempt.allocation.nodes.push_back(share);
  }
  held.began = now_;
  Batch batch = begin_batch();
  batch.attempts.push_back(attempt);
  commit(std::move(batch));
  held_.push_back(std::move(held));
}

void UsageHistory::end_attempt() {
  std::vector<Held*> live;
  for (Held& held : held_)
    if (!held.released) live.push_back(&held);
  if (live.empty()) return commit(begin_batch());
  Held& held = *live[below(live.size())];
  held.released = now_;
  held.attempt.state = JobState::completed;
  // The script may have ended long before its nodes were released.
  const auto length = (now_ - held.began).count();
  held.attempt.ended =
      held.began +
      Duration(1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(length))));
  held.attempt.started = held.began + Duration(1);
  Batch batch = begin_batch();
  batch.events.push_back(std::make_shared<const Event>(
      Event{lsn_.next(), epoch_, now_,
            Ended{held.attempt.key.job, JobState::completed, Reason::none, {}}}));
  lsn_ = batch.last = lsn_.next();
  batch.now = now_ + Duration(1500);  // a batch takes some time
  now_ = batch.now;
  batch.attempts.push_back(held.attempt);
  commit(std::move(batch));
}

Told UsageHistory::told_at(std::int64_t second, const std::string& tres) const {
  const auto amount = [&](const Amounts& amounts) {
    const auto found = amounts.find(tres);
    return found == amounts.end() ? std::int64_t{0} : found->second;
  };
  Told told;
  for (int number = 0; number < kNodes; ++number) {
    const Standing* standing = nullptr;
    for (const Standing& one : standings_[static_cast<std::size_t>(number)])
      if (second_of(one.began) <= second) standing = &one;
    const std::int64_t has = standing ? amount(standing->has) : 0;
    std::int64_t held = 0;
    for (const Held& one : held_) {
      const auto share = one.of_node.find(number);
      if (share == one.of_node.end() || second < second_of(one.began)) continue;
      if (one.released && second >= second_of(*one.released)) continue;
      held += amount(share->second);
    }
    bool maintenance = false, reserved = false;
    const std::string name = nodes_[static_cast<std::size_t>(number)].name;
    for (const Kept& kept : kept_) {
      const auto& nodes = kept.reservation.nodes;
      if (std::find(nodes.begin(), nodes.end(), name) == nodes.end()) continue;
      const Time from = std::max(kept.since, kept.reservation.start);
      const Time to =
          kept.until ? std::min(*kept.until, kept.reservation.end) : kept.reservation.end;
      if (second < second_of(from) || second >= second_of(to)) continue;
      (kept.reservation.maintenance ? maintenance : reserved) = true;
    }
    const std::int64_t used = std::min(held, has), left = has - used;
    told.allocated += used;
    told.over += held - used;
    if (standing && standing->state == "down")
      told.down += left;
    else if (maintenance || (standing && standing->state == "drained"))
      told.drained += left;
    else if (reserved)
      told.reserved += left;
    else
      told.idle += left;
  }
  return told;
}

Capacity UsageHistory::capacity(Time from, Time to) const {
  // The second-by-second values are constant between these cuts.
  std::set<std::int64_t> cuts{second_of(from), second_of(to)};
  const auto cut = [&](Time at) {
    if (from < at && at < to) cuts.insert(second_of(at));
  };
  for (const auto& standings : standings_)
    for (const Standing& one : standings) cut(one.began);
  for (const Held& held : held_) {
    cut(held.began);
    if (held.released) cut(*held.released);
  }
  for (const Kept& kept : kept_) {
    for (const Time at : {kept.since, kept.reservation.start, kept.reservation.end}) cut(at);
    if (kept.until) cut(*kept.until);
  }
  Capacity sums;
  for (const std::string& tres : kTres) {
    Told& sum = sums[tres];
    for (auto next = std::next(cuts.begin()), at = cuts.begin(); next != cuts.end(); at = next++) {
      const Told told = told_at(*at, tres);
      const std::int64_t length = *next - *at;
      sum.allocated += told.allocated * length;
      sum.down += told.down * length;
      sum.drained += told.drained * length;
      sum.reserved += told.reserved * length;
      sum.idle += told.idle * length;
      sum.over += told.over * length;
    }
    if (sum == Told{}) sums.erase(tres);
  }
  return sums;
}

Usage UsageHistory::usage(Time from, Time to) const {
  Usage sums;
  for (const Held& held : held_) {
    const std::int64_t began = std::max(second_of(held.began), second_of(from));
    const std::int64_t ended =
        std::min(held.released ? second_of(*held.released) : second_of(to), second_of(to));
    if (began >= ended) continue;
    const JobSpec& spec = *held.attempt.spec;
    for (const auto& [number, amounts] : held.of_node)
      for (const auto& [tres, count] : amounts)
        sums[{spec.account, spec.user, spec.qos, tres}] += count * (ended - began);
  }
  return sums;
}

}  // namespace ares::store::testing
