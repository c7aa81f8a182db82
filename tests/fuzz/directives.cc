// Batch scripts: their directives, the options that these give, and the job that is sent.
#include "cli/options/directives.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"
#include "fuzz/target.h"
#include "proto/convert.h"
#include "submission/submission.h"

namespace ares::fuzz {

// A list of hosts may have 100,000 names.
const Allowance kAllowance{256 << 20, 64 << 10};

namespace {

std::string quoted(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

void try_words(std::string_view input) {
  const auto lines = cli::find_directives(input, "job.sh");
  if (!lines) return require_refusal(lines.error());
  std::string script;
  for (const cli::DirectiveLine& line : *lines) {
    script += "#ARES";
    for (const std::string& word : line.words) script += " " + quoted(word);
    script += "\n";
  }
  const auto again = cli::find_directives(script, "job.sh");
  require(again && again->size() == lines->size(), "directives survive printing");
  for (std::size_t i = 0; i < lines->size(); ++i)
    require((*again)[i].words == (*lines)[i].words, "words of directives survive printing");
}

// What was printed is read as the same.
void try_printers(const api::JobSpec& spec) {
  if (spec.dependencies_size() > 0 && !spec.any_dependency()) {
    api::JobSpec again;
    require(cli::set_dependencies(again, cli::format_dependencies(spec.dependencies())).has_value(),
            "printed dependencies are dependencies");
    require(cli::format_dependencies(again.dependencies()) ==
                cli::format_dependencies(spec.dependencies()),
            "dependencies survive printing");
  }
  for (const api::GpusPer per : {api::PER_NODE, api::PER_JOB, api::PER_TASK})
    (void)cli::format_gpu_list(spec, per, "gres/gpu:");
}

bool names_a_file(const cli::GivenOption& given) {
  return (given.option->name == "nodelist" || given.option->name == "exclude") &&
         given.value.find('/') != std::string::npos;
}

}  // namespace

void try_input(std::string_view input) {
  try_words(input);
  submission::Submission wanted;
  const cli::OptionTable table = submission::options(wanted, Time(Seconds(1'800'000'000)));
  const auto given = cli::options_from_script(table, input, "job.sh");
  if (!given) return require_refusal(given.error());
  for (const cli::GivenOption& one : *given)
    if (names_a_file(one)) return;
  if (Status applied = cli::apply_options(*given); !applied)
    return require_refusal(applied.error());
  try_printers(wanted.spec);

  if (wanted.spec.name().empty()) wanted.spec.set_name("job");
  const auto job = proto::from_api(wanted.spec);
  if (!job) return require_refusal(job.error());
  api::JobSpec sent;
  proto::to_api(*job, &sent);
  const auto again = proto::from_api(sent);
  require(again && *again == *job, "a job survives being sent");
}

}  // namespace ares::fuzz
