#include "reasons_page.h"

#include <string_view>

#include "cli/options/manual.h"
#include "cli/output/reasons.h"
#include "core/accounts/limits/limit_reason_list.h"

namespace ares {
namespace {

std::string entry(std::string_view name, std::string_view meaning) {
  return ".TP\n.B " + cli::man_escape(name) + "\n" + cli::man_escape(meaning) + ".\n";
}

std::string reasons(bool waits) {
  std::string out;
  for (const cli::ReasonMeaning& row : cli::reason_meanings())
    if (row.waits == waits) out += entry(to_string(row.reason), "The job " + std::string(row.text));
  return out;
}

}  // namespace

std::string reasons_page() {
  std::string page =
      ".\\\" Generated from the tables of the commands; edit libcommon/cli/output/reasons.cc.\n"
      ".TH ARES-REASONS 7 \"\" \"Ares " ARES_VERSION
      "\" \"Concepts\"\n"
      ".SH NAME\nares\\-reasons \\- the states of jobs and nodes, and the reasons of jobs\n"
      ".SH DESCRIPTION\n"
      "aqueue(1), actl(1) and aacct(1) show the state of a job and the reason for it. Of several "
      "reasons a waiting job shows the one that tells most; \\fBaqueue \\-\\-why\\fR shows all, "
      "with "
      "numbers, and what would let it start. "
      "What leads from one state to another is in ares\\-job\\-states(7).\n"
      ".SH STATES OF A JOB\n";
  for (const cli::StateMeaning& row : cli::state_meanings())
    page += entry(std::string(to_string(row.state)) + ", " + std::string(short_code(row.state)),
                  "The job " + std::string(row.text));
  page += entry(std::string(kSpecialExit) + ", " + std::string(kSpecialExitCode),
                "The job waits and is held to be looked at (actl requeuehold state=SpecialExit)");
  page += ".SH REASONS OF JOBS THAT WAIT\n" + reasons(true);
  page +=
      ".SH REASONS OF LIMITS\n"
      "Limits are set with aacctmgr(1); \\fBaacctmgr show association\\fR and \\fBaacctmgr show "
      "qos\\fR list them. The words of the TRES are Cpu, Mem or Memory, Node, GRES for GPUs, "
      "License and Billing.\n";
  for (const core::LimitReason& reason : core::limit_reasons())
    page += entry(reason.name, "The job " + reason.meaning);
  page += ".SH REASONS OF JOBS THAT HAVE ENDED\n" + reasons(false);
  page +=
      ".SH STATES OF A NODE\n"
      "A * behind a state: the node does not answer.\n";
  for (const cli::NodeStateMeaning& row : cli::node_state_meanings())
    page += entry(row.name, "The node: " + std::string(row.text));
  page +=
      ".SH SEE ALSO\n.BR aqueue (1),\n.BR ainfo (1),\n.BR actl (1),\n.BR aacctmgr (1),\n.BR "
      "ares\\-job\\-states (7),\n.BR ares\\-exit\\-codes (7)\n";
  return page;
}

}  // namespace ares
