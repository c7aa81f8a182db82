// Prints the manual page that its argument names, from the tables the programs themselves use.
#include <cstdio>
#include <string>

#include "config/reference.h"
#include "core/job/transitions.h"
#include "environment_page.h"
#include "reasons_page.h"

namespace {

std::string job_states_page() {
  return ".\\\" Generated from the state machine's own table; edit "
         "libcommon/core/job/transitions.cc.\n"
         ".TH ARES-JOB-STATES 7 \"\" \"Ares " ARES_VERSION
         "\" \"Concepts\"\n"
         ".SH NAME\nares\\-job\\-states \\- the states of a job and what leads from one to "
         "another\n"
         ".SH DESCRIPTION\n"
         "A job is in exactly one of these states. Listings show their short codes: PENDING PD, "
         "CONFIGURING CF, RUNNING R, "
         "SUSPENDED S, COMPLETING CG, COMPLETED CD, FAILED F, CANCELLED CA, TIMEOUT TO, NODE_FAIL "
         "NF, PREEMPTED PR, "
         "OUT_OF_MEMORY OOM, BOOT_FAIL BF, DEADLINE DL. From COMPLETED on a job has ended; "
         "requeueing an ended job makes it "
         "pending again, under the same id, with one more attempt.\n.PP\n"
         "Only the events below change a state. Messages to nodes among the effects are sent once "
         "the event is stored.\n" +
         ares::core::print_transitions() +
         ".SH SEE ALSO\n.BR asub (1),\n.BR aqueue (1),\n.BR aacct (1)\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string page = argc == 2 ? argv[1] : "";
  if (page == "ares.yaml.5") {
    std::fputs(ares::config::reference_page().c_str(), stdout);
  } else if (page == "ares-job-states.7") {
    std::fputs(job_states_page().c_str(), stdout);
  } else if (page == "ares-environment.7") {
    std::fputs(ares::environment_page().c_str(), stdout);
  } else if (page == "ares-reasons.7") {
    std::fputs(ares::reasons_page().c_str(), stdout);
  } else {
    std::fputs(
        "usage: make_pages ares.yaml.5 | ares-job-states.7 | ares-environment.7 | ares-reasons.7\n",
        stderr);
    return 2;
  }
  return 0;
}
