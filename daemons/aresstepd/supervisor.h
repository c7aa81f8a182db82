// Supervisor: provides StepMachine with its directory, processes, clock and socket, and runs the
// event loop of aresstepd. Owned by main(); single-threaded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aresstepd/checkpoint_service.h"
#include "aresstepd/site_program_runner.h"
#include "base/result.h"
#include "base/time.h"
#include "exec/baremetal/file_spool.h"
#include "node/step.h"
#include "node/step_spec.h"
#include "os/fd.h"
#include "os/task_tree.h"

namespace ares::stepd {

// What the processes around a supervisor decide for it.
struct SupervisorSetup {
  // The process above this one that ends what it leaves; then no namespace is made. 0: there is none,
  // and namespaces are made where that is possible.
  pid_t reaper = 0;
  os::Ipc ipc = os::Ipc::own;
};

class Supervisor {
 public:
  // `directory` is absolute; `channel` is a connected socket to the aresd that started us, or -1.
  // `prepared` is an os::TaskTree after prepare(), with run_attempt() as its body; without one the
  // processes and groups of the attempt are made at its start.
  static Result<std::unique_ptr<Supervisor>> make(const std::string& directory, int channel,
                                                  SupervisorSetup setup = {},
                                                  std::unique_ptr<os::TaskTree> prepared = nullptr);

  // Returns when the attempt has ended. An error says why it could not be started.
  Status run();

 private:
  class Tree;

  Supervisor(exec::FileAttemptDir dir, node::StepSpec spec, SupervisorSetup setup,
             std::unique_ptr<os::TaskTree> prepared);
  ~Supervisor();
  friend std::default_delete<Supervisor>;

  std::unique_ptr<os::TaskTree> make_tree() const;
  Status prepare_loop();
  Status prepare_to_listen();
  Status write_host_file() const;
  Status listen_for_steps();
  Status listen_for_checkpoints();
  void start_step_host();
  void step_host_ended();
  Status clear_socket_name() const;
  Status listen();
  void listen_or_try_again();
  void watch(int fd, bool on);
  void serve(int fd);
  void accept_client();
  void read_client(int fd);
  void drop_client(int fd);
  void collect();
  void set_timer();
  void notify(node::StepNotice notice);
  void tell_stopped();
  Status watch_restored();

  exec::FileAttemptDir dir_;
  node::StepSpec spec_;
  SupervisorSetup setup_;
  std::unique_ptr<os::TaskTree> prepared_;
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<SiteProgramRunner> programs_;
  std::unique_ptr<node::StepMachine> machine_;
  std::unique_ptr<CheckpointService> checkpoints_;  // null: the job makes none, or not on this node
  os::Fd poll_, signals_, timer_, listener_;
  os::Fd steps_listener_;                    // arun connects to it; the step host accepts
  bool serves_steps_ = false;                // it is looked at, as code of the user may run
  Lsn told_stopped_{};                       // recorded: the last suspension that took effect
  std::optional<BootTime> tell_stopped_at_;  // when to try again to record it
  os::Fd restored_watch_;                    // readable once the record `restored` is written
  std::optional<BootTime> steps_at_;         // when to try again to start the step host
  int control_fd_ = -1;                      // of the tree, which closes it when init has ended
  bool listening_ = false;
  std::optional<BootTime> listen_at_;  // when to retry listen()
  std::vector<os::Fd> clients_;
};

// Makes a Supervisor, runs it, and returns the exit status of its process. What failed is written to
// standard error.
int supervise_attempt(const std::string& directory, int channel, SupervisorSetup setup = {},
                      std::unique_ptr<os::TaskTree> prepared = nullptr);

}  // namespace ares::stepd
