// The longest commits beside a purge of many unused scripts.
//   bench_purge HOST_DIRECTORY DATABASE USER [SCRIPTS]
// The database is filled and not cleaned up: use a separate one. Scripts have 1.4 KB. For comparison: how
// long one statement takes that removes all of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "store/pg/pg_connection.h"
#include "store/pg/pg_journal.h"
#include "store/pg/purge.h"

namespace {

using namespace ares;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(1);
}

// Commits of one submission each: an event, a script.
class Commits {
 public:
  Commits(store::PgJournal& journal, const store::Opened& opened)
      : journal_(journal), epoch_(opened.epoch), lsn_(opened.state.lsn) {}

  template <class Done>
  void until(const char* name, Done&& done) {
    std::vector<double> times;
    while (!done()) {
      const auto begin = Clock::now();
      if (must(journal_.commit(next())) != store::CommitOutcome::committed) std::exit(1);
      times.push_back(seconds_since(begin) * 1e3);
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) {
      return times[std::min(times.size() - 1,
                            static_cast<std::size_t>(part * static_cast<double>(times.size())))];
    };
    std::printf("%-24s %6zu commits: median %.1f ms, p99 %.1f ms, longest %.1f ms\n", name,
                times.size(), at(0.5), at(0.99), times.back());
  }

 private:
  store::Batch next() {
    lsn_ = lsn_.next();
    store::Batch batch;
    batch.epoch = epoch_;
    batch.first = batch.last = lsn_;
    batch.now =
        Time{std::chrono::floor<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    batch.events.push_back(std::make_shared<const Event>(
        Event{lsn_, epoch_, batch.now, NodeRunning{{{JobId(1), {}}, AttemptNo(1)}, NodeId(1)}}));
    BlobId id{};
    std::copy_n(reinterpret_cast<const char*>(&lsn_), sizeof lsn_, id.begin());
    batch.blobs = {{id, std::make_shared<const std::string>(1400, 'x')}};
    batch.next_job_id = JobId(2);
    batch.next_node_id = NodeId(2);
    return batch;
  }

  store::PgJournal& journal_;
  Epoch epoch_;
  Lsn lsn_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_purge HOST_DIRECTORY DATABASE USER [SCRIPTS]\n");
    return 2;
  }
  store::PgOptions options;
  options.host = argv[1];
  options.database = argv[2];
  options.user = argv[3];
  const std::string scripts = argc > 4 ? argv[4] : "500000";

  store::PgJournal journal(options);
  const auto opened = must(journal.open());
  Commits commits(journal, opened);
  auto connection = must(store::PgConnection::connect(options, store::PgConnection::Use::rollup));
  must(connection.run(
      "INSERT INTO blob SELECT sha256(n::text::bytea), (SELECT string_agg(md5(n || "
      "'-' || k), '') FROM generate_series(1, 43) k)::bytea, now() - interval '2 days' "
      "FROM generate_series(1, " +
      scripts + ") n"));
  must(connection.run("VACUUM ANALYZE blob"));

  auto begin = Clock::now();
  commits.until("without a purge", [&] { return seconds_since(begin) > 10; });

  begin = Clock::now();
  must(connection.run("BEGIN; SELECT blob_purge(now() - interval '1 day'); ROLLBACK"));
  std::printf("%-24s %.2f s\n", "in one statement", seconds_since(begin));

  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> removed = 0;
  begin = Clock::now();
  std::thread purging([&] {
    store::Purge purge(options);
    for (bool more = true; more;) {
      const auto piece_begin = Clock::now();
      const auto piece = purge.blobs(opened.epoch);
      if (!piece && piece.error().code == ErrorCode::unavailable) continue;
      removed += must(piece).removed;
      more = piece->more;
      std::this_thread::sleep_for(
          std::max<Clock::duration>(Clock::now() - piece_begin, std::chrono::milliseconds(20)));
    }
    done = true;
  });
  commits.until("beside the purge", [&] { return done.load(); });
  purging.join();
  std::printf("%-24s %ju removed in %.1f s\n", "", static_cast<uintmax_t>(removed.load()),
              seconds_since(begin));
  return 0;
}
