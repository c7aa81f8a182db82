// The ways in which users of scontrol write commands: shortened words, `show job=12`. Pure; any
// thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "cli/options/frame.h"

namespace ares::actl {

// The command in full: the first word, and what `show` is to show, may be shortened as long as they
// mean one of the verbs and subjects, and `show` may be followed by SUBJECT=NAMES. Words without such
// a meaning are kept.
cli::Words spelled_out(cli::Words words, const std::set<std::string>& verbs,
                       const std::set<std::string>& subjects);

// "res" to "reservation", as the word after create and delete.
bool is_reservation_word(std::string_view word);

}  // namespace ares::actl
