// Committer: makes one batch durable, even if the connection is lost meanwhile. A state machine
// without clock or thread: its caller does the waiting.
// Owned by the controller's journal thread, or by the simulation.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/journal/journal.h"

namespace ares::store {

// While connections are refused, or the server has no room, the wait doubles from `first` to
// `longest`.
struct RetryPace {
  Duration first{std::chrono::milliseconds(50)};
  Duration longest{std::chrono::seconds(5)};
};

class Committer {
 public:
  // The batch is durable. `epoch` is the current one; it is higher if the connection was lost.
  struct Committed {
    Epoch epoch;
  };
  // Undecided: call advance() again after the wait. The code of `why` is resource_exhausted if the
  // server has no room, else unavailable.
  struct RetryAfter {
    Duration wait;
    Error why;
  };
  // An Error is final: the process must stop and must not send anything that depended on the batch.
  using Step = std::variant<Committed, RetryAfter, Error>;

  // `journal` is open under `epoch` and outlives the committer.
  Committer(Journal& journal, Epoch epoch, RetryPace pace = {});

  // Precondition: no batch is in progress.
  void begin(std::shared_ptr<const Batch> batch);

  // Without a batch: looks for the last committed event to check that this controller still holds its epoch. An idle
  // controller has no other way to learn that it was superseded. Ends like a batch: Committed or a final Error.
  void begin_check(Lsn last);

  bool under_way() const { return batch_ != nullptr || checked_; }

  // Continues until there is a result or a wait is necessary. Precondition: under_way().
  Step advance();

 private:
  enum class Phase {
    write,   // connected: send the batch
    doubt,   // the batch may be committed; connect again and take the next epoch
    look_up  // connected again: is the last event of the batch there?
  };

  std::optional<Step> write();
  std::optional<Step> connect_again();
  std::optional<Step> look_up();
  Step committed();
  Step retry(Error why);
  Step give_up(Error error);

  Journal& journal_;
  Epoch epoch_;
  RetryPace pace_;
  std::shared_ptr<const Batch> batch_;
  std::optional<Lsn> checked_;  // event that a check looks for
  Phase phase_ = Phase::write;
  Duration wait_{};
  int doubts_ = 0;  // for this batch
};

}  // namespace ares::store
