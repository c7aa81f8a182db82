#include "steps/exchange.h"

#include "node/text_fields.h"

namespace ares::steps {
namespace {

using node::FieldReader;
using node::FieldWriter;

template <class T>
Result<T> checked(const FieldReader& in, T value) {
  if (Status status = in.status(); !status)
    return fail(ErrorCode::invalid_argument, status.error().message);
  return value;
}

}  // namespace

std::string encode(const Contribution& contribution) {
  FieldWriter out;
  out.put("name", contribution.name);
  for (const std::uint32_t node : contribution.nodes) out.put("node", node);
  return out.put("data", contribution.data).take();
}

Result<Contribution> decode_contribution(std::string_view text) {
  FieldReader in("contribution", text);
  Contribution contribution;
  contribution.name = in.text("name");
  contribution.nodes = in.numbers<std::uint32_t>("node");
  contribution.data = in.text("data");
  return checked(in, std::move(contribution));
}

std::string encode(const Gathered& gathered) {
  FieldWriter out;
  out.put("name", gathered.name);
  for (const std::string& part : gathered.parts) out.put("part", part);
  return out.take();
}

Result<Gathered> decode_gathered(std::string_view text) {
  FieldReader in("exchange", text);
  Gathered gathered{in.text("name"), in.all("part")};
  return checked(in, std::move(gathered));
}

std::string encode(const Question& question) {
  return FieldWriter()
      .put("id", question.id)
      .put("from", question.from)
      .put("rank", question.rank)
      .take();
}

Result<Question> decode_question(std::string_view text) {
  FieldReader in("question", text);
  Question question{in.number<std::uint64_t>("id"), in.number<std::uint32_t>("from"),
                    in.number<std::uint32_t>("rank")};
  return checked(in, question);
}

std::string encode(const Answer& answer) {
  return FieldWriter()
      .put("id", answer.id)
      .put("from", answer.from)
      .put("found", answer.found)
      .put("data", answer.data)
      .take();
}

Result<Answer> decode_answer(std::string_view text) {
  FieldReader in("answer", text);
  Answer answer{in.number<std::uint64_t>("id"), in.number<std::uint32_t>("from"), in.flag("found"),
                in.text("data")};
  return checked(in, std::move(answer));
}

}  // namespace ares::steps
