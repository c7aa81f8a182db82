// ares-gate: the first process of a job's pod, see ares-kubernetes(7). `ares-gate install FOLDER [PATH]...` puts it there, in the
// pod's init container, if each PATH is a directory that the user may enter; `ares-gate run` is what the main container starts.
#include <cstdio>
#include <string_view>

#include "gate/pod_gate.h"

int main(int count, char** arguments) {
  std::string_view called = count > 0 ? arguments[0] : "";
  called.remove_prefix(called.find_last_of('/') + 1);
  if (ares::gate::is_not_in_pods(called)) return ares::gate::explain(called);
  const std::string_view verb = count > 1 ? arguments[1] : "";
  if (verb == "run" && count == 2) return ares::gate::run({});
  if (verb == "install" && count >= 3)
    return ares::gate::prepare(arguments[2], {arguments + 3, arguments + count}, {});
  std::fputs("usage: ares-gate install FOLDER [PATH]... | ares-gate run\n", stderr);
  return 2;
}
