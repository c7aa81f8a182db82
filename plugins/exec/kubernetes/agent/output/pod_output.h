// PodOutput: what is known of the output of one pod, from the log that the API gives to what the controller has stored, and what is to be
// done next. It has no connection and no clock. Owned by the OutputFollower; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "exec/kubernetes/gate/output_log.h"

namespace ares::kubernetes {

class PodOutput {
 public:
  struct Part {
    std::uint64_t offset = 0;
    std::string_view data;  // valid until the next call
    bool ended = false;
  };

  // `told`: what the pod's annotation says.
  explicit PodOutput(OutputState told) : told_(told) {}

  // What the controller has, as the answer to a part.
  void stored(std::uint64_t size, bool ended, BootTime now);

  // The log. A new connection gives it from `log_since()` on; none: from its beginning.
  bool wants_log() const;
  std::optional<Time> log_since() const;
  void connected();
  // Returns whether there was something new.
  bool received(std::string_view log, BootTime now);
  // The connection has ended with all that there was. Of one that began after the end of the container it was the whole log, unless it is
  // not what the gate writes: where the runtime does not answer, the API gives a text about that in place of the log.
  void disconnected(BootTime now);
  void read_failed(BootTime now);

  // The container has ended; `by_itself`: its gate has written an end into the log.
  void pod_ended(bool by_itself) {
    has_pod_ended_ = true;
    expects_end_ = expects_end_ || by_itself;
  }
  bool has_pod_ended() const { return has_pod_ended_; }
  // Nothing more can be read, such as when the pod is gone.
  void give_up() { is_whole_ = true; }

  // The next part for the controller; none: not now. The same part again if it is not answered for long.
  std::optional<Part> next_part(BootTime now);
  // A new value of the annotation.
  std::optional<OutputState> next_state(BootTime now);
  // When one of the two may have something, without an event before.
  std::optional<BootTime> next_deadline() const;

  // Its end is stored.
  bool is_complete() const { return is_end_stored_; }
  // It is known that something was printed after what is stored, and not how much.
  bool is_end_missing() const { return expects_end_ && !(reader_ && reader_->has_ended()); }
  // Bytes that the log had no longer when it was read.
  std::uint64_t lost() const { return lost_; }

 private:
  bool has_all() const { return is_whole_ || (reader_ && reader_->has_ended()); }
  bool is_log_credible() const;
  void ask_for_gap(BootTime now);

  OutputState told_;
  std::optional<std::uint64_t> stored_{};  // none: not known yet
  std::optional<OutputReader> reader_{};   // once it is known
  std::string buffer_{};                   // from `stored_` on
  std::uint64_t untold_size_ = 0;          // stored and not told to the gate, in the log
  std::optional<std::uint64_t> asked_{};   // for what follows this byte
  BootTime asked_at_{};
  std::uint64_t resend_ = 0;  // to be told; 0: nothing
  std::uint64_t lost_ = 0;
  std::optional<BootTime> sent_at_{};      // the part in flight
  std::optional<BootTime> waits_since_{};  // the first byte of the buffer
  std::optional<BootTime> failing_since_{}, end_stored_at_{};
  bool has_bytes_ = false;  // from this connection
  bool has_pod_ended_ = false, expects_end_ = false, is_after_end_ = false;
  bool is_whole_ = false, is_end_stored_ = false, is_full_ = false;
};

}  // namespace ares::kubernetes
