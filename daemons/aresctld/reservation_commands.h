// Requests about reservations: from what a client sends to what the engine decides on. The part of commands.h that is about them.
// Pure but for the user names that are looked up; gRPC threads.
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
