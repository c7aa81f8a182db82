#include "exec/kubernetes/api/json_lines.h"

namespace ares::kubernetes {

Result<std::optional<std::string_view>> JsonLines::next() {
  for (;;) {
    if (is_given_) {
      kept_.clear();
      is_given_ = false;
    }
    const std::size_t end = fresh_.find('\n');
    const std::string_view part = fresh_.substr(0, end);
    if (part.size() > most_ || kept_.size() > most_ - part.size())
      return fail(ErrorCode::resource_exhausted,
                  "a line of the watch is longer than " + std::to_string(most_) + " bytes");
    if (end == std::string_view::npos) {
      kept_ += part;
      fresh_ = {};
      return std::nullopt;
    }
    fresh_.remove_prefix(end + 1);
    std::string_view line = part;
    if (!kept_.empty()) {
      kept_ += part;
      is_given_ = true;
      line = kept_;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return line;
  }
}

}  // namespace ares::kubernetes
