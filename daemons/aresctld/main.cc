// aresctld: builds and connects the parts of the controller and runs them until it is stopped.
#include <spdlog/spdlog.h>

#include "aresctld/controller.h"
#include "aresctld/options.h"
#include "aresctld/plugins/scheduler_plugins.h"
#include "base/printable.h"
#include "base/standard_descriptors.h"
#include "log/log.h"

int main(int argc, char** argv) {
  ares::open_standard_descriptors();
  auto options = ares::aresctld::parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "aresctld: %s\n",
                 ares::printable(options.error().message, ares::kLineControls).c_str());
    return 2;
  }
  if (options->text) {  // --help, --version
    std::fputs(options->text->c_str(), stdout);
    return 0;
  }
  auto config = ares::config::load(options->config);
  if (!config) {
    std::fprintf(stderr, "aresctld: %s\n",
                 ares::printable(config.error().message, ares::kLineControls).c_str());
    return 1;
  }
  if (options->check) {
    if (auto plugins = ares::aresctld::SchedulerPlugins(std::string()).load(*config); !plugins) {
      std::fprintf(stderr, "aresctld: %s\n",
                   ares::printable(plugins.error().message, ares::kLineControls).c_str());
      return 1;
    }
    std::printf("%s: ok: cluster %s, %zu nodes, %zu partitions\n", config->path.c_str(),
                config->policy.cluster_name.c_str(), config->nodes.size(),
                config->partitions.size());
    return 0;
  }
  if (auto logging = ares::start_log(
          {"aresctld", config->log.file, config->log.level, "%Y-%m-%dT%H:%M:%S.%e %l %v"});
      !logging) {
    std::fprintf(stderr, "aresctld: %s\n",
                 ares::printable(logging.error().message, ares::kLineControls).c_str());
    return 1;
  }
  ares::aresctld::Controller controller(
      std::make_shared<const ares::config::Config>(std::move(*config)), options->accept_rollback);
  const auto ended = controller.run();
  if (ended) return 0;
  spdlog::critical("{}", ended.error().message);
  return 1;
}
