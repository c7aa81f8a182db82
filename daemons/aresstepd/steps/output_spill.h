// OutputSpill: what a task has written and arun cannot take yet, oldest first, in an unlinked file of bounded
// size that the job's user owns. Owned by the TaskGroup; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/fd.h"

namespace ares::stepd {

// What happens to a task that writes on when its file is full.
enum class Overflow : std::uint8_t {
  wait,         // it waits
  drop_oldest,  // whole lines are dropped, and the count of their bytes is told
};

class OutputSpill {
 public:
  // The file is made in `directory` when it is first needed. `limit` > 0, in bytes.
  OutputSpill(std::string directory, std::size_t limit, Overflow overflow)
      : directory_(std::move(directory)), limit_(limit), overflow_(overflow) {}

  bool empty() const { return size_ == 0 && not_in_file_.empty(); }
  // That add() should be given at most.
  std::size_t room() const {
    if (!not_in_file_.empty()) return 0;
    return overflow_ == Overflow::drop_oldest ? limit_ : limit_ - size_;
  }

  // At most room() bytes. They stay in memory, and there is no room for more, if the file cannot be
  // made or its disk is full.
  void add(std::string_view bytes);

  // Moves the oldest bytes, about `most`, to the end of `bytes`. An error: what is in the file cannot be
  // read; it counts as dropped.
  Status take(std::string& bytes, std::size_t most);

  // Bytes that were dropped before what take() gives next; counted anew afterwards.
  std::uint64_t take_dropped() { return std::exchange(dropped_, 0); }

 private:
  Status open();
  Status put_in_file(std::string_view bytes);
  void drop(std::size_t count);
  Status write_at(std::size_t position, std::string_view bytes);
  Status read_at(std::size_t position, char* bytes, std::size_t count) const;

  std::string directory_;
  std::size_t limit_;
  Overflow overflow_;
  os::Fd file_;            // a ring of `limit_` bytes
  std::size_t begin_ = 0;  // of the oldest byte
  std::size_t size_ = 0;
  std::string not_in_file_;  // newer than all that is in it
  bool cut_ = false;         // the oldest bytes are the rest of a line that was dropped in part
  std::uint64_t dropped_ = 0;
};

}  // namespace ares::stepd
