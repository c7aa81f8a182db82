// The full explanation of why a job waits, for aqueue --why, actl show job and asub --test-only.
// Pure functions except for the process's time zone; any thread.
#pragma once

#include <string>
#include <vector>

#include "proto/gen/api.pb.h"

namespace ares::cli {

// One line of an explanation: title and text, such as "Waits for" and "Resources in main: needs 4
// CPUs …". Consecutive lines may have the same title; format_explanation() prints it once.
struct ExplanationLine {
  std::string title;
  std::string text;
};
std::vector<ExplanationLine> explanation_lines(const api::Explanation& explanation);

// The explanation as aligned text, indented by two. Texts are wrapped at `width`; 0 = not wrapped.
std::string format_explanation(const api::Explanation& explanation, std::size_t width);

}  // namespace ares::cli
