// What the script prints, on its way into the log of the container. As much as the agent may have to ask for again is kept, and the script
// waits when that is much: the log is then never ahead of the agent by more than the kubelet keeps in one file. Owned by the gate; one
// thread. It has no descriptor: the gate reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "exec/kubernetes/gate/output_log.h"

namespace ares::gate {

class Output {
 public:
  // How far the log may be ahead of the agent, in bytes of the log. Less than half of what the kubelet keeps in a file by default.
  static constexpr std::uint64_t kWindow = std::uint64_t{4} << 20;

  // More of the script's output may be added.
  bool takes_more() const { return kept_size_ < kWindow && unwritten().size() < kMostUnwritten; }
  void add(std::string_view output, Time now);
  // Nothing will be added.
  void end();

  // What the agent has stored, and asks for.
  void set_state(const kubernetes::OutputState& state, Time now);

  // To be written to the log.
  std::string_view unwritten() const { return std::string_view(log_).substr(written_); }
  void wrote(std::size_t bytes);

  // All of it is in the log, and the agent has it or will find it there.
  bool is_done() const;

 private:
  static constexpr std::size_t kMostUnwritten = std::size_t{1} << 20;
  static constexpr std::uint64_t kBetweenMarks = std::uint64_t{256} << 10;

  std::string kept_{};           // of the output, from `stored_` on
  std::uint64_t kept_size_ = 0;  // in the log
  std::uint64_t stored_ = 0;     // by the agent
  std::uint64_t all_size_ = 0;   // of all that was added, in the log
  std::uint64_t resent_ = 0;     // the last request to write again
  std::uint64_t since_mark_ = kBetweenMarks;
  bool has_ended_ = false;
  std::string log_{};  // to be written, from `written_` on
  std::size_t written_ = 0;
};

}  // namespace ares::gate
