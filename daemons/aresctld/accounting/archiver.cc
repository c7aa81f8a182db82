#include "aresctld/accounting/archiver.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "aresctld/accounting/archive_file.h"

namespace ares::aresctld {
namespace {

constexpr std::chrono::minutes kPollInterval{60};  // between checks for months that are old enough
constexpr std::chrono::seconds kBusyRetryDelay{2}, kProgressWait{1};
constexpr int kMaxBusyRetries = 150;
constexpr int kMaxChangedRetries = 3;

std::string count_text(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

Archiver::~Archiver() {
  stop();
}

void Archiver::start() {
  thread_ = std::thread([this] { run(); });
}

void Archiver::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Archiver::sleep_for(Duration time) {
  Lock lock(mutex_);
  wake_.wait_for(lock, time, [this]() ARES_REQUIRES(mutex_) { return stopping_; });
  return !stopping_;
}

bool Archiver::stopping() {
  const Lock lock(mutex_);
  return stopping_;
}

void Archiver::set_progress(std::string text, bool failed) {
  const Lock lock(mutex_);
  text_ = std::move(text);
  failed_ = failed;
}

void Archiver::run() {
  for (;;) {
    std::optional<api::Archive> request;
    {
      const Lock lock(mutex_);
      request = request_;
    }
    if (request) {
      serve(*request);
    } else if (const Seconds after = config_.read()->archive.after; after > Seconds(0)) {
      const auto done = dump(clock_.now() - after, false);
      if (!done && done.error().message != last_warning_)
        spdlog::warn("accounting is not archived for now: {}", done.error().message);
      last_warning_ = done ? "" : done.error().message;
    }
    Lock lock(mutex_);
    wake_.wait_for(lock, kPollInterval,
                   [this]() ARES_REQUIRES(mutex_) { return stopping_ || request_; });
    if (stopping_) return;
  }
}

void Archiver::serve(const api::Archive& request) {
  Result<std::string> done = std::string();
  if (request.what() == api::Archive::LOAD) {
    done = load(request.path());
  } else {
    const Time given{Duration(request.before())};
    const Time now = clock_.now();
    done = dump(request.before() != 0 ? std::min(given, now) : now - config_.read()->archive.after,
                true);
  }
  set_progress(done ? *done : done.error().message, !done);
  {
    const Lock lock(mutex_);
    request_.reset();
  }
  wake_.notify_all();
}

Result<std::string> Archiver::dump(Time before, bool with_loaded) {
  store::Archive archive(options_);
  const auto locked = archive.try_lock();
  if (!locked) return fail(locked.error());
  if (!*locked) return fail(ErrorCode::unavailable, "another controller does it right now");
  const auto system = archive.system();
  if (!system) return fail(system.error());
  DumpResult result;
  for (;;) {
    const auto month = archive.next(before, with_loaded);
    if (!month) return fail(month.error());
    if (!*month) break;
    if (Status done = dump_month(archive, *system, **month, result); !done) {
      Error error = done.error();
      error.message = month_text(**month) + ": " + error.message;
      if (!result.files.empty())
        error.message += "; before it " + count_text(result.files.size(), "file") + " with " +
                         count_text(result.rows, "attempt") + " were written";
      return fail(std::move(error));
    }
  }
  if (result.files.empty()) return "nothing is old enough to be archived";
  std::string text = count_text(result.rows, "attempt") + " moved to ";
  for (std::size_t i = 0; i < result.files.size(); ++i)
    text += (i > 0 ? ", " : "") + result.files[i];
  return text;
}

// Writes all rows of the month to a file and makes it durable.
Result<std::string> Archiver::write(store::Archive& archive, const std::string& system, Time month,
                                    store::ArchiveSum& sum) {
  auto writer =
      ArchiveWriter::begin(config_.read()->archive.dir, {system, options_.cluster_name, month});
  if (!writer) return fail(writer.error());
  store::Archive::Cursor cursor;
  for (;;) {
    if (stopping()) return fail(ErrorCode::unavailable, "the controller is stopping");
    const auto rows = archive.page(month, cursor, sum);
    if (!rows) return fail(rows.error());
    if (rows->empty()) return writer->finish();
    if (Status done = writer->add(*rows); !done) return fail(done.error());
    set_progress(month_text(month) + ": " + count_text(sum.rows, "attempt") + " written", false);
  }
}

Status Archiver::dump_month(store::Archive& archive, const std::string& system, Time month,
                            DumpResult& result) {
  using PurgeResult = store::Archive::PurgeResult;
  for (int attempt = 0; attempt < kMaxChangedRetries; ++attempt) {
    store::ArchiveSum sum;
    const auto file = write(archive, system, month, sum);
    if (!file) return fail(file.error());
    auto purged = archive.purge(month, *file, sum, clock_.now());
    for (int wait = 0; purged && *purged == PurgeResult::busy && wait < kMaxBusyRetries; ++wait) {
      if (!sleep_for(kBusyRetryDelay))
        return fail(ErrorCode::unavailable, "the controller is stopping");
      purged = archive.purge(month, *file, sum, clock_.now());
    }
    if (!purged) return fail(purged.error());
    switch (*purged) {
      case PurgeResult::done:
        spdlog::info("{} of {} moved to {}/{}", count_text(sum.rows, "attempt"), month_text(month),
                     config_.read()->archive.dir, *file);
        result.rows += sum.rows;
        result.files.push_back(*file);
        return {};
      case PurgeResult::changed: break;
      case PurgeResult::early:
        return fail(ErrorCode::failed_precondition,
                    "not all of it is in the sums of reports yet; areport rollup now makes them");
      case PurgeResult::busy:
        return fail(ErrorCode::unavailable, "reports read it all the time; it stays for now");
    }
  }
  return fail(ErrorCode::unavailable, "it changes all the time; it stays for now");
}

Result<std::string> Archiver::load(const std::string& given) {
  const std::string path =
      given.find('/') == std::string::npos ? config_.read()->archive.dir + "/" + given : given;
  const auto content = check_archive(path);
  if (!content) return fail(content.error());
  store::Archive archive(options_);
  const auto system = archive.system();
  if (!system) return fail(system.error());
  if (*system != content->head.system)
    return fail(ErrorCode::failed_precondition, path + " is of another database (cluster " +
                                                    content->head.cluster +
                                                    "): its jobs have the numbers of others here");
  const Time month = content->head.month;
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(month)};
  const Time end{std::chrono::sys_days(day + std::chrono::months(1))};
  const store::ArchivedFile file{
      path.substr(path.rfind('/') + 1), month, end, content->rows, {}, {}};
  auto begun = archive.begin_load(file, clock_.now());
  for (int wait = 0; begun && !*begun && wait < kMaxBusyRetries; ++wait) {
    if (!sleep_for(kBusyRetryDelay))
      return fail(ErrorCode::unavailable, "the controller is stopping");
    begun = archive.begin_load(file, clock_.now());
  }
  if (!begun) return fail(begun.error());
  if (!*begun) return fail(ErrorCode::unavailable, "reports read the attempts all the time");
  std::uint64_t loaded_rows = 0;
  const Status done = read_archive(path, [&](const std::vector<std::string>& rows) -> Status {
    if (stopping())
      return fail(ErrorCode::unavailable,
                  "the controller is stopping; loading the file again does the rest");
    const auto loaded = archive.load(rows);
    if (!loaded) return fail(loaded.error());
    loaded_rows += *loaded;
    set_progress(month_text(month) + ": " + count_text(loaded_rows, "attempt") + " loaded", false);
    return {};
  });
  if (!done) return fail(done.error());
  std::string text =
      count_text(loaded_rows, "attempt") + " of " + month_text(month) + " loaded back";
  if (loaded_rows < content->rows)
    text += "; " + std::to_string(content->rows - loaded_rows) + " were there already";
  spdlog::info("{}, from {}", text, path);
  return text;
}

Status Archiver::begin(const api::Archive& request) {
  if (request.what() == api::Archive::LOAD && request.path().empty())
    return fail(ErrorCode::invalid_argument, "load which file?");
  if (request.what() == api::Archive::DUMP && request.before() == 0 &&
      config_.read()->archive.after == Seconds(0))
    return fail(ErrorCode::invalid_argument,
                "archive.after is 0 in ares.yaml, so nothing is ever old enough; "
                "before=2025-01 says which months are");
  const Lock lock(mutex_);
  if (request_)
    return fail(
        ErrorCode::failed_precondition,
        "an archive is being written or loaded already; aacctmgr archive show tells how far it is");
  request_ = request;
  ++work_;
  text_ = "waiting for its turn";
  failed_ = false;
  wake_.notify_all();
  return {};
}

// Waits a short time for the running request to end.
void Archiver::await_progress() {
  Lock lock(mutex_);
  wake_.wait_for(lock, kProgressWait,
                 [this]() ARES_REQUIRES(mutex_) { return stopping_ || !request_; });
}

Result<api::Archived> Archiver::on_demand(const api::Archive& request) {
  if (request.what() == api::Archive::SHOW) {
    await_progress();
  } else if (Status begun = begin(request); !begun) {
    return fail(begun.error());
  }
  store::Archive archive(options_);
  const auto files = archive.files();
  if (!files) return fail(files.error());
  api::Archived out;
  const std::string folder = config_.read()->archive.dir;
  for (const store::ArchivedFile& file : *files) {
    api::Archived::File& row = *out.add_files();
    row.set_path(folder + "/" + file.name);
    row.set_start(file.began.time_since_epoch().count());
    row.set_end(file.ended.time_since_epoch().count());
    row.set_rows(file.rows);
    row.set_written(file.purged.time_since_epoch().count());
    row.set_loaded(file.loaded ? file.loaded->time_since_epoch().count() : 0);
  }
  const Lock lock(mutex_);
  out.set_busy(request_.has_value());
  out.set_work(work_);
  out.set_text(text_);
  out.set_failed(failed_);
  return out;
}

}  // namespace ares::aresctld
