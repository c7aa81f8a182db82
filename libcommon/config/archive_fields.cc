// The section `archive`.
#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

constexpr Seconds kLeast{31 * 24 * 3600};

// An attempt that ended in the last month may still change: a requeued job has a later one.
Type<Seconds> age_type() {
  const auto duration = duration_type();
  return {duration.name,
          [duration](const Value& value) -> Result<Seconds> {
            auto age = duration.parse(value);
            if (age && *age != Seconds(0) && *age < kLeast)
              return fail(ErrorCode::invalid_argument,
                          "less than 31 days; write 31-0 or more, or 0 to keep everything");
            return age;
          },
          duration.print};
}

Type<std::string> folder_type() {
  const auto text = text_type();
  return {"FOLDER",
          [text](const Value& value) -> Result<std::string> {
            auto path = text.parse(value);
            if (path && !path->starts_with('/'))
              return fail(ErrorCode::invalid_argument,
                          quote(*path) + " is not the absolute path of a folder");
            return path;
          },
          text.print};
}

}  // namespace

std::vector<Field<ArchiveConfig>> archive_fields() {
  return {
      field<ArchiveConfig>("after", &ArchiveConfig::after, age_type(),
                           "Attempts that ended in a month (of UTC) which has been over for this "
                           "time are written to a file and leave the database; the sums of reports "
                           "stay. At least 31 days; 0: never."),
      field<ArchiveConfig>("dir", &ArchiveConfig::dir, folder_type(),
                           "Folder of these files on the controller's machine. It is created if it "
                           "does not exist; then only the controller's user may read it."),
  };
}

}  // namespace ares::config
