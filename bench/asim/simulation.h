// Simulation: the controller's engine and planner on virtual time. It submits jobs and reports ends
// and failures when they are due, lets the engine decide and apply, and plans after each moment at
// which anything changed, until no more jobs start. The same workload, cluster and options give the
// same outcome; only Cost is measured. Owned by main; one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "asim/outcome.h"
#include "asim/simulated_nodes.h"
#include "asim/workload.h"
#include "base/random.h"
#include "base/result.h"
#include "config/config.h"
#include "core/engine/engine.h"
#include "core/sched/pass/plan.h"

namespace ares::sim {

struct SimOptions {
  bool exact_estimates = false;  // else the limits of the log, where it has them
  bool use_memory = false;       // jobs request the memory that the log records
  std::uint64_t seed = 1;
  std::optional<Seconds> node_mtbf;  // of each node; nullopt = they never fail
  Seconds node_repair{3600};
  Seconds interval{0};       // minimum time between passes
  Seconds predict_every{0};  // 0 = do not compute expected starts
  std::uint64_t budget = 0;  // work units per pass; 0 = the controller's default
  // Run time of an attempt on its nodes relative to WorkJob::run; none = factor 1. A pure function.
  std::function<double(const WorkJob&, const ClusterState&, const Allocation&)> stretch;
};

class Simulation {
 public:
  Simulation(const Workload& workload, const config::Config& config, SimOptions options);
  ~Simulation();

  // Called now and then with the number of ended jobs and the virtual time.
  using ProgressCallback = std::function<void(std::uint64_t over, Time now)>;
  // Call it once. An error means that the engine did not accept the cluster.
  Result<Outcome> run(const ProgressCallback& on_progress);

 private:
  enum class Kind : std::uint8_t { job_end, node_fails, node_silent, node_returns, predict };
  struct TimedEvent {
    Time at;
    Kind kind;
    std::uint64_t order;
    AttemptKey attempt{};
    NodeId node{};
    bool operator>(const TimedEvent& other) const {
      return std::tie(at, kind, order) > std::tie(other.at, other.kind, other.order);
    }
  };

  Status set_up();
  void schedule(Time at, Kind kind, AttemptKey attempt, NodeId node);
  std::optional<Time> next_moment() const;
  bool work_left() const;
  void handle_event(const TimedEvent& event);
  void submit_due();
  void submit(std::size_t index);
  JobSpec spec_of(const WorkJob& job) const;
  std::optional<Seconds> limit_of(const WorkJob& job) const;
  Seconds run_of(const Job& job) const;  // precondition: it has an allocation
  void handle(Command command, core::Ticket ticket = 0);
  void run_until_idle();  // commits and delivers messages of nodes until none is left
  void take_batch();
  void observe(const Event& event);
  Time script_end(const Job& job) const;
  void begin_scripts();
  bool run_pass();  // whether a job started or the plan changed the state
  void plan_until_idle();
  void predict();
  std::size_t index_of(JobId id) const { return submitted_[id.value() - first_id_]; }
  History::Level level() const;

  const Workload& workload_;
  const config::Config& config_;
  const SimOptions options_;
  std::shared_ptr<const Policy> policy_;
  std::optional<core::Engine> engine_;
  std::optional<SimulatedNodes> simulated_nodes_;
  core::Planner planner_;
  Random random_;
  Outcome out_;

  Time now_{};
  std::priority_queue<TimedEvent, std::vector<TimedEvent>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  std::size_t next_submit_ = 0;
  std::vector<std::size_t> submitted_;  // index in the workload, by job id
  std::uint64_t first_id_ = 1;
  std::uint64_t finished_ = 0;
  std::uint64_t running_ = 0;
  std::uint64_t busy_cpus_ = 0, busy_gpus_ = 0;  // GPUs in thousandths
  std::uint64_t waiting_for_gpus_ = 0;           // jobs
  std::optional<Time> wake_;                     // when time alone changes the plan
  std::optional<Time> last_pass_;
  bool changed_ = false;  // since the last pass
  bool predict_now_ = false;
  std::unordered_map<std::uint64_t, std::deque<std::pair<Time, Time>>>
      predictions_;  // by job id: time of prediction, predicted start
};

}  // namespace ares::sim
