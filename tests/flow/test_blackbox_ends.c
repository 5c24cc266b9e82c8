/* SPDX-License-Identifier: Apache-2.0 */
/* How the program ends, whatever it is at; and what has no common size. */
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

/* The most memory that a process has had. */
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

/* ---- all of them --------------------------------------------------------------------------------------- */

static const scenario scenarios[] = {
    {.name = "a signal ends it while nobody answers", .lists = REPLIES(SILENCE), .requests = "list=0"},
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
    {.name = "a signal ends it while it waits as long as it was told to",
     .lists = REPLIES(REFUSE_FOR("503", "ServiceUnavailable", "500")),
     .requests = "list=0",
     .events = "",
     .phases = "BACKING_OFF:ServerError"},
    {.name = "a signal ends it between two pages",
     .lists = REPLIES(WHOLE(LIST_MORE("10", "two", A)), SILENCE),
     .requests = "list=0 page=two",
     .events = "*a@5"},
    {.name = "a reader that goes ends it",
     .play = play_closed_output,
     .lists = REPLIES(GOOD),
     .requests = "list=0 watch=10",
     .events = SYNCED},
    {.name = "it ends by itself when it was told to sync alone",
     .play = play_to_its_end,
     .arguments = "--watch-list never --until-synced",
     .lists = REPLIES(REFUSE("503", "ServiceUnavailable"), GOOD),
     .requests = "list=0 list=0 ...",
     .events = SYNCED},
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
