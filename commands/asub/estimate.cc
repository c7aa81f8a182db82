#include "asub/estimate.h"

#include "base/timespec.h"
#include "cli/output/explanation.h"

namespace ares::asub {
namespace {

std::string why_text(const api::Estimate& e) {
  return e.reason() + (e.reason_detail().empty() ? "" : " (" + e.reason_detail() + ")");
}

std::string sentence(const api::Estimate& e) {
  if (e.start() == 0) return "Job would wait; no start time can be estimated: " + why_text(e);
  std::string text = "Job would start at " + format_local_time(Time(Duration(e.start())));
  if (e.at_the_earliest())
    text = "Job would start after the jobs that already wait, not before " +
           format_local_time(Time(Duration(e.start())));
  if (!e.node_list().empty()) text += " on nodes " + e.node_list();
  text += " in partition " + e.partition();
  if (e.cpus() > 0)
    text += " with " + std::to_string(e.cpus()) + (e.cpus() == 1 ? " CPU" : " CPUs");
  return text;
}

}  // namespace

std::string describe_estimate(const api::Estimate& e, std::size_t width) {
  std::string text = sentence(e);
  if (std::string why = cli::format_explanation(e.why(), width); !why.empty()) {
    why.pop_back();  // The last newline.
    text += "\n" + why;
  }
  return text;
}

}  // namespace ares::asub
