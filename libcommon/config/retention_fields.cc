// The section `retention`.
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

constexpr Seconds kDay{24 * 3600};

Type<Seconds> retention_type() {
  const auto duration = duration_type();
  return {duration.name,
          [duration](const Value& value) -> Result<Seconds> {
            auto age = duration.parse(value);
            if (age && *age != Seconds(0) && *age < kDay)
              return fail(ErrorCode::invalid_argument,
                          "less than a day; write 1-0 or more, or 0 to keep everything");
            return age;
          },
          duration.print};
}

}  // namespace

std::vector<Field<RetentionConfig>> retention_fields() {
  return {
      field<RetentionConfig>(
          "journal", &RetentionConfig::journal, retention_type(),
          "How long the events of the journal are kept, in whole days. The controller itself needs "
          "only the last event; the others tell an administrator what happened. A million jobs "
          "make "
          "about 1.5 GB. At least a day; 0: for ever."),
      field<RetentionConfig>("audit", &RetentionConfig::audit, retention_type(),
                             "How long the entries of the audit log are kept, which aacctmgr show "
                             "transactions shows. A "
                             "million submissions make about 160 MB. At least a day; 0: for ever."),
      field<RetentionConfig>("node_events", &RetentionConfig::node_events, retention_type(),
                             "How long actl show node --history knows what happened to a node. At "
                             "least a day; 0: for ever."),
      field<RetentionConfig>(
          "job_output", &RetentionConfig::job_output, retention_type(),
          "How long the output of jobs is kept that is in no file, see actl output, after it was "
          "last added to. At least a day; 0: for ever."),
      field<RetentionConfig>(
          "job_output_limit", &RetentionConfig::job_output_limit, memory_type(),
          "How much of that is stored of a job on one node; what is printed beyond is discarded. "
          "0: "
          "nothing is stored, and it can be seen only as long as the pod exists."),
  };
}

}  // namespace ares::config
