#include "log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "log/reopened_file.h"

namespace ares {
namespace {

// The sink of the file, if there is one. Set before any thread exists.
std::shared_ptr<ReopenedFile>& file_sink() {
  static std::shared_ptr<ReopenedFile> sink;
  return sink;
}

}  // namespace

Status start_log(const LogSetup& setup) {
  spdlog::sink_ptr sink;
  if (setup.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    auto file = std::make_shared<ReopenedFile>(setup.file);
    if (auto opened = file->reopen(); !opened)
      return fail(ErrorCode::invalid_argument, std::move(opened.error().message));
    sink = file_sink() = std::move(file);
  }
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(setup.name, std::move(sink)));
  spdlog::set_pattern(setup.pattern);
  spdlog::set_level(spdlog::level::from_str(setup.level));
  spdlog::flush_on(spdlog::level::info);
  return {};
}

Status reopen_log() {
  return file_sink() ? file_sink()->reopen() : Status{};
}

}  // namespace ares
