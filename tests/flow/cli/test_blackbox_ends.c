/* SPDX-License-Identifier: Apache-2.0 */
/* The program ends properly, whatever it is doing; and input of unusual size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/support/blackbox.h"
#include "support/unit.h"

#define A POD("a", "5")
#define SYNCED "*a@5 synced"
#define GOOD WHOLE(LIST("10", A))

/* ---- without a signal ---------------------------------------------------------------------------------- */

static void play_closed_output(const scenario *s)
{
    blackbox *box = blackbox_start(s);
    cli_process *process = blackbox_process(box);
    blackbox_wait(box, s->requests, s->events, "WATCHING");
    close(process->out);
    process->out = -1;
    assert_int_equal(cli_process_finish(process), 0);
    blackbox_judge(box);
}

static void play_to_its_end(const scenario *s)
{
    blackbox *box = blackbox_start(s);
    blackbox_wait(box, s->requests, s->events, s->phases);
    assert_int_equal(cli_process_finish(blackbox_process(box)), 0);
    blackbox_judge(box);
}

/* ---- huge objects -------------------------------------------------------------------------------------- */

/* The peak memory of a process. */
static long peak_mib(pid_t pid)
{
    char line[256];
    long kib = -1;
    snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
    FILE *file = fopen(line, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &kib);
    (void)fclose(file);
    return kib / 1024;
}

/* An event of 140 MiB, and one of the usual size. */
static char *make_huge_event(void)
{
    static const char head[] = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
                               "\"metadata\":{\"namespace\":\"default\",\"name\":\"huge\",\"uid\":\"h\","
                               "\"resourceVersion\":\"11\"},\"spec\":\"";
    static const char tail[] = "\"}}\n" ADDED("b", "12");
    size_t bytes = (size_t)140 * 1024 * 1024;
    char *text = malloc(bytes + sizeof(head) + sizeof(tail));
    assert_non_null(text);
    memcpy(text, head, sizeof(head) - 1);
    memset(text + sizeof(head) - 1, 'x', bytes);
    memcpy(text + sizeof(head) - 1 + bytes, tail, sizeof(tail));
    return text;
}

static void play_huge_object(const scenario *s)
{
    char *text = make_huge_event();
    scenario huge = *s;
    huge.watches = REPLIES(HOLD(text));
    blackbox *box = blackbox_start(&huge);
    blackbox_wait(box, s->requests, s->events, NULL);
    assert_in_range(peak_mib(blackbox_process(box)->pid), 1, 100);
    blackbox_judge(box);
    free(text);
}

/* ---- long versions ------------------------------------------------------------------------------------- */

/* The text with versions of this many bytes: #l becomes one that begins with l. The caller frees it. */
static char *with_versions(const char *text, size_t bytes)
{
    text_log log = {0};
    for (; *text != 0; text++) {
        if (*text == '#') {
            text_log_add(&log, "%c%0*d", *++text, (int)bytes - 1, 0);
        } else {
            text_log_add(&log, "%c", *text);
        }
    }
    return log.text;
}

/* A list, an event and a bookmark with versions of this many bytes. */
static void play_versions_of(const scenario *s, size_t bytes)
{
    scenario played = *s;
    char *const texts[] = {with_versions(LIST("#l", POD("a", "#r")), bytes),
                           with_versions(MODIFIED("a", "#m"), bytes), with_versions(BOOKMARK("#b"), bytes),
                           with_versions(s->requests, bytes),
                           s->events == NULL ? NULL : with_versions(s->events, bytes)};
    played.lists = REPLIES(WHOLE(texts[0]));
    played.watches = REPLIES(CUT(texts[1]), CUT(texts[2]), HOLD(""));
    played.requests = texts[3];
    played.events = texts[4];
    blackbox *box = blackbox_start(&played);
    blackbox_wait(box, played.requests, played.events, played.phases);
    blackbox_judge(box);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free(texts[i]);
}

static void play_versions_of_64(const scenario *s)
{
    play_versions_of(s, 64);
}

static void play_versions_of_1000(const scenario *s)
{
    play_versions_of(s, 1000);
}

static void play_versions_of_4096(const scenario *s)
{
    play_versions_of(s, 4096);
}

static void play_versions_of_4097(const scenario *s)
{
    play_versions_of(s, 4097);
}

#define LONG_VERSIONS(bytes)                                                                                 \
    {                                                                                                        \
        .name = "versions of " #bytes " bytes are accepted", .play = play_versions_of_##bytes,               \
        .requests = "list=0 watch=#l watch=#m watch=#b", .events = "*a@#r synced ~a@#m"                      \
    }

/* ---- scenarios ----------------------------------------------------------------------------------------- */

static const scenario scenarios[] = {
    {.name = "a signal ends it while the server is silent", .lists = REPLIES(SILENCE), .requests = "list=0"},
    {.name = "a signal ends it within a list",
     .lists = REPLIES(HOLD("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                           "\"10\"},\"items\":[" A ",")),
     .requests = "list=0",
     .events = "*a@5"},
    {.name = "a signal ends it within a stream",
     .arguments = "",
     .streams = REPLIES(HOLD(ADDED("a", "5"))),
     .requests = "stream=",
     .events = "*a@5"},
    {.name = "a signal ends it while it waits for a Retry-After",
     .lists = REPLIES(REFUSE_FOR("503", "ServiceUnavailable", "500")),
     .requests = "list=0",
     .events = "",
     .phases = "BACKING_OFF:ServerError"},
    {.name = "a signal ends it between two pages",
     .lists = REPLIES(WHOLE(LIST_MORE("10", "two", A)), SILENCE),
     .requests = "list=0 page=two",
     .events = "*a@5"},
    {.name = "it ends when its reader goes away",
     .play = play_closed_output,
     .lists = REPLIES(GOOD),
     .requests = "list=0 watch=10",
     .events = SYNCED},
    {.name = "it ends by itself with --until-synced",
     .play = play_to_its_end,
     .arguments = "--watch-list never --until-synced",
     .lists = REPLIES(REFUSE("503", "ServiceUnavailable"), GOOD),
     .requests = "list=0 list=0 ...",
     .events = SYNCED},
    LONG_VERSIONS(64),
    LONG_VERSIONS(1000),
    LONG_VERSIONS(4096),
    {.name = "a version of 4097 bytes is refused and named",
     .play = play_versions_of_4097,
     .requests = "list=0 ...",
     .phases = "BACKING_OFF:Malformed",
     .says = "resourceVersion"},
    {.name = "a huge object is refused without being kept",
     .play = play_huge_object,
     .lists = REPLIES(GOOD),
     .requests = "list=0 watch=10",
     .events = SYNCED " +b@12"},
    {0}};

int main(int argc, char **argv)
{
    return blackbox_main(scenarios, argc, argv);
}
