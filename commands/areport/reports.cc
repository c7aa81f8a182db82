#include "areport/reports.h"

#include <algorithm>

#include "areport/names.h"

namespace ares::areport {

const std::vector<ReportKind>& reports() {
  static const std::vector<ReportKind> table = {
      {"cluster", "Utilization", "Cluster Utilization",
       "What there was and what became of it: allocated, down, planned down, reserved, idle.",
       api::Report::UTILIZATION, false, false, false, false, false,
       "Cluster,Allocated,Down,PlannedDown,Idle,Reserved,Reported", plain_lines},
      {"cluster", "AccountUtilizationByUser", "Cluster/Account/User Utilization",
       "Accounts with all below them, each followed by its users.", api::Report::USAGE, true, true,
       false, false, true, "Cluster,Account,Login,Used", account_lines},
      {"cluster", "AccountUtilizationByQOS", "Cluster/Account/QOS Utilization",
       "Accounts with all below them, each followed by its qualities of service.",
       api::Report::USAGE, true, false, true, false, true, "Cluster,Account,QOS,Used",
       account_lines},
      {"cluster", "UserUtilizationByAccount", "Cluster/User/Account Utilization",
       "Users and the accounts they used.", api::Report::USAGE, true, true, false, false, true,
       "Cluster,Login,Account,Used", user_lines},
      {"cluster", "UserUtilizationByWckey", "Cluster/User/WCKey Utilization",
       "Users and the wckeys they worked for.", api::Report::USAGE, false, true, false, true, true,
       "Cluster,Login,WCKey,Used", user_lines},
      {"cluster", "WCKeyUtilizationByUser", "Cluster/WCKey/User Utilization",
       "Wckeys, each followed by the users who worked for it.", api::Report::USAGE, false, true,
       false, true, true, "Cluster,WCKey,Login,Used", wckey_lines},
      {"cluster", "CostByUser", "Cluster Cost",
       "What accounts with all below them, and their users, held at the prices of ares.yaml(5).",
       api::Report::USAGE, true, true, false, false, false, "Cluster,Account,Login,Cost",
       cost_lines},
      {"cluster", "CostByAccount", "Cluster Cost", "The same without the users.",
       api::Report::USAGE, true, false, false, false, false, "Cluster,Account,Cost", cost_lines},
      {"job", "SizesByAccount", "Job Sizes", "Who held how much in jobs of how many CPUs.",
       api::Report::SIZES, true, false, false, false, true, "Cluster,Account,Sizes", size_lines},
      {"job", "SizesByWckey", "Job Sizes by WCKey", "The same by what the jobs were for.",
       api::Report::SIZES, false, false, false, true, true, "Cluster,WCKey,Sizes", size_lines},
      {"job", "SizesByAccountAndWckey", "Job Sizes by Account and WCKey", "The same by both.",
       api::Report::SIZES, true, false, false, true, true, "Cluster,Account,WCKey,Sizes",
       size_lines},
      {"job", "EfficiencyByUser", "Job Efficiency",
       "How much of the CPUs and of the memory that ended jobs held their processes used, by "
       "account "
       "and user. Of GPUs nothing is measured.",
       api::Report::EFFICIENCY, true, true, false, false, false,
       "Cluster,Account,Login,TRESName,JobCount,Used,Consumed,Efficiency", plain_lines},
      {"job", "EfficiencyByAccount", "Job Efficiency", "The same by account.",
       api::Report::EFFICIENCY, true, false, false, false, false,
       "Cluster,Account,TRESName,JobCount,Used,Consumed,Efficiency", plain_lines},
      {"reservation", "Utilization", "Reservation Utilization",
       "Each time that a reservation was on: held by jobs on its nodes, and idle there. A node "
       "counts "
       "for each job on it, up to all there are.",
       api::Report::RESERVATIONS, false, false, false, false, false,
       "Cluster,Name,Start,End,TRESName,Allocated,Idle,Nodes", plain_lines},
      {"user", "TopUsage", "Top Users", "The users who held most, in each of their accounts.",
       api::Report::USAGE, true, true, false, false, true, "Cluster,Login,Account,Used", top_lines},
  };
  return table;
}

Result<const ReportKind*> find_report(const std::string& object, const std::string& name) {
  std::vector<std::string> objects;
  for (const ReportKind& report : reports())
    if (std::find(objects.begin(), objects.end(), report.object) == objects.end())
      objects.push_back(report.object);
  objects.emplace_back("rollup");
  const auto of = find_name(
      object, objects, [](auto& text) { return text; }, "kind of report");
  if (!of) return fail(of.error());
  std::vector<const ReportKind*> some;
  for (const ReportKind& report : reports())
    if (report.object == **of) some.push_back(&report);
  // "sizes" meant this report before there were other reports of sizes.
  const std::string wanted = cli::lower(name) == "sizes" ? "SizesByAccount" : name;
  const auto found = find_name(
      wanted, some, [](const ReportKind* r) { return r->name; }, "report of a " + **of);
  if (!found) return fail(found.error());
  return **found;
}

}  // namespace ares::areport
