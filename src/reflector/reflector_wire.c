/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the format to request, and what follows a response that cannot be used in that format. With
 * KI_WIRE_AUTO no field may be lost. So an object with a field that the tables do not have is not passed on;
 * the request is made again as JSON, and begins with that object or before it. */
#include <assert.h>

#include "reflector/reflector_parts.h"
#include "util/log.h"
#include "util/units.h"

/* How long JSON is requested after a response that may be the page of a gateway, not the server's. */
#define DOUBT_NS (60 * KI_NS_PER_S)

const char *ki_wire_name(ki_wire wire)
{
    return wire == KI_WIRE_JSON ? "json" : wire == KI_WIRE_PROTOBUF ? "protobuf" : "";
}

static int is_auto(const ki_reflector *reflector)
{
    return reflector->options.wire == KI_WIRE_AUTO;
}

/* Only reflectors that keep whole objects share what they learn about unknown fields, since the projection of
 * others may not need these fields. */
static int keeps_whole_objects(const ki_reflector *reflector)
{
    const char *const *keep = reflector->options.informer->keep;
    return keep == NULL || keep[0] == NULL;
}

static int is_remembered_as_json(const ki_reflector *reflector, uint64_t now_ns)
{
    const ki_wire_memory *server = reflector->options.wires;
    const ki_resource *resource = reflector->options.resource;
    if (server == NULL)
        return 0;
    return ki_wire_memory_has(server, resource, KI_WIRE_NOT_OFFERED, now_ns) ||
           (is_auto(reflector) && keeps_whole_objects(reflector) &&
            ki_wire_memory_has(server, resource, KI_WIRE_LOSES_FIELDS, now_ns));
}

/* In JSON, servers write kind and apiVersion into each of /spec/volumeClaimTemplates; protobuf has no fields
 * for them. StatefulSet is the only built-in kind that contains objects of another kind. */
static int says_less_in_protobuf(const ki_object_plan *plan)
{
    return ki_str_equal(plan->kind, KI_STR("StatefulSet"));
}

ki_wire ki_reflector_wire(const ki_reflector *reflector)
{
    assert(reflector != NULL);
    const ki_object_plan *plan = reflector->options.plan;
    uint64_t now_ns = ki_reflector_now_ns(reflector);
    if (is_auto(reflector) && says_less_in_protobuf(plan))
        return KI_WIRE_JSON;
    if (reflector->options.wire == KI_WIRE_JSON || now_ns < reflector->json_until_ns ||
        is_remembered_as_json(reflector, now_ns) || ki_proto_find(plan->api_version, plan->kind) == NULL)
        return KI_WIRE_JSON;
    return KI_WIRE_PROTOBUF;
}

static void remember_json(ki_reflector *reflector, ki_wire_cause cause)
{
    const ki_reflector_options *options = &reflector->options;
    uint64_t now_ns = ki_reflector_now_ns(reflector);
    reflector->json_until_ns = now_ns + KI_WIRE_AGAIN_NS;
    if (options->wires != NULL && (cause == KI_WIRE_NOT_OFFERED || keeps_whole_objects(reflector)))
        ki_wire_memory_note(options->wires, options->resource, cause, now_ns);
}

/* The step that makes the current request again. A page that has brought items is not requested twice. */
static ki_reflector_step same_step(const ki_reflector *reflector)
{
    const ki_list_attempt *list = &reflector->list;
    if (reflector->doing == KI_STEP_WATCH)
        return KI_STEP_WATCH;
    if (reflector->doing == KI_STEP_STREAM)
        return KI_STEP_SYNC;
    if (list->pages > 0 && !list->page_has_items)
        return KI_STEP_PAGE;
    return list->is_whole ? KI_STEP_WHOLE_LIST : KI_STEP_LIST;
}

static void log_turn(const ki_reflector *reflector, ki_log_level level, const char *message)
{
    const ki_object_plan *plan = reflector->options.plan;
    ki_log(level, "reflector", KI_LOG_FIELDS({"apiVersion", plan->api_version}, {"kind", plan->kind}), "%s",
           message);
}

/* ---- responses ------------------------------------------------------------------------------------- */

void ki_reflector_wire_heard(ki_reflector *reflector, ki_answer *answer)
{
    assert(reflector != NULL && answer != NULL);
    ki_wire wire = ki_body_decoder_is_proto(&answer->decoder) ? KI_WIRE_PROTOBUF : KI_WIRE_JSON;
    if (reflector->report.wire != wire)
        ki_gauge_set(reflector->options.metrics->protobuf, wire == KI_WIRE_PROTOBUF);
    reflector->report.wire = wire;
    if (answer->asked_wire != KI_WIRE_PROTOBUF || answer->wire != KI_WIRE_JSON)
        return;
    answer->asked_wire = KI_WIRE_JSON; /* once is enough */
    remember_json(reflector, KI_WIRE_NOT_OFFERED);
    log_turn(reflector, KI_LOG_DEBUG, "the server answers in JSON although protobuf was accepted");
}

static void note_unknown(ki_reflector *reflector, const ki_proto_unknown *unknown, uint64_t count)
{
    ki_reflector_report *report = &reflector->report;
    ki_wire_memory *server = reflector->options.wires;
    const ki_object_plan *plan = reflector->options.plan;
    int is_new = server != NULL ? ki_wire_memory_is_new_field(server, unknown->message, unknown->number)
                                : report->unknown_fields == 0;
    if (report->unknown_fields == 0) {
        report->unknown_message = unknown->message;
        report->unknown_number = unknown->number;
    }
    report->unknown_fields += count;
    ki_counter_add(reflector->options.metrics->unknown_fields, count);
    if (is_new)
        ki_log(KI_LOG_WARNING, "reflector",
               KI_LOG_FIELDS({"apiVersion", plan->api_version}, {"kind", plan->kind}),
               "%.*s has a field with the number %u, which this version does not know: %s",
               KI_STR_ARGS(unknown->message), (unsigned)unknown->number,
               is_auto(reflector) ? "continuing with JSON" : "it is left out");
}

/* Abandons the response before the current object is passed on. */
static void begin_again_as_json(ki_reflector *reflector, ki_wire_cause cause)
{
    ki_reflector_step step = same_step(reflector);
    remember_json(reflector, cause);
    ki_answer_cancel(&reflector->answer);
    ki_answer_cancel(&reflector->probe_answer);
    ki_reflector_go_on(reflector, step, 0);
}

/* Whether the result brings no object: the error that ends the response, or a bookmark. */
static int keeps_nothing(const ki_answer *answer, int result)
{
    return answer->kind == KI_ANSWER_WATCH && (result == KI_WATCH_ERROR || result == KI_CHANGE_BOOKMARK);
}

int ki_reflector_wire_result(ki_reflector *reflector, ki_answer *answer, int result)
{
    assert(reflector != NULL && answer != NULL);
    const ki_proto_unknown *unknown = ki_body_decoder_unknown(&answer->decoder);
    if (unknown == NULL || answer == &reflector->probe_answer)
        return 0;
    uint64_t count = unknown->count - answer->seen_unknown;
    answer->seen_unknown = unknown->count;
    if (count > 0 && !keeps_nothing(answer, result)) {
        note_unknown(reflector, unknown, count);
        if (!is_auto(reflector))
            return 0;
        begin_again_as_json(reflector, KI_WIRE_LOSES_FIELDS);
        return 1;
    }
    if (!ki_body_decoder_is_unknown_kind(&answer->decoder) || !is_auto(reflector))
        return 0;
    log_turn(reflector, KI_LOG_WARNING, "the watch brings objects of an unknown kind: continuing with JSON");
    begin_again_as_json(reflector, KI_WIRE_NOT_OFFERED);
    return 1;
}

/* ---- how it ends ----------------------------------------------------------------------------------- */

int ki_reflector_wire_over(ki_reflector *reflector, ki_answer *answer, const ki_failure *failure)
{
    assert(reflector != NULL && failure != NULL);
    enum { NOT_ACCEPTABLE = 406 };
    int is_probe = answer == &reflector->probe_answer;
    int is_asked = answer->asked_wire == KI_WIRE_PROTOBUF;
    int is_refused = is_asked && failure->http_status == NOT_ACCEPTABLE;
    /* Malformed JSON counts, too: a gateway may have removed the Content-Type of protobuf. */
    int is_malformed = is_asked && is_auto(reflector) && failure->reason == KI_REASON_MALFORMED;
    if (!is_refused && !is_malformed)
        return 0;
    if (is_refused || ki_body_decoder_is_proto(&answer->decoder))
        remember_json(reflector, KI_WIRE_NOT_OFFERED);
    else
        reflector->json_until_ns = ki_reflector_now_ns(reflector) + DOUBT_NS;
    if (is_probe || (is_refused && reflector->doing == KI_STEP_STREAM))
        return 0; /* the server may refuse the stream, not protobuf: handled as a refused stream */
    ki_answer_cancel(&reflector->probe_answer);
    if (is_malformed) {
        ki_reflector_retry(reflector, failure, same_step(reflector), 0);
    } else {
        log_turn(reflector, KI_LOG_INFO, "the server refuses protobuf (406): continuing with JSON");
        ki_reflector_go_on(reflector, same_step(reflector), 0);
    }
    return 1;
}
