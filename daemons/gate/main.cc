// ares-gate: the first process of a job's pod, see ares-kubernetes(7). `ares-gate install FOLDER` puts it there, in the pod's
// init container; `ares-gate run` is what the main container starts.
#include <cstdio>
#include <string_view>

#include "gate/pod_gate.h"

int main(int count, char** arguments) {
  const std::string_view verb = count > 1 ? arguments[1] : "";
  if (verb == "run" && count == 2) return ares::gate::run({});
  if (verb == "install" && count == 3) {
    const ares::Status installed = ares::gate::install(arguments[2]);
    if (!installed) std::fprintf(stderr, "ares-gate: %s\n", installed.error().message.c_str());
    return installed ? 0 : 1;
  }
  std::fputs("usage: ares-gate install FOLDER | ares-gate run\n", stderr);
  return 2;
}
