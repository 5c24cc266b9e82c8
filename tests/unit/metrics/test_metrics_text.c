/* SPDX-License-Identifier: Apache-2.0 */
/* The text, read by a parser of the format that knows nothing about the writer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"
#include "metrics/names.h"
#include "metrics/prometheus.h"
#include "support/exposition.h"
#include "support/unit.h"
#include "util/random.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef size_t (*format_cb)(uint64_t value, unsigned decimals, char out[KI_PROMETHEUS_NUMBER_BYTES]);

static void assert_number(format_cb format, uint64_t value, unsigned decimals, const char *expected)
{
    char text[KI_PROMETHEUS_NUMBER_BYTES + 1];
    text[format(value, decimals, text)] = 0;
    assert_string_equal(text, expected);
}

static void numbers_are_plain_and_exact(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } table[] = {
        {0, 0, "0"},
        {0, 9, "0"},
        {7, 0, "7"},
        {10, 0, "10"},
        {1000000, 0, "1000000"},
        {UINT64_MAX, 0, "18446744073709551615"},
        {1, 9, "0.000000001"},
        {10, 9, "0.00000001"},
        {500000000, 9, "0.5"},
        {1000000000, 9, "1"},
        {1500000000, 9, "1.5"},
        {60000000000, 9, "60"},
        {123456789012, 9, "123.456789012"},
        {100000000001, 9, "100.000000001"},
        {UINT64_MAX, 9, "18446744073.709551615"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_number(ki_prometheus_number, table[i].value, table[i].decimals, table[i].text);
}

/* The output of strconv.FormatFloat(bound, 'g', -1, 64) in Go. */
static void bounds_are_written_as_by_go(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } table[] = {
        {10, 9, "1e-08"},
        {100, 9, "1e-07"},
        {1000, 9, "1e-06"},
        {10000, 9, "1e-05"},
        {25000, 9, "2.5e-05"},
        {100000, 9, "0.0001"},
        {1000000, 9, "0.001"},
        {5000000, 9, "0.005"},
        {2500000000, 9, "2.5"},
        {10000000000, 9, "10"},
        {0, 9, "0"},
        {64, 0, "64"},
        {262144, 0, "262144"},
        {1000000, 0, "1e+06"},
        {1048576, 0, "1.048576e+06"},
        {16777216, 0, "1.6777216e+07"},
        {UINT64_MAX, 0, "1.8446744073709551615e+19"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_number(ki_prometheus_bound, table[i].value, table[i].decimals, table[i].text);
}

static void numbers_read_back_as_the_nearest_double(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 7);
    for (size_t i = 0; i < 20000; i++) {
        char plain[KI_PROMETHEUS_NUMBER_BYTES + 1];
        char bound[KI_PROMETHEUS_NUMBER_BYTES + 1];
        uint64_t value = ki_random_next(&random) >> ki_random_below(&random, 64);
        unsigned decimals = ki_random_below(&random, 2) == 0 ? 0 : 9;
        plain[ki_prometheus_number(value, decimals, plain)] = 0;
        bound[ki_prometheus_bound(value, decimals, bound)] = 0;
        char exact[64];
        snprintf(exact, sizeof(exact), "%llue-%u", (unsigned long long)value, decimals);
        assert_true(strtod(plain, NULL) == strtod(exact, NULL));
        assert_true(strtod(bound, NULL) == strtod(exact, NULL));
    }
}

static exposition rendered(ki_metrics *metrics)
{
    exposition read;
    exposition_render(&read, metrics);
    return read;
}

static void labels_and_help_are_escaped(void **state)
{
    (void)state;
    static const ki_metric_desc desc = {
        .name = "a", .help = "one\\two\n\"three\"", .type = KI_METRIC_GAUGE, .labels = {"x", "y"}};
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_metrics_text text = {0};
    assert_non_null(ki_metrics_gauge(metrics, &desc, (ki_str[]){KI_STR("a\"b\\c\nd"), KI_STR("")}));
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    assert_string_equal(text.bytes, "# HELP a one\\\\two\\n\"three\"\n# TYPE a gauge\n"
                                    "a{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 0\n");
    ki_metrics_text_fini(&text);
    exposition read = rendered(metrics);
    assert_non_null(exposition_find(&read, "a", "x=a\"b\\c\nd,y="));
    exposition_free(&read);
    ki_metrics_free(metrics);
}

static void invalid_utf8_in_a_label_is_replaced(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const char *const table[][2] = {
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"a\xff"
         "b",
         "a" BAD "b"},
        {"\xc3", BAD},
        {"\xc3(", BAD "("},
        {"\xe2\x82", BAD BAD},
        {"\xc0\xaf", BAD BAD},
        {"\xe0\x80\xaf", BAD BAD BAD},
        {"\xed\xa0\x80", BAD BAD BAD},
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD},
        {"\xf0\x9f\x98(", BAD BAD BAD "("},
        {"\x80", BAD},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        ki_metrics *metrics = ki_metrics_new(NULL, NULL);
        char labels[64];
        assert_non_null(
            ki_metrics_gauge(metrics, &ki_metric_workqueue_depth, (ki_str[]){ki_str_of(table[i][0])}));
        exposition read = rendered(metrics);
        snprintf(labels, sizeof(labels), "name=%s", table[i][1]);
        assert_non_null(exposition_find(&read, "workqueue_depth", labels));
        exposition_free(&read);
        ki_metrics_free(metrics);
    }
}

static size_t label_count(const ki_metric_desc *desc)
{
    size_t count = 0;
    while (count < KI_METRIC_LABELS_MAX && desc->labels[count] != NULL)
        count++;
    return count;
}

static int add_one(ki_metrics *metrics, const ki_metric_desc *desc, const ki_str *labels)
{
    switch (desc->type) {
    case KI_METRIC_COUNTER:
        return ki_metrics_counter(metrics, desc, labels) != NULL;
    case KI_METRIC_GAUGE:
        return ki_metrics_gauge(metrics, desc, labels) != NULL;
    default:
        return ki_metrics_histogram(metrics, desc, labels) != NULL;
    }
}

/* All metrics of the library, in the order of their names. */
static const ki_metric_desc *const descs[] = {
#define ADDRESS(name, kind, labels, help) &ki_metric_##name,
    KI_METRIC_NAMES(ADDRESS)
#undef ADDRESS
};

#define DESCS (sizeof(descs) / sizeof(descs[0]))

static void every_metric_of_the_library_can_be_written(void **state)
{
    (void)state;
    static const ki_str labels[KI_METRIC_LABELS_MAX] = {
        {"v", 1}, {"v", 1}, {"v", 1}, {"v", 1}, {"v", 1}, {"v", 1},
    };
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    for (size_t i = DESCS; i-- > 0;)
        assert_true(add_one(metrics, descs[i], labels));
    exposition read = rendered(metrics);
    assert_int_equal(read.families, DESCS);
    size_t at = 0;
    for (size_t i = 0; i < DESCS; i++) {
        const ki_metric_desc *desc = descs[i];
        int is_histogram = desc->type == KI_METRIC_HISTOGRAM;
        assert_string_equal(read.samples[at].family, desc->name);
        assert_int_equal(read.samples[at].label_count, label_count(desc) + (size_t)is_histogram);
        at += is_histogram ? desc->bounds->count + 3 : 1;
    }
    assert_int_equal(at, read.count);
    exposition_free(&read);
    ki_metrics_free(metrics);
}

static int ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void names_have_the_suffix_of_their_type_and_unit(void **state)
{
    (void)state;
    for (size_t i = 0; i < DESCS; i++) {
        const ki_metric_desc *desc = descs[i];
        assert_int_equal(ends_with(desc->name, "_total"), desc->type == KI_METRIC_COUNTER);
        assert_int_equal(ends_with(desc->name, "_seconds"), desc->unit == KI_METRIC_NANOSECONDS);
        assert_int_equal(desc->bounds != NULL, desc->type == KI_METRIC_HISTOGRAM);
        assert_true(desc->help[0] != 0);
        for (size_t k = 1; desc->bounds != NULL && k < desc->bounds->count; k++)
            assert_true(desc->bounds->upper[k - 1] < desc->bounds->upper[k]);
    }
}

static void assert_les(const ki_metric_desc *desc, const char *const *les, size_t count)
{
    assert_int_equal(desc->bounds->count, count);
    for (size_t i = 0; i < count; i++)
        assert_number(ki_prometheus_bound, desc->bounds->upper[i], desc->unit, les[i]);
}

static void buckets_equal_those_of_client_go(void **state)
{
    (void)state;
    static const char *const processing[] = {"0.001", "0.005", "0.01", "0.025", "0.05", "0.1",
                                             "0.25",  "0.5",   "1",    "2.5",   "5",    "10"};
    static const char *const queue[] = {"1e-08", "1e-07", "1e-06", "1e-05", "0.0001",
                                        "0.001", "0.01",  "0.1",   "1",     "10"};
    static const char *const request[] = {"0.005", "0.025", "0.1", "0.25", "0.5", "1",
                                          "2",     "4",     "8",   "15",   "30",  "60"};
    static const char *const size[] = {"64",           "256",          "512",          "1024",
                                       "4096",         "16384",        "65536",        "262144",
                                       "1.048576e+06", "4.194304e+06", "1.6777216e+07"};
    assert_les(&ki_metric_informer_processing_latency_seconds, processing, COUNT(processing));
    assert_les(&ki_metric_workqueue_queue_duration_seconds, queue, COUNT(queue));
    assert_les(&ki_metric_workqueue_work_duration_seconds, queue, COUNT(queue));
    assert_les(&ki_metric_rest_client_request_duration_seconds, request, COUNT(request));
    assert_les(&ki_metric_rest_client_rate_limiter_duration_seconds, request, COUNT(request));
    assert_les(&ki_metric_rest_client_dns_resolution_duration_seconds, request, COUNT(request) - 1);
    assert_les(&ki_metric_rest_client_request_size_bytes, size, COUNT(size));
    assert_les(&ki_metric_rest_client_response_size_bytes, size, COUNT(size));
}

/* Random observations, compared with sorted ones. */
static void histograms_agree_with_a_model(void **state)
{
    (void)state;
    const ki_metric_desc *desc = &ki_metric_informer_processing_latency_seconds;
    ki_str labels[] = {KI_STR("n"), KI_STR(""), KI_STR("v1"), KI_STR("pods")};
    uint64_t model[16] = {0};
    uint64_t sum = 0;
    ki_random random;
    ki_random_init(&random, 8);
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_histogram *histogram = ki_metrics_histogram(metrics, desc, labels);
    for (size_t i = 0; i < 5000; i++) {
        uint64_t nanoseconds = ki_random_next(&random) >> (28 + ki_random_below(&random, 20));
        if (ki_random_below(&random, 4) == 0)
            nanoseconds = desc->bounds->upper[ki_random_below(&random, desc->bounds->count)];
        ki_histogram_observe(histogram, nanoseconds);
        sum += nanoseconds;
        for (size_t k = 0; k <= desc->bounds->count; k++)
            model[k] += k == desc->bounds->count || nanoseconds <= desc->bounds->upper[k];
    }
    exposition read = rendered(metrics);
    for (size_t k = 0; k <= desc->bounds->count; k++)
        assert_true(read.samples[k].value == (double)model[k]);
    assert_true(fabs(read.samples[desc->bounds->count + 1].value - (double)sum / 1e9) < 1e-6);
    exposition_free(&read);
    ki_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_plain_and_exact),
        cmocka_unit_test(bounds_are_written_as_by_go),
        cmocka_unit_test(numbers_read_back_as_the_nearest_double),
        cmocka_unit_test(labels_and_help_are_escaped),
        cmocka_unit_test(invalid_utf8_in_a_label_is_replaced),
        cmocka_unit_test(every_metric_of_the_library_can_be_written),
        cmocka_unit_test(names_have_the_suffix_of_their_type_and_unit),
        cmocka_unit_test(buckets_equal_those_of_client_go),
        cmocka_unit_test(histograms_agree_with_a_model),
    };
    return RUN_TESTS(tests);
}
