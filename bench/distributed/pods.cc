#include "distributed/pods.h"

#include <array>
#include <cmath>
#include <map>
#include <set>

namespace ares::bench {
namespace {

class Pods {
 public:
  Pods(const std::vector<Training>& jobs, const PodRules& rules, std::uint64_t seed)
      : jobs_(jobs), rules_(rules), dice_(seed), states_(jobs.size()) {
    for (const SiteNode& node : site()) free_.push_back(node.gpus);
    for (std::size_t job = 0; job < jobs.size(); ++job) queue(job);
  }

  Figures run() {
    place();
    while (!events_.empty()) {
      now_ = events_.begin()->first;
      for (; !events_.empty() && events_.begin()->first == now_; events_.erase(events_.begin()))
        happen(events_.begin()->second);
      place();
    }
    if (out_.ended > 0) out_.to_train /= out_.ended;
    return out_;
  }

 private:
  struct Event {
    enum class Kind { end, give_up } kind;
    std::size_t job;
    unsigned round;  // for give_up: ignored if the job has queued again since
  };
  struct State {
    std::vector<unsigned> nodes;            // of the placed workers
    std::array<Seconds, kWorkers> since{};  // when each worker was placed
    unsigned round = 0;
    bool started = false;
  };
  using Pod = std::pair<double, std::size_t>;  // creation time, job

  void happen(const Event& event) {
    State& state = states_[event.job];
    const Training& job = jobs_[event.job];
    switch (event.kind) {
      case Event::Kind::end:
        give_back(event.job);
        ++out_.ended;
        out_.to_train += static_cast<double>(now_.count());
        out_.makespan = static_cast<double>(now_.count());
        break;
      case Event::Kind::give_up:
        if (state.started || state.round != event.round) break;
        for (unsigned i = 0; i < state.nodes.size(); ++i) hold(job, state.since[i]);
        give_back(event.job);
        std::erase_if(waiting_, [&](const Pod& pod) { return pod.second == event.job; });
        queue(event.job);
    }
  }

  // Workers of jobs submitted at the same time are created within one second, in random order.
  void queue(std::size_t job) {
    for (unsigned i = 0; i < kWorkers; ++i)
      waiting_.emplace(static_cast<double>(now_.count()) + dice_.unit(), job);
    const unsigned round = ++states_[job].round;
    if (rules_.patience)
      events_.emplace(now_ + *rules_.patience, Event{Event::Kind::give_up, job, round});
  }

  void give_back(std::size_t job) {
    for (const unsigned node : states_[job].nodes) free_[node] += jobs_[job].gpus;
    states_[job].nodes.clear();
  }

  void hold(const Training& job, Seconds since) {
    out_.held += static_cast<double>((now_ - since).count()) * job.gpus;
  }

  // The node with the largest free share that has room; ties are broken at random.
  std::optional<unsigned> node_for(unsigned gpus) {
    std::optional<unsigned> best;
    double most = 0;
    for (unsigned node = 0; node < free_.size(); ++node) {
      const double share =
          static_cast<double>(free_[node]) / site()[node].gpus + 1e-6 * dice_.unit();
      if (free_[node] >= gpus && share > most) {
        best = node;
        most = share;
      }
    }
    return best;
  }

  void place() {
    for (auto pod = waiting_.begin(); pod != waiting_.end();) {
      const std::size_t job = pod->second;
      const auto node = node_for(jobs_[job].gpus);
      const bool together = !rules_.one_by_one;
      if (!node || (together && !has_room(job))) {
        ++pod;
        continue;
      }
      if (together) {
        // Choose nodes one by one: a worker may change the next one's choice, but all find room.
        for (unsigned i = 0; i < kWorkers; ++i) put(job, *node_for(jobs_[job].gpus));
        std::erase_if(waiting_, [&](const Pod& other) { return other.second == job; });
        pod = waiting_.begin();
      } else {
        put(job, *node);
        pod = waiting_.erase(pod);
      }
    }
  }

  void put(std::size_t job, unsigned node) {
    State& state = states_[job];
    free_[node] -= jobs_[job].gpus;
    state.since[state.nodes.size()] = now_;
    state.nodes.push_back(node);
    if (state.nodes.size() == kWorkers) start(job);
  }

  bool has_room(std::size_t job) const {
    unsigned workers = 0;
    for (const unsigned free : free_) workers += free / jobs_[job].gpus;
    return workers >= kWorkers;
  }

  void start(std::size_t at) {
    State& state = states_[at];
    const Training& job = jobs_[at];
    state.started = true;
    for (const Seconds since : state.since) hold(job, since);
    const Seconds length(
        std::llround(static_cast<double>(job.work.count()) * stretch(job.talking, state.nodes)));
    out_.training += static_cast<double>(length.count()) * job.gpus * kWorkers;
    events_.emplace(now_ + length, Event{Event::Kind::end, at, 0});
  }

  const std::vector<Training>& jobs_;
  const PodRules rules_;
  Random dice_;
  std::vector<State> states_;
  std::vector<unsigned> free_;  // GPUs of each node
  std::set<Pod> waiting_;
  std::multimap<Seconds, Event> events_;
  Seconds now_{};
  Figures out_;
};

}  // namespace

Figures run_pods(const std::vector<Training>& jobs, const PodRules& rules, std::uint64_t seed) {
  return Pods(jobs, rules, seed).run();
}

}  // namespace ares::bench
