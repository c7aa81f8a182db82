// Commits and events per second of one journal connection, at several batch sizes.
//   bench_journal HOST_DIRECTORY DATABASE USER [SECONDS]
// The database is filled and not cleaned up: use a separate one. Events are those of a running
// cluster: one job image each, and for three of six an accounting row, where a job is allocated, starts
// and ends; 300 bytes of specification.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "model/engine/state.h"
#include "store/pg/pg_journal.h"

namespace {

using namespace ares;
using Clock = std::chrono::steady_clock;

std::shared_ptr<const JobSpec> make_spec() {
  JobSpec spec;
  spec.name = "train-resnet";
  spec.user = "alice";
  spec.uid = UserId(1000);
  spec.account = "physics";
  spec.partitions = {"main"};
  spec.work_dir = spec.submit_dir = "/home/alice/projects/resnet/runs/2026-11-21";
  spec.std_out = "logs/%x-%j.out";
  spec.command = "train.sh";
  spec.submit_host = "login1.example.org";
  spec.submit_zone = "Europe/Prague";
  return std::make_shared<const JobSpec>(std::move(spec));
}

class Load {
  static constexpr std::uint64_t kStages = 6;
  static constexpr std::uint64_t kAtOnce = 1000;

 public:
  explicit Load(const store::Opened& opened)
      : epoch_(opened.epoch), lsn_(opened.state.lsn), now_(opened.state.now) {
    now_ = std::max(
        now_,
        Time{std::chrono::floor<Duration>(std::chrono::system_clock::now().time_since_epoch())});
  }

  store::Batch next(std::size_t events) {
    store::Batch batch;
    batch.epoch = epoch_;
    batch.first = lsn_.next();
    for (std::size_t i = 0; i < events; ++i) {
      lsn_ = lsn_.next();
      now_ += Duration(10);
      // A job has six events; the first writes its specification. kAtOnce jobs are active at the
      // same time and get one event each in turn.
      const std::uint64_t wave = lsn_.value() / kStages / kAtOnce;
      const std::uint64_t in_wave = lsn_.value() % (kStages * kAtOnce);
      const std::uint64_t number = wave * kAtOnce + in_wave % kAtOnce;
      const std::uint64_t step = in_wave / kAtOnce;
      if (step == 0 || !spec_of_[number % kAtOnce]) spec_of_[number % kAtOnce] = make_spec();
      spec_ = spec_of_[number % kAtOnce];
      job_ = make_job(JobId(number + 1));
      batch.events.push_back(std::make_shared<const Event>(
          Event{lsn_, epoch_, now_, NodeRunning{{job_->key, AttemptNo(1)}, NodeId(1)}}));
      batch.jobs.push_back(job_);
      if (step % 2 == 1) batch.attempts.push_back(make_attempt(*job_, step));
    }
    if (!introduced_) introduce(batch);
    batch.last = lsn_;
    batch.next_job_id = JobId(lsn_.value());
    batch.next_node_id = NodeId(2);
    batch.now = now_;
    return batch;
  }

 private:
  // Adds the node and the names of its resources, to which accounting rows refer.
  void introduce(store::Batch& batch) {
    auto node = std::make_shared<Node>();
    node->id = NodeId(1);
    node->name = "node1";
    batch.nodes.push_back(std::move(node));
    batch.tres = {
        {kTresCpu, "cpu"}, {kTresMem, "mem"}, {kTresNode, "node"}, {kTresBilling, "billing"}};
    introduced_ = true;
  }

  std::shared_ptr<const Job> make_job(JobId id) const {
    auto job = std::make_shared<Job>();
    job->key = {id, {}};
    job->own_id = id;
    job->spec = spec_;
    job->state = JobState::running;
    job->attempt = AttemptNo(1);
    job->submitted = now_;
    job->version = lsn_;
    NodeShare share;
    share.node = NodeId(1);
    share.cpus = 4;
    share.memory = Bytes::gib(4);
    job->allocation = Allocation{Fence(lsn_.value()), "main", now_, {share}, Seconds(3600)};
    return job;
  }

  Attempt make_attempt(const Job& job, std::uint64_t step) const {
    Attempt row;
    row.key = {job.key, job.attempt};
    row.own_id = job.own_id;
    row.spec = job.spec;
    row.state = step == 1   ? JobState::configuring
                : step == 3 ? JobState::running
                            : JobState::completed;
    row.allocation = *job.allocation;
    row.submitted = job.submitted;
    row.eligible = job.submitted;
    if (step >= 3) row.started = now_;
    if (step == 5) row.ended = now_;
    return row;
  }

  bool introduced_ = false;
  Epoch epoch_;
  Lsn lsn_;
  Time now_;
  std::array<std::shared_ptr<const JobSpec>, kAtOnce> spec_of_;
  std::shared_ptr<const JobSpec> spec_;
  std::shared_ptr<const Job> job_;
};

int measure(store::PgJournal& journal, Load& load, std::size_t events, double seconds) {
  std::vector<double> times;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    const store::Batch batch = load.next(events);
    const auto sent = Clock::now();
    const auto done = journal.commit(batch);
    if (!done || *done != store::CommitOutcome::committed) {
      std::fprintf(stderr, "commit: %s\n", done ? "doubt" : done.error().message.c_str());
      return 1;
    }
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - sent).count());
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[std::min(times.size() - 1,
                          static_cast<std::size_t>(part * static_cast<double>(times.size())))];
  };
  const double commits = static_cast<double>(times.size()) / took;
  std::printf("%6zu events/commit  %9.0f commits/s  %9.0f events/s  p50 %.2f ms  p99 %.2f ms\n",
              events, commits, commits * static_cast<double>(events), at(0.5), at(0.99));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_journal HOST_DIRECTORY DATABASE USER [SECONDS]\n");
    return 2;
  }
  store::PgOptions options;
  options.host = argv[1];
  options.database = argv[2];
  options.user = argv[3];
  const double seconds = argc > 4 ? std::atof(argv[4]) : 5;
  store::PgJournal journal(options);
  const auto opened = journal.open();
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    return 1;
  }
  Load load(*opened);
  for (const std::size_t events : {1u, 10u, 100u, 500u})
    if (const int failed = measure(journal, load, events, seconds)) return failed;
  return 0;
}
