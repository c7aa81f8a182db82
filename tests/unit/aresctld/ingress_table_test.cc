// Who may make which request, walked over the whole table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "aresctld/ingress.h"

namespace ares::aresctld {
namespace {

using Body = api::Request::BodyCase;
using testing::HasSubstr;

const Principal kUser{UserId{1000}, GroupId{1000}, "alice", "login"};
const Principal kOperator{UserId{2000}, GroupId{2000}, "olga", "login"};
const Principal kAdministrator{UserId{3000}, GroupId{3000}, "ada", "login"};

Policy policy() {
  Policy policy;
  policy.operators = {kOperator.uid};
  policy.admins = {kAdministrator.uid};
  return policy;
}

bool may(const Principal& caller, const api::Request& request) {
  const Ingress::Kind* kind = Ingress::kind_of(request.body_case());
  return kind && !Ingress::refusal(*kind, request, policy(), caller);
}

// A request of every kind that the protocol has, each as its kind demands the most.
std::vector<api::Request> demanding_requests() {
  std::vector<api::Request> requests;
  const auto* fields = api::Request::descriptor()->FindOneofByName("body");
  for (int i = 0; i < fields->field_count(); ++i) {
    api::Request request;
    request.GetReflection()->MutableMessage(&request, fields->field(i));
    if (request.has_rollup()) request.mutable_rollup()->set_what(api::Rollup::NEXT);
    if (request.has_runaways()) request.mutable_runaways()->add_end();
    if (request.has_archive()) request.mutable_archive()->set_what(api::Archive::DUMP);
    requests.push_back(request);
  }
  return requests;
}

TEST(Ingress, TableHasOneRowForEachRequest) {
  std::map<Body, int> rows;
  for (const Ingress::Kind& kind : Ingress::kinds()) ++rows[kind.body];
  for (const api::Request& request : demanding_requests())
    EXPECT_EQ(rows[request.body_case()], 1) << request.ShortDebugString();
  EXPECT_EQ(rows.size(), demanding_requests().size());
  for (const Ingress::Kind& kind : Ingress::kinds())
    EXPECT_EQ(kind.answer == nullptr, kind.where == Ingress::Runs::engine) << kind.what;
  EXPECT_EQ(Ingress::kind_of(Body::BODY_NOT_SET), nullptr);
}

TEST(Ingress, UsersOperatorsAndAdministratorsMayMakeTheirRequests) {
  // All others are for users too; of those that change state decide() refuses some.
  const std::set<Body> operators = {Body::kShutdown,     Body::kDumpView, Body::kRunaways,
                                    Body::kRebuildUsage, Body::kRollup,   Body::kSetLogLevel};
  const std::set<Body> administrators = {Body::kReconfigure, Body::kArchive};
  for (const api::Request& request : demanding_requests()) {
    const Body body = request.body_case();
    const bool for_administrators = administrators.contains(body);
    const bool for_operators = operators.contains(body);
    EXPECT_EQ(may(kUser, request), !for_operators && !for_administrators) << body;
    EXPECT_EQ(may(kOperator, request), !for_administrators) << body;
    EXPECT_TRUE(may(kAdministrator, request)) << body;
  }
}

TEST(Ingress, ReadingIsForUsersWhereChangingIsNot) {
  api::Request request;
  request.mutable_rollup()->set_what(api::Rollup::SHOW);
  EXPECT_TRUE(may(kUser, request));
  request.mutable_runaways();
  EXPECT_TRUE(may(kUser, request));
  request.mutable_archive()->set_what(api::Archive::SHOW);
  EXPECT_TRUE(may(kUser, request));
  request.mutable_reconfigure()->set_dry_run(true);
  EXPECT_FALSE(may(kUser, request));
  EXPECT_TRUE(may(kOperator, request));
}

TEST(Ingress, RefusalNamesTheCallerAndWhoMay) {
  api::Request request;
  request.mutable_shutdown();
  const auto stop =
      Ingress::refusal(*Ingress::kind_of(request.body_case()), request, policy(), kUser);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->code, ErrorCode::permission_denied);
  EXPECT_EQ(stop->message,
            "user alice may not stop the controller: only operators and administrators may");
  request.mutable_reconfigure();
  const auto change =
      Ingress::refusal(*Ingress::kind_of(request.body_case()), request, policy(), kOperator);
  ASSERT_TRUE(change);
  EXPECT_THAT(change->message, HasSubstr("reconfigure the cluster: only administrators may"));
}

}  // namespace
}  // namespace ares::aresctld
