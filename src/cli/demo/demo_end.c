/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the demo: writes stop, the informers catch up, and both sides are compared. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo.h"
#include "cli/demo/demo_compare.h"
#include "cli/demo/demo_terminal.h"
#include "cli/failure.h"
#include "cli/moment.h"

/* CATCH_UP_MS: far longer than informers need. TOLD_MAX: more differences than anyone reads. */
enum { CATCH_UP_MS = 30 * 1000, LOOK_MS = 10, TOLD_MAX = 20 };

/* ---- catching up --------------------------------------------------------------------------------------- */

static int fail_late(const cli_demo *demo, ki_error *err)
{
    char late[256] = "";
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        const cli_demo_follower *follower = &demo->followers.items[i];
        ki_informer_status status = {0};
        size_t len = strlen(late);
        ki_informer_read_status(follower->informer, &status);
        snprintf(late + len, sizeof(late) - len, "%s %s %s %s", i > 0 ? "," : "", follower->name,
                 ki_phase_name(status.phase), ki_reason_name(status.reason));
    }
    return cli_fail(err, "the informers did not catch up within %d s:%s", CATCH_UP_MS / 1000, late);
}

static int wait_for_informers(cli_demo *demo, ki_error *err)
{
    uint64_t began_ms = cli_moment_now_ms();
    uint64_t deadline_ms = began_ms + CATCH_UP_MS;
    while (!cli_demo_followers_have_synced(&demo->followers) ||
           !cli_demo_followers_are_current(&demo->followers) || demo->trouble.is_recovering) {
        struct pollfd client = {.fd = ki_client_fd(demo->client), .events = POLLIN};
        uint64_t now_ms = cli_moment_now_ms();
        if (now_ms >= deadline_ms)
            return fail_late(demo, err);
        (void)poll(&client, 1, LOOK_MS);
        if (ki_client_dispatch(demo->client, LOOK_MS) < 0)
            return cli_fail(err, "the client failed");
        int rc = cli_demo_trouble_tick(&demo->trouble, now_ms, err);
        if (rc < 0)
            return rc;
        if (demo->is_screen)
            cli_demo_show(demo, now_ms);
    }
    return 0;
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

typedef struct verdict {
    cli_demo *demo;
    const char *name;
    size_t different;
    size_t told;
} verdict;

static void on_difference(const char *line, void *user)
{
    verdict *so_far = user;
    char text[640];
    if (so_far->told++ >= TOLD_MAX)
        return;
    snprintf(text, sizeof(text), "  %s %s", so_far->name, line);
    cli_demo_write(so_far->demo, text);
}

static int compare_one(verdict *so_far, const cli_demo_follower *follower, size_t *out_count, ki_error *err)
{
    ki_object_list cached = {0};
    ki_object_list served = {0};
    so_far->name = follower->name;
    int rc = cli_demo_served_read(so_far->demo->client, follower->resource, &served, err);
    if (rc == 0 && ki_store_list(ki_informer_store(follower->informer), &cached) < 0)
        rc = cli_fail_no_memory(err);
    if (rc == 0) {
        so_far->different += cli_demo_compare_lists(&cached, &served, on_difference, so_far);
        if (follower->objects != cached.count) {
            char line[96];
            snprintf(line, sizeof(line), "the handler has seen %llu objects, the cache holds %zu",
                     (unsigned long long)follower->objects, cached.count);
            so_far->different++;
            on_difference(line, so_far);
        }
        *out_count = cached.count;
    }
    ki_object_list_fini(&cached);
    cli_demo_served_fini(&served);
    return rc;
}

static int compare(cli_demo *demo, ki_error *err)
{
    verdict so_far = {.demo = demo};
    char line[256] = "compared with the server's lists:";
    for (size_t i = 0; i < CLI_DEMO_FOLLOWED; i++) {
        size_t count = 0;
        int rc = compare_one(&so_far, &demo->followers.items[i], &count, err);
        if (rc < 0)
            return rc;
        size_t len = strlen(line);
        snprintf(line + len, sizeof(line) - len, "%s %zu %s", i > 0 ? "," : "", count,
                 demo->followers.items[i].name);
    }
    cli_demo_write(demo, line);
    if (so_far.different > 0)
        snprintf(line, sizeof(line), "NOT EQUAL: %zu objects differ", so_far.different);
    else
        snprintf(line, sizeof(line), "equal: the same objects in the same versions");
    cli_demo_write(demo, line);
    return so_far.different > 0;
}

/* ---- reporting ----------------------------------------------------------------------------------------- */

/* Leaves the live view and prints the last picture as text. */
static void leave_picture(cli_demo *demo)
{
    static char picture[CLI_DEMO_VIEW_BYTES];
    if (!demo->is_screen)
        return;
    demo->frame_ms = 0;
    cli_demo_show(demo, cli_moment_now_ms());
    cli_demo_screen screen = cli_demo_terminal_read_screen(demo->output);
    (void)cli_demo_view_draw(&demo->view, &screen, picture);
    cli_demo_terminal_leave(demo->output);
    demo->is_screen = 0;
    cli_demo_write(demo, picture);
    cli_demo_write(demo, "");
}

int cli_demo_finish(cli_demo *demo)
{
    ki_error err = {0};
    char line[128];
    uint64_t began_ms = cli_moment_now_ms();
    int rc = cli_demo_trouble_end(&demo->trouble, began_ms, &err);
    if (rc == 0)
        rc = wait_for_informers(demo, &err);
    uint64_t took_ms = cli_moment_now_ms() - began_ms;
    leave_picture(demo);
    if (rc == 0) {
        snprintf(line, sizeof(line), "writes stopped after %llu; the informers caught up within %llu ms",
                 (unsigned long long)demo->view.writes, (unsigned long long)took_ms);
        cli_demo_write(demo, line);
        rc = compare(demo, &err);
    }
    if (rc < 0)
        cli_say("%s", err.message);
    return rc == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
