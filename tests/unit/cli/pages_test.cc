// A listing of whole rows is assembled from its pages.
#include "cli/output/pages.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace ares::cli {
namespace {

// A simulated controller that returns two rows per page.
struct SimulatedController {
  std::uint32_t rows = 0;
  std::optional<std::uint32_t> broken{};  // index of the call that fails
  std::uint32_t calls = 0;

  Result<api::Response> operator()(const api::Request& request) {
    if (calls++ == broken) return fail(ErrorCode::unavailable, "away");
    api::Response response;
    if (request.has_list_jobs()) {
      EXPECT_TRUE(request.list_jobs().details()) << "every page asks for the same";
      std::uint32_t next = static_cast<std::uint32_t>(request.list_jobs().after().record().job());
      for (int i = 0; i < 2 && next < rows; ++i)
        response.mutable_jobs()->add_jobs()->mutable_key()->set_job(++next);
      if (next < rows) response.mutable_jobs()->mutable_next()->mutable_record()->set_job(next);
    } else {
      std::uint32_t next = request.list_nodes().after();
      for (int i = 0; i < 2 && next < rows; ++i)
        response.mutable_nodes()->add_nodes()->set_name("n" + std::to_string(++next));
      if (next < rows) response.mutable_nodes()->set_next(next);
    }
    return response;
  }
};

TEST(Pages, AllRowsAreReturnedOnceAndInOrder) {
  for (const std::uint32_t rows : {0U, 1U, 2U, 5U, 6U}) {
    api::Request jobs;
    jobs.mutable_list_jobs()->set_details(true);
    SimulatedController controller{rows};
    const auto all = call_for_all(jobs, controller);
    ASSERT_TRUE(all);
    ASSERT_EQ(static_cast<std::uint32_t>(all->jobs().jobs_size()), rows);
    for (std::uint32_t i = 0; i < rows; ++i)
      EXPECT_EQ(all->jobs().jobs(static_cast<int>(i)).key().job(), i + 1);
    EXPECT_FALSE(all->jobs().has_next());
    EXPECT_EQ(controller.calls, rows == 0 ? 1 : (rows + 1) / 2);

    api::Request nodes;
    nodes.mutable_list_nodes();
    SimulatedController other{rows};
    const auto listed = call_for_all(nodes, other);
    ASSERT_TRUE(listed);
    EXPECT_EQ(static_cast<std::uint32_t>(listed->nodes().nodes_size()), rows);
    EXPECT_EQ(listed->nodes().next(), 0u);
  }
}

TEST(Pages, MissingPageIsAnError) {
  api::Request jobs;
  jobs.mutable_list_jobs()->set_details(true);
  SimulatedController controller{6, 1};
  const auto all = call_for_all(jobs, controller);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().message, "away");
}

}  // namespace
}  // namespace ares::cli
