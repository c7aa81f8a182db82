// KEY=VALUE pairs, several per line, and texts of values common to jobs, nodes and partitions.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/duration.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace ares::actl {

class Lines {
 public:
  Lines& add(const std::string& key, const std::string& value) {
    if (!current_.empty()) current_ += ' ';
    current_ += key + "=" + printable(value);
    return *this;
  }
  template <class Number>
  Lines& count(const std::string& key, Number value) {
    return add(key, std::to_string(value));
  }
  void end_line() {
    if (!current_.empty()) lines_.push_back(std::move(current_));
    current_.clear();
  }
  // The first line is not indented. `one_line` puts everything on it.
  std::string text(bool one_line) {
    end_line();
    return cli::join(lines_, one_line ? " " : "\n   ") + (one_line ? "\n" : "\n\n");
  }

 private:
  std::string current_;
  std::vector<std::string> lines_;
};

inline std::string time_text(std::int64_t micros) {
  return micros == 0 ? "Unknown" : format_local_time(Time(Duration(micros)));
}

inline std::string or_null(const std::string& text) {
  return text.empty() ? "(null)" : text;
}

template <class List>
std::string joined(const List& list) {
  return cli::join(std::vector<std::string>(list.begin(), list.end()), ",");
}

template <class List>
std::string index_text(const List& indices) {
  std::string out;
  for (const auto index : indices) out += (out.empty() ? "" : ",") + std::to_string(index);
  return or_null(out);
}

inline std::string limit_text(bool has, std::int64_t seconds) {
  return format_time_limit(has && seconds > 0 ? TimeLimit(Seconds(seconds)) : TimeLimit{});
}

// "cpu=4,mem=2000M,node=1,gres/gpu=2,gres/gpu:a100=2"; zero amounts are omitted. GPUs are in
// thousandths.
std::string tres_text(std::uint64_t cpus, std::int64_t memory, std::uint64_t nodes,
                      const std::map<std::string, std::uint64_t>& gpus);

}  // namespace ares::actl
