/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/notices.h"

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
    char text[CLI_NOTICE_BYTES + 64];
    if (notices->left_out > 0)
        snprintf(text, sizeof(text), "%s (%" PRIu64 " more left out)", line, notices->left_out);
    else
        snprintf(text, sizeof(text), "%s", line);
    notices->spent++;
    notices->left_out = 0;
    notices->waiting[0] = 0;
    if (notices->say != NULL)
        notices->say(text, notices->user);
    else
        cli_say("%s", text);
}

void cli_notices_add(cli_notices *notices, uint64_t now_ms, const char *line)
{
    earn(notices, now_ms);
    notices->left_out += notices->waiting[0] != 0;
    if (notices->spent < CLI_NOTICES_AT_ONCE)
        say(notices, line);
    else
        snprintf(notices->waiting, sizeof(notices->waiting), "%s", line);
}

void cli_notices_tick(cli_notices *notices, uint64_t now_ms)
{
    earn(notices, now_ms);
    if (notices->waiting[0] != 0 && notices->spent < CLI_NOTICES_AT_ONCE) {
        char line[CLI_NOTICE_BYTES];
        snprintf(line, sizeof(line), "%s", notices->waiting);
        say(notices, line);
    }
}

uint64_t cli_notices_due_ms(const cli_notices *notices)
{
    return notices->waiting[0] == 0 ? UINT64_MAX : notices->earned_ms + CLI_NOTICES_PACE_MS;
}
