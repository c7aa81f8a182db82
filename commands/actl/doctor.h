// What `actl doctor` makes of what it found: each check with its result and what to do about it.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

enum class Health : std::uint8_t { good, warning, failed };

struct Finding {
  Health health = Health::good;
  std::string subject;  // "munge"
  std::string text;     // what was found
  std::string advice;   // what to do; empty if it is good
};

// Of a credential that this machine made and read. `needed`: commands here reach the controller by TCP; by a local socket they do
// without.
Finding judge_munge(const Status& tried, bool needed);

// Of one of the controller's addresses. `answered`: the controller did, at whichever.
Finding judge_address(const std::string& address, const Status& connected, bool answered);

// The answer to a ping, or why there is none.
Finding judge_controller(const Result<api::Response>& pong);

// `asked` and `told`: this machine's clock before the ping and after its answer.
Finding judge_clocks(const api::Pong& pong, Time asked, Time told);

// `config`: that of the controller, as `actl show config` prints it; none if it was not told.
std::vector<Finding> judge_database(const api::Pong& pong,
                                    const std::optional<std::string>& config);

// `own`: the release of this program.
std::vector<Finding> judge_versions(const std::string& own, const std::string& controller,
                                    const api::Nodes& nodes);

std::vector<Finding> judge_nodes(const api::Nodes& nodes);

// The findings as text, and how many failed. `quiet`: without those that are good.
std::string doctor_text(const std::vector<Finding>& findings, bool quiet);
std::size_t failures(const std::vector<Finding>& findings);

}  // namespace ares::actl
