// Reads listings page by page, or merges the pages if they contain whole rows. Belongs to the
// command's thread. `call` has the form Result<api::Response>(api::Request).
#pragma once

#include <utility>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

// Calls visit(page) for every page of the requested listing; visit returns whether to continue.
template <class Call, class Visit>
Status each_page(api::Request request, Call&& call, Visit&& visit) {
  for (;;) {
    request.clear_request_id();
    Result<api::Response> response = call(request);
    if (!response) return fail(response.error());
    const api::Jobs& page = response->jobs();
    if (Status visited = visit(page); !visited) return visited;
    if (!page.has_next()) return {};
    *request.mutable_list_jobs()->mutable_after() = page.next();
  }
}

// Appends the remaining pages to `jobs`, the first response to `wanted`. Precondition: the request
// chooses no fields, so the response contains no tables.
template <class Call>
Status add_pages(const api::ListJobs& wanted, api::Jobs& jobs, Call&& call) {
  while (jobs.has_next()) {
    api::Request request;
    *request.mutable_list_jobs() = wanted;
    request.mutable_list_jobs()->mutable_after()->Swap(jobs.mutable_next());
    jobs.clear_next();
    Result<api::Response> response = call(std::move(request));
    if (!response) return fail(response.error());
    jobs.MergeFrom(response->jobs());
  }
  return {};
}

template <class Call>
Status add_pages(const api::ListNodes& wanted, api::Nodes& nodes, Call&& call) {
  while (nodes.next() != 0) {
    api::Request request;
    *request.mutable_list_nodes() = wanted;
    request.mutable_list_nodes()->set_after(nodes.next());
    nodes.clear_next();
    Result<api::Response> response = call(std::move(request));
    if (!response) return fail(response.error());
    nodes.MergeFrom(response->nodes());
  }
  return {};
}

// Returns all pages of a listing as one response; other requests are passed through.
template <class Call>
Result<api::Response> call_for_all(const api::Request& request, Call&& call) {
  Result<api::Response> response = call(request);
  if (!response) return response;
  Status added;
  if (request.has_list_jobs())
    added = add_pages(request.list_jobs(), *response->mutable_jobs(), call);
  else if (request.has_list_nodes())
    added = add_pages(request.list_nodes(), *response->mutable_nodes(), call);
  if (!added) return fail(added.error());
  return response;
}

}  // namespace ares::cli
