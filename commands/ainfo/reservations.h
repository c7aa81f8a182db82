// The reservations of ainfo: which nodes are in one now, and the listing of --reservation. Pure
// functions; any thread.
#pragma once

#include <string>

#include "ainfo/row.h"
#include "proto/gen/api.pb.h"

namespace ares::ainfo {

// By node: the names of its active reservations, separated by commas.
ReservedNodes reserved_nodes(const api::Reservations& all);

std::string list_reservations(const api::Reservations& all, bool with_header);

}  // namespace ares::ainfo
