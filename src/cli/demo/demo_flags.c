/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/demo/demo_flags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/demo_cluster.h"
#include "cli/failure.h"

enum {
    PODS_DEFAULT = 2000,
    CHURN_MAX = 1000 * 1000,
    TROUBLE_MS = 6000,
    TROUBLE_MIN_MS = 100,
    UNWATCHED_MS = 20000
};

#define AT(member) offsetof(cli_demo_flags, member)

static const cli_flag demo_flags[] = {
    {"pods", 0, CLI_FLAG_NUMBER, AT(pods), "N", "pods in the simulated cluster, approximately (default 2000)",
     NULL},
    {"churn", 0, CLI_FLAG_TEXT, AT(churn), "N/s", "writes per second, or N/m per minute (default 50/s)",
     NULL},
    {"seed", 0, CLI_FLAG_NUMBER, AT(seed), "N",
     "seed of the simulation; the same seed gives the same cluster (default 1)", NULL},
    {"for", 0, CLI_FLAG_DURATION, AT(for_ms), "DURATION",
     "stop after this time (default: never, or 20s when stdout is not a terminal)", NULL},
    {"trouble", 0, CLI_FLAG_DURATION, AT(trouble_ms), "DURATION",
     "interval between faults (default 6s); 0 disables them", NULL},
    {"port", 'p', CLI_FLAG_NUMBER, AT(port), "N", "port of the server on loopback (default: a free one)",
     NULL},
    {"plain", 0, CLI_FLAG_BOOL, AT(is_plain), NULL, "write lines even on a terminal", NULL},
};

void cli_demo_flags_init(cli_demo_flags *flags, cli_flag_group out_groups[CLI_DEMO_GROUPS])
{
    *flags = (cli_demo_flags){
        .pods = PODS_DEFAULT, .churn = "50/s", .seed = 1, .for_ms = UINT64_MAX, .trouble_ms = TROUBLE_MS};
    out_groups[0] = (cli_flag_group){"Flags", demo_flags, sizeof(demo_flags) / sizeof(demo_flags[0]), flags};
}

/* "50/s", "0.5/s", "30/m"; the default unit is per second. */
static int parse_churn(const char *text, double *out, ki_error *err)
{
    char *end = NULL;
    int begins_well = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
    double number = begins_well ? strtod(text, &end) : -1;
    double seconds = 1;
    if (begins_well && strcmp(end, "/m") == 0)
        seconds = 60;
    else if (begins_well && end[0] != 0 && strcmp(end, "/s") != 0)
        begins_well = 0;
    if (!begins_well || !isfinite(number))
        return cli_fail(err, "--churn: \"%s\" is not a rate; write it as 50/s or 30/m", text);
    if (number / seconds > CHURN_MAX)
        return cli_fail(err, "--churn: %s is more than %d/s", text, CHURN_MAX);
    *out = number / seconds;
    return 0;
}

int cli_demo_flags_check(cli_demo_flags *flags, int is_terminal, ki_error *err)
{
    if (flags->pods < 1 || flags->pods > CLI_DEMO_PODS_MAX)
        return cli_fail(err, "--pods: %lld is not between 1 and %d", (long long)flags->pods,
                        CLI_DEMO_PODS_MAX);
    if (flags->port > UINT16_MAX)
        return cli_fail(err, "-p (--port): %lld is not a port (0 to 65535)", (long long)flags->port);
    if (flags->trouble_ms > 0 && flags->trouble_ms < TROUBLE_MIN_MS)
        return cli_fail(err, "--trouble: must be at least %dms, or 0", TROUBLE_MIN_MS);
    if (flags->for_ms == UINT64_MAX)
        flags->for_ms = is_terminal ? 0 : UNWATCHED_MS;
    return parse_churn(flags->churn, &flags->writes_per_second, err);
}
