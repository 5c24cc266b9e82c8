/* SPDX-License-Identifier: Apache-2.0 */
/* The output for events: the contract of `-o events`, the other formats, and the statistics of `--stats`. */
#include <fcntl.h>
#include <kinformer/resources.h>
#include <kinformer/timestamp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/event_writer.h"
#include "cli/stats.h"
#include "support/unit.h"

#define JSON_OF(version)                                                                                     \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"d\",\"name\":\"a\","              \
    "\"resourceVersion\":\"" version "\"},\"status\":{\"phase\":\"Running\"}}"

typedef struct bench {
    cli_output output;
    cli_event_writer writer;
    cli_resource pods;
    ki_object *old;
    ki_object *object;
    int fds[2];
} bench;

static bench b;

static int set_up(void **state)
{
    (void)state;
    b = (bench){.writer = {.output = &b.output}, .pods = {.resource = &KI_CORE_V1_PODS, .name = "pods"}};
    if (pipe(b.fds) < 0 || fcntl(b.fds[0], F_SETFL, O_NONBLOCK) < 0)
        return -1;
    cli_output_init(&b.output, b.fds[1], NULL);
    b.old = ki_object_new(NULL, KI_STR(JSON_OF("4")), NULL, NULL);
    b.object = ki_object_new(NULL, KI_STR(JSON_OF("5")), NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)ki_object_unref(b.old);
    (void)ki_object_unref(b.object);
    close(b.fds[0]);
    close(b.fds[1]);
    return 0;
}

/* The text written so far; a line of JSON begins with `HEAD(type)` if its time is valid. */
static const char *written(void)
{
    static const char sample[] = "2026-11-15T20:45:57.012345Z";
    static char text[8192];
    ki_timestamp time;
    ssize_t n = read(b.fds[0], text, sizeof(text) - 1);
    text[n < 0 ? 0 : n] = 0;
    char *at = strstr(text, "\"time\":\"");
    size_t length = at == NULL ? 0 : strcspn(at += strlen("\"time\":\""), "\"");
    if (length == strlen(sample) && ki_timestamp_parse((ki_str){at, length}, &time) == 0)
        memmove(at, at + length, strlen(at + length) + 1);
    return text;
}

#define HEAD(type) "{\"type\":\"" type "\",\"resource\":\"pods\",\"time\":\"\","

static void write_event(ki_change_type type, uint32_t flags)
{
    ki_event event = {.change_type = type,
                      .flags = flags,
                      .object = b.object,
                      .old = type == KI_CHANGE_UPDATED ? b.old : NULL};
    cli_event_writer_event(&b.writer, &b.pods, &event);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void an_add_says_whether_it_is_initial(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_EVENTS;
    write_event(KI_CHANGE_ADDED, KI_EVENT_INITIAL);
    assert_string_equal(written(), HEAD("ADDED") "\"initial\":true,\"object\":" JSON_OF("5") "}\n");
    write_event(KI_CHANGE_ADDED, 0);
    assert_string_equal(written(), HEAD("ADDED") "\"initial\":false,\"object\":" JSON_OF("5") "}\n");
}

static void an_update_has_the_old_object_and_its_flags(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_EVENTS;
    write_event(KI_CHANGE_UPDATED, 0);
    assert_string_equal(written(),
                        HEAD("MODIFIED") "\"object\":" JSON_OF("5") ",\"old\":" JSON_OF("4") "}\n");
    write_event(KI_CHANGE_UPDATED, KI_EVENT_REPLACED);
    assert_non_null(strstr(written(), HEAD("MODIFIED") "\"replaced\":true,\"object\":"));
    write_event(KI_CHANGE_UPDATED, KI_EVENT_RESYNC);
    assert_non_null(strstr(written(), HEAD("MODIFIED") "\"resync\":true,\"object\":"));
}

static void a_missed_delete_is_marked(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_EVENTS;
    write_event(KI_CHANGE_DELETED, 0);
    assert_string_equal(written(), HEAD("DELETED") "\"object\":" JSON_OF("5") "}\n");
    write_event(KI_CHANGE_DELETED, KI_EVENT_FINAL_STATE_UNKNOWN);
    assert_string_equal(written(),
                        HEAD("DELETED") "\"finalStateUnknown\":true,\"object\":" JSON_OF("5") "}\n");
}

static void events_are_the_same_for_any_number_of_resources(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_EVENTS;
    b.writer.shows_resource = 1;
    write_event(KI_CHANGE_ADDED, 0);
    assert_string_equal(written(), HEAD("ADDED") "\"initial\":false,\"object\":" JSON_OF("5") "}\n");
    write_event(KI_CHANGE_UPDATED, 0);
    assert_non_null(strstr(written(), HEAD("MODIFIED") "\"object\":{"));
    write_event(KI_CHANGE_DELETED, 0);
    assert_string_equal(written(), HEAD("DELETED") "\"object\":" JSON_OF("5") "}\n");
}

static void synced_and_status_have_their_own_lines(void **state)
{
    (void)state;
    ki_informer_status status = {.phase = KI_PHASE_BACKING_OFF,
                                 .reason = KI_REASON_FORBIDDEN,
                                 .message = "no \"way\"",
                                 .resource_version = "78"};
    b.writer.format = CLI_FORMAT_EVENTS;
    cli_event_writer_synced(&b.writer, &b.pods, 3, "77");
    assert_string_equal(written(), HEAD("SYNCED") "\"objects\":3,\"resourceVersion\":\"77\"}\n");
    cli_event_writer_status(&b.writer, &b.pods, &status);
    assert_string_equal(
        written(),
        HEAD("STATUS") "\"phase\":\"BACKING_OFF\",\"reason\":"
                       "\"Forbidden\",\"message\":\"no \\\"way\\\"\",\"resourceVersion\":\"78\"}\n");
}

/* ---- the other formats --------------------------------------------------------------------------------- */

static void only_events_have_synced_and_status(void **state)
{
    (void)state;
    ki_informer_status status = {.phase = KI_PHASE_WATCHING};
    for (b.writer.format = CLI_FORMAT_LINES; b.writer.format <= CLI_FORMAT_NONE; b.writer.format++) {
        if (b.writer.format == CLI_FORMAT_EVENTS)
            continue;
        cli_event_writer_synced(&b.writer, &b.pods, 3, "77");
        cli_event_writer_status(&b.writer, &b.pods, &status);
        cli_event_writer_batch_end(&b.writer);
        assert_string_equal(written(), "");
    }
}

static void json_is_the_object_on_a_line_when_the_run_has_ended(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_JSON;
    write_event(KI_CHANGE_UPDATED, 0);
    assert_string_equal(written(), "");
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(written(), JSON_OF("5") "\n");
}

static void names_are_written_as_by_kubectl(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_NAME;
    write_event(KI_CHANGE_ADDED, 0);
    b.pods.resource = &KI_APPS_V1_DEPLOYMENTS;
    write_event(KI_CHANGE_ADDED, 0);
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(written(), "pod/a\npod.apps/a\n");
}

static void none_writes_nothing(void **state)
{
    (void)state;
    b.writer.format = CLI_FORMAT_NONE;
    write_event(KI_CHANGE_ADDED, 0);
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(written(), "");
}

static void lines_have_one_title_and_say_what_happened(void **state)
{
    (void)state;
    b.writer.shows_namespace = b.writer.shows_resource = 1;
    write_event(KI_CHANGE_ADDED, KI_EVENT_INITIAL);
    write_event(KI_CHANGE_DELETED, KI_EVENT_FINAL_STATE_UNKNOWN);
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(
        written(), "EVENT     RESOURCE NAMESPACE/NAME                 VERSION          PHASE\n"
                   "ADDED     pods     d/a                            5                Running\n"
                   "DELETED   pods     d/a                            5                Running (final state "
                   "unknown)\n");
}

/* ESC and newlines in kind, version and phase; a name can contain U+009B, which means ESC [, and DEL. */
#define HOSTILE_JSON                                                                                         \
    "{\"kind\":\"P\\u001b[2J\\nod\",\"metadata\":{\"namespace\":\"d\",\"name\":"                             \
    "\"a\xc2\x9b\x7f\xe2\x80\xae\xc3\xa9\","                                                                 \
    "\"resourceVersion\":\"5\\n\\u001b]0;x\\u0007\"},\"status\":{\"phase\":\"Run\\r\\nADDED\"}}"

static void use_hostile_object(void)
{
    (void)ki_object_unref(b.object);
    b.object = ki_object_new(NULL, KI_STR(HOSTILE_JSON), NULL, NULL);
    assert_non_null(b.object);
}

static void a_line_is_one_line_whatever_the_object_contains(void **state)
{
    (void)state;
    use_hostile_object();
    b.writer.has_title = b.writer.shows_namespace = 1;
    write_event(KI_CHANGE_ADDED, 0);
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(written(),
                        "ADDED     d/a???\xc3\xa9                    5??]0;x?         Run??ADDED\n");
}

static void a_name_is_one_line_whatever_the_object_contains(void **state)
{
    (void)state;
    use_hostile_object();
    b.writer.format = CLI_FORMAT_NAME;
    write_event(KI_CHANGE_ADDED, 0);
    cli_event_writer_batch_end(&b.writer);
    assert_string_equal(written(), "p?[2j?od/a???\xc3\xa9\n");
}

/* ---- stats --------------------------------------------------------------------------------------------- */

static void stats_are_one_json_object(void **state)
{
    (void)state;
    cli_stats stats = {.sync_ms = 1042, .peak_rss_bytes = 9};
    ki_informer_status status = {.objects = 1, .lists = 2, .watches = 3, .events = 4, .bytes_read = 5};
    cli_stats_add(&stats, &status);
    cli_stats_add(&stats, &status);
    cli_stats_write(&stats, &b.output);
    assert_string_equal(written(), "{\"objects\":2,\"sync_seconds\":1.042,\"lists\":4,\"watches\":6,"
                                   "\"events\":8,\"bytes_read\":10,\"wire\":null,\"peak_rss_bytes\":9}\n");
    status.wire = KI_WIRE_PROTOBUF;
    cli_stats_add(&stats, &status);
    cli_stats_write(&stats, &b.output);
    assert_non_null(strstr(written(), "\"wire\":\"protobuf\","));
    status.wire = KI_WIRE_JSON;
    cli_stats_add(&stats, &status);
    cli_stats_write(&stats, &b.output);
    assert_non_null(strstr(written(), "\"wire\":\"mixed\","));
    stats.sync_ms = UINT64_MAX;
    cli_stats_write(&stats, &b.output);
    assert_non_null(strstr(written(), "\"sync_seconds\":null,"));
    assert_true(cli_stats_peak_rss_bytes() > 100 * 1024);
}

#define ANNOTATED(text) "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"k\":\"" text "\"}}}"
#define STEERING                                                                                             \
    ANNOTATED("x\x7f\xc2\x9b"                                                                                \
              "31m\xc3\xa9\xc2\x80\xe2\x80\xae\xe2\x82\xac\\u001b")
#define HARMLESS ANNOTATED("x\\u007f\\u009b31m\xc3\xa9\\u0080\\u202e\xe2\x82\xac\\u001b")

/* JSON allows some control characters unescaped that a terminal interprets. */
static void json_does_not_control_a_terminal(void **state)
{
    (void)state;
    (void)ki_object_unref(b.object);
    b.object = ki_object_new(NULL, KI_STR(STEERING), NULL, NULL);
    for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
        const char *expected = is_terminal ? HARMLESS : STEERING;
        char line[512];
        b.output.is_terminal = is_terminal;
        b.writer.format = CLI_FORMAT_JSON;
        write_event(KI_CHANGE_ADDED, 0);
        cli_event_writer_batch_end(&b.writer);
        snprintf(line, sizeof(line), "%s\n", expected);
        assert_string_equal(written(), line);
        b.writer.format = CLI_FORMAT_EVENTS;
        write_event(KI_CHANGE_ADDED, 0);
        snprintf(line, sizeof(line), HEAD("ADDED") "\"initial\":false,\"object\":%s}\n", expected);
        assert_string_equal(written(), line);
    }
}

#define WRITER_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WRITER_TEST(an_add_says_whether_it_is_initial),
        WRITER_TEST(an_update_has_the_old_object_and_its_flags),
        WRITER_TEST(a_missed_delete_is_marked),
        WRITER_TEST(events_are_the_same_for_any_number_of_resources),
        WRITER_TEST(synced_and_status_have_their_own_lines),
        WRITER_TEST(only_events_have_synced_and_status),
        WRITER_TEST(json_is_the_object_on_a_line_when_the_run_has_ended),
        WRITER_TEST(names_are_written_as_by_kubectl),
        WRITER_TEST(none_writes_nothing),
        WRITER_TEST(lines_have_one_title_and_say_what_happened),
        WRITER_TEST(a_line_is_one_line_whatever_the_object_contains),
        WRITER_TEST(a_name_is_one_line_whatever_the_object_contains),
        WRITER_TEST(json_does_not_control_a_terminal),
        WRITER_TEST(stats_are_one_json_object),
    };
    return RUN_TESTS(tests);
}
