#include "checkpoint/s3/plugin.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "checkpoint/adapter/table.h"
#include "checkpoint/s3/store.h"
#include "os/clock.h"

namespace ares::checkpoint::s3 {
namespace {

std::optional<std::string> of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

void wait_for(Duration duration) {
  const auto seconds = std::chrono::duration_cast<Seconds>(duration);
  timespec left{seconds.count(),
                std::chrono::duration_cast<std::chrono::nanoseconds>(duration - seconds).count()};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

Result<std::unique_ptr<Backend>> open(std::string_view options, Warn warn) {
  Result<Settings> settings = read_settings(options, of_environment);
  if (!settings) return fail(settings.error());
  Result<Credentials> credentials = read_credentials(of_environment);
  if (!credentials) return fail(credentials.error());
  Result<CurlTransport> transport = CurlTransport::open(settings->ca_file, settings->timeout_s);
  if (!transport) return fail(transport.error());
  return std::make_unique<Store>(Client(
      std::move(*settings), std::move(*credentials),
      {std::make_unique<CurlTransport>(std::move(*transport)), os::wall_now, wait_for, warn}));
}

}  // namespace

const ares_checkpoint_plugin* plugin() {
  static constexpr ares_checkpoint_plugin kPlugin = table_of<open>("s3", false);
  return &kPlugin;
}

}  // namespace ares::checkpoint::s3

#ifdef ARES_PLUGIN_MODULE
extern "C" const ares_checkpoint_plugin* ARES_CHECKPOINT_ENTRY(void) {
  return ares::checkpoint::s3::plugin();
}
#endif
