/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/proto_pods.h"

/* The field numbers of generated.proto. */
enum { META_NAME = 1, META_NAMESPACE = 3, META_UID = 5, META_VERSION = 6, META_ANNOTATIONS = 12 };
enum { POD_METADATA = 1, POD_SPEC = 2, POD_STATUS = 3 };
enum { LIST_META = 1, LIST_ITEMS = 2, LIST_VERSION = 2, LIST_CONTINUE = 3 };
enum { STATUS_STATUS = 2, STATUS_MESSAGE = 3, STATUS_REASON = 4, STATUS_CODE = 6 };

static void put_end_of_list(proto_body *metadata)
{
    proto_body entry = {0};
    proto_body_field(&entry, 1, KI_STR("k8s.io/initial-events-end"));
    proto_body_field(&entry, 2, KI_STR("true"));
    proto_body_field(metadata, META_ANNOTATIONS, proto_body_str(&entry));
    proto_body_free(&entry);
}

static proto_body make_pod(const proto_pod *pod)
{
    proto_body metadata = {0}, spec = {0}, made = {0};
    proto_body_field(&metadata, META_NAME, ki_str_of(pod->name));
    proto_body_field(&metadata, META_NAMESPACE, KI_STR("d"));
    proto_body_field(&metadata, META_UID, ki_str_of(pod->name));
    proto_body_field(&metadata, META_VERSION, ki_str_of(pod->version));
    if (pod->ends_list)
        put_end_of_list(&metadata);
    if (pod->unknown != 0)
        proto_body_field(&spec, pod->unknown, KI_STR("news"));
    proto_body_field(&made, POD_METADATA, proto_body_str(&metadata));
    proto_body_field(&made, POD_SPEC, proto_body_str(&spec));
    proto_body_field(&made, POD_STATUS, (ki_str){0});
    proto_body_free(&metadata);
    proto_body_free(&spec);
    return made;
}

proto_body proto_pods_list(const char *version, const char *token, const proto_pod *pods, size_t count)
{
    proto_body metadata = {0}, list = {0};
    proto_body_field(&metadata, LIST_VERSION, ki_str_of(version));
    proto_body_field(&metadata, LIST_CONTINUE, ki_str_of(token));
    proto_body_field(&list, LIST_META, proto_body_str(&metadata));
    for (size_t i = 0; i < count; i++) {
        proto_body pod = make_pod(&pods[i]);
        proto_body_field(&list, LIST_ITEMS, proto_body_str(&pod));
        proto_body_free(&pod);
    }
    proto_body body = proto_body_typed("v1", "PodList", proto_body_str(&list));
    proto_body_free(&metadata);
    proto_body_free(&list);
    return body;
}

proto_body proto_pods_event(const char *type, const proto_pod *pod)
{
    proto_body made = make_pod(pod);
    proto_body typed = proto_body_typed("v1", "Pod", proto_body_str(&made));
    proto_body event = proto_body_event(type, proto_body_str(&typed));
    proto_body_free(&made);
    proto_body_free(&typed);
    return event;
}

proto_body proto_pods_status(int code, const char *reason, const char *message)
{
    proto_body status = {0};
    proto_body_field(&status, STATUS_STATUS, KI_STR("Failure"));
    proto_body_field(&status, STATUS_MESSAGE, ki_str_of(message));
    proto_body_field(&status, STATUS_REASON, ki_str_of(reason));
    proto_body_number(&status, STATUS_CODE, (uint64_t)code);
    proto_body body = proto_body_typed("v1", "Status", proto_body_str(&status));
    proto_body_free(&status);
    return body;
}
