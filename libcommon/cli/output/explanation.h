// Why a job waits, in full, as aqueue --why, actl show job and asub --test-only tell it.
// Pure functions but for the process's time zone; any thread.
#pragma once

#include <string>
#include <vector>

#include "proto/gen/api.pb.h"

namespace ares::cli {

// Title and text of each line, a title once for several lines that belong to it: "Waits for", "Resources in main: needs 4 CPUs …".
struct ExplanationLine {
  std::string title;
  std::string text;
};
std::vector<ExplanationLine> explanation_lines(const api::Explanation& explanation);

// The same aligned, every line indented by two; texts are wrapped at `width`, 0 = not at all.
std::string format_explanation(const api::Explanation& explanation, std::size_t width);

}  // namespace ares::cli
