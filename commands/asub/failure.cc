#include "asub/failure.h"

namespace ares::asub {

// A request may have arrived although its response was lost.
bool may_be_done(const Error& error) {
  return error.code == ErrorCode::unavailable;
}

Error failure_of_one(const Error& error, const std::string& request_id) {
  if (!may_be_done(error)) return error;
  return {error.code, error.message +
                          "; the job may have been submitted: repeat the same command with "
                          "--request-id=" +
                          request_id + ", which submits it only if it was not"};
}

Error failure_of_batch(const Error& error, const std::string& name, const Batch& batch,
                       const std::string& id) {
  const std::string lines = name + ": the jobs of lines " + std::to_string(batch.first_line) +
                            " to " + std::to_string(batch.last_line);
  if (!may_be_done(error))
    return {error.code, lines + " and those after them were not submitted: " + error.message +
                            " (--request-id=" + id + " continues after the last submitted one)"};
  return {error.code, lines + " may have been submitted, those after them were not: " +
                          error.message + "; repeat the same command with --request-id=" + id +
                          ", which submits nothing twice"};
}

}  // namespace ares::asub
