#include "gate/output.h"

#include <algorithm>

namespace ares::gate {

using kubernetes::log_size;

void Output::add(std::string_view output, Time now) {
  if (output.empty()) return;
  if (since_mark_ >= kBetweenMarks) {
    kubernetes::append_mark(log_, stored_ + kept_.size(), now);
    since_mark_ = 0;
  }
  kubernetes::append_output(log_, output);
  kept_.append(output);
  since_mark_ += output.size();
  const std::uint64_t size = log_size(output);
  kept_size_ += size;
  all_size_ += size;
}

void Output::end() {
  if (has_ended_) return;
  has_ended_ = true;
  kubernetes::append_end_mark(log_, stored_ + kept_.size());
}

void Output::set_state(const kubernetes::OutputState& state, Time now) {
  if (state.stored > stored_) {
    const auto known = std::min<std::uint64_t>(state.stored - stored_, kept_.size());
    kept_size_ -= log_size(std::string_view(kept_).substr(0, known));
    kept_.erase(0, known);
    stored_ += known;
  }
  if (state.resend <= resent_) return;
  resent_ = state.resend;
  kubernetes::append_mark(log_, stored_, now);
  kubernetes::append_output(log_, kept_);
  since_mark_ = 0;
  if (has_ended_) kubernetes::append_end_mark(log_, stored_ + kept_.size());
}

void Output::wrote(std::size_t bytes) {
  written_ += bytes;
  if (written_ < log_.size()) return;
  log_.clear();
  written_ = 0;
}

// A log that is as small as the window has never been rotated: it stays whole when the container has ended.
bool Output::is_done() const {
  return has_ended_ && unwritten().empty() && (all_size_ <= kWindow || kept_.empty());
}

}  // namespace ares::gate
