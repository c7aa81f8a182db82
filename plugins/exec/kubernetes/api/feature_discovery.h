// Asks an API server through an ApiClient, in its thread, what it has.
#pragma once

#include <functional>

#include "base/result.h"
#include "exec/kubernetes/api/server_features.h"

namespace ares::kubernetes {

class ApiClient;

// Asks for all of it, then tells the client the versions and whether fields are checked, and calls back, once. The client must
// outlive it.
using FeaturesDone = std::function<void(Result<ServerFeatures>)>;
void discover(ApiClient& client, FeaturesDone done);

}  // namespace ares::kubernetes
