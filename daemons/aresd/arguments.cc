#include "aresd/arguments.h"

#include <getopt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ares::aresd {

Result<Arguments> parse_arguments(int argc, char** argv) {
  constexpr option kOptions[] = {{"config", required_argument, nullptr, 'c'},
                                 {"node", required_argument, nullptr, 'n'},
                                 {"confirm-ended", required_argument, nullptr, 'e'},
                                 {"join", no_argument, nullptr, 'j'},
                                 {"discover", optional_argument, nullptr, 'd'},
                                 {"watch-gpus-here", no_argument, nullptr, 'W'},
                                 {"discover-here", required_argument, nullptr, 'D'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  for (int c; (c = ::getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (c) {
      case 'c': arguments.config = optarg; break;
      case 'n':
        arguments.nodes = optarg;
        arguments.nodes_given = true;
        break;
      case 'e': arguments.confirm_ended = optarg; break;
      case 'j': arguments.join = true; break;
      case 'd': arguments.discover = optarg ? optarg : "auto"; break;
      case 'W': arguments.watch_gpus_here = true; break;
      case 'D': arguments.discover_here = optarg; break;
      case 'h':
        std::puts(
            "usage: aresd [--config FILE] [--node NAMES] [--join]\n"
            "       aresd [--config FILE] [--node NAME] --confirm-ended ATTEMPT\n"
            "       aresd --discover[=auto|nvml|amd|pci|FILE]\n"
            "The node daemon of Ares. NAMES defaults to this machine's name, or to none where the\n"
            "exec plugin finds the nodes; several, as n[1-1000], only where ares.yaml says\n"
            "`exec: mock`. --join: the nodes need not be in ares.yaml, if a rule of\n"
            "policy.dynamic_nodes has their names. --confirm-ended: all processes of an attempt\n"
            "whose supervisor was killed have ended; the node could not tell. --discover: prints\n"
            "the GPUs of this machine as JSON. See aresd(8), ares-gpu-discovery(7).");
        std::exit(0);
      case 'V': std::puts("aresd " ARES_VERSION); std::exit(0);
      default: return fail(ErrorCode::invalid_argument, "see aresd --help");
    }
  }
  if (optind < argc)
    return fail(ErrorCode::invalid_argument, std::string("unexpected argument ") + argv[optind]);
  if (arguments.nodes.empty()) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    arguments.nodes = std::string(host).substr(0, std::string_view(host).find('.'));
  }
  return arguments;
}

}  // namespace ares::aresd
