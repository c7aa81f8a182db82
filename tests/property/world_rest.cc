// The final phase without faults: everything that can end must end.
#include <algorithm>

#include "property/world.h"

namespace ares::property {

// Releases holds and suspensions, and puts nodes into service.
void World::release_everything() {
  UserCommand command;
  command.who = {UserId{0}, GroupId{0}, "root", "here"};
  JobSelector all;
  all.everything = true;
  command.request_id = "q" + std::to_string(++requests_);
  command.body = ReleaseJobs{all};
  handle({command});
  ResumeJobs resume;
  resume.jobs.everything = true;
  resume.jobs.state = JobState::suspended;
  command.request_id = "q" + std::to_string(++requests_);
  command.body = resume;
  handle({command});
  UpdateNode up;
  for (std::size_t n = 0; n < nodes_.size(); ++n) up.names.push_back("n" + std::to_string(n + 1));
  command.request_id = "q" + std::to_string(++requests_);
  command.body = up;
  handle({command});
}

std::vector<std::string> World::come_to_rest() {
  calm_ = true;
  for (int i = 0; i < 400; ++i) {
    now_ += Seconds{2};
    if (i % 40 == 0) release_everything();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      connect(n);
      while (!sessions_[n].up.empty()) {
        deliver_up(n);
        commit();
      }
      while (!sessions_[n].down.empty()) deliver_down(n);
    }
    node_tick();
    handle({Tick{}});
    for (const NodeSilent& silent : monitor_.due(engine_->state(), *policy_, now_))
      handle({silent});
    for (int k = 0; k < 4; ++k) plan();
    commit();
    while (engine_->has_notifications()) {
      engine_->continue_notifications(now_);
      commit();
    }
    check();
  }
  return unfinished();
}

std::vector<std::string> World::unfinished() const {
  std::vector<std::string> left;
  engine_->state().jobs.for_each([&](const JobKey& key, const Job& job) {
    if (is_terminal(job.state) || job.dependency_failed) return;
    // It waits for a job whose own dependency failed, or for tasks whose dependency failed.
    if (job.state == JobState::pending && !job.waiting_for.empty()) return;
    // Or for a reservation that is over or was deleted.
    const auto& asked = job.spec->reservations;
    if (job.state == JobState::pending && !asked.empty() &&
        std::none_of(asked.begin(), asked.end(), [&](const std::string& name) {
          const Reservation* r = engine_->state().reservations.find(name);
          return r && touches(*r, now_, std::nullopt);
        }))
      return;
    if (job.array && job.array->waiting.empty()) return;
    left.push_back(
        "job " + std::to_string(key.job.value()) + " is still " +
        std::string(to_string(job.state)) + ", hold " + std::to_string(static_cast<int>(job.hold)) +
        ", " + std::to_string(job.excluded.size()) + " excluded, " +
        std::to_string(job.launch_failures) + " failures, attempt " +
        std::to_string(job.attempt.value()) + ", nodes " + std::to_string(job.spec->min_nodes) +
        ", partition " + job.spec->partitions.front() + ", account " + job.spec->account +
        ", QOS " + job.spec->qos + ", reservations " +
        std::to_string(job.spec->reservations.size()) +
        (job.spec->gang ? ", gang " + job.spec->gang->name : "") + ", ways " +
        std::to_string(job.spec->gpu_alternatives.size()));
  });
  for (const SimulatedNode& node : nodes_) {
    for (const auto& [attempt, held] : node.attempts) {
      const Job* job = engine_->state().jobs.find(attempt.job);
      if (!job || is_terminal(job->state))
        left.push_back("a node still holds an attempt of job " +
                       std::to_string(attempt.job.job.value()));
    }
  }
  if (!left.empty()) {
    // The state of the nodes, to help find the cause.
    engine_->state().nodes.for_each([&](NodeId, const Node& node) {
      left.push_back(node.name + ": admin " + std::to_string(static_cast<int>(node.admin)) +
                     ", contact " + std::to_string(static_cast<int>(node.contact)) + ", charges " +
                     std::to_string(node.charges.size()));
    });
  }
  engine_->state().nodes.for_each([&](NodeId, const Node& node) {
    for (const Charge& charge : node.charges) {
      const Job* job = engine_->state().jobs.find(charge.attempt.job);
      if (!job || is_terminal(job->state))
        left.push_back(node.name + " is still charged for job " +
                       std::to_string(charge.attempt.job.job.value()));
    }
  });
  return left;
}

}  // namespace ares::property
