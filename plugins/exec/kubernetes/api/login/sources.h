// Where Credentials come from outside of tests: a kubeconfig, or the service account of the pod in which this process runs. Any thread.
#pragma once

#include <string>

#include "exec/kubernetes/api/login/credentials.h"

namespace ares::kubernetes {

// `context`: empty for the current one of the file.
CredentialParts from_kubeconfig(std::string path, std::string context);

// `folder`: kServiceAccountFolder outside of tests.
CredentialParts from_service_account(std::string folder);

}  // namespace ares::kubernetes
