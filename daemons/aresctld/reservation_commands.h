// Converts requests about reservations to engine commands. Belongs to commands.h.
// Pure except for the lookup of user names; gRPC threads.
#pragma once

#include "aresctld/identity.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

Result<UserBody> to_create_reservation(const api::CreateReservation& from, Identity& identity);
Result<UserBody> to_update_reservation(const api::UpdateReservation& from, Identity& identity);
Result<UserBody> to_delete_reservations(const api::DeleteReservations& from);

}  // namespace ares::aresctld
