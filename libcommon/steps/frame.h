// Frames: how arun, the step manager of a job and the launchers of its nodes talk on a stream socket.
// A frame has a kind, a number (a rank, a signal, an exit code) and a payload. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::steps {

// The numbers travel between programs of different releases: never change one.
enum class FrameKind : std::uint8_t {
  // From arun to the manager:
  create = 1,       // payload: a StepRequest
  input = 2,        // number: a rank or kAllRanks; payload: bytes, none at the end of the input
  signal = 3,       // number: the signal, for all tasks
  window_size = 4,  // number: columns << 16 | rows, of the terminal
  describe = 5,     // asks for the job's variables; answered with `described`
  // An interactive allocation: its command holds it, and its batch script, ares-allocation, waits.
  keep = 6,     // of the command: the connection holds the allocation
  release = 7,  // of the command; number: exit code of the job
  // Of the script: answered with `released` when it has to end. number: 1 if no command holds the
  // allocation.
  hold = 8,
  attach =
      9,  // number: of the step; answered with `created`, and then what the step's own arun gets
  // number: of the step; payload: its new time limit in seconds, 0 for none; answered with `limited`
  limit = 10,

  // From the manager to arun:
  waits = 16,    // payload: why the step does not begin yet
  created = 17,  // number: of the step; payload: a StepLayout
  output = 18,   // number: rank; payload: what it wrote to its standard output
  errors = 19,   // the same for standard error
  ended = 20,    // number: rank; payload: a TaskEnd
  over = 21,     // every task has ended and all output was sent
  refused = 22,  // payload: why there is no step, or why it was ended before its tasks began
  // number: rank; payload: "1" if the task does not read its input, "0" when it goes on
  input_full = 23,
  described = 24,  // payload: NAME=value of a program outside of the job, each with a NUL behind it
  released =
      25,     // to the script; number: the job's exit code; payload: why, if its command is lost
  kept = 26,  // answers `keep`
  lost = 27,  // number: bytes of output that a viewer was too slow for, since the last such frame
  limited = 28,  // payload: why the limit is as it was; empty: it has changed

  // From the manager to a launcher; `input`, `signal` and `window_size` too:
  launch = 32,  // payload: a NodeLaunch
  go = 33,      // all launchers are ready
  gather = 34,  // payload: a Gathered; answers `contribute`
  // number: 1 if arun does not read what the tasks write, 0 when it goes on
  output_full = 35,

  // From a launcher to the manager; `output`, `errors`, `ended`, `over`, `refused` and `input_full` too:
  ready = 48,
  contribute = 49,  // payload: a Contribution
  abort = 50,       // number: exit code; payload: what the program says about it

  usage = 70,  // payload: a TaskEnd with what its running tasks have used so far

  // From the node daemon to the step host of the job's first node, the first frame of a connection:
  cancel = 71,  // payload: a StepCancel
  // payload: a line for the standard error of the batch script; answered with `notified`
  notify = 72,
  notified = 73,  // payload: why it was not written; empty: it was

  // In both directions between launchers, by way of the manager:
  question = 51,  // payload: a Question
  answer = 52,    // payload: an Answer
};

inline constexpr std::uint32_t kAllRanks = 0xffffffff;
inline constexpr std::size_t kLongestPayload = std::size_t{160} << 20;  // an exchange of MPI

struct Frame {
  FrameKind kind{};
  std::uint32_t number = 0;
  std::string payload;
  friend bool operator==(const Frame&, const Frame&) = default;
};

// All of a frame but its payload.
void append_header(std::string& bytes, FrameKind kind, std::uint32_t number, std::size_t size);
void append_frame(std::string& bytes, FrameKind kind, std::uint32_t number,
                  std::string_view payload);
inline void append_frame(std::string& bytes, const Frame& frame) {
  append_frame(bytes, frame.kind, frame.number, frame.payload);
}

// Takes frames out of received bytes.
class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  // None: more bytes are needed. An error: the other side does not speak this protocol, and nothing
  // more can be read.
  Result<std::optional<Frame>> next();
  // Bytes that are waiting; at most one payload and what was added last.
  std::size_t waiting() const { return bytes_.size() - begin_; }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
};

}  // namespace ares::steps
