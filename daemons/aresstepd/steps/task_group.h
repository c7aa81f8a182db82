// TaskGroup: the tasks of one step on this node. Takes the frames of the step manager and answers with
// those of a launcher (steps/frame.h). Owned by the step host; one thread.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aresstepd/steps/mpi_service.h"
#include "aresstepd/steps/output_spill.h"
#include "aresstepd/steps/reactor.h"
#include "aresstepd/steps/step_records.h"
#include "base/time.h"
#include "node/step_spec.h"
#include "os/fd.h"
#include "os/groups/step_groups.h"
#include "steps/frame.h"
#include "steps/memory_binding.h"
#include "steps/request.h"

namespace ares::stepd {

// What a step host knows of its attempt.
struct HostFacts {
  node::StepSpec spec;
  std::string directory;  // the attempt's
  std::string pmixd;      // path of arespmixd
  Time started_at{};      // when the job started
  // For steps with a limit on memory; none: `no_memory` says why they cannot run here.
  std::shared_ptr<os::StepGroups> memory;
  std::string no_memory;
  bool by_root = false;  // the node's daemons are root's, so that root alone speaks for them
};

class TaskGroup {
 public:
  using Send =
      std::function<void(steps::FrameKind, std::uint32_t number, std::string_view payload)>;

  // `send` must not call back.
  TaskGroup(const HostFacts& facts, StepRecords& records, Reactor& reactor, Send send);
  ~TaskGroup();  // kills the tasks
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  void receive(const steps::Frame& frame);
  // A child of this process has ended. False: it is not a task of this group.
  bool ended(pid_t pid, int wait_status, const rusage& used);
  // Sends nothing of what the tasks write while `pause`. If that lasts, it is kept in a file for each of
  // their streams. A task whose file is full has to wait, and no other.
  void pause_output(bool pause);
  bool over() const { return over_; }
  // Tells what the running tasks have used so far, if any runs.
  void tell_usage();

 private:
  struct Stream {
    os::Fd fd;
    steps::FrameKind kind{};
    std::unique_ptr<OutputSpill> kept;  // none: nothing had to be kept yet
    bool watched = false;
    bool in_line = false;  // what was sent ends within a line
    // That the task left in the pipe when it ended. Processes that it left behind may still hold the pipe.
    std::optional<std::size_t> left;
  };
  struct Task {
    std::uint32_t rank = 0;
    pid_t pid = 0;  // 0: it has ended
    os::Fd input;
    std::string to_write;  // of the input
    bool input_ends = false;
    bool input_watched = false;
    bool input_full = false;  // and arun was told so
    Stream streams[2];        // output, errors
    bool ended = false;
  };

  void prepare(const std::string& payload);
  Status check_gpus() const;
  Status share_cores();
  Result<std::vector<std::uint32_t>> cpus_of_step() const;
  Status limit_memory();
  Status prepare_mpi();
  void say_ready(const Status& prepared);
  void start_all();
  Status start(Task& task, std::uint32_t local);
  IntervalSet cpus_of(std::uint32_t local) const;
  // For --cpu-bind=verbose. None: all CPUs of the job.
  void tell_cpus(std::uint32_t local, IntervalSet cpus);
  Result<std::optional<std::vector<std::uint32_t>>> gpus_of(std::uint32_t local);
  steps::TaskMemory memory_of(std::uint32_t local);
  void watch(std::size_t task, std::size_t stream);
  void update_watch(Stream& stream);
  bool is_paused() const { return link_full_ || reader_full_; }
  void make_pause_timer();
  void pause_changed();
  void output_may_flow();
  // Of the stream, that may be read now.
  std::size_t room(const Stream& stream) const;
  void read_output(Task& task, Stream& stream);
  void read_what_is_left(Task& task, Stream& stream);
  void pass_on(Task& task, Stream& stream, std::string_view bytes);
  void send_some(const Task& task, Stream& stream, std::string_view bytes);
  void send_kept(std::size_t task, std::size_t stream);
  std::size_t most_kept() const;
  void close_stream(Stream& stream);
  void take_input(const steps::Frame& frame);
  void write_input(std::size_t task);
  void close_input(Task& task);
  void tell_if_full(Task& task);
  void signal_all(int signal);
  void set_window(std::uint32_t size);
  void end_if_over();

  const HostFacts& facts_;
  StepRecords& records_;
  Reactor& reactor_;
  Send send_;
  std::optional<steps::NodeLaunch> launch_;
  std::string pmix_directory_;                     // made for it; empty: none was
  std::unique_ptr<MpiService> mpi_;                // none: the program is not one of MPI
  std::unique_ptr<os::StepGroups::Group> memory_;  // none: the step has no limit of its own
  std::vector<IntervalSet> placed_;  // CPUs of each task; empty: cpus_of() works them out
  std::vector<Task> tasks_;
  bool link_full_ = false;    // the connection to the first node
  bool reader_full_ = false;  // arun does not read
  os::Fd pause_timer_;        // expires when the pause has lasted
  bool keeps_ = false;        // what tasks write meanwhile
  bool round_posted_ = false;
  bool over_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ares::stepd
