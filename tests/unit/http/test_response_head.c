/* SPDX-License-Identifier: Apache-2.0 */
#include "http/response_head.h"

#include <string.h>

#include "support/unit.h"
#include "util/units.h"

/* Sun, 06 Nov 1994 08:49:37 GMT, the date used in RFC 9110. */
#define NOVEMBER_1994 ((int64_t)784111777)

static ki_clock clock_of_1994(void)
{
    ki_clock clock;
    ki_clock_init_virtual(&clock, 0, NOVEMBER_1994 * (int64_t)KI_NS_PER_S);
    return clock;
}

enum { HEAD_BYTES = 64 * 1024 };

/* A head whose lines are given one by one; NULL ends them. */
static ki_response_head read_head(const char *const *lines)
{
    ki_clock clock = clock_of_1994();
    ki_response_head head = {.bytes_max = HEAD_BYTES};
    for (; *lines != NULL; lines++)
        assert_int_equal(ki_response_head_line(&head, ki_str_of(*lines), &clock), 0);
    return head;
}

#define HEAD(...) read_head((const char *const[]){__VA_ARGS__, NULL})

static void status_and_fields_are_read(void **state)
{
    (void)state;
    ki_response_head head = HEAD("HTTP/1.1 200 OK\r\n", "content-type:  application/json; charset=utf-8 \r\n",
                                 "X-Other: 1\r\n", "nonsense\r\n", "\r\n");
    assert_true(head.is_complete);
    assert_int_equal(head.status, 200);
    assert_string_equal(head.content_type, "application/json");
    assert_false(head.is_gzip);
    assert_int_equal(head.retry_after_seconds, 0);
}

static void a_head_is_complete_only_at_the_empty_line(void **state)
{
    (void)state;
    assert_false(HEAD("HTTP/1.1 200 OK\r\n", "A: b\r\n").is_complete);
    assert_true(HEAD("HTTP/2 200 \r\n", "\r\n").is_complete);
    assert_int_equal(HEAD("HTTP/2 429\r\n", "\r\n").status, 429);
    assert_false(HEAD("\r\n").is_complete);
}

static void an_interim_response_is_forgotten(void **state)
{
    (void)state;
    ki_response_head head = HEAD("HTTP/1.1 100 Continue\r\n", "Retry-After: 5\r\n", "\r\n",
                                 "HTTP/1.1 201 Created\r\n", "\r\n", "Content-Type: trailer\r\n");
    assert_int_equal(head.status, 201);
    assert_int_equal(head.retry_after_seconds, 0);
    assert_string_equal(head.content_type, "");
}

static uint32_t retry_after(const char *value)
{
    char line[128] = "Retry-After: ";
    strncat(line, value, sizeof(line) - strlen(line) - 3);
    strcat(line, "\r\n");
    return HEAD("HTTP/1.1 429 Too Many Requests\r\n", line, "\r\n").retry_after_seconds;
}

static void retry_after_is_a_number_or_a_date(void **state)
{
    (void)state;
    assert_int_equal(retry_after("0"), 0);
    assert_int_equal(retry_after("1"), 1);
    assert_int_equal(retry_after("120"), 120);
    assert_int_equal(retry_after("Sun, 06 Nov 1994 08:50:37 GMT"), 60);
    assert_int_equal(retry_after("Sunday, 06-Nov-94 08:49:40 GMT"), 3);
    assert_int_equal(retry_after("Sun Nov  6 08:49:38 1994"), 1);
}

static void retry_after_is_at_most_ten_minutes(void **state)
{
    (void)state;
    assert_int_equal(retry_after("601"), 600);
    assert_int_equal(retry_after("99999999999999999999999999"), 600);
    assert_int_equal(retry_after("Sun, 06 Nov 2094 08:50:37 GMT"), 600);
}

static void a_malformed_retry_after_is_ignored(void **state)
{
    (void)state;
    assert_int_equal(retry_after("-5"), 0);
    assert_int_equal(retry_after("soon"), 0);
    assert_int_equal(retry_after("1.5e3 s"), 0);
    assert_int_equal(retry_after(""), 0);
    assert_int_equal(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
    assert_int_equal(retry_after("Sat, 05 Nov 1994 08:49:37 GMT"), 0);
}

static void assert_location(const char *line, const char *expected)
{
    assert_string_equal(HEAD("HTTP/1.1 302 Found\r\n", line, "\r\n").location, expected);
}

static void a_location_is_reported_without_possible_secrets(void **state)
{
    (void)state;
    assert_location("Location: https://a.example/b\r\n", "https://a.example/b");
    assert_location("Location: https://u:p@a.example/b?token=x#y\r\n", "https://a.example/b");
    assert_location("Location: https://a.example/b@c\r\n", "https://a.example/b@c");
    assert_location("Location: //u@a.example\r\n", "//a.example");
    assert_location("Location: /b?token=x\r\n", "/b");
    assert_location("Location: \r\n", "");
}

static void a_long_location_is_truncated(void **state)
{
    (void)state;
    char line[1024] = "Location: https://a.example/";
    memset(line + strlen(line), 'x', 900);
    ki_response_head head = HEAD("HTTP/1.1 302 Found\r\n", line, "\r\n");
    assert_int_equal(strlen(head.location), sizeof(head.location) - 1);
    assert_string_equal(head.location + sizeof(head.location) - sizeof("…"), "…");
}

static void encodings_are_distinguished(void **state)
{
    (void)state;
    assert_true(HEAD("HTTP/1.1 200 OK\r\n", "Content-Encoding: GZIP\r\n").is_gzip);
    assert_true(HEAD("HTTP/1.1 200 OK\r\n", "Content-Encoding: br\r\n").has_other_coding);
    assert_true(HEAD("HTTP/1.1 200 OK\r\n", "Content-Encoding: gzip, gzip\r\n").has_other_coding);
    assert_false(HEAD("HTTP/1.1 200 OK\r\n", "Content-Encoding: identity\r\n").has_other_coding);
}

static void a_head_without_an_end_is_refused_at_its_limit(void **state)
{
    (void)state;
    ki_clock clock = clock_of_1994();
    ki_response_head head = {.bytes_max = HEAD_BYTES};
    char line[1024];
    memset(line, 'x', sizeof(line));
    for (size_t i = 0; i < HEAD_BYTES / sizeof(line); i++)
        assert_int_equal(ki_response_head_line(&head, (ki_str){line, sizeof(line)}, &clock), 0);
    assert_int_equal(ki_response_head_line(&head, (ki_str){line, 1}, &clock), KI_ERR_TOO_LARGE);
}

static void lines_after_the_head_also_count(void **state)
{
    (void)state;
    ki_clock clock = clock_of_1994();
    ki_response_head head = HEAD("HTTP/1.1 200 OK\r\n", "\r\n");
    ki_str line = KI_STR("X-Trailer: 1\r\n");
    size_t lines = (HEAD_BYTES - head.bytes) / line.len;
    for (size_t i = 0; i < lines; i++)
        assert_int_equal(ki_response_head_line(&head, line, &clock), 0);
    assert_int_equal(ki_response_head_line(&head, line, &clock), KI_ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_and_fields_are_read),
        cmocka_unit_test(a_head_is_complete_only_at_the_empty_line),
        cmocka_unit_test(an_interim_response_is_forgotten),
        cmocka_unit_test(retry_after_is_a_number_or_a_date),
        cmocka_unit_test(retry_after_is_at_most_ten_minutes),
        cmocka_unit_test(a_malformed_retry_after_is_ignored),
        cmocka_unit_test(a_location_is_reported_without_possible_secrets),
        cmocka_unit_test(a_long_location_is_truncated),
        cmocka_unit_test(encodings_are_distinguished),
        cmocka_unit_test(a_head_without_an_end_is_refused_at_its_limit),
        cmocka_unit_test(lines_after_the_head_also_count),
    };
    return RUN_TESTS(tests);
}
