/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <stdio.h>
#include <string.h>

#include "metrics/names.h"
#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static const uint64_t upper[] = {0, 10, 100};
static const ki_metric_bounds bounds = {upper, 3};

static const ki_metric_desc requests = {
    .name = "requests_total", .help = "Requests.", .type = KI_METRIC_COUNTER, .labels = {"code", "host"}};
static const ki_metric_desc depth = {.name = "depth", .help = "Depth.", .type = KI_METRIC_GAUGE};
static const ki_metric_desc sizes = {.name = "size_bytes",
                                     .help = "Sizes.",
                                     .type = KI_METRIC_HISTOGRAM,
                                     .labels = {"verb"},
                                     .bounds = &bounds};

static ki_metrics *new_metrics(void)
{
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    assert_non_null(metrics);
    return metrics;
}

static void assert_text(ki_metrics *metrics, const char *expected)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    assert_string_equal(text.bytes, expected);
    assert_int_equal(text.len, strlen(expected));
    ki_metrics_text_fini(&text);
    assert_null(text.bytes);
}

static void new_metrics_write_nothing(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    assert_text(metrics, "");
    assert_int_equal(ki_metrics_refused(metrics), 0);
    ki_metrics_free(metrics);
}

static void a_counter_counts_up(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    ki_counter *ok = ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("200"), KI_STR("a")});
    ki_counter *gone = ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("410"), KI_STR("a")});
    ki_counter_add(ok, 1);
    ki_counter_add(ok, UINT64_MAX - 1);
    ki_counter_add(gone, 7);
    assert_text(metrics, "# HELP requests_total Requests.\n"
                         "# TYPE requests_total counter\n"
                         "requests_total{code=\"200\",host=\"a\"} 18446744073709551615\n"
                         "requests_total{code=\"410\",host=\"a\"} 7\n");
    ki_metrics_free(metrics);
}

static void a_gauge_goes_up_and_down(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    ki_gauge *gauge = ki_metrics_gauge(metrics, &depth, NULL);
    ki_gauge_add(gauge, 5);
    ki_gauge_add(gauge, -7);
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth -2\n");
    ki_gauge_set(gauge, INT64_MIN);
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth -9223372036854775808\n");
    ki_gauge_set(gauge, 0);
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 0\n");
    ki_metrics_free(metrics);
}

static int64_t read_number(const void *user)
{
    return *(const int64_t *)user;
}

static void a_gauge_may_be_read_when_it_is_written(void **state)
{
    (void)state;
    int64_t first = 3, second = 8;
    ki_metrics *metrics = new_metrics();
    ki_gauge *gauge = ki_metrics_gauge(metrics, &depth, NULL);
    ki_gauge_follow(gauge, read_number, &first);
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 3\n");
    first = 4;
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 4\n");
    ki_gauge_follow(gauge, read_number, &second);
    ki_gauge_unfollow(gauge, &first); /* it is no longer the one that is read */
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 8\n");
    second = INT64_MAX;
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth +Inf\n");
    second = 1;
    ki_gauge_unfollow(gauge, &second);
    assert_text(metrics, "# HELP depth Depth.\n# TYPE depth gauge\ndepth +Inf\n");
    ki_gauge_follow(NULL, read_number, &first);
    ki_gauge_unfollow(NULL, &first);
    ki_gauge_drop(gauge);
    ki_metrics_free(metrics);
}

static void the_bound_of_a_bucket_is_inclusive(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 9, 10, 11, 100, 101, UINT64_C(1) << 40};
    ki_metrics *metrics = new_metrics();
    ki_histogram *histogram = ki_metrics_histogram(metrics, &sizes, (ki_str[]){KI_STR("GET")});
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        ki_histogram_observe(histogram, values[i]);
    assert_text(metrics, "# HELP size_bytes Sizes.\n"
                         "# TYPE size_bytes histogram\n"
                         "size_bytes_bucket{verb=\"GET\",le=\"0\"} 1\n"
                         "size_bytes_bucket{verb=\"GET\",le=\"10\"} 4\n"
                         "size_bytes_bucket{verb=\"GET\",le=\"100\"} 6\n"
                         "size_bytes_bucket{verb=\"GET\",le=\"+Inf\"} 8\n"
                         "size_bytes_sum{verb=\"GET\"} 1099511628008\n"
                         "size_bytes_count{verb=\"GET\"} 8\n");
    ki_metrics_free(metrics);
}

static void families_are_sorted_by_name_and_samples_by_labels(void **state)
{
    (void)state;
    static const char *const codes[] = {"500", "200", "404", "301"};
    ki_metrics *metrics = new_metrics();
    assert_non_null(ki_metrics_histogram(metrics, &sizes, (ki_str[]){KI_STR("GET")}));
    for (size_t i = 0; i < 4; i++)
        assert_non_null(ki_metrics_counter(metrics, &requests, (ki_str[]){ki_str_of(codes[i]), KI_STR("h")}));
    assert_non_null(ki_metrics_gauge(metrics, &depth, NULL));
    exposition read;
    exposition_render(&read, metrics);
    static const char *const order[] = {"", "200", "301", "404", "500"};
    for (size_t i = 1; i < 5; i++)
        assert_string_equal(exposition_label(&read.samples[i], "code"), order[i]);
    assert_string_equal(read.samples[0].name, "depth");
    assert_string_equal(read.samples[5].name, "size_bytes_bucket");
    assert_int_equal(read.families, 3);
    exposition_free(&read);
    ki_metrics_free(metrics);
}

static void the_same_labels_share_a_cell_until_the_last_use_ends(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    ki_str labels[] = {KI_STR("200"), KI_STR("a")};
    ki_counter *first = ki_metrics_counter(metrics, &requests, labels);
    ki_counter *second = ki_metrics_counter(metrics, &requests, labels);
    assert_ptr_equal(first, second);
    ki_counter_add(first, 3);
    ki_counter_drop(first);
    ki_counter_add(second, 1);
    assert_text(metrics, "# HELP requests_total Requests.\n# TYPE requests_total counter\n"
                         "requests_total{code=\"200\",host=\"a\"} 4\n");
    ki_counter_drop(second);
    assert_text(metrics, "");
    second = ki_metrics_counter(metrics, &requests, labels);
    assert_text(metrics, "# HELP requests_total Requests.\n# TYPE requests_total counter\n"
                         "requests_total{code=\"200\",host=\"a\"} 0\n");
    ki_counter_drop(second);
    ki_metrics_free(metrics);
}

static void any_child_can_be_dropped(void **state)
{
    (void)state;
    enum { CHILDREN = 50 };
    ki_metrics *metrics = new_metrics();
    ki_counter *cells[CHILDREN];
    for (size_t i = 0; i < CHILDREN; i++) {
        char code[8];
        snprintf(code, sizeof(code), "%zu", i * 37 % CHILDREN);
        cells[i] = ki_metrics_counter(metrics, &requests, (ki_str[]){ki_str_of(code), KI_STR("a")});
        assert_int_equal((uintptr_t)cells[i] % 64, 0);
        ki_counter_add(cells[i], i);
    }
    for (size_t i = 0; i < CHILDREN; i += 2)
        ki_counter_drop(cells[i]);
    exposition read;
    exposition_render(&read, metrics);
    assert_int_equal(read.count, CHILDREN / 2);
    for (size_t i = 1; i < CHILDREN; i += 2) {
        char labels[32];
        snprintf(labels, sizeof(labels), "code=%zu,host=a", i * 37 % CHILDREN);
        const exposition_sample *sample = exposition_find(&read, "requests_total", labels);
        assert_true(sample != NULL && sample->value == (double)i);
    }
    exposition_free(&read);
    ki_metrics_free(metrics);
}

static void nothing_counts_without_metrics(void **state)
{
    (void)state;
    assert_null(ki_metrics_counter(NULL, &requests, NULL));
    assert_null(ki_metrics_gauge(NULL, &depth, NULL));
    assert_null(ki_metrics_histogram(NULL, &sizes, NULL));
    ki_counter_add(NULL, 1);
    ki_gauge_set(NULL, 1);
    ki_gauge_add(NULL, 1);
    ki_histogram_observe(NULL, 1);
    ki_counter_drop(NULL);
    ki_gauge_drop(NULL);
    ki_histogram_drop(NULL);
    ki_metrics_free(NULL);
    ki_metrics_text_fini(NULL);
    assert_null(ki_metrics_ref(NULL));
    assert_int_equal(ki_metrics_refused(NULL), 0);
}

static void metrics_live_as_long_as_their_last_owner(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    ki_metrics *mine = ki_metrics_ref(metrics);
    ki_gauge *gauge = ki_metrics_gauge(mine, &depth, NULL);
    ki_metrics_free(metrics);
    ki_gauge_set(gauge, 1);
    assert_text(mine, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 1\n");
    ki_gauge_drop(gauge);
    ki_metrics_free(mine);
}

static void a_prefix_precedes_every_name(void **state)
{
    (void)state;
    ki_metrics *metrics = ki_metrics_new(&(ki_metrics_options){.prefix = "agent_2:"}, NULL);
    assert_non_null(ki_metrics_gauge(metrics, &depth, NULL));
    assert_text(metrics, "# HELP agent_2:depth Depth.\n# TYPE agent_2:depth gauge\nagent_2:depth 0\n");
    ki_metrics_free(metrics);
    static const char *const bad[] = {"2a", "a-b", "a b", "a\n", "\xc3\xa4"};
    for (size_t i = 0; i < 5; i++) {
        ki_error err = {0};
        assert_null(ki_metrics_new(&(ki_metrics_options){.prefix = bad[i]}, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
    }
}

static void the_number_of_children_is_limited(void **state)
{
    (void)state;
    ki_metrics *metrics = ki_metrics_new(&(ki_metrics_options){.children_max = 2}, NULL);
    ki_counter *a = ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("1"), KI_STR("")});
    ki_counter *b = ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("2"), KI_STR("")});
    assert_true(a != NULL && b != NULL);
    assert_null(ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("3"), KI_STR("")}));
    assert_int_equal(ki_metrics_refused(metrics), 1);
    assert_ptr_equal(ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("2"), KI_STR("")}), b);
    ki_counter_drop(a);
    assert_non_null(ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("3"), KI_STR("")}));
    assert_int_equal(ki_metrics_refused(metrics), 1);
    ki_metrics_free(metrics);
}

typedef struct written {
    char text[4096];
    size_t calls;
    size_t stop_after; /* 0: never */
} written;

static int collect(ki_str name, ki_str text, void *user)
{
    written *w = user;
    char head[64];
    snprintf(head, sizeof(head), "# HELP %.*s ", KI_STR_ARGS(name));
    assert_true(text.len > strlen(head) && memcmp(text.ptr, head, strlen(head)) == 0);
    assert_int_equal(text.ptr[text.len - 1], '\n');
    size_t len = strlen(w->text);
    snprintf(w->text + len, sizeof(w->text) - len, "%.*s", KI_STR_ARGS(text));
    w->calls++;
    return w->calls == w->stop_after ? 42 : 0;
}

static void a_writer_gets_one_family_at_a_time(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    ki_counter_add(ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("200"), KI_STR("a")}), 1);
    ki_gauge *gauge = ki_metrics_gauge(metrics, &depth, NULL);
    ki_histogram_observe(ki_metrics_histogram(metrics, &sizes, (ki_str[]){KI_STR("GET")}), 1);
    written all = {.calls = 0};
    assert_int_equal(ki_metrics_write(metrics, collect, NULL, &all), 0);
    assert_int_equal(all.calls, 3);
    assert_text(metrics, all.text);
    written some = {.stop_after = 2};
    assert_int_equal(ki_metrics_write(metrics, collect, NULL, &some), 42);
    assert_int_equal(some.calls, 2);
    ki_gauge_drop(gauge);
    written rest = {.calls = 0};
    assert_int_equal(ki_metrics_write(metrics, collect, NULL, &rest), 0);
    assert_int_equal(rest.calls, 2);
    ki_metrics_free(metrics);
}

static int add_family(ki_str name, ki_str text, void *user)
{
    (void)text;
    ki_metrics *metrics = user;
    assert_true(ki_str_equal(name, KI_STR("depth")) || ki_str_equal(name, KI_STR("requests_total")));
    if (ki_str_equal(name, KI_STR("depth"))) {
        ki_gauge_set(ki_metrics_gauge(metrics, &depth, NULL), 1);
        assert_non_null(ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("1"), KI_STR("2")}));
    }
    return 0;
}

static void a_writer_may_use_the_metrics(void **state)
{
    (void)state;
    ki_metrics *metrics = new_metrics();
    assert_non_null(ki_metrics_gauge(metrics, &depth, NULL));
    assert_int_equal(ki_metrics_write(metrics, add_family, NULL, metrics), 0);
    ki_metrics_free(metrics);
}

typedef struct freed {
    ki_metrics *metrics;
    int calls;
} freed;

static int free_at_first(ki_str name, ki_str text, void *user)
{
    freed *f = user;
    assert_true(name.len > 0 && text.len > 0);
    if (f->calls++ == 0)
        ki_metrics_free(f->metrics);
    return 0;
}

static void a_writer_may_free_the_metrics(void **state)
{
    (void)state;
    freed f = {.metrics = new_metrics()};
    assert_non_null(ki_metrics_gauge(f.metrics, &depth, NULL));
    assert_non_null(ki_metrics_counter(f.metrics, &requests, (ki_str[]){KI_STR("1"), KI_STR("2")}));
    assert_int_equal(ki_metrics_write(f.metrics, free_at_first, NULL, &f), 0);
    assert_int_equal(f.calls, 2);
}

enum { MANY = 10000 };

typedef struct pieces {
    ki_metrics *metrics;
    ki_counter *counters[MANY]; /* NULL: dropped */
    size_t calls;
    size_t samples;
    size_t longest;
} pieces;

static ki_counter *counter_of(ki_metrics *metrics, size_t i)
{
    char code[16];
    snprintf(code, sizeof(code), "%06zu", i);
    return ki_metrics_counter(metrics, &requests, (ki_str[]){ki_str_of(code), KI_STR("a")});
}

/* During the first piece, every other remaining sample is removed and one is added in front: no sample is
 * written twice, and all that remain are written. */
static int take_piece(ki_str name, ki_str text, void *user)
{
    pieces *p = user;
    assert_true(ki_str_equal(name, KI_STR("requests_total")));
    assert_int_equal(text.ptr[text.len - 1], '\n');
    p->longest = text.len > p->longest ? text.len : p->longest;
    for (size_t i = 0; i < text.len; i++)
        p->samples += text.ptr[i] == '\n';
    if (p->calls++ > 0)
        return 0;
    p->samples -= 2; /* the lines HELP and TYPE */
    for (size_t i = p->samples; i < MANY; i += 2) {
        ki_counter_drop(p->counters[i]);
        p->counters[i] = NULL;
    }
    ki_counter_drop(p->counters[p->samples - 1]); /* the current position of the walk */
    assert_non_null(ki_metrics_counter(p->metrics, &requests, (ki_str[]){KI_STR("0"), KI_STR("a")}));
    return 0;
}

static void a_long_family_is_written_in_pieces_while_samples_change(void **state)
{
    (void)state;
    static pieces p;
    p = (pieces){.metrics = new_metrics()};
    for (size_t i = 0; i < MANY; i++)
        p.counters[i] = counter_of(p.metrics, i);
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(p.metrics, &text, NULL), 0);
    assert_int_equal(ki_metrics_write(p.metrics, take_piece, NULL, &p), 0);
    size_t left = 0;
    for (size_t i = 0; i < MANY; i++)
        left += p.counters[i] != NULL;
    assert_int_equal(p.samples, left);
    assert_true(p.calls > 2 && p.longest < 66 * 1024 && text.len > 4 * p.longest);
    ki_metrics_text_fini(&text);
    ki_metrics_free(p.metrics);
}

static void text_grows_as_needed(void **state)
{
    (void)state;
    enum { LABEL_BYTES = 60000, SAMPLES = 1200 }; /* 72 MB */
    static char host[LABEL_BYTES];
    ki_metrics *metrics = new_metrics();
    ki_metrics_text text = {0};
    memset(host, 'h', sizeof(host));
    for (int i = 0; i < SAMPLES; i++) {
        char code[16];
        snprintf(code, sizeof(code), "%d", i);
        assert_non_null(
            ki_metrics_counter(metrics, &requests, (ki_str[]){ki_str_of(code), {host, sizeof(host)}}));
    }
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    assert_true(text.len > (size_t)LABEL_BYTES * SAMPLES);
    ki_metrics_text_fini(&text);
    ki_metrics_free(metrics);
}

static void text_has_a_maximum(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_metrics_text text = {0};
    written w = {.calls = 0};
    ki_metrics *metrics = ki_metrics_new(&(ki_metrics_options){.bytes_max = 40}, NULL);
    assert_non_null(ki_metrics_gauge(metrics, &depth, NULL));
    assert_int_equal(ki_metrics_render(metrics, &text, &err), KI_ERR_TOO_LARGE);
    assert_int_equal(err.code, KI_ERR_TOO_LARGE);
    assert_null(text.bytes);
    assert_int_equal(ki_metrics_write(metrics, collect, NULL, &w), 0); /* a writer needs no buffer */
    assert_int_equal(w.calls, 1);
    assert_int_equal(ki_metrics_write(metrics, NULL, NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_metrics_render(NULL, &text, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_metrics_render(metrics, NULL, NULL), KI_ERR_INVALID);
    ki_metrics_free(metrics);
}

/* Uses everything once. Whatever fails, the rest continues and nothing leaks. */
static size_t use_all(void)
{
    ki_error err = {0};
    ki_metrics *metrics = ki_metrics_new(&(ki_metrics_options){.prefix = "p_"}, &err);
    if (metrics == NULL) {
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
        return 1;
    }
    ki_counter *counter = ki_metrics_counter(metrics, &requests, (ki_str[]){KI_STR("200"), KI_STR("a")});
    ki_gauge *gauge = ki_metrics_gauge(metrics, &depth, NULL);
    ki_histogram *histogram = ki_metrics_histogram(metrics, &sizes, (ki_str[]){KI_STR("GET")});
    size_t failures = (size_t)(counter == NULL) + (gauge == NULL) + (histogram == NULL);
    assert_int_equal(ki_metrics_refused(metrics), failures);
    ki_counter_add(counter, 1);
    ki_gauge_set(gauge, 1);
    ki_histogram_observe(histogram, 1);
    ki_metrics_text text = {0};
    written w = {.calls = 0};
    int rc = ki_metrics_render(metrics, &text, &err);
    failures += rc < 0;
    assert_true(rc == 0 || (rc == KI_ERR_NO_MEMORY && text.bytes == NULL));
    rc = ki_metrics_write(metrics, collect, &err, &w);
    failures += rc < 0;
    assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
    ki_metrics_text_fini(&text);
    ki_counter_drop(counter);
    ki_metrics_free(metrics);
    return failures;
}

static void when_out_of_memory_the_rest_is_counted(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        size_t failures = use_all();
        assert_int_equal(failures, failing_allocator_has_failed());
        assert_int_equal(failing_allocator_live_count(), 0);
        if (!failing_allocator_has_failed())
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_metrics_write_nothing),
        cmocka_unit_test(a_counter_counts_up),
        cmocka_unit_test(a_gauge_goes_up_and_down),
        cmocka_unit_test(a_gauge_may_be_read_when_it_is_written),
        cmocka_unit_test(the_bound_of_a_bucket_is_inclusive),
        cmocka_unit_test(families_are_sorted_by_name_and_samples_by_labels),
        cmocka_unit_test(the_same_labels_share_a_cell_until_the_last_use_ends),
        cmocka_unit_test(any_child_can_be_dropped),
        cmocka_unit_test(nothing_counts_without_metrics),
        cmocka_unit_test(metrics_live_as_long_as_their_last_owner),
        cmocka_unit_test(a_prefix_precedes_every_name),
        cmocka_unit_test(the_number_of_children_is_limited),
        cmocka_unit_test(a_writer_gets_one_family_at_a_time),
        cmocka_unit_test(a_writer_may_use_the_metrics),
        cmocka_unit_test(a_writer_may_free_the_metrics),
        cmocka_unit_test(a_long_family_is_written_in_pieces_while_samples_change),
        cmocka_unit_test(text_grows_as_needed),
        cmocka_unit_test(text_has_a_maximum),
        WITH_MEMORY_CHECK(when_out_of_memory_the_rest_is_counted),
    };
    return RUN_TESTS(tests);
}
