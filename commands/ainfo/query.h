// The query described by an ainfo command line. Owned by ainfo's main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ainfo/rows.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "cli/options/listing_options.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

struct Query {
  cli::CommonOptions common;
  std::vector<std::string> partitions;
  std::vector<std::string> states;  // As typed, lower case.
  std::string nodes;
  cli::ListingChoice listing;
  bool summary = false;
  bool each_node = false;
  bool long_format = false;
  bool reasons = false;
  bool responding = false;
  bool dead = false;
  bool exact = false;
  bool reservations = false;  // In place of partitions and nodes.
};

cli::OptionTable options(Query& target);
const cli::Manual& manual();

Result<std::vector<cli::FormatItem>> format_of(const Query& query);

// The fields of api::Node that the query needs, as in api::Table.fields. Returns invalid_argument
// for a wrong format or order.
Result<std::vector<std::uint32_t>> fields_of(const Query& query);

// Whether a column or the order needs the reservations. Precondition: fields_of() succeeds.
bool shows_reservations(const Query& query);

// The nodes that match --states, --responding and --dead, by name.
std::vector<const api::Node*> select(const Query& query, const api::Nodes& nodes);

// The listing as text. `terminal` is the width of standard output's terminal, 0 if there is none.
Result<std::string> print(const Query& query, const Answer& answer, unsigned terminal = 0);

// {"partitions": […], "nodes": […], …}.
std::string print_json(const Query& query, const Answer& answer);

}  // namespace ares::ainfo
