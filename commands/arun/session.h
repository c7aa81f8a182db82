// Session: one step, from the request to the end of its last task. Talks to the step host of the job,
// passes input, output and signals, and says how the tasks ended. Owned by main(); one thread.
#pragma once

#include <sys/signalfd.h>
#include <termios.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arun/options.h"
#include "arun/output.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"
#include "steps/frame.h"

namespace ares::arun {

class Session {
 public:
  Session(const Wanted& wanted, Streams streams, os::Fd host);
  ~Session();  // gives the terminal its settings back
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The exit status of arun.
  Result<int> run();

 private:
  Status prepare();
  Status turn();
  void read_signals();
  void interrupted();
  int patience_ms() const;
  void end_if_late();
  void say_layout() const;
  Status read_host();
  Status receive(const steps::Frame& frame);
  void task_ended(std::uint32_t rank, const steps::TaskEnd& end);
  void read_input();
  Status send(steps::FrameKind kind, std::uint32_t number, std::string_view payload);
  Status send_waiting();
  void write_output(int stream, std::string_view bytes);
  void say(const std::string& text) const;
  std::string node_of(std::uint32_t rank) const;
  std::uint32_t window_size() const;
  bool reads_input() const;

  const Wanted& wanted_;
  Streams streams_;
  os::Fd host_, signals_;
  os::Fd files_[2];  // in place of 1 and 2
  // Pipes and terminals of 1 and 2, opened anew: without O_NONBLOCK for others who have them open.
  os::Fd unblocking_[2];
  bool unread_[2] = {false, false};  // no process reads 1 or 2 any more
  steps::FrameReader reader_;
  std::string waiting_;  // to be sent
  std::optional<TaskOutput> output_;
  std::optional<steps::StepLayout> layout_;
  std::uint32_t step_ = 0;
  std::set<std::uint32_t> left_;  // ranks of tasks that have not ended
  std::set<std::uint32_t> full_;  // that do not read their input
  bool input_ends_ = false;
  bool input_started_ = false;
  bool over_ = false;
  int worst_ = 0;
  std::optional<BootTime> interrupted_at_;
  int interrupts_ = 0;
  bool waited_ = false;              // the first task has ended
  std::optional<BootTime> late_at_;  // when the others are ended
  std::optional<termios> terminal_;  // its settings before
};

}  // namespace ares::arun
