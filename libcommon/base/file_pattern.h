// Names of a job's files as users write them: "ares-%j.out", "log/%x_%4a.txt". Nodes open the files, actl shows their names.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ares {

struct PatternLetter {
  char letter;
  bool padded;  // a number before the letter fills with zeros on the left
  std::string_view meaning;
};
// For the manual.
std::span<const PatternLetter> pattern_letters();

// What the letters stand for; a letter whose value is not known (yet) stays as it is.
struct PatternValues {
  std::optional<std::uint64_t> job;        // every array task has its own number
  std::optional<std::uint64_t> array;      // of the array, or of the job if it is not part of one
  std::optional<std::uint32_t> task;       // 0 for a job that is no array task
  std::optional<std::string> node;         // its name; only the part before the first dot is used
  std::optional<std::uint32_t> node_rank;  // within the job
  std::optional<std::uint32_t> restarts;
  std::string user, name;
};

// Replaces every known %LETTER; an unknown one stays as it is. A backslash anywhere switches this off and is itself left out.
std::string expand_pattern(std::string_view pattern, const PatternValues& values);

// Where standard output goes if the user named nothing: "ares-%j.out", of an array task "ares-%A_%a.out".
std::string_view default_output(bool array_task);

}  // namespace ares
