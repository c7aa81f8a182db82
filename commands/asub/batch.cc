#include "asub/batch.h"

namespace ares::asub {
namespace {

// Returns the index of a text in the list; appends the text if it is missing.
template <class List>
std::uint32_t index_of(const std::string& text, List& list,
                       std::map<std::string_view, std::uint32_t>& known) {
  const auto [found, added] = known.emplace(text, static_cast<std::uint32_t>(known.size()));
  if (added) list.Add()->assign(text);
  return found->second;
}

}  // namespace

std::vector<Batch> make_batches(const std::vector<submission::PreparedJob>& jobs,
                                const std::string& id) {
  std::vector<Batch> batches;
  std::map<std::string_view, std::uint32_t> scripts, environments;
  std::size_t bytes = 0;
  const auto own_bytes = [&](const submission::PreparedJob& job) {
    return job.spec.ByteSizeLong() + (scripts.contains(job.script) ? 0 : job.script.size()) +
           (environments.contains(job.environment) ? 0 : job.environment.size());
  };
  for (const submission::PreparedJob& job : jobs) {
    const auto items = static_cast<std::size_t>(
        batches.empty() ? 0 : batches.back().request.submit_many().items_size());
    if (items == 0 || items >= kMostJobs || bytes + own_bytes(job) > kMostBytes) {
      scripts.clear();
      environments.clear();
      bytes = 0;
      Batch& next = batches.emplace_back();
      next.request.set_request_id(id + "/" + std::to_string(batches.size()));
      next.first_line = job.line;
    }
    bytes += own_bytes(job);
    Batch& batch = batches.back();
    auto& many = *batch.request.mutable_submit_many();
    auto& item = *many.add_items();
    *item.mutable_spec() = job.spec;
    item.set_script(index_of(job.script, *many.mutable_scripts(), scripts));
    item.set_environment(index_of(job.environment, *many.mutable_environments(), environments));
    batch.last_line = job.line;
  }
  return batches;
}

}  // namespace ares::asub
