#include "exec/kubernetes/agent/output/pod_output.h"

#include <algorithm>
#include <utility>

namespace ares::kubernetes {
namespace {

constexpr std::size_t kMostOfPart = std::size_t{256} << 10;
// The log is not read on above the one, and again below the other.
constexpr std::size_t kFull = std::size_t{2} << 20, kRoom = std::size_t{512} << 10;
constexpr std::chrono::milliseconds kGather{300};  // small parts into one
constexpr std::chrono::seconds kNotAnswered{10};
constexpr std::uint64_t kTellAfter = std::uint64_t{1} << 20;
constexpr std::chrono::seconds kTellEndAfter{1};
constexpr std::chrono::seconds kUnreadable{60};

}  // namespace

void PodOutput::stored(std::uint64_t size, bool ended, BootTime now) {
  sent_at_.reset();
  if (ended && !is_end_stored_) {
    is_end_stored_ = true;
    end_stored_at_ = now;
  }
  if (!stored_) {
    stored_ = size;
    reader_.emplace(size);
    return;
  }
  if (size <= *stored_) return;
  const auto known = std::min<std::uint64_t>(size - *stored_, buffer_.size());
  untold_size_ += log_size(std::string_view(buffer_).substr(0, known));
  buffer_.erase(0, known);
  stored_ = *stored_ + known;
  if (buffer_.size() < kRoom) is_full_ = false;
  waits_since_ = buffer_.empty() ? std::nullopt : std::optional(now);
}

bool PodOutput::wants_log() const {
  return reader_ && !has_all() && !is_end_stored_ && !is_full_;
}

std::optional<Time> PodOutput::log_since() const {
  return reader_ ? reader_->mark_time() : std::nullopt;
}

void PodOutput::connected() {
  if (reader_) reader_->reconnect();
  has_bytes_ = false;
  is_after_end_ = has_pod_ended_;
}

bool PodOutput::received(std::string_view log, BootTime now) {
  has_bytes_ = true;
  if (!reader_) return false;
  const bool was_empty = buffer_.empty();
  const std::uint64_t had = reader_->have();
  reader_->take(log, buffer_);
  if (was_empty && !buffer_.empty()) waits_since_ = now;
  if (buffer_.size() >= kFull) is_full_ = true;
  if (reader_->gap()) ask_for_gap(now);
  if (reader_->have() == had) return false;
  failing_since_.reset();
  return true;
}

// The gate writes again what is missing. Of one that has ended it is lost.
void PodOutput::ask_for_gap(BootTime now) {
  if (has_pod_ended_ || (asked_ == reader_->have() && now < asked_at_ + kNotAnswered)) return;
  asked_ = reader_->have();
  asked_at_ = now;
  resend_ = told_.resend + 1;
}

// A log without any mark is empty, or not a log.
bool PodOutput::is_log_credible() const {
  return !expects_end_ && (reader_->is_synced() || !has_bytes_);
}

void PodOutput::disconnected(BootTime now) {
  if (!reader_) return;
  if (!is_after_end_) {
    // A log that was rotated between two marks, while the script waits for this agent, gets no further mark by itself.
    if (!reader_->is_synced() && (has_bytes_ || reader_->have() > 0)) ask_for_gap(now);
    return;
  }
  if (!reader_->gap()) {
    if (!is_log_credible()) return read_failed(now);
    is_whole_ = true;
  } else if (buffer_.empty()) {
    // It can no longer be closed: the log is read once more, from behind it.
    lost_ += *reader_->gap() - reader_->have();
    stored_ = *reader_->gap();
    reader_->skip_gap();
  }
}

void PodOutput::read_failed(BootTime now) {
  if (!has_pod_ended_) return;
  if (!failing_since_) failing_since_ = now;
  if (now - *failing_since_ >= kUnreadable) give_up();
}

std::optional<PodOutput::Part> PodOutput::next_part(BootTime now) {
  if (is_end_stored_ || (sent_at_ && now < *sent_at_ + kNotAnswered)) return std::nullopt;
  Part part;
  if (stored_) {
    const std::string_view data = std::string_view(buffer_).substr(0, kMostOfPart);
    part = {*stored_, data, has_all() && data.size() == buffer_.size()};
    if (data.empty() && !part.ended) return std::nullopt;
    if (data.size() < kMostOfPart && !part.ended && !sent_at_ && now < *waits_since_ + kGather)
      return std::nullopt;
  } else if (is_whole_) {
    part.ended = true;  // nothing was ever read
  }
  sent_at_ = now;
  return part;
}

std::optional<OutputState> PodOutput::next_state(BootTime now) {
  if (!stored_ || has_pod_ended_) return std::nullopt;
  const bool is_awaited = end_stored_at_ && now >= *end_stored_at_ + kTellEndAfter;
  if (resend_ == 0 && untold_size_ < kTellAfter && !(is_awaited && told_.stored < *stored_))
    return std::nullopt;
  told_.stored = std::max(told_.stored, *stored_);
  told_.resend = std::max(told_.resend, std::exchange(resend_, 0));
  untold_size_ = 0;
  return told_;
}

std::optional<BootTime> PodOutput::next_deadline() const {
  std::optional<BootTime> next;
  const auto at = [&](BootTime time) {
    if (!next || time < *next) next = time;
  };
  if (sent_at_ && !is_end_stored_)
    at(*sent_at_ + kNotAnswered);
  else if (waits_since_ && !is_end_stored_)
    at(*waits_since_ + kGather);
  if (end_stored_at_ && !has_pod_ended_ && stored_ && told_.stored < *stored_)
    at(*end_stored_at_ + kTellEndAfter);
  return next;
}

}  // namespace ares::kubernetes
