#include "proto/accounts_convert.h"

#include <utility>

namespace ares::proto {
namespace {

template <class To>
void put_limits(const Limits& from, To& to) {
  for (const Limit& limit : from) {
    accounts::Limit& out = *to.add_limits();
    out.set_kind(number(limit.kind));
    out.set_tres(limit.tres);
    out.set_value(limit.value);
  }
}

template <class From>
Limits get_limits(const From& from, DecodeErrors& errors) {
  Limits to;
  for (const accounts::Limit& limit : from.limits())
    to.push_back(
        {errors.check(limit.kind(), kLastLimitKind, "limit"), limit.tres(), limit.value()});
  return to;
}

void put_terms(const Terms& from, accounts::Terms& to) {
  if (from.shares) to.set_shares(*from.shares);
  to.set_priority(from.priority);
  to.set_default_qos(from.default_qos);
  put_list(from.qos, to.mutable_qos());
  put_limits(from.limits, to);
}

Terms get_terms(const accounts::Terms& from, DecodeErrors& errors) {
  Terms to;
  to.shares = from.has_shares() ? std::optional(from.shares()) : std::nullopt;
  to.priority = from.priority();
  to.default_qos = from.default_qos();
  to.qos = get_list<std::string>(from.qos());
  to.limits = get_limits(from, errors);
  return to;
}

struct Put {
  accounts::Record& to;

  void operator()(const Account& from) const {
    accounts::Account& out = *to.mutable_account();
    out.set_name(from.name);
    out.set_id(from.id.value());
    out.set_parent(from.parent);
    out.set_description(from.description);
    out.set_organization(from.organization);
    put_list(from.coordinators, out.mutable_coordinators());
    put_terms(from.terms, *out.mutable_terms());
  }
  void operator()(const User& from) const {
    accounts::User& out = *to.mutable_user();
    out.set_name(from.name);
    out.set_default_account(from.default_account);
    out.set_default_wckey(from.default_wckey);
  }
  void operator()(const Association& from) const {
    accounts::Association& out = *to.mutable_association();
    out.set_account(from.key.account);
    out.set_user(from.key.user);
    out.set_partition(from.key.partition);
    out.set_id(from.id.value());
    put_terms(from.terms, *out.mutable_terms());
  }
  void operator()(const Qos& from) const {
    accounts::Qos& out = *to.mutable_qos();
    out.set_name(from.name);
    out.set_id(from.id.value());
    out.set_description(from.description);
    out.set_priority(from.priority);
    out.set_flags(from.flags);
    out.set_usage_factor(from.usage_factor);
    out.set_limit_factor(from.limit_factor);
    out.set_usage_threshold(from.usage_threshold);
    for (const std::string& name : from.preempts) out.add_preempts(name);
    if (from.preempt_mode) out.set_preempt_mode(static_cast<std::uint32_t>(*from.preempt_mode));
    if (from.preempt_exempt) out.set_preempt_exempt(from.preempt_exempt->count());
    if (from.grace) out.set_grace(from.grace->count());
    put_limits(from.limits, out);
  }
  void operator()(const Wckey& from) const {
    to.mutable_wckey()->set_name(from.key.name);
    to.mutable_wckey()->set_user(from.key.user);
    to.mutable_wckey()->set_id(from.id.value());
  }
};

Account get(const accounts::Account& from, DecodeErrors& errors) {
  Account to;
  to.name = from.name();
  to.id = AssociationId(from.id());
  to.parent = from.parent();
  to.description = from.description();
  to.organization = from.organization();
  to.coordinators = get_list<std::string>(from.coordinators());
  to.terms = get_terms(from.terms(), errors);
  return to;
}

User get(const accounts::User& from, DecodeErrors&) {
  User to;
  to.name = from.name();
  to.default_account = from.default_account();
  to.default_wckey = from.default_wckey();
  return to;
}

Association get(const accounts::Association& from, DecodeErrors& errors) {
  Association to;
  to.key = {from.account(), from.user(), from.partition()};
  to.id = AssociationId(from.id());
  to.terms = get_terms(from.terms(), errors);
  return to;
}

Qos get(const accounts::Qos& from, DecodeErrors& errors) {
  Qos to;
  to.name = from.name();
  to.id = QosId(from.id());
  to.description = from.description();
  to.priority = from.priority();
  to.flags = from.flags();
  to.usage_factor = from.usage_factor();
  if (from.has_limit_factor()) to.limit_factor = from.limit_factor();
  to.usage_threshold = from.usage_threshold();
  to.preempts = get_list<std::string>(from.preempts());
  if (from.has_preempt_mode())
    to.preempt_mode =
        errors.check(from.preempt_mode(), kLastPreemptMode, "preemption mode of a QOS");
  if (from.has_preempt_exempt()) to.preempt_exempt = Seconds(from.preempt_exempt());
  if (from.has_grace()) to.grace = Seconds(from.grace());
  to.limits = get_limits(from, errors);
  return to;
}

AccountingRecord get_body(const accounts::Record& from, DecodeErrors& errors) {
  switch (from.body_case()) {
    case accounts::Record::kAccount: return get(from.account(), errors);
    case accounts::Record::kUser: return get(from.user(), errors);
    case accounts::Record::kAssociation: return get(from.association(), errors);
    case accounts::Record::kQos: return get(from.qos(), errors);
    case accounts::Record::kWckey:
      return Wckey{
          {from.wckey().name(), from.wckey().user()}, AssociationId(from.wckey().id()), {}};
    case accounts::Record::BODY_NOT_SET: break;
  }
  errors.add("its kind is not known to this release");
  return Account{};
}

}  // namespace

void put(const AccountingRecord& from, accounts::Record& to) {
  std::visit(Put{to}, from);
  to.set_changed(changed_at(from).value());
}

AccountingRecord get(const accounts::Record& from, DecodeErrors& errors) {
  AccountingRecord to = get_body(from, errors);
  std::visit([&](auto& record) { record.changed = Lsn(from.changed()); }, to);
  return to;
}

void put(const RecordKey& from, accounts::RecordKey& to) {
  to.set_kind(number(from.kind));
  to.set_name(from.name);
  to.set_user(from.user);
  to.set_partition(from.partition);
}

RecordKey get(const accounts::RecordKey& from, DecodeErrors& errors) {
  RecordKey to;
  to.kind = errors.check(from.kind(), RecordKind::wckey, "kind of record");
  to.name = from.name();
  to.user = from.user();
  to.partition = from.partition();
  return to;
}

}  // namespace ares::proto
