#include "aresctld/accounting/archive_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/fnv1a.h"
#include "cli/output/json.h"
#include "cli/values/json_reader.h"

namespace ares::aresctld {
namespace {

constexpr std::size_t kPart = 2'000;  // rows
constexpr const char* kFormat = "1";

tl::unexpected<Error> cannot(const std::string& what, const std::string& path) {
  const ErrorCode code =
      errno == ENOSPC ? ErrorCode::resource_exhausted : ErrorCode::failed_precondition;
  return fail(code, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

Status sync_folder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return cannot("open", path);
  const int done = fsync(fd);
  close(fd);
  if (done != 0) return cannot("write", path);
  return {};
}

// Creates all missing folders, accessible only to the controller's user.
Status make_folder(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make archive.dir", part);
    if (at == std::string::npos) return {};
  }
}

bool same_content(const std::string& a, const std::string& b) {
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  if (!one || !other) return false;
  std::string left(1 << 16, '\0'), right(1 << 16, '\0');
  do {
    one.read(left.data(), static_cast<std::streamsize>(left.size()));
    other.read(right.data(), static_cast<std::streamsize>(right.size()));
    if (one.gcount() != other.gcount() ||
        !std::equal(left.begin(), left.begin() + one.gcount(), right.begin()))
      return false;
  } while (one && other);
  return one.eof() && other.eof();
}

std::string json_text(std::string_view text) {
  std::string out;
  cli::put_json_text(text, out);
  return out;
}

std::string head_line(const ArchiveHead& head) {
  return "{\"ares_archive\":" + std::string(kFormat) + ",\"system\":" + json_text(head.system) +
         ",\"cluster\":" + json_text(head.cluster) +
         ",\"month\":" + json_text(month_text(head.month)) + "}";
}

std::string last_line(std::uint64_t rows, std::uint64_t digest) {
  return "{\"rows\":" + std::to_string(rows) + ",\"digest\":" + json_text(std::to_string(digest)) +
         "}";
}

std::string value_of(const cli::JsonObject& object, std::string_view name) {
  for (const auto& [key, value] : object)
    if (key == name) return value.text;
  return {};
}

std::optional<Time> parse_month(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u%c", &year, &month, &rest) != 2) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(year), std::chrono::month(month),
                                        std::chrono::day(1)};
  if (!day.ok()) return std::nullopt;
  return Time(std::chrono::sys_days(day));
}

Result<ArchiveHead> parse_head(const std::string& path, const std::string& line) {
  const auto object = cli::parse_json_object(line);
  const std::string format = object ? value_of(*object, "ares_archive") : "";
  const auto month = object ? parse_month(value_of(*object, "month")) : std::nullopt;
  if (format.empty() || !month)
    return fail(ErrorCode::invalid_argument, path + " is no archive of accounting");
  if (format != kFormat)
    return fail(ErrorCode::invalid_argument,
                path + " is of a newer release (format " + format + "): load it with that");
  return ArchiveHead{value_of(*object, "system"), value_of(*object, "cluster"), *month};
}

}  // namespace

std::string month_text(Time month) {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(month)};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()));
  return text;
}

Result<ArchiveWriter> ArchiveWriter::begin(const std::string& folder, const ArchiveHead& head) {
  if (Status made = make_folder(folder); !made) return fail(made.error());
  ArchiveWriter writer(folder, "attempts-" + month_text(head.month));
  const std::string path = writer.part();
  const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return cannot("write", path);
  writer.file_.reset(fdopen(fd, "wb"));
  if (!writer.file_) {
    close(fd);
    return cannot("write", path);
  }
  writer.digest_ = fnv1a("");
  if (Status put = writer.put(head_line(head)); !put) return fail(put.error());
  return writer;
}

Status ArchiveWriter::put(const std::string& line) {
  digest_ = fnv1a("\n", fnv1a(line, digest_));
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fputc('\n', file_.get()) == EOF)
    return cannot("write", part());
  return {};
}

Status ArchiveWriter::add(const std::vector<std::string>& rows) {
  for (const std::string& row : rows)
    if (Status done = put(row); !done) return done;
  rows_ += rows.size();
  return {};
}

Result<std::string> ArchiveWriter::finish() {
  if (Status done = put(last_line(rows_, digest_)); !done) return fail(done.error());
  if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0)
    return cannot("write", part());
  file_.reset();
  // An existing file may hold the only copy of its rows, so it is never replaced.
  for (int number = 1;; ++number) {
    const std::string name = stem_ + (number > 1 ? "-" + std::to_string(number) : "") + ".json";
    const std::string path = folder_ + "/" + name;
    if (access(path.c_str(), F_OK) == 0) {
      if (!same_content(path, part())) continue;
      if (unlink(part().c_str()) != 0) return cannot("remove", part());
    } else if (rename(part().c_str(), path.c_str()) != 0) {
      return cannot("write", path);
    }
    if (Status done = sync_folder(folder_); !done) return fail(done.error());
    return name;
  }
}

Result<ArchiveContent> check_archive(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!in)
    return fail(ErrorCode::not_found, path +
                                          " cannot be read by the controller's user on its "
                                          "machine: " +
                                          std::strerror(errno));
  if (!std::getline(in, line))
    return fail(ErrorCode::invalid_argument, path + " is no archive of accounting");
  auto head = parse_head(path, line);
  if (!head) return fail(head.error());
  ArchiveContent content{*std::move(head), 0};
  std::uint64_t digest = fnv1a("\n", fnv1a(line));
  std::string held;  // one line behind, because the last line is not a row
  std::getline(in, held);
  while (std::getline(in, line)) {
    digest = fnv1a("\n", fnv1a(held, digest));
    ++content.rows;
    held.swap(line);
  }
  if (held != last_line(content.rows, digest))
    return fail(ErrorCode::data_loss,
                path +
                    " is not as it was written: it was cut short or changed, and nothing of it "
                    "is loaded");
  return content;
}

Status read_archive(const std::string& path,
                    const std::function<Status(const std::vector<std::string>&)>& visit) {
  std::ifstream in(path, std::ios::binary);
  std::string line, held;
  if (!in || !std::getline(in, line) || !std::getline(in, held)) return cannot("read", path);
  std::vector<std::string> rows;
  while (std::getline(in, line)) {
    rows.push_back(std::move(held));
    held = std::move(line);
    if (rows.size() < kPart) continue;
    if (Status done = visit(rows); !done) return done;
    rows.clear();
  }
  return rows.empty() ? Status() : visit(rows);
}

}  // namespace ares::aresctld
