// File name patterns of a job's files: "ares-%j.out", "log/%x_%4a.txt". Nodes open the files, actl
// prints their names. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ares {

struct PatternLetter {
  char letter;
  bool padded;  // a number before the letter pads with zeros on the left
  std::string_view meaning;
};
// For the manual page.
std::span<const PatternLetter> pattern_letters();

// Values of the letters. A letter whose value is not known is not replaced.
struct PatternValues {
  std::optional<std::uint64_t> job;        // every array task has its own job id
  std::optional<std::uint64_t> array;      // of the array, or of the job if it is not an array task
  std::optional<std::uint32_t> task;       // 0 for a job that is not an array task
  std::optional<std::string> node;         // its name; only the part before the first dot is used
  std::optional<std::uint32_t> node_rank;  // within the job
  std::optional<std::uint32_t> restarts;
  std::string user, name;
};

// Replaces known %LETTERs and %%. A pattern with a backslash only loses its backslashes.
std::string expand_pattern(std::string_view pattern, const PatternValues& values);

// Default file of standard output: "ares-%j.out", for an array task "ares-%A_%a.out".
std::string_view default_output(bool array_task);

}  // namespace ares
