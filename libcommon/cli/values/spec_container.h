// The values of --container-image and its companions, and of the options about pods. invalid_argument: the text has not that form.
// Pure but for set_pod_template(), which reads a file; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

// "registry:5000/path/name:tag", also as enroot spells it: "docker://registry:5000#path/name:tag".
Status set_container_image(api::JobSpec& spec, const std::string& text);
// "SRC[:DST[:ro|rw]],...": absolute paths.
Status set_container_mounts(api::JobSpec& spec, const std::string& text);
Status set_container_workdir(api::JobSpec& spec, const std::string& text);
Status set_container_env(api::JobSpec& spec, const std::string& text);  // "NAME,..."
Status set_pod_template(api::JobSpec& spec, const std::string& path);   // a file of JSON
Status set_namespace(api::JobSpec& spec, const std::string& text);
Status set_service_account(api::JobSpec& spec, const std::string& text);

}  // namespace ares::cli
