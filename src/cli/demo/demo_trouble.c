/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_trouble.h"

#include <assert.h>
#include <stdio.h>

/* How long a server is down at most, and how often recovery is checked. */
enum { DOWN_MAX_MS = 1500, LOOK_MS = 10 };

static const char *const names[CLI_DEMO_TROUBLES] = {"cut", "restart", "compaction"};

static cli_demo_trouble_kind kind_of(uint64_t count)
{
    return (cli_demo_trouble_kind)(count % CLI_DEMO_TROUBLES);
}

static void say(cli_demo_trouble *trouble, const char *line)
{
    assert(trouble->say != NULL);
    trouble->say(line, trouble->user);
}

static uint64_t count_expired(const cli_demo_trouble *trouble)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++)
        sum += atomic_load(&trouble->followers->items[i].expired);
    return sum;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* Called before connections end, because every watch that begins afterwards counts. So does a watch that the
 * server has not answered yet: its request may arrive after the fault, and then it is not cut. If the
 * informers have not recovered from the previous fault yet, the next one replaces it. */
static void remember(cli_demo_trouble *trouble)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        ki_informer_status status = {0};
        ki_informer_read_status(trouble->followers->items[i].informer, &status);
        int is_watching = status.phase == KI_PHASE_WATCHING && !status.is_unanswered;
        trouble->watches[i] = is_watching ? status.watches : 0;
    }
    trouble->expired = count_expired(trouble);
    trouble->is_recovering = 0;
}

static void begin_recovery(cli_demo_trouble *trouble, uint64_t now_ms)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++)
        trouble->versions[i] = trouble->followers->items[i].version;
    trouble->is_recovering = 1;
    trouble->over_ms = now_ms;
}

static void cut(cli_demo_trouble *trouble, uint64_t now_ms)
{
    int is_reset = trouble->count / CLI_DEMO_TROUBLES % 2 == 0;
    say(trouble, is_reset ? "cut: every connection is reset" : "cut: every connection is closed");
    ki_apiserver_cut(trouble->server, is_reset);
    begin_recovery(trouble, now_ms);
}

static void take_down(cli_demo_trouble *trouble, uint64_t now_ms)
{
    assert(!trouble->is_down);
    char line[CLI_DEMO_LINE_BYTES];
    uint64_t down_ms = trouble->period_ms / 3 < DOWN_MAX_MS ? trouble->period_ms / 3 : DOWN_MAX_MS;
    int forgets = kind_of(trouble->count) == CLI_DEMO_COMPACTION;
    snprintf(line, sizeof(line), "%s: the server is down for %.1f s%s", names[kind_of(trouble->count)],
             (double)down_ms / 1000, forgets ? ", and comes back without its history" : "");
    say(trouble, line);
    ki_apiserver_down(trouble->server);
    trouble->is_down = 1;
    trouble->up_ms = now_ms + down_ms;
}

static int bring_up(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err)
{
    assert(trouble->is_down);
    if (kind_of(trouble->count) == CLI_DEMO_COMPACTION)
        ki_apiserver_compact(trouble->server);
    int rc = ki_apiserver_up(trouble->server, err);
    if (rc < 0)
        return rc;
    trouble->is_down = 0;
    trouble->count++;
    begin_recovery(trouble, now_ms);
    return 0;
}

/* ---- recovering ---------------------------------------------------------------------------------------- */

static int has_recovered(const cli_demo_trouble *trouble)
{
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        const cli_demo_follower *follower = &trouble->followers->items[i];
        ki_informer_status status = {0};
        ki_informer_read_status(follower->informer, &status);
        if (status.phase != KI_PHASE_WATCHING || status.reason != KI_REASON_NONE ||
            status.watches <= trouble->watches[i] || !cli_demo_follower_is_at(follower, trouble->versions[i]))
            return 0;
    }
    return 1;
}

static void tell_recovered(cli_demo_trouble *trouble, uint64_t now_ms)
{
    assert(trouble->is_recovering && now_ms >= trouble->over_ms);
    char line[CLI_DEMO_LINE_BYTES];
    uint64_t expired = count_expired(trouble) - trouble->expired;
    uint64_t resumed = expired < CLI_DEMO_FOLLOWED ? CLI_DEMO_FOLLOWED - expired : 0;
    snprintf(line, sizeof(line), "recovered in %llu ms: %llu informers resumed, %llu relisted",
             (unsigned long long)(now_ms - trouble->over_ms), (unsigned long long)resumed,
             (unsigned long long)expired);
    say(trouble, line);
    trouble->is_recovering = 0;
}

/* ---- timing -------------------------------------------------------------------------------------------- */

void cli_demo_trouble_begin(cli_demo_trouble *trouble, uint64_t now_ms)
{
    trouble->next_ms = now_ms + trouble->period_ms;
}

static void start_next(cli_demo_trouble *trouble, uint64_t now_ms)
{
    assert(trouble->period_ms > 0);
    trouble->next_ms = now_ms + trouble->period_ms;
    remember(trouble);
    if (kind_of(trouble->count) == CLI_DEMO_CUT) {
        cut(trouble, now_ms);
        trouble->count++;
    } else {
        take_down(trouble, now_ms);
    }
}

int cli_demo_trouble_tick(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err)
{
    if (trouble->is_down && now_ms >= trouble->up_ms)
        return bring_up(trouble, now_ms, err);
    if (trouble->is_recovering && has_recovered(trouble))
        tell_recovered(trouble, now_ms);
    if (trouble->period_ms > 0 && !trouble->is_down && now_ms >= trouble->next_ms)
        start_next(trouble, now_ms);
    return 0;
}

uint64_t cli_demo_trouble_due_ms(const cli_demo_trouble *trouble, uint64_t now_ms)
{
    if (trouble->is_down)
        return trouble->up_ms;
    if (trouble->is_recovering)
        return now_ms + LOOK_MS;
    return trouble->period_ms > 0 ? trouble->next_ms : UINT64_MAX;
}

int cli_demo_trouble_end(cli_demo_trouble *trouble, uint64_t now_ms, ki_error *err)
{
    trouble->period_ms = 0;
    return trouble->is_down ? bring_up(trouble, now_ms, err) : 0;
}

void cli_demo_trouble_describe_next(const cli_demo_trouble *trouble, uint64_t now_ms, char *out, size_t bytes)
{
    out[0] = 0;
    if (trouble->is_down)
        snprintf(out, bytes, "the server is back in %.1f s",
                 (double)(trouble->up_ms > now_ms ? trouble->up_ms - now_ms : 0) / 1000);
    else if (trouble->period_ms > 0)
        snprintf(out, bytes, "%s in %llu s", names[kind_of(trouble->count)],
                 (unsigned long long)((trouble->next_ms > now_ms ? trouble->next_ms - now_ms : 0) + 999) /
                     1000);
}
