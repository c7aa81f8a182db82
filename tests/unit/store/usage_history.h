// A random history of some hours: nodes, reservations and attempts come, change and go. It is written to
// a journal, and expected reports are counted second by second, independently of the production code.
// Test code; one thread.
#pragma once

#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "store/journal/journal.h"

namespace ares::store::testing {

// TRES-seconds.
struct Told {
  std::int64_t allocated = 0, down = 0, drained = 0, reserved = 0, idle = 0, over = 0;
  std::int64_t total() const { return allocated + down + drained + reserved + idle; }
  friend bool operator==(const Told&, const Told&) = default;
};
std::ostream& operator<<(std::ostream& out, const Told& told);
using Capacity = std::map<std::string, Told>;  // by TRES
using Usage = std::map<std::tuple<std::string, std::string, std::string, std::string>,
                       std::int64_t>;  // account, user, qos, TRES

class UsageHistory {
 public:
  // `opened` is what `journal` returned from open().
  UsageHistory(Journal& journal, const Opened& opened, std::uint64_t seed);

  // `steps` random changes, a few minutes apart.
  void live(int steps);
  Time now() const { return now_; }
  Time begin() const { return begin_; }

  Capacity capacity(Time from, Time to) const;
  Usage usage(Time from, Time to) const;

 private:
  static constexpr int kNodes = 4;
  using Amounts = std::map<std::string, std::int64_t>;

  struct Standing {  // of a node, until the next one
    Time began{};
    std::string state;
    Amounts has;
  };
  struct Held {
    Attempt attempt;
    std::map<int, Amounts> of_node;
    Time began{};
    std::optional<Time> released;
  };
  struct Kept {
    std::string name;
    Reservation reservation;
    Time since{};
    std::optional<Time> until;
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  Batch begin_batch();
  void commit(Batch batch);
  void change_node();
  void change_reservation();
  void start_attempt();
  void end_attempt();
  void note_node(int number, Batch& batch);
  Told told_at(std::int64_t second, const std::string& tres) const;

  Journal& journal_;
  std::mt19937_64 random_;
  Epoch epoch_;
  Lsn lsn_;
  Time begin_{}, now_{};
  std::uint64_t jobs_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::vector<Standing>> standings_;
  std::vector<Held> held_;
  std::vector<Kept> kept_;
};

}  // namespace ares::store::testing
