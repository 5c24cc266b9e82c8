/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/notices.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/failure.h"

static void earn(cli_notices *notices, uint64_t now_ms)
{
    uint64_t lines = (now_ms - notices->earned_ms) / CLI_NOTICES_PACE_MS;
    if (notices->spent == 0 || lines >= notices->spent) {
        notices->spent = 0;
        notices->earned_ms = now_ms;
    } else {
        notices->spent -= lines;
        notices->earned_ms += lines * CLI_NOTICES_PACE_MS;
    }
}

static void say(cli_notices *notices, const char *line)
{
    assert(line[0] != '\0');
    char text[CLI_NOTICE_BYTES + 64];
    if (notices->left_out > 0)
        snprintf(text, sizeof(text), "%s (%" PRIu64 " more left out)", line, notices->left_out);
    else
        snprintf(text, sizeof(text), "%s", line);
    notices->spent++;
    notices->left_out = 0;
    if (notices->say != NULL)
        notices->say(text, notices->user);
    else
        cli_say("%s", text);
}

/* Drops the line waiting in `slot`. */
static void leave_out(cli_notices *notices, char *slot)
{
    notices->left_out += slot[0] != 0;
    slot[0] = 0;
}

void cli_notices_add(cli_notices *notices, uint64_t now_ms, const char *line)
{
    earn(notices, now_ms);
    leave_out(notices, notices->waiting);
    if (notices->spent < CLI_NOTICES_AT_ONCE)
        say(notices, line);
    else
        snprintf(notices->waiting, sizeof(notices->waiting), "%s", line);
}

static void say_lost(cli_notices *notices, uint64_t now_ms, unsigned cause, const char *line)
{
    assert(cause < CLI_NOTICE_CAUSES);
    say(notices, line);
    notices->is_loss_printed = 1;
    notices->free_ms[cause] = now_ms + CLI_NOTICE_CAUSE_MS;
}

void cli_notices_lost(cli_notices *notices, uint64_t now_ms, unsigned cause, const char *line)
{
    earn(notices, now_ms);
    leave_out(notices, notices->lost);
    cause %= CLI_NOTICE_CAUSES;
    if (notices->spent < CLI_NOTICES_AT_ONCE || now_ms >= notices->free_ms[cause]) {
        say_lost(notices, now_ms, cause, line);
        return;
    }
    snprintf(notices->lost, sizeof(notices->lost), "%s", line);
    notices->lost_cause = cause;
}

/* Not rate-limited: there is at most one for each reported loss, and losses are rate-limited. */
void cli_notices_back(cli_notices *notices, uint64_t now_ms, const char *line)
{
    earn(notices, now_ms);
    leave_out(notices, notices->lost);
    if (notices->is_loss_printed)
        say(notices, line);
    notices->is_loss_printed = 0;
}

static void take_what_waits(char *slot, char *line)
{
    assert(slot[0] != '\0');
    snprintf(line, CLI_NOTICE_BYTES, "%s", slot);
    slot[0] = 0;
}

void cli_notices_tick(cli_notices *notices, uint64_t now_ms)
{
    char line[CLI_NOTICE_BYTES];
    earn(notices, now_ms);
    if (notices->lost[0] != 0 && notices->spent < CLI_NOTICES_AT_ONCE) {
        take_what_waits(notices->lost, line);
        say_lost(notices, now_ms, notices->lost_cause, line);
    }
    if (notices->waiting[0] != 0 && notices->spent < CLI_NOTICES_AT_ONCE) {
        take_what_waits(notices->waiting, line);
        say(notices, line);
    }
}

uint64_t cli_notices_due_ms(const cli_notices *notices)
{
    int is_due = notices->waiting[0] != 0 || notices->lost[0] != 0;
    return is_due ? notices->earned_ms + CLI_NOTICES_PACE_MS : UINT64_MAX;
}
