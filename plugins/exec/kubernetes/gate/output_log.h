// What a job prints, as the gate writes it into the log of its container and the agent reads it from there: the bytes, with marks between
// them that say where in the output the next byte is. The API gives only the newest file of a log that the kubelet has rotated, so a reader
// may begin anywhere and find a part missing; the gate then writes that part again. Values and pure functions; any thread.
//
// A mark is RS "ares " OFFSET " " SECONDS LF, where SECONDS is the time of the node since the epoch; the last one is
// RS "ares end " OFFSET LF. RS is the byte 0x1e; in the output itself it is doubled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ares::kubernetes {

// The annotation of a pod whose output is read by the agent.
struct OutputState {
  std::uint64_t stored = 0;  // bytes that the gate need not keep
  std::uint64_t resend = 0;  // if it has grown: write again what is not stored
};
std::string encode(const OutputState& state);
Result<OutputState> decode_output_state(std::string_view text);

// How much the bytes take in the log: the container runtime adds a time and a tag to each line.
std::uint64_t log_size(std::string_view output);

void append_mark(std::string& log, std::uint64_t offset, Time now);
void append_end_mark(std::string& log, std::uint64_t offset);
void append_output(std::string& log, std::string_view output);

// Takes the log apart, in pieces of any size.
class OutputReader {
 public:
  // Bytes before `have` are known already.
  explicit OutputReader(std::uint64_t have = 0) : have_(have) {}

  // What follows comes from a new connection. It may begin anywhere in the log, but at the beginning of a line.
  void reconnect();
  // Appends the bytes that follow `have()` to `output`. Bytes that would leave a gap are skipped.
  void take(std::string_view log, std::string& output);
  // The bytes before the gap's end are lost: goes on there with the next connection.
  void skip_gap();

  std::uint64_t have() const { return have_; }
  // A mark was read since the connection began.
  bool is_synced() const { return at_.has_value(); }
  // Bytes are missing before those that have been read last: the offset of the first one after the gap.
  std::optional<std::uint64_t> gap() const { return gap_; }
  // The end has been read, and all before it.
  bool has_ended() const { return end_ && have_ >= *end_; }
  // When the last mark was written whose offset is not beyond `have()`. A log read from then on has it.
  std::optional<Time> mark_time() const { return mark_time_; }

 private:
  void take_mark(std::string_view mark);
  void note_gap(std::uint64_t end);
  void take_output(std::string_view bytes, std::string& output);

  std::uint64_t have_;
  std::optional<std::uint64_t>
      at_;            // offset of the next byte of the log; none: no mark was read yet
  std::string mark_;  // begun by RS, as far as it was read
  std::optional<std::uint64_t> gap_, end_;
  std::optional<Time> mark_time_;
};

}  // namespace ares::kubernetes
