// The manual page ares-reasons(7): the states of jobs and nodes, and the reasons of jobs.
// Pure; any thread.
#pragma once

#include <string>

namespace ares {

std::string reasons_page();

}  // namespace ares
