/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the value of --fault: "reset,on=watch,after-bytes=1000,times=3". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/apiserver_flags.h"
#include "cli/duration.h"
#include "cli/failure.h"

static int read_action(const char *word, ki_fault *out, ki_error *err)
{
    if (out->action != 0)
        return cli_fail(err, "--fault: %s and %s: give one action per fault",
                        ki_apiserver_fault_name(out->action), word);
    for (uint32_t i = KI_FAULT_CLOSE; ki_apiserver_fault_name(i) != NULL; i++)
        if (strcmp(word, ki_apiserver_fault_name(i)) == 0) {
            out->action = i;
            return 0;
        }
    return cli_fail(err, "--fault: unknown action \"%s\"; `kinformer apiserver --help` lists them", word);
}

static int read_on(char *words, ki_fault *out, ki_error *err)
{
    static const char *const names[] = {"list", "watch", "get", "write", "discovery", "streamed-list"};
    char *rest = NULL;
    for (char *word = strtok_r(words, "+", &rest); word != NULL; word = strtok_r(NULL, "+", &rest)) {
        uint32_t found = strcmp(word, "any") == 0 ? KI_FAULT_ANY : 0;
        for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strcmp(word, names[i]) == 0)
                found = 1U << i;
        if (found == 0)
            return cli_fail(
                err, "--fault: on=%s: must be list, streamed-list, watch, get, write, discovery or any",
                word);
        out->on |= found;
    }
    return 0;
}

static int read_number(const char *name, const char *value, uint64_t max, uint64_t *out)
{
    char *end = NULL;
    (void)name;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != 0 || errno != 0 || number > max)
        return -1;
    *out = number;
    return 0;
}

static int read_numbers(const char *name, const char *value, ki_fault *out, ki_error *err)
{
    const struct {
        const char *name;
        uint32_t *small;
        uint64_t *large;
        uint64_t max;
    } numbers[] = {
        {"times", &out->times, NULL, UINT32_MAX},
        {"percent", &out->percent, NULL, 100},
        {"after-bytes", NULL, &out->after_bytes, INT64_MAX},
        {"after-events", &out->after_events, NULL, UINT32_MAX},
        {"code", &out->http_status, NULL, 599},
        {"retry-after", &out->retry_after_seconds, NULL, 1000000},
        {"behind", NULL, &out->behind, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint64_t number = 0;
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        if (read_number(name, value, numbers[i].max, &number) < 0)
            return cli_fail(err, "--fault: %s=%s: not a number, or too large", name, value);
        if (numbers[i].small != NULL)
            *numbers[i].small = (uint32_t)number;
        if (numbers[i].large != NULL)
            *numbers[i].large = number;
        return 0;
    }
    return cli_fail(err, "--fault: unknown setting \"%s\"; `kinformer apiserver --help` lists them", name);
}

static int read_methods(char *words, ki_fault *out, ki_error *err)
{
    static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    char *rest = NULL;
    for (char *word = strtok_r(words, "+", &rest); word != NULL; word = strtok_r(NULL, "+", &rest)) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strcasecmp(word, names[i]) == 0)
                found = 1U << i;
        if (found == 0)
            return cli_fail(err, "--fault: method=%s: must be GET, POST, PUT, PATCH or DELETE", word);
        out->methods |= found;
    }
    return 0;
}

static int read_delay(const char *value, ki_fault *out, ki_error *err)
{
    uint64_t ms = 0;
    if (cli_duration_parse(value, &ms, err) < 0 || ms > UINT32_MAX)
        return cli_fail(err, "--fault: delay=%s: write it as 100ms or 2s", value);
    out->delay_ms = (uint32_t)ms;
    return 0;
}

static int read_part(char *part, ki_fault *out, ki_error *err)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"path", &out->path},
                 {"user-agent", &out->user_agent},
                 {"remote", &out->remote},
                 {"subresource", &out->subresource}};
    char *value = strchr(part, '=');
    if (value == NULL)
        return read_action(part, out, err);
    *value++ = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(part, texts[i].name) == 0) {
            *texts[i].text = value;
            return 0;
        }
    if (value[0] == 0)
        return cli_fail(err, "--fault: %s= lacks a value", part);
    if (strcmp(part, "on") == 0)
        return read_on(value, out, err);
    if (strcmp(part, "method") == 0)
        return read_methods(value, out, err);
    return strcmp(part, "delay") == 0 ? read_delay(value, out, err) : read_numbers(part, value, out, err);
}

/* Names what is missing as it is written in the flag. */
static int check(const char *text, const ki_fault *fault, ki_error *err)
{
    ki_error why = {0};
    if (fault->action == 0)
        return cli_fail(err, "--fault: no action given; write it as --fault reset,on=watch,times=3");
    if (fault->action == KI_FAULT_STATUS && fault->http_status < 200)
        return cli_fail(err, "--fault: status needs a code, as in --fault status,code=503");
    if (fault->action == KI_FAULT_DELAY && fault->delay_ms == 0)
        return cli_fail(err, "--fault: delay needs a duration, as in --fault delay,delay=500ms");
    if (fault->action == KI_FAULT_STALE && fault->behind == 0)
        return cli_fail(err, "--fault: stale needs a number of versions, as in --fault stale,behind=100");
    if (ki_apiserver_fault_check(fault, &why) < 0)
        return cli_fail(err, "--fault: \"%s\": %s", text, why.message);
    return 0;
}

int cli_fault_parse(const char *text, ki_fault *out, char out_texts[CLI_FAULT_BYTES], ki_error *err)
{
    char *rest = out_texts;
    *out = (ki_fault){0};
    if (strlen(text) >= CLI_FAULT_BYTES)
        return cli_fail(err, "--fault: longer than %d bytes", CLI_FAULT_BYTES - 1);
    memcpy(out_texts, text, strlen(text) + 1);
    while (*rest != 0) {
        char *part = rest;
        size_t len = strcspn(rest, ",");
        rest += rest[len] == ',' ? len + 1 : len;
        part[len] = 0;
        int rc = len == 0 ? 0 : read_part(part, out, err);
        if (rc < 0)
            return rc;
    }
    return check(text, out, err);
}
