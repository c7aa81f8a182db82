// Carries what the script prints from a pipe into the log of the container, as Output says. Owned by the gate; one thread. Nothing blocks.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "gate/output.h"
#include "os/fd.h"

namespace ares::gate {

class LogPipe {
 public:
  // `state`: the file with the annotation, by the downward API. `log`: the descriptor of the container's log.
  static Result<LogPipe> open(std::string state, int log);

  // For standard output and error of the script.
  int script_end() const { return script_end_.get(); }
  // The script has its end.
  void started() { script_end_.reset(); }

  // Reads and writes what there is. False: nothing is left to be done, see close().
  bool carry();
  // The script and all that it started have ended: what they printed is in the pipe.
  void close() { is_closing_ = true; }

  // Descriptors to wait for: to be read from and to be written to; -1: not now.
  int source() const { return output_.takes_more() ? pipe_.get() : -1; }
  int target() const { return output_.unwritten().empty() ? -1 : log_; }

 private:
  LogPipe(std::string state, int log) : state_(std::move(state)), log_(log) {}
  void read_state();
  void read_pipe();
  void write_log();

  std::string state_;
  int log_;
  os::Fd pipe_, script_end_;  // closed at the end of what is printed
  Output output_{};
  Time read_at_{};  // the annotation
  bool is_closing_ = false;
};

}  // namespace ares::gate
