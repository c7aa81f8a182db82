#include "proto/request_digest.h"

#include <gtest/gtest.h>

#include <functional>

#include "proto/gen/api.pb.h"

namespace ares::proto {
namespace {

api::Request submission() {
  api::Request request;
  request.set_request_id("a");
  request.mutable_submit()->set_script("#!/bin/sh\nhostname\n");
  request.mutable_submit()->set_environment(std::string("A=1\0B=2", 7));
  auto* spec = request.mutable_submit()->mutable_spec();
  spec->set_name("job");
  spec->add_partitions("main");
  spec->set_work_dir("/home/u");
  return request;
}

using Change = std::function<void(api::Request&)>;

TEST(RequestDigest, OmitsTheContextOfSubmission) {
  const Change changes[] = {
      [](auto& r) { r.set_request_id("b"); },
      [](auto& r) { r.set_client_version("9.9"); },
      [](auto& r) { r.mutable_submit()->set_environment("SSH_TTY=/dev/pts/7"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_environment(std::string(32, 'x')); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_submit_dir("/tmp"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_submit_host("login2"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_submit_zone("Asia/Tokyo"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_umask(077); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->add_limits()->set_soft(1); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_uid(7); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_gid(7); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_user("u"); },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    api::Request changed = submission();
    changes[i](changed);
    EXPECT_EQ(request_digest(changed), request_digest(submission())) << "change " << i;
  }
}

TEST(RequestDigest, CoversAllOtherFields) {
  const Change changes[] = {
      [](auto& r) { r.mutable_submit()->set_script("#!/bin/sh\ndate\n"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_name("other"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->add_partitions("second"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_work_dir("/tmp"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_time_limit(0); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->add_arguments("x"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_array("0-3"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_requeue(false); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_mail_types("END"); },
      [](auto& r) { r.mutable_submit()->mutable_spec()->set_mail_user("a@b"); },
      [](auto& r) { r.mutable_cancel(); },
      [](auto& r) { r.mutable_job_action(); },
      [](auto& r) { r.mutable_update_node(); },
  };
  std::set<Digest> digests{request_digest(submission())};
  for (const Change& change : changes) {
    api::Request changed = submission();
    change(changed);
    digests.insert(request_digest(changed));
  }
  EXPECT_EQ(digests.size(), std::size(changes) + 1);
}

api::Request many() {
  api::Request request;
  auto& submit = *request.mutable_submit_many();
  submit.add_scripts("#!/bin/sh\nhostname\n");
  submit.add_environments("A=1");
  for (const char* name : {"one", "two"}) {
    auto& item = *submit.add_items();
    item.mutable_spec()->set_name(name);
  }
  return request;
}

TEST(RequestDigest, OmitsTheContextOfEachOfSeveralJobs) {
  api::Request changed = many();
  changed.mutable_submit_many()->set_environments(0, "A=2");
  for (auto& item : *changed.mutable_submit_many()->mutable_items()) {
    item.mutable_spec()->set_submit_host("login2");
    item.mutable_spec()->set_umask(077);
    item.mutable_spec()->set_uid(7);
  }
  EXPECT_EQ(request_digest(changed), request_digest(many()));
}

TEST(RequestDigest, CoversEachOfSeveralJobs) {
  const Change changes[] = {
      [](auto& r) { r.mutable_submit_many()->set_scripts(0, "#!/bin/sh\ndate\n"); },
      [](auto& r) { r.mutable_submit_many()->mutable_items(1)->mutable_spec()->set_name("x"); },
      [](auto& r) { r.mutable_submit_many()->mutable_items(1)->set_script(1); },
      [](auto& r) { r.mutable_submit_many()->mutable_items(1)->set_environment(1); },
      [](auto& r) { r.mutable_submit_many()->mutable_items()->SwapElements(0, 1); },
      [](auto& r) { r.mutable_submit_many()->mutable_items()->RemoveLast(); },
  };
  std::set<Digest> digests{request_digest(many())};
  for (const Change& change : changes) {
    api::Request changed = many();
    change(changed);
    digests.insert(request_digest(changed));
  }
  EXPECT_EQ(digests.size(), std::size(changes) + 1);
}

// Digests are stored for a day, across upgrades of the controller: the hashed bytes must not change.
TEST(RequestDigest, IsTheSameInAllReleases) {
  std::string hex;
  for (const std::uint8_t byte : request_digest(submission())) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  EXPECT_EQ(hex, "df4313444198067d1ebf524f25ff01160e9cc856f934f91081c6b62740868403");
}

}  // namespace
}  // namespace ares::proto
