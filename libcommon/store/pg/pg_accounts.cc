#include "store/pg/pg_accounts.h"

#include "proto/storage_convert.h"
#include "store/pg/last_of_each.h"
#include "store/pg/pg_params.h"

namespace ares::store {
namespace {

using Element = ArrayParam::Element;

constexpr PgStatement kRecord{
    "accounting_record",
    "INSERT INTO accounting_conf (kind, name, user_name, partition, format, body) "
    "SELECT kind, name, user_name, partition, $6::bigint, body FROM unnest("
    "$1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[]) "
    "AS n(kind, name, user_name, partition, body) "
    "ON CONFLICT (kind, name, user_name, partition) DO UPDATE SET format = EXCLUDED.format, "
    "body = EXCLUDED.body"};

constexpr PgStatement kRecordsGone{
    "accounting_records_gone",
    "DELETE FROM accounting_conf c USING unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) "
    "AS n(kind, name, user_name, partition) WHERE c.kind = n.kind AND c.name = n.name "
    "AND c.user_name = n.user_name AND c.partition = n.partition"};

constexpr PgStatement kUsage{
    "association_usage",
    "INSERT INTO association_usage (association_id, format, body) "
    "SELECT id, $3::bigint, body FROM unnest($1::bigint[], $2::bytea[]) AS n(id, body) "
    "ON CONFLICT (association_id) DO UPDATE SET format = EXCLUDED.format, body = EXCLUDED.body"};

constexpr PgStatement kUsageGone{
    "association_usage_gone",
    "DELETE FROM association_usage WHERE association_id = ANY($1::bigint[])"};

constexpr std::int64_t kFormat = proto::kStorageVersion;

}  // namespace

std::vector<const PgStatement*> accounts_statements() {
  return {&kRecord, &kRecordsGone, &kUsage, &kUsageGone};
}

void accounts_steps(const Batch& batch, std::vector<PgStep>& steps) {
  struct Names {
    ArrayParam kind{Element::bigint}, name{Element::text}, user{Element::text},
        partition{Element::text};
    void add(const RecordKey& key) {
      kind.add(static_cast<std::uint64_t>(key.kind));
      name.add(std::string_view(key.name));
      user.add(std::string_view(key.user));
      partition.add(std::string_view(key.partition));
    }
    void put(PgParams& params) && {
      params.array(std::move(kind)).array(std::move(name));
      params.array(std::move(user)).array(std::move(partition));
    }
  };
  if (!batch.removed_records.empty()) {
    Names names;
    for (const RecordKey& key : batch.removed_records) names.add(key);
    PgParams params;
    std::move(names).put(params);
    steps.push_back({&kRecordsGone, std::move(params)});
  }
  if (!batch.removed_usage.empty()) {
    ArrayParam id(Element::bigint);
    for (const AssociationId removed : batch.removed_usage) id.add(removed.value());
    PgParams params;
    params.array(std::move(id));
    steps.push_back({&kUsageGone, std::move(params)});
  }
  if (!batch.usage.empty()) {
    ArrayParam id(Element::bigint), body(Element::bytea);
    for (const auto* item : last_of_each(batch.usage, [](const auto& u) { return u->id; })) {
      id.add((*item)->id.value());
      body.add(std::string_view(proto::encode_usage(**item)));
    }
    PgParams params;
    params.array(std::move(id)).array(std::move(body)).bigint(kFormat);
    steps.push_back({&kUsage, std::move(params)});
  }
  if (batch.records.empty()) return;
  Names names;
  ArrayParam body(Element::bytea);
  for (const auto* item : last_of_each(batch.records, [](const auto& r) { return key_of(*r); })) {
    names.add(key_of(**item));
    body.add(std::string_view(proto::encode_accounting(**item)));
  }
  PgParams params;
  std::move(names).put(params);
  params.array(std::move(body)).bigint(kFormat);
  steps.push_back({&kRecord, std::move(params)});
}

}  // namespace ares::store
