// Converts what a job asks of its containers between the model and api messages. Private to proto/. Pure functions; any thread.
#pragma once

#include "model/job/container.h"
#include "proto/api_reader.h"
#include "proto/gen/api.pb.h"

namespace ares::proto {

void to_api(const ContainerRequest& request, api::ContainerRequest* out);
// Refuses what no client sends: relative paths, control characters, more than any job needs.
void read_container(Reader& read, const api::ContainerRequest& in, ContainerRequest& out);

}  // namespace ares::proto
