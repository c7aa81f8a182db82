#include "exec/kubernetes/gate/output_log.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "node/text_fields.h"

namespace ares::kubernetes {
namespace {

constexpr char kMark = '\x1e';
constexpr std::string_view kBegin = "ares ";
constexpr std::string_view kEnd = "end ";
constexpr std::size_t kMostOfMark = 64;
// "2026-11-27T08:00:00.000000000Z stdout F "
constexpr std::uint64_t kAddedToLine = 40;

// Beyond it a job that writes marks itself would reach numbers that the database cannot add up.
constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 60;

// Removes a number and the byte behind it from the front of the text.
std::optional<std::uint64_t> take_number(std::string_view& text, char behind) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || number > kMostOffset || length >= text.size() ||
      text[length] != behind)
    return std::nullopt;
  text.remove_prefix(length + 1);
  return number;
}

}  // namespace

std::string encode(const OutputState& state) {
  node::FieldWriter out;
  out.put("stored", state.stored).put("resend", state.resend);
  return out.take();
}

Result<OutputState> decode_output_state(std::string_view text) {
  node::FieldReader in("output", text);
  const OutputState state{in.number<std::uint64_t>("stored"), in.number<std::uint64_t>("resend")};
  if (Status read = in.status(); !read) return fail(read.error());
  return state;
}

std::uint64_t log_size(std::string_view output) {
  const auto lines = static_cast<std::uint64_t>(std::count(output.begin(), output.end(), '\n'));
  return output.size() + kAddedToLine * lines;
}

void append_mark(std::string& log, std::uint64_t offset, Time now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  log += kMark;
  log.append(kBegin).append(std::to_string(offset)) += ' ';
  log.append(std::to_string(seconds)) += '\n';
}

void append_end_mark(std::string& log, std::uint64_t offset) {
  log += kMark;
  log.append(kBegin).append(kEnd).append(std::to_string(offset)) += '\n';
}

void append_output(std::string& log, std::string_view output) {
  for (std::size_t special; (special = output.find(kMark)) != std::string_view::npos;) {
    log.append(output.substr(0, special + 1)) += kMark;
    output.remove_prefix(special + 1);
  }
  log.append(output);
}

void OutputReader::reconnect() {
  at_.reset();
  mark_.clear();
  gap_.reset();
}

void OutputReader::skip_gap() {
  if (gap_) have_ = std::max(have_, *gap_);
  gap_.reset();
}

void OutputReader::take(std::string_view log, std::string& output) {
  while (!log.empty()) {
    if (mark_.empty()) {
      const std::size_t special = log.find(kMark);
      take_output(log.substr(0, special), output);
      if (special == std::string_view::npos) return;
      mark_ = kMark;
      log.remove_prefix(special + 1);
      continue;
    }
    if (mark_.size() == 1 && log.front() == kMark) {
      take_output(log.substr(0, 1), output);
      mark_.clear();
      log.remove_prefix(1);
      continue;
    }
    const std::size_t end = log.find('\n');
    const std::size_t length = end == std::string_view::npos ? log.size() : end + 1;
    mark_.append(log.substr(0, std::min(length, kMostOfMark - mark_.size())));
    log.remove_prefix(length);
    if (end == std::string_view::npos) return;
    take_mark(std::string_view(mark_).substr(1));
    mark_.clear();
  }
}

// One that cannot be read is not of the gate. It says nothing.
void OutputReader::take_mark(std::string_view mark) {
  if (!mark.starts_with(kBegin)) return;
  mark.remove_prefix(kBegin.size());
  if (mark.starts_with(kEnd)) {
    mark.remove_prefix(kEnd.size());
    const auto offset = take_number(mark, '\n');
    if (!offset) return;
    end_ = at_ = *offset;
    if (*offset > have_) note_gap(*offset);
    return;
  }
  const auto offset = take_number(mark, ' ');
  const auto seconds = offset ? take_number(mark, '\n') : std::nullopt;
  if (!seconds || *seconds > std::uint64_t{1} << 40) return;
  at_ = *offset;
  if (*offset > have_)
    note_gap(*offset);
  else
    mark_time_ = Time(std::chrono::seconds(*seconds));
}

void OutputReader::note_gap(std::uint64_t end) {
  gap_ = gap_ ? std::min(*gap_, end) : end;
}

void OutputReader::take_output(std::string_view bytes, std::string& output) {
  if (!at_) return;
  const std::uint64_t known =
      have_ > *at_ ? std::min<std::uint64_t>(have_ - *at_, bytes.size()) : 0;
  *at_ += bytes.size();
  if (have_ < *at_ - bytes.size()) return;  // behind a gap
  bytes.remove_prefix(known);
  output.append(bytes);
  have_ += bytes.size();
  if (gap_ && have_ >= *gap_) gap_.reset();
}

}  // namespace ares::kubernetes
