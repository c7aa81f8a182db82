#include "exec/kubernetes/agent/pods/pod_call.h"

#include "exec/kubernetes/agent/pods/pod_names.h"

namespace ares::kubernetes {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

struct MakeCall {
  const PodAttempt& attempt;
  const PodPlace& place;
  GateGo& go;

  Target pod() const { return {place.space, place.pod}; }
  Target kind() const { return {place.space, ""}; }
  ApiRequest patch(std::string body, const char* type) const {
    return {
        .call = Call::patch_pod, .target = pod(), .body = std::move(body), .content_type = type};
  }

  ApiRequest operator()(const CreatePod&) const {
    return {.call = Call::create_pod,
            .target = kind(),
            .body = pod_manifest(attempt.launch(), place.settings, place.node),
            .turn = Turn::begin};
  }
  ApiRequest operator()(const CreateSecret&) const {
    return {.call = Call::create_secret,
            .target = kind(),
            .body = secret_manifest(attempt.launch(), place.settings, attempt.uid(), place.now)};
  }
  ApiRequest operator()(const BindPod&) const {
    return {.call = Call::bind_pod,
            .target = pod(),
            .body = binding_manifest(place.pod, attempt.uid(), attempt.version(), place.node.name)};
  }
  ApiRequest operator()(const WriteGo&) const {
    go = go_of(attempt.launch().spec, place.now, place.node.boot_id, place.hosts);
    return patch(annotation_patch(attempt.uid(), {{kGoAnnotation, encode(go)}}), kMergePatch);
  }
  ApiRequest operator()(const Annotate& annotate) const {
    return patch(annotation_patch(attempt.uid(), annotate.values), kMergePatch);
  }
  ApiRequest operator()(const DeletePod& removal) const {
    return {.call = Call::delete_pod,
            .target = pod(),
            .body = delete_options(attempt.uid(), removal.grace_s),
            .turn = attempt.has_ended() || attempt.is_released() ? Turn::removal : Turn::next};
  }
  ApiRequest operator()(const RemoveFinalizer&) const {
    ApiRequest request = patch(finalizer_patch(attempt.uid()), kStrategicPatch);
    request.turn = Turn::removal;
    return request;
  }
};

}  // namespace

ApiRequest pod_call(const PodAction& action, const PodAttempt& attempt, const PodPlace& place,
                    GateGo& go) {
  return std::visit(MakeCall{attempt, place, go}, action);
}

}  // namespace ares::kubernetes
