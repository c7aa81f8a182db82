#include "exec/kubernetes/api/access_check.h"

#include <memory>
#include <utility>

#include "exec/kubernetes/api/client.h"

namespace ares::kubernetes {
namespace {

struct Answers {
  std::vector<AccessQuestion> missing;
  std::size_t left = 0;
  bool is_over = false;
  AccessDone done;

  void end() {
    if (std::exchange(is_over, true)) return;
    done(std::move(missing));
  }
  void end(const Error& error) {
    if (std::exchange(is_over, true)) return;
    const Result<std::vector<AccessQuestion>> failed = fail(error);
    done(failed);
  }
};

}  // namespace

void check_access(ApiClient& client, const AccessScope& scope, AccessDone done) {
  const std::vector<AccessQuestion> questions = access_questions(scope);
  const auto answers = std::make_shared<Answers>();
  answers->left = questions.size();
  answers->done = std::move(done);
  for (const AccessQuestion& question : questions) {
    ApiRequest request{.call = Call::create_access_review};
    request.body = access_review(question);
    client.call(std::move(request), [answers, question](ApiResult result) {
      if (!result) return answers->end(result.error().error);
      const auto allowed = is_allowed(result->body);
      if (!allowed) return answers->end(allowed.error());
      if (!*allowed) answers->missing.push_back(question);
      if (--answers->left == 0) answers->end();
    });
  }
}

}  // namespace ares::kubernetes
