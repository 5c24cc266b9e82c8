/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/resource_lookup.h"

#include <assert.h>
#include <kinformer/discovery.h>
#include <poll.h>

#include "cli/failure.h"
#include "cli/moment.h"

enum { SLICE_MS = 100, FIRST_DELAY_MS = 1000, DELAY_MS_MAX = 30 * 1000 };

typedef struct search {
    int is_over;
    ki_resource *found;
    ki_error err;
} search;

static void on_end(ki_resource *found, const ki_error *err, void *user)
{
    assert((found == NULL) == (err->code < 0));
    search *s = user;
    s->is_over = 1;
    s->found = found;
    s->err = *err;
}

static int min_timeout(int a, uint64_t b)
{
    return a < 0 || b < (uint64_t)a ? (int)b : a;
}

static int is_stopped(const cli_resource_lookup *d)
{
    return d->is_stopped() || (d->output != NULL && d->output->state != CLI_OUTPUT_OPEN);
}

/* Runs the client until the search is over (NULL: for the given time), or the program is stopped. */
static int live(const cli_resource_lookup *d, const search *s, uint64_t ms)
{
    assert(d->client != NULL && d->is_stopped != NULL);
    uint64_t deadline_ms = cli_moment_now_ms() + ms;
    for (uint64_t now_ms = 0; !is_stopped(d) && (s == NULL || !s->is_over);) {
        struct pollfd fds[] = {{.fd = ki_client_fd(d->client), .events = POLLIN},
                               {.fd = d->stop_fd, .events = POLLIN},
                               {.fd = d->output != NULL ? d->output->fd : -1}};
        now_ms = cli_moment_now_ms();
        if (s == NULL && now_ms >= deadline_ms)
            break;
        int timeout = ki_client_timeout_ms(d->client);
        int ready = poll(fds, 3, s == NULL ? min_timeout(timeout, deadline_ms - now_ms) : timeout);
        if (ready > 0 && fds[2].revents != 0)
            (void)cli_output_is_closed(d->output);
        int rc = ki_client_dispatch(d->client, SLICE_MS);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* If the server does not respond, it is asked again later; if it has no such resource, that is an error. */
static int find(cli_resource_lookup *d, cli_resource *item, uint64_t delay_ms, ki_error *err)
{
    assert(item->wanted != NULL);
    static search s; /* an abandoned search ends with the client */
    s = (search){0};
    ki_discovery_request request = {.name = ki_str_of(item->wanted), .on_end = on_end, .user = &s};
    int rc = ki_discovery_begin(d->client, &request, err);
    if (rc == 0)
        rc = live(d, &s, 0);
    if (rc < 0 || !s.is_over)
        return rc;
    if (s.found != NULL) {
        cli_resource_list_resolve(d->resources, item, s.found);
        return 0;
    }
    if (s.err.code == KI_ERR_TYPE)
        return cli_fail(err, "%s", s.err.message);
    if (s.err.code == KI_ERR_RESOURCE)
        return cli_resource_list_fail_unknown(item, "It was not found on the server either", err);
    if (s.err.code == KI_ERR_NO_MEMORY)
        return cli_fail_no_memory(err);
    d->last = s.err;
    cli_say("%s: not a built-in resource, and the server could not be asked: %s; retrying in %d s",
            item->wanted, s.err.message, (int)(delay_ms / 1000));
    return live(d, NULL, delay_ms);
}

int cli_resource_lookup_run(cli_resource_lookup *d, ki_error *err)
{
    assert(d->resources != NULL);
    uint64_t delay_ms = FIRST_DELAY_MS;
    int rc = 0;
    for (cli_resource *item;
         rc == 0 && !is_stopped(d) && (item = cli_resource_list_wanted(d->resources)) != NULL;) {
        rc = find(d, item, delay_ms, err);
        delay_ms = delay_ms * 2 < DELAY_MS_MAX ? delay_ms * 2 : DELAY_MS_MAX;
    }
    return rc;
}
