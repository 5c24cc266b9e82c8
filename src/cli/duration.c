/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duration.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/moment.h"

typedef struct unit {
    const char *name;
    uint64_t ns;
} unit;

/* Longer names come before their prefixes. Both Unicode characters for micro are accepted, as in Go. */
static const unit units[] = {
    {"ns", 1},
    {"us", CLI_NS_PER_US},
    {"\xc2\xb5s", CLI_NS_PER_US},
    {"\xce\xbcs", CLI_NS_PER_US},
    {"ms", CLI_NS_PER_MS},
    {"s", CLI_NS_PER_S},
    {"m", 60ULL * CLI_NS_PER_S},
    {"h", 3600ULL * CLI_NS_PER_S},
};

static const unit *take_unit(const char **at)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(*at, units[i].name, n) == 0) {
            *at += n;
            return &units[i];
        }
    }
    return NULL;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number: its whole part, and the fraction in units of `scale`. Digits of the fraction after the ninth are
 * ignored. */
typedef struct number {
    uint64_t whole;
    uint64_t fraction;
    uint64_t scale;
} number;

static int take_number(const char **at, number *out)
{
    const char *begin = *at;
    size_t digits = 0;
    *out = (number){.scale = 1};
    for (; is_digit(**at); (*at)++, digits++) {
        if (out->whole > (UINT64_MAX - 9) / 10)
            return -1;
        out->whole = out->whole * 10 + (uint64_t)(**at - '0');
    }
    if (**at == '.') {
        (*at)++;
        for (; is_digit(**at); (*at)++, digits++) {
            if (out->scale >= CLI_NS_PER_S)
                continue;
            out->fraction = out->fraction * 10 + (uint64_t)(**at - '0');
            out->scale *= 10;
        }
    }
    if (digits == 0)
        *at = begin;
    return digits > 0 ? 0 : -1;
}

/* Returns -1 on overflow, at about 292 years, as in Go. */
static int add(uint64_t *total_ns, const number *n, uint64_t unit_ns)
{
    assert(n->scale > 0 && n->fraction < n->scale);
    const uint64_t most = INT64_MAX;
    if (n->whole > most / unit_ns)
        return -1;
    uint64_t ns = n->whole * unit_ns + (uint64_t)((double)n->fraction / (double)n->scale * (double)unit_ns);
    if (ns > most || *total_ns > most - ns)
        return -1;
    *total_ns += ns;
    return 0;
}

int cli_duration_parse(const char *text, uint64_t *out_ms, ki_error *err)
{
    assert(text != NULL && out_ms != NULL);
    const char *at = text;
    uint64_t total_ns = 0;
    if (strcmp(text, "0") == 0) {
        *out_ms = 0;
        return 0;
    }
    if (*at == 0 || *at == '-')
        return cli_fail(err, "a duration is needed, such as 100ms, 2s or 1m30s");
    while (*at != 0) {
        number n;
        if (take_number(&at, &n) < 0)
            return cli_fail(err, "\"%s\" is not a duration; write it as 100ms, 2s or 1m30s", text);
        const unit *of = take_unit(&at);
        if (of == NULL && *at != 0 && !is_digit(*at) && *at != '.')
            return cli_fail(err, "\"%s\": unknown unit \"%.*s\"; write it as 100ms, 2s or 1m30s", text,
                            (int)strcspn(at, ".0123456789"), at);
        if (of == NULL)
            return cli_fail(err, "\"%s\" lacks a unit; write it as 100ms, 2s or 1m30s", text);
        if (add(&total_ns, &n, of->ns) < 0)
            return cli_fail(err, "\"%s\" is too long", text);
    }
    *out_ms = total_ns / CLI_NS_PER_MS + (total_ns % CLI_NS_PER_MS != 0 && total_ns < CLI_NS_PER_MS);
    return 0;
}

void cli_duration_format(uint64_t ms, char out[CLI_DURATION_BYTES])
{
    uint64_t seconds = ms / CLI_MS_PER_S;
    if (seconds < 60)
        snprintf(out, CLI_DURATION_BYTES, "%u.%us", (unsigned)seconds, (unsigned)(ms % CLI_MS_PER_S / 100));
    else if (seconds < 3600)
        snprintf(out, CLI_DURATION_BYTES, "%um%us", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    else
        snprintf(out, CLI_DURATION_BYTES, "%" PRIu64 "h%um%us", seconds / 3600,
                 (unsigned)(seconds % 3600 / 60), (unsigned)(seconds % 60));
}
