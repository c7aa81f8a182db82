#include "aresstepd/steps/step_ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/interval_set.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

using node::LedgerPage;
using node::LedgerRow;

std::int64_t micros(Time time) {
  return time.time_since_epoch().count();
}

// Cut if it is too long. No NUL follows a text that is just as long.
template <std::size_t N>
void put_text(char (&to)[N], std::string_view text) {
  std::memset(to, 0, N);
  std::memcpy(to, text.data(), std::min(text.size(), N));
}

void fill(LedgerRow& row, const steps::StepAccount& account, Time now) {
  const bool ended = account.state != StepState::running;
  if (row.use == LedgerRow::kFree) row.started = micros(now);
  row.number = account.number;
  row.state = static_cast<std::uint32_t>(account.state);
  row.exit_code = account.worst.signal != 0 ? 0 : account.worst.code;
  row.exit_signal = account.worst.signal;
  row.cancelled = account.cancelled && account.cancelled_by ? 1 : 0;
  row.cancelled_by = account.cancelled_by ? account.cancelled_by->value() : 0;
  row.steps = 1;
  row.tasks = account.tasks;
  row.cpus = account.cpus;
  row.nodes = static_cast<std::uint32_t>(account.nodes.size());
  row.max_rss_node = account.max_rss_node;
  row.user_cpu = account.used.user_cpu.count();
  row.system_cpu = account.used.system_cpu.count();
  row.first_user_cpu = account.on_first.user_cpu.count();
  row.first_system_cpu = account.on_first.system_cpu.count();
  row.max_rss = account.used.max_rss;
  row.sum_rss = account.sum_rss;
  row.disk_read = account.used.disk_read;
  row.disk_written = account.used.disk_written;
  put_text(row.name, account.name);
  IntervalSet ranks;
  for (const std::uint32_t rank : account.nodes) ranks.insert(rank);
  const std::string text = format_interval_set(ranks);
  put_text(row.ranks, text.size() <= sizeof row.ranks ? text : std::string());
  if (ended) row.ended = micros(now);
  row.use = ended ? LedgerRow::kEnded : LedgerRow::kRunning;
}

void add(LedgerRow& sum, const LedgerRow& one) {
  if (sum.use == LedgerRow::kFree) {
    sum = one;
    put_text(sum.name, "");
    return;
  }
  ++sum.steps;
  sum.started = std::min(sum.started, one.started);
  sum.ended = std::max(sum.ended, one.ended);
  const auto code = [](const LedgerRow& row) {
    return row.exit_signal != 0 ? 128 + row.exit_signal : row.exit_code;
  };
  if (code(one) > code(sum)) {
    sum.exit_code = one.exit_code;
    sum.exit_signal = one.exit_signal;
    sum.state = one.state;
  }
  sum.tasks = std::max(sum.tasks, one.tasks);
  sum.cpus = std::max(sum.cpus, one.cpus);
  sum.nodes = std::max(sum.nodes, one.nodes);
  if (one.max_rss > sum.max_rss) {
    sum.max_rss = one.max_rss;
    sum.max_rss_node = one.max_rss_node;
  }
  sum.sum_rss = std::max(sum.sum_rss, one.sum_rss);
  for (std::int64_t LedgerRow::*member :
       {&LedgerRow::user_cpu, &LedgerRow::system_cpu, &LedgerRow::first_user_cpu,
        &LedgerRow::first_system_cpu, &LedgerRow::disk_read, &LedgerRow::disk_written})
    sum.*member += one.*member;
  if (std::memcmp(sum.ranks, one.ranks, sizeof sum.ranks) != 0) put_text(sum.ranks, "");
}

}  // namespace

Result<StepLedger> StepLedger::open(const std::string& directory, const std::string& name,
                                    Time now) {
  const std::string path = directory + "/" + name;
  const os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Space is taken now: a full disk found at a write to the page would be a signal.
  if (!file || ::posix_fallocate(file.get(), 0, sizeof(LedgerPage)) != 0)
    return fail(os::errno_error("cannot use " + path));
  void* const mapped =
      ::mmap(nullptr, sizeof(LedgerPage), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return fail(os::errno_error("cannot map " + path));
  auto* const page = static_cast<LedgerPage*>(mapped);
  constexpr char kMagic[] = {'A', 'R', 'S', 'T', 'E', 'P', 'S', '1'};
  std::memcpy(page->magic, kMagic, sizeof kMagic);
  page->used = std::min(page->used, kMostSteps);
  for (std::uint32_t i = 0; i < page->used; ++i) {
    LedgerRow& row = page->rows[i];
    if (row.use != LedgerRow::kRunning) continue;
    row.use = LedgerRow::kEnded;
    row.state = static_cast<std::uint32_t>(StepState::cancelled);
    row.exit_signal = SIGKILL;
    row.ended = micros(now);
  }
  return StepLedger(page);
}

StepLedger::StepLedger(StepLedger&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

StepLedger& StepLedger::operator=(StepLedger&& other) noexcept {
  std::swap(page_, other.page_);
  return *this;
}

StepLedger::~StepLedger() {
  if (page_) ::munmap(page_, sizeof(LedgerPage));
}

void StepLedger::put(const steps::StepAccount& account, Time now) {
  if (!page_) return;
  LedgerRow* const begin = page_->rows;
  LedgerRow* const end = begin + std::min(page_->used, kMostSteps);
  LedgerRow* row =
      std::find_if(begin, end, [&](const LedgerRow& r) { return r.number == account.number; });
  if (row != end) return fill(*row, account, now);
  if (page_->used < kMostSteps) {
    fill(*row, account, now);
    ++page_->used;
    return;
  }
  if (account.state == StepState::running) return;
  LedgerRow ended;
  fill(ended, account, now);
  add(page_->others, ended);
}

}  // namespace ares::stepd
