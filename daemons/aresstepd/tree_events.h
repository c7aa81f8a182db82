// What ended in the process tree, passed on to the machine. Used by Supervisor, on its only thread; apart from it so that a test can
// say what ends when.
#pragma once

#include <utility>

#include "os/task_tree.h"

namespace ares::stepd {

// `look` gives what ended since its last call, and gives it once: whatever a look finds is passed on. What is done about the task's
// end may end the rest at once, so after one it looks again.
template <class Collect, class OnTaskEnd, class OnGone>
void forward_events(Collect&& collect, OnTaskEnd&& on_task_end, OnGone&& on_gone) {
  for (bool again = true; again;) {
    os::TaskTree::Events events = collect();
    again = events.task_end.has_value() && !events.gone;
    if (events.task_end) on_task_end(std::move(*events.task_end));
    if (events.gone) on_gone(*events.gone);
  }
}

}  // namespace ares::stepd
