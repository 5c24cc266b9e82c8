/* SPDX-License-Identifier: Apache-2.0 */
/* A process that has reached its limit of open files. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flow/support/http_bench.h"
#include "http/open_files.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

enum { TAKEN_MAX = 128 };

typedef struct taken {
    struct rlimit before;
    int fds[TAKEN_MAX];
    int count;
} taken;

static void take_all(taken *t)
{
    t->count = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &t->before), 0);
    struct rlimit limit = {.rlim_cur = TAKEN_MAX, .rlim_max = t->before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO))
        t->fds[t->count++] = fd;
}

static void give_back(taken *t)
{
    for (int i = 0; i < t->count; i++)
        (void)close(t->fds[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &t->before), 0);
}

/* Makes a request when no descriptor is left. */
static void get_without_files(http_bench *bench, fetch *f)
{
    taken t;
    take_all(&t);
    fetch_get(f, bench, "/");
    give_back(&t);
}

static void expect_limit(const fetch *f)
{
    assert_int_equal(f->reason, KI_REASON_TOO_MANY_OPEN_FILES);
    assert_string_equal(f->message, "no socket can be opened: this process has reached its limit of open "
                                    "files, 128 (raise the limit: ulimit -n, LimitNOFILE=)");
}

/* Nothing listens there, which is noticed as soon as descriptors are available again. */
static void a_limit_on_open_files_is_not_a_refused_connection(void **state)
{
    (void)state;
    http_bench bench = {.config = {.server = "http://127.0.0.1:1"}};
    fetch f = {0};
    http_bench_init(&bench, NULL, NULL);
    get_without_files(&bench, &f);
    expect_limit(&f);
    fetch_free(&f);
    f = (fetch){0};
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_REFUSED);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void the_limit_is_not_blamed_on_a_proxy(void **state)
{
    (void)state;
    http_bench bench = {.config = {.server = "http://127.0.0.1:1", .proxy_url = "http://127.0.0.1:1"}};
    fetch f = {0};
    http_bench_init(&bench, NULL, NULL);
    get_without_files(&bench, &f);
    expect_limit(&f);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* Nothing is sent: a lookup opens a socket first. */
static void a_lookup_reports_too_many_open_files(void **state)
{
    (void)state;
    http_bench bench = {.config = {.server = "http://nobody.invalid:1"}};
    fetch f = {0};
    http_bench_init(&bench, NULL, NULL);
    get_without_files(&bench, &f);
    expect_limit(&f);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void the_limit_of_the_system_is_reported_differently(void **state)
{
    (void)state;
    char text[256];
    ki_open_files_explain(ENFILE, text, sizeof(text));
    assert_non_null(strstr(text, "the system"));
    assert_true(ki_open_files_is_limit(ENFILE));
    assert_false(ki_open_files_is_limit(ECONNREFUSED));
    assert_int_equal(ki_open_files_probe(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_limit_on_open_files_is_not_a_refused_connection),
        WITH_MEMORY_CHECK(the_limit_is_not_blamed_on_a_proxy),
        WITH_MEMORY_CHECK(a_lookup_reports_too_many_open_files),
        WITH_MEMORY_CHECK(the_limit_of_the_system_is_reported_differently),
    };
    return RUN_TESTS(tests);
}
