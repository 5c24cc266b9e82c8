/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_answer.h"

#include <inttypes.h>

static void put_metadata(sim_text *out, const sim_world *world, const sim_record *record, sim_spoilt spoilt)
{
    sim_object text;
    sim_world_describe(world, record, &text);
    sim_text_put(out, "\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",", text.name, text.ns);
    if (spoilt == SIM_MALFORMED)
        sim_text_put(out, "\"uid\":7,");
    else
        sim_text_put(out, "\"uid\":\"%s\",", text.uid);
    sim_text_put(out, "\"resourceVersion\":\"%s\",\"labels\":{\"app\":\"app-%" PRIu64 "\"}", text.version,
                 record->uid % 5);
    if (record->padding > 0) {
        sim_text_put(out, ",\"annotations\":{\"note\":\"");
        /* Escapes and multi-byte characters, so that some cuts fall inside them. */
        for (uint32_t i = 0; i < record->padding; i++)
            sim_text_put(out, "w%" PRIu32 "\\n\\u00e9\xc3\xa9\\\"", i);
        sim_text_put(out, "\"}");
    }
    sim_text_put(out, "}");
}

static void put_spec(sim_text *out, const sim_record *record, sim_spoilt spoilt)
{
    sim_text_put(out, ",\"spec\":{\"value\":\"v%" PRIu64 "\"", record->value);
    if (spoilt == SIM_HUGE) {
        sim_text_put(out, ",\"huge\":\"");
        sim_text_fill(out, '0', SIM_HUGE_BYTES);
        sim_text_put(out, "\"");
    }
    sim_text_put(out, "}");
}

void sim_put_object(sim_text *out, const sim_world *world, const sim_record *record, sim_form form)
{
    sim_text_put(out, form.with_kind ? "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," : "{");
    put_metadata(out, world, record, form.spoilt);
    put_spec(out, record, form.spoilt);
    sim_text_put(out, "}");
}

static void put_event_of_type(sim_text *out, const char *type)
{
    sim_text_put(out, "{\"type\":\"%s\",\"object\":", type);
}

void sim_put_event(sim_text *out, const sim_world *world, const sim_record *record, sim_spoilt spoilt)
{
    static const char *const types[] = {
        [SIM_ADDED] = "ADDED", [SIM_MODIFIED] = "MODIFIED", [SIM_DELETED] = "DELETED"};
    put_event_of_type(out, types[record->type]);
    sim_put_object(out, world, record, (sim_form){.spoilt = spoilt, .with_kind = 1});
    sim_text_put(out, "}\n");
}

void sim_put_initial_event(sim_text *out, const sim_world *world, const sim_record *record, sim_spoilt spoilt)
{
    put_event_of_type(out, "ADDED");
    sim_put_object(out, world, record, (sim_form){.spoilt = spoilt, .with_kind = 1});
    sim_text_put(out, "}\n");
}

void sim_put_bookmark(sim_text *out, uint64_t version, int ends_initial_events)
{
    put_event_of_type(out, "BOOKMARK");
    sim_text_put(
        out,
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s},"
        "\"spec\":{\"containers\":null},\"status\":{}}}\n",
        version, ends_initial_events ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
}

void sim_put_vain_bookmark(sim_text *out)
{
    put_event_of_type(out, "BOOKMARK");
    sim_text_put(out, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{}}}\n");
}

void sim_put_no_event(sim_text *out, ki_random *random)
{
    static const char *const texts[] = {
        "{}",
        "{\"type\":\"ADDED\"}",
        "{\"type\":\"ADDED\",\"object\":null}",
        "{\"type\":\"MODIFIED\",\"object\":{}}",
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{}}}",
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":5}}}",
        "{\"type\":\"RENAMED\",\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"n0\"}}}",
        "{\"type\":7,\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"n0\"}}}",
        "{\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"n0\",\"resourceVersion\":\"1\"}}}",
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
    };
    sim_text_put(out, "%s\n", texts[ki_random_below(random, sizeof(texts) / sizeof(texts[0]))]);
}

void sim_put_garbage(sim_text *out, ki_random *random)
{
    static const char *const texts[] = {"17",     "[]", "null",       "\"ADDED\"",
                                        "<html>", "}",  "{\"type\"}", "{\n\"a\":\"\n\"}"};
    sim_text_put(out, "%s\n", texts[ki_random_below(random, sizeof(texts) / sizeof(texts[0]))]);
}

static void put_status(sim_text *out, const sim_status *status)
{
    sim_text_put(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (status->continue_token != NULL)
        sim_text_put(out, "\"continue\":\"%s\"", status->continue_token);
    sim_text_put(out, "},\"status\":\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",", status->message,
                 status->reason);
    if (status->details != NULL)
        sim_text_put(out, "\"details\":%s,", status->details);
    sim_text_put(out, "\"code\":%" PRIu32 "}", (uint32_t)status->code);
}

void sim_put_status(sim_text *out, const sim_status *status)
{
    put_status(out, status);
    sim_text_put(out, "\n");
}

void sim_put_error_event(sim_text *out, const sim_status *status)
{
    put_event_of_type(out, "ERROR");
    put_status(out, status);
    sim_text_put(out, "}\n");
}
