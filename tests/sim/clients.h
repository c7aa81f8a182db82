// Clients: users who submit, cancel, hold, release and requeue, lose replies and repeat requests
// with the same request id. Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "model/engine/command.h"
#include "sim/machine.h"
#include "sim/stage.h"

namespace ares::sim {

class World;

inline constexpr const char* kPartitionQos = "night";

class Clients {
 public:
  Clients(Stage& stage, World& world) : stage_(stage), world_(world) {}

  // Plans a random operation at `when`.
  void plan_operation(Instant when);
  // Fixed operations, for scenarios in which every crash point is tried.
  std::uint64_t submit(Instant when, JobSpec spec, Program program);
  std::uint64_t act(Instant when, std::uint64_t submission, UserBody body);
  // Creates the account of plain_job() with its user and these limits, and the QOS of the partition
  // if there are limits: usage is charged from then on.
  void found_account(Instant when, const std::optional<Limits>& limits);

  // Releases whatever needs an operator, so that everything can end.
  void tidy_up();

  void answered(std::uint64_t operation, const core::Reply& reply);
  bool all_answered() const;
  std::uint64_t submissions() const { return submissions_; }

  static JobSpec plain_job();

 private:
  struct Operation {
    UserCommand command;
    bool operates_on_job = false;
    std::uint64_t submission = 0;  // the submission whose job it acts on
    bool answered = false;
    core::Reply reply;
  };

  std::uint64_t add(UserCommand command);
  void send(std::uint64_t operation);
  void deliver(std::uint64_t operation);
  void random_submission(Instant when);
  void random_action(Instant when);
  Reconfigure other_lease();
  std::optional<JobKey> job_of(std::uint64_t submission) const;

  Stage& stage_;
  World& world_;
  std::vector<Operation> operations_;
  std::vector<std::uint64_t> submitted_;
  std::uint64_t submissions_ = 0;
};

}  // namespace ares::sim
