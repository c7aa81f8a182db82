// The section `checkpoint`.
#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

Type<std::string> endpoint_type() {
  const auto text = text_type();
  return {
      "URL",
      [text](const Value& value) -> Result<std::string> {
        auto url = text.parse(value);
        if (url && !url->empty() && !url->starts_with("https://") && !url->starts_with("http://"))
          return fail(ErrorCode::invalid_argument,
                      quote(*url) + " does not begin with https:// or http://");
        return url;
      },
      text.print};
}

Type<Bytes> part_size_type() {
  const auto memory = memory_type();
  return {memory.name,
          [memory](const Value& value) -> Result<Bytes> {
            auto size = memory.parse(value);
            if (size && (*size < Bytes::mib(8) || *size > Bytes::mib(64)))
              return fail(ErrorCode::invalid_argument, "not from 8M to 64M");
            return size;
          },
          memory.print};
}

Type<std::uint32_t> retries_type() {
  const auto count = count_type();
  return {count.name,
          [count](const Value& value) -> Result<std::uint32_t> {
            auto retries = count.parse(value);
            if (retries && *retries > 100)
              return fail(ErrorCode::invalid_argument, "more than 100");
            return retries;
          },
          count.print};
}

Type<Seconds> timeout_type() {
  const auto duration = duration_type();
  return {duration.name,
          [duration](const Value& value) -> Result<Seconds> {
            auto timeout = duration.parse(value);
            if (timeout && (*timeout < Seconds(1) || *timeout > Seconds(3600)))
              return fail(ErrorCode::invalid_argument, "not from 1 to 3600 seconds");
            return timeout;
          },
          duration.print};
}

}  // namespace

std::vector<Field<CheckpointS3Config>> checkpoint_s3_fields() {
  using S3 = CheckpointS3Config;
  return {
      field<S3>("endpoint", &S3::endpoint, endpoint_type(),
                "The S3 server of the site, as https://HOST or https://HOST:PORT. Buckets are "
                "addressed by paths: https://HOST/BUCKET/KEY. Empty: users name one of "
                "allowed_endpoints."),
      field<S3>("allowed_endpoints", &S3::allowed_endpoints, text_list_type(),
                "Servers that a job may name instead in AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. "
                "ALL: any."),
      field<S3>("region", &S3::region, text_type(),
                "The region that requests to endpoint are signed for. Empty: AWS_REGION of the "
                "job, or us-east-1. For another endpoint AWS_REGION counts first."),
      field<S3>("part_size", &S3::part_size, part_size_type(),
                "Files that are larger are sent and received in parts of this size, 8M to 64M. "
                "acheckpoint needs as much memory; parts of files of more than 10,000 of them are "
                "larger."),
      field<S3>("ca_file", &S3::ca_file, file_type(),
                "Certificates, in PEM, of the authorities that are trusted for https. Empty: those "
                "of the system, or of AWS_CA_BUNDLE. Certificates are always verified."),
      field<S3>("retries", &S3::retries, retries_type(),
                "How often a request is sent again, after growing delays, that had no answer or a "
                "temporary error. At most 100."),
      field<S3>("timeout", &S3::timeout, timeout_type(),
                "How long a request waits for a byte of the server before it is sent again, 1 to "
                "3600 seconds."),
  };
}

std::vector<Field<CheckpointConfig>> checkpoint_fields() {
  return {
      field<CheckpointConfig>("s3", &CheckpointConfig::s3, map_type(checkpoint_s3_fields()),
                              "Checkpoints of asub --checkpoint=s3://BUCKET/PREFIX."),
  };
}

}  // namespace ares::config
