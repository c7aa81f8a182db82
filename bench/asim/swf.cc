#include "asim/swf.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace ares::sim {
namespace {

// Positions of the fields that are used.
enum Field : std::size_t {
  kNumber = 0,
  kSubmit = 1,
  kRun = 3,
  kUsed = 4,
  kAsked = 7,
  kLimit = 8,
  kMemory = 9,  // KiB per processor
  kStatus = 10,
  kUser = 11,
};
constexpr std::size_t kFields = 18;
constexpr std::size_t kNeeded = kUser + 1;

enum Status : int { kFirstPart = 2, kLastPart = 4, kCancelled = 5 };

// Larger values are rejected as errors; the format itself has no limit.
constexpr double kMost = 4e9;

using Words = std::array<std::string_view, kFields>;

bool blank(char c) {
  return c == ' ' || c == '\t';
}

// Returns the number of fields. Some tools write ';' between fields.
std::size_t split(std::string_view line, bool semicolons, Words& words) {
  std::size_t count = 0;
  while (!line.empty() && count < kFields) {
    if (!semicolons)
      while (!line.empty() && blank(line.front())) line.remove_prefix(1);
    if (line.empty()) break;
    std::size_t end = 0;
    while (end < line.size() && !(semicolons ? line[end] == ';' : blank(line[end]))) ++end;
    words[count++] = line.substr(0, end);
    line.remove_prefix(std::min(end + (semicolons ? 1 : 0), line.size()));
  }
  return count;
}

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

class Reader {
 public:
  Result<Workload> read(Lines lines) {
    JobSpec spec;
    spec.name = "job";
    out_.specs.push_back(std::move(spec));
    std::string line;
    for (;;) {
      const Result<bool> more = lines.next(line);
      if (!more) return fail(more.error());
      if (!*more) return std::move(out_);
      std::string_view rest = line;
      while (!rest.empty() && blank(rest.front())) rest.remove_prefix(1);
      if (rest.empty()) continue;
      if (rest.front() == ';')
        comment(rest.substr(1));
      else if (Status read = job(rest, lines); !read)
        return fail(read.error());
    }
  }

 private:
  using Status = ares::Status;

  // "; MaxNodes: 338 (batch partition; 512 total)". Values that are not numbers are ignored.
  void comment(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;
    std::string_view key = text.substr(0, colon), value = text.substr(colon + 1);
    while (!key.empty() && blank(key.front())) key.remove_prefix(1);
    while (!value.empty() && blank(value.front())) value.remove_prefix(1);
    std::uint64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec != std::errc{})
      return;
    if (key == "MaxNodes" && number <= kMost)
      out_.machine_nodes = static_cast<std::uint32_t>(number);
    if (key == "MaxProcs" && number <= kMost) out_.machine_cpus = number;
    if (key == "UnixStartTime" && number <= kMost) out_.origin = Time{Seconds(number)};
  }

  Status job(std::string_view line, const Lines& lines) {
    Words words;
    const bool semicolons = line.find(';') != std::string_view::npos;
    const std::size_t count = split(line, semicolons, words);
    if (count < kNeeded)
      return fail(lines.at_line("expected " + std::to_string(kFields) + " fields, found " +
                                std::to_string(count) + "; is this an SWF log?"));
    std::array<double, kNeeded> field{};
    for (std::size_t i = 0; i < kUser; ++i) {
      const auto number = words[i].empty() ? -1.0 : number_in(words[i]);
      if (!number)
        return fail(lines.at_line("field " + std::to_string(i + 1) + ", \"" +
                                  std::string(words[i]) + "\", is not a number"));
      if (std::abs(*number) > kMost)
        return fail(lines.at_line("field " + std::to_string(i + 1) + ", " + std::string(words[i]) +
                                  ", is out of all bounds"));
      field[i] = *number;
    }
    take(field, words[kUser]);
    return {};
  }

  void take(const std::array<double, kNeeded>& field, std::string_view user) {
    const auto whole = [&](Field f) { return static_cast<std::int64_t>(std::llround(field[f])); };
    const std::int64_t status = whole(kStatus);
    const double cpus = field[kAsked] > 0 ? field[kAsked] : field[kUsed];
    if (status >= kFirstPart && status <= kLastPart) {
      ++out_.left_out["lines about a part of a job"];
    } else if (whole(kSubmit) < 0) {
      ++out_.left_out["no submit time"];
    } else if (field[kRun] <= 0 && status == kCancelled) {
      ++out_.left_out["cancelled before they ran"];
    } else if (field[kRun] < 0) {
      ++out_.left_out["no run time"];
    } else if (cpus < 1) {
      ++out_.left_out["no processors"];
    } else {
      WorkJob job;
      job.number = static_cast<std::uint64_t>(std::max<std::int64_t>(whole(kNumber), 0));
      job.submit = Seconds(whole(kSubmit));
      job.run = Seconds(whole(kRun));
      // Rounded up as asub does it, so that the scheduler sees what it would have seen.
      if (whole(kLimit) > 0)
        job.limit = std::chrono::ceil<std::chrono::minutes>(Seconds(whole(kLimit)));
      job.user = user_number(user);
      job.tasks = static_cast<std::uint32_t>(std::llround(cpus));
      if (field[kMemory] > 0) job.memory_per_cpu = Bytes::kib(whole(kMemory));
      out_.jobs.push_back(job);
    }
  }

  // Numbers are used unchanged; names are numbered in order of first occurrence.
  std::uint32_t user_number(std::string_view word) {
    if (const auto number = number_in(word); number && *number >= 0 && *number < kMost)
      return static_cast<std::uint32_t>(*number);
    return users_.try_emplace(std::string(word), static_cast<std::uint32_t>(users_.size()))
        .first->second;
  }

  Workload out_;
  std::unordered_map<std::string, std::uint32_t> users_;
};

}  // namespace

Result<Workload> read_swf(Lines lines) {
  return Reader().read(std::move(lines));
}

}  // namespace ares::sim
