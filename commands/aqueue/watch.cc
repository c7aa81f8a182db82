#include "aqueue/watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>

#include "aqueue/cells.h"
#include "aqueue/past.h"
#include "base/printable.h"
#include "cli/jobs/past_jobs.h"
#include "cli/options/follower.h"
#include "cli/output/pages.h"
#include "cli/output/text.h"
#include "cli/output/width.h"
#include "proto/table.h"

namespace ares::aqueue {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kShowEnded{10};  // on the screen
constexpr std::chrono::seconds kRedraw{1};      // for the times that pass

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Rows that another function adds.
class Collected final : public Report {
 public:
  explicit Collected(std::vector<api::Job>& jobs) : jobs_(jobs) {}
  std::vector<std::uint32_t> fields() const override { return {}; }
  void add(const Row& row) override { jobs_.push_back(row.job); }
  std::string finish(const api::Jobs&, bool) override { return {}; }

 private:
  std::vector<api::Job>& jobs_;
};

bool draws_screen(const Query& query) {
  const char* terminal = std::getenv("TERM");
  return !query.listing.document && isatty(STDOUT_FILENO) && terminal && *terminal &&
         std::string_view(terminal) != "dumb";
}

// What the output needs to know of the controller.
struct Moment {
  Time at{};  // the controller's clock, when the last part came
  Steady::time_point here{};
  std::string cluster;

  Time now() const { return at + std::chrono::duration_cast<Duration>(Steady::now() - here); }
};

// Where the jobs are shown.
class Display {
 public:
  virtual ~Display() = default;
  virtual void show(const std::vector<WatchedJobs::Change>& changes, const Moment& moment) = 0;
  // The first listing is there.
  virtual void begin(const WatchedJobs& jobs, const Moment& moment) = 0;
  virtual void settle(const WatchedJobs& jobs, const Moment& moment) = 0;
  virtual void tell(const std::string& text) = 0;
};

class Lines final : public Display {
 public:
  explicit Lines(std::unique_ptr<Report> report) : report_(std::move(report)) {}

  void begin(const WatchedJobs& jobs, const Moment& moment) override {
    for (const auto& [key, shown] : jobs.listed())
      report_->add({shown.job, moment.now(), moment.cluster});
    print(report_->lines());
  }
  void show(const std::vector<WatchedJobs::Change>& changes, const Moment& moment) override {
    if (changes.empty()) return;
    for (const auto& change : changes) report_->add({change.job, moment.now(), moment.cluster});
    print(report_->lines());
  }
  void settle(const WatchedJobs&, const Moment&) override { std::fflush(stdout); }
  void tell(const std::string& text) override {
    std::fprintf(stderr, "aqueue: %s\n", printable(text, kLineControls).c_str());
  }

 private:
  const std::unique_ptr<Report> report_;
};

// The whole terminal, redrawn.
class Screen final : public Display {
 public:
  using Make = std::function<std::unique_ptr<Report>()>;  // for the terminal as it is now
  explicit Screen(Make make) : make_(std::move(make)) {}
  ~Screen() override {
    if (!open_) return;
    print("\x1b[?25h\x1b[?1049l" + listing_);
    std::fflush(stdout);
  }

  void begin(const WatchedJobs&, const Moment&) override {
    open_ = true;
    print("\x1b[?1049h\x1b[?25l");
  }
  void show(const std::vector<WatchedJobs::Change>& changes, const Moment&) override {
    for (const auto& change : changes) {
      const auto key = WatchedJobs::key_of(change.job.key());
      ended_.erase(key);
      if (change.left) ended_[key] = {change.job, Steady::now() + kShowEnded};
    }
  }
  void settle(const WatchedJobs& jobs, const Moment& moment) override {
    if (!open_) return;
    std::erase_if(ended_,
                  [now = Steady::now()](const auto& one) { return one.second.until < now; });
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
    const auto report = make_();
    for (const auto& [key, shown] : jobs.listed())
      report->add({shown.job, moment.now(), moment.cluster});
    for (const auto& [key, ended] : ended_) report->add({ended.job, moment.now(), moment.cluster});
    listing_ = report->finish(api::Jobs(), false);
    draw(size.ws_row, size.ws_col, jobs.listed().size(), moment);
  }
  void tell(const std::string& text) override {
    status_ = printable(text, kLineControls);
    if (!isatty(STDERR_FILENO)) std::fprintf(stderr, "aqueue: %s\n", status_.c_str());
    if (status_.starts_with("connected")) status_.clear();
    if (open_ && !status_.empty())
      print("\x1b[H" + std::string(cli::head_of_width(status_, width_)) + "\x1b[K");
    std::fflush(stdout);
  }

 private:
  struct Ended {
    api::Job job;
    Steady::time_point until;
  };

  void draw(std::size_t height, std::size_t width, std::size_t count, const Moment& moment) {
    width_ = width;
    std::string title = "cluster " + moment.cluster + ", ";
    put_time(moment.now().time_since_epoch().count(), title);
    title += ", " + std::to_string(count) + (count == 1 ? " line" : " lines");
    std::vector<std::string> lines = {status_.empty() ? title : status_};
    for (std::string& line : cli::split(listing_, '\n')) lines.push_back(std::move(line));
    if (lines.back().empty()) lines.pop_back();
    if (lines.size() > height && height > 2) {
      const std::size_t more = lines.size() - height + 1;
      lines.resize(height - 1);
      lines.push_back("... " + std::to_string(more) + " more");
    }
    std::string frame = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) frame += "\r\n";
      frame += cli::head_of_width(lines[i], width);
      frame += "\x1b[K";
    }
    print(frame + "\x1b[J");
    std::fflush(stdout);
  }

  const Make make_;
  bool open_ = false;
  std::size_t width_ = 80;
  std::map<WatchedJobs::Key, Ended> ended_;
  std::string listing_;  // the last one
  std::string status_;   // of the connection, if it is broken
};

// Calls the controller, until the user ends the command.
using Call = std::function<Result<api::Response>(const api::Request&)>;

class Watching {
 public:
  Watching(const Query& query, const Call& call, const Report& shown, Display& display)
      : call_(call),
        filter_(filter_of(query, getuid())),
        explain_hidden_(query.shows_live_jobs()),
        display_(display),
        jobs_([&shown, this](const api::Job& job) {
          return shown.texts({job, Time{}, moment_.cluster});
        }) {
    for (const std::uint32_t field : shown.fields()) filter_.add_fields(field);
    using J = api::Job;
    for (const std::uint32_t field :
         {proto::nested_field(J::kKeyFieldNumber, api::JobRef::kJobFieldNumber),
          proto::nested_field(J::kKeyFieldNumber, api::JobRef::kTaskFieldNumber),
          static_cast<std::uint32_t>(J::kOwnIdFieldNumber),
          static_cast<std::uint32_t>(J::kStateFieldNumber)})
      if (std::find(filter_.fields().begin(), filter_.fields().end(), field) ==
          filter_.fields().end())
        filter_.add_fields(field);
  }

  api::Watch request() const {
    api::Watch watch;
    *watch.mutable_jobs() = filter_;
    return watch;
  }

  Status take(const api::Watched& part) {
    if (part.kind() == api::Watched::ALIVE) return {};
    moment_ = {Time(Duration(part.jobs().now())), Steady::now(), part.jobs().cluster()};
    std::vector<WatchedJobs::Change> changes;
    if (!begun_ && part.first())
      if (Status past = add_past(part.jobs(), changes); !past) return past;
    std::vector<api::JobRef> vanished;
    if (Status taken = jobs_.take(part, changes, vanished); !taken) return taken;
    if (!vanished.empty()) end_vanished(vanished, changes);
    if (begun_) {
      display_.show(changes, moment_);
    } else {
      for (auto& change : changes)
        if (change.left) past_.push_back(std::move(change));
      if (part.kind() == api::Watched::LISTED) begin();
    }
    return {};
  }

  void settle() { display_.settle(jobs_, moment_); }

 private:
  void begin() {
    begun_ = true;
    display_.begin(jobs_, moment_);
    display_.show(past_, moment_);
    past_.clear();
  }

  // Jobs that were named and that the controller has forgotten.
  Status add_past(const api::Jobs& first, std::vector<WatchedJobs::Change>& changes) {
    std::vector<api::Job> found;
    Collected collected(found);
    std::string notes;
    Status past = add_past_jobs(call_, filter_, first, explain_hidden_, collected, notes);
    std::fputs(notes.c_str(), stderr);
    for (api::Job& job : found) changes.push_back({std::move(job), true});
    return past;
  }

  // What became of jobs that ended while there was no connection.
  void end_vanished(const std::vector<api::JobRef>& vanished,
                    std::vector<WatchedJobs::Change>& changes) {
    api::Request request;
    api::ListJobs& list = *request.mutable_list_jobs();
    for (const api::JobRef& ref : vanished) *list.add_jobs() = ref;
    *list.mutable_fields() = filter_.fields();
    list.set_skip_missing(true);
    std::vector<api::JobRef> missing;
    const Status read = cli::each_page(std::move(request), call_, [&](const api::Jobs& page) {
      for (const api::JobRef& ref : page.missing()) missing.push_back(ref);
      return proto::read_rows(page.jobs(), page.table(),
                              [&](const api::Job& job) { end_if_over(job, changes); });
    });
    if (read && !missing.empty())
      if (const auto past = cli::read_past_jobs_of(call_, missing))
        for (const api::AccountingRow& row : past->rows) end_if_over(cli::job_of(row), changes);
    for (const api::JobRef& ref : vanished) jobs_.drop(ref);
  }

  // An array's tasks are listed with it, whether they were known or not.
  void end_if_over(const api::Job& job, std::vector<WatchedJobs::Change>& changes) {
    if (jobs_.listed().contains(WatchedJobs::key_of(job.key()))) jobs_.end(job, changes);
  }

  const Call& call_;
  api::ListJobs filter_;
  const bool explain_hidden_;
  Display& display_;
  Moment moment_;
  WatchedJobs jobs_;
  bool begun_ = false;
  std::vector<WatchedJobs::Change> past_;  // before the first listing is complete
};

Result<Tiers> tiers_of(const Query& query, const Call& call) {
  Tiers tiers;
  if (!query.each_partition) return tiers;
  api::Request request;
  request.mutable_list_partitions()->set_brief(true);
  const auto response = call(request);
  if (!response) return fail(response.error());
  for (const api::Partition& partition : response->partitions().partitions())
    tiers[partition.name()] = partition.tier();
  return tiers;
}

}  // namespace

Result<int> watch(const Query& query) {
  cli::Follower follower;
  auto options = cli::client_options("aqueue", query.common, cli::RetryPolicy::query);
  if (!options) return fail(options.error());
  auto client = rpc::Client::open(*options);
  if (!client) return fail(client.error());
  const Call call = [&](const api::Request& request) {
    return follower.call(*client, request, *options);
  };
  const auto tiers = tiers_of(query, call);
  if (follower.ended()) return 0;
  if (!tiers) return fail(tiers.error());

  const auto make = [&](unsigned width) {
    return query.listing.document ? Result<std::unique_ptr<Report>>(make_json_lines_report())
                                  : make_listing_report(query, width, *tiers);
  };
  auto shown = make(0);
  if (!shown) return fail(shown.error());
  auto report = make(cli::terminal_width());
  if (!report) return fail(report.error());
  std::unique_ptr<Display> display;
  const bool screen = draws_screen(query);
  if (screen)
    display = std::make_unique<Screen>([&] { return std::move(*make(cli::terminal_width())); });
  else
    display = std::make_unique<Lines>(std::move(*report));
  Watching watching(query, call, **shown, *display);
  cli::Follower::Callbacks callbacks;
  callbacks.request = [&] { return watching.request(); };
  callbacks.take = [&](const api::Watched& part) { return watching.take(part); };
  callbacks.settle = [&] { watching.settle(); };
  if (screen) callbacks.every = kRedraw;
  callbacks.tell = [&](const std::string& text) { display->tell(text); };
  return follower.run(*options, callbacks);
}

}  // namespace ares::aqueue
