/* SPDX-License-Identifier: Apache-2.0 */
/* Validates rules: a rule that cannot have an effect is rejected, with the reason. */
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/request/fault_reach.h"
#include "util/error.h"

static int check_numbers(const ki_fault *fault, ki_error *err)
{
    assert(fault->action >= KI_FAULT_CLOSE && fault->action <= KI_FAULT_NO_BOOKMARKS);
    const char *action = ki_apiserver_fault_name(fault->action);
    for (size_t i = 0; i < KI_AS_FAULT_FIELDS; i++) {
        const struct ki_as_fault_field *field = &ki_as_fault_fields[i];
        uint64_t number = ki_as_fault_number(fault, field);
        if (number != 0 && !ki_as_fault_uses(fault->action, field))
            return ki_fail(err, KI_ERR_INVALID, "%s: \"%s\" does not use it", field->name, action);
        if (number > field->max)
            return ki_fail(err, KI_ERR_INVALID, "%s: %llu is more than %llu", field->name,
                           (unsigned long long)number, (unsigned long long)field->max);
    }
    if (fault->action == KI_FAULT_STATUS && fault->http_status == 0)
        return ki_fail(err, KI_ERR_INVALID, "code: \"status\" needs a code");
    if (fault->action == KI_FAULT_STATUS && fault->http_status < 200)
        return ki_fail(err, KI_ERR_INVALID, "code: %u is not an HTTP status", (unsigned)fault->http_status);
    if (fault->action == KI_FAULT_DELAY && fault->delay_ms == 0)
        return ki_fail(err, KI_ERR_INVALID, "delayMs: \"delay\" needs a duration");
    if (fault->action == KI_FAULT_STALE && fault->behind == 0)
        return ki_fail(err, KI_ERR_INVALID, "behind: \"stale\" needs a number of versions");
    return 0;
}

/* "list, watch" */
static void write_kinds(uint32_t on, char *text, size_t bytes)
{
    assert(bytes > 0 && on >> KI_AS_FAULT_KINDS == 0);
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < KI_AS_FAULT_KINDS; i++)
        if ((on & 1U << i) != 0 && at < bytes)
            at += (size_t)snprintf(text + at, bytes - at, "%s%s", at > 0 ? ", " : "", ki_as_fault_on_name(i));
}

/* Checks a rule's `on` against its action. */
static int check_action(const ki_fault *fault, ki_error *err)
{
    char wrong[64];
    char right[64];
    uint32_t reach = ki_as_fault_reach_of_action(fault);
    if (fault->on == KI_FAULT_ANY || (fault->on & ~reach) == 0)
        return 0;
    write_kinds(fault->on & ~reach, wrong, sizeof(wrong));
    write_kinds(reach, right, sizeof(right));
    return ki_fail(err, KI_ERR_INVALID, "on: \"%s\"%s has no effect on %s; it applies to %s",
                   ki_apiserver_fault_name(fault->action),
                   ki_as_fault_counts_events_only(fault) ? " with afterEvents" : "", wrong, right);
}

/* Each method must be possible for at least one kind of request in `left`. */
static int check_methods(const ki_fault *fault, uint32_t left, ki_error *err)
{
    char kinds[64];
    write_kinds(left, kinds, sizeof(kinds));
    for (uint32_t i = 0; i < KI_AS_FAULT_METHODS; i++)
        if ((fault->methods & 1U << i) != 0 && (ki_as_fault_reach_of_methods(1U << i) & left) == 0)
            return ki_fail(err, KI_ERR_INVALID, "method: %s is never used by %s requests",
                           ki_as_fault_method_name(i), kinds);
    uint32_t never =
        fault->on == KI_FAULT_ANY ? 0 : fault->on & ~ki_as_fault_reach_of_methods(fault->methods);
    write_kinds(never, kinds, sizeof(kinds));
    return never == 0 ? 0
                      : ki_fail(err, KI_ERR_INVALID, "on: none of the methods is used by %s requests", kinds);
}

static int check_subresource(const ki_fault *fault, uint32_t left, ki_error *err)
{
    char kinds[64];
    const char *name = fault->subresource;
    if (name == NULL)
        return 0;
    if (strchr(name, '/') != NULL)
        return ki_fail(err, KI_ERR_INVALID, "subresource: \"%.60s\" is not a name such as \"status\"", name);
    uint32_t reach = ki_as_fault_reach_of_subresource(name);
    uint32_t never = fault->on == 0 || fault->on == KI_FAULT_ANY ? 0 : fault->on & ~reach;
    if (never == 0 && (left & reach) != 0)
        return 0;
    write_kinds(never != 0 ? never : left, kinds, sizeof(kinds));
    return ki_fail(err, KI_ERR_INVALID, "subresource: %s requests never have %s", kinds,
                   name[0] == 0 ? "an object" : "one; only get and write requests do");
}

/* "127.0.0.1", "127.0.0.1:40123", "[::1]", "[::1]:40123". */
static bool is_remote(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    char host[INET6_ADDRSTRLEN];
    bool is_in6 = text[0] == '[';
    const char *end = is_in6 ? strchr(text, ']') : text + strcspn(text, ":");
    size_t len = end == NULL ? sizeof(host) : (size_t)(end - text) - is_in6;
    if (len >= sizeof(host))
        return false;
    assert(end != NULL);
    memcpy(host, text + is_in6, len);
    host[len] = 0;
    const char *port = end + is_in6;
    size_t digits = port[0] == ':' ? strspn(port + 1, "0123456789") : 0;
    bool is_port = port[0] == 0 || (digits > 0 && digits <= 5 && port[1 + digits] == 0);
    return is_port && inet_pton(is_in6 ? AF_INET6 : AF_INET, host, bytes) == 1;
}

int ki_apiserver_fault_check(const ki_fault *fault, ki_error *err)
{
    if (fault == NULL)
        return ki_fail(err, KI_ERR_INVALID, "the fault is NULL");
    if (fault->action < KI_FAULT_CLOSE || fault->action > KI_FAULT_NO_BOOKMARKS)
        return ki_fail(err, KI_ERR_INVALID, "action: %u is unknown", (unsigned)fault->action);
    if ((fault->on & ~(uint32_t)KI_FAULT_ANY) != 0)
        return ki_fail(err, KI_ERR_INVALID, "on: unknown bits in %u", (unsigned)fault->on);
    if ((fault->methods & ~(uint32_t)KI_FAULT_METHOD_ANY) != 0)
        return ki_fail(err, KI_ERR_INVALID, "method: unknown bits in %u", (unsigned)fault->methods);
    if (fault->remote != NULL && !is_remote(fault->remote))
        return ki_fail(
            err, KI_ERR_INVALID,
            "remote: \"%.60s\" is not an address such as 127.0.0.1, 127.0.0.1:40123 or [::1]:40123",
            fault->remote);
    uint32_t left =
        ki_as_fault_reach_of_action(fault) & (fault->on == 0 ? (uint32_t)KI_FAULT_ANY : fault->on);
    int rc = check_numbers(fault, err);
    if (rc == 0)
        rc = check_action(fault, err);
    if (rc == 0)
        rc = check_methods(fault, left, err);
    return rc < 0 ? rc : check_subresource(fault, left & ki_as_fault_reach_of_methods(fault->methods), err);
}
