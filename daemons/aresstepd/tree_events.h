// Passes the ends in the process tree, and those of the site's programs, to the machine. Used by Supervisor on its only thread. A
// header of its own, so that a test can choose the order of the ends.
#pragma once

#include <utility>

#include "os/task_tree.h"

namespace ares::stepd {

// `collect` returns what ended since its last call, each end once; all of it is passed on. The handler
// of the task's end may kill the rest of the tree at once, so `collect` is called again after it.
template <class Collect, class OnTaskEnd, class OnGone, class OnHelperEnd, class OnBesideEnd>
void forward_events(Collect&& collect, OnTaskEnd&& on_task_end, OnGone&& on_gone,
                    OnHelperEnd&& on_helper_end, OnBesideEnd&& on_beside_end) {
  for (bool again = true; again;) {
    os::TaskTree::Events events = collect();
    again = events.task_end.has_value() && !events.gone;
    if (events.task_end) on_task_end(std::move(*events.task_end));
    if (events.beside_ended) on_beside_end();
    if (events.gone) on_gone(*events.gone);
    if (events.helper_end) on_helper_end(*events.helper_end);
  }
}

}  // namespace ares::stepd
