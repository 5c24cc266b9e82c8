/* SPDX-License-Identifier: Apache-2.0 */
#include "util/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

/* The last record, copied out of the callback. */
typedef struct sink {
    int calls;
    ki_log_level level;
    char component[32];
    char message[KI_LOG_MESSAGE_BYTES];
    size_t field_count;
    char names[KI_LOG_FIELDS_MAX][32];
    char values[KI_LOG_FIELDS_MAX][KI_LOG_VALUE_BYTES];
} sink;

static void copy_text(char *out, size_t out_bytes, ki_str text)
{
    assert_true(text.len < out_bytes);
    memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
}

static void keep_record(const ki_log_record *record, void *user)
{
    sink *s = user;
    s->calls++;
    s->level = record->level;
    copy_text(s->component, sizeof(s->component), ki_str_of(record->component));
    copy_text(s->message, sizeof(s->message), ki_str_of(record->message));
    assert_true(record->field_count <= KI_LOG_FIELDS_MAX);
    s->field_count = record->field_count;
    for (size_t i = 0; i < record->field_count; i++) {
        copy_text(s->names[i], sizeof(s->names[i]), ki_str_of(record->fields[i].name));
        copy_text(s->values[i], sizeof(s->values[i]), record->fields[i].value);
    }
}

static int make_silent(void **state)
{
    (void)state;
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    return 0;
}

static void without_a_sink_every_level_is_off(void **state)
{
    (void)state;
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    assert_false(ki_log_is_on(KI_LOG_ERROR));
    ki_log(KI_LOG_ERROR, "test", KI_LOG_NO_FIELDS, "no callback");
}

static void a_sink_gets_its_level_and_less_verbose_ones(void **state)
{
    (void)state;
    sink s = {0};
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_ERROR, "test", KI_LOG_NO_FIELDS, "error");
    ki_log(KI_LOG_WARNING, "test", KI_LOG_NO_FIELDS, "warning");
    ki_log(KI_LOG_INFO, "test", KI_LOG_NO_FIELDS, "info");
    assert_int_equal(s.calls, 3);
    ki_log(KI_LOG_DEBUG, "test", KI_LOG_NO_FIELDS, "debug");
    ki_log(KI_LOG_TRACE, "test", KI_LOG_NO_FIELDS, "trace");
    assert_int_equal(s.calls, 3);
}

static void a_record_has_level_component_and_message(void **state)
{
    (void)state;
    sink s = {0};
    ki_set_log(keep_record, KI_LOG_TRACE, &s);
    ki_log(KI_LOG_WARNING, "reflector", KI_LOG_NO_FIELDS, "watch ended after %d s", 300);
    assert_int_equal(s.level, KI_LOG_WARNING);
    assert_string_equal(s.component, "reflector");
    assert_string_equal(s.message, "watch ended after 300 s");
    assert_int_equal(s.field_count, 0);
}

static void fields_with_a_value_arrive_in_order(void **state)
{
    (void)state;
    sink s = {0};
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_str ns = KI_STR("kube-system");
    ki_log(KI_LOG_INFO, "test", KI_LOG_FIELDS({"resource", KI_STR("pods")}, {"key", {0}}, {"namespace", ns}),
           "listed");
    assert_int_equal(s.field_count, 2);
    assert_string_equal(s.names[0], "resource");
    assert_string_equal(s.values[0], "pods");
    assert_string_equal(s.names[1], "namespace");
    assert_string_equal(s.values[1], "kube-system");
}

static int count_up(int *counter)
{
    return ++*counter;
}

static void arguments_are_evaluated_only_when_the_level_is_on(void **state)
{
    (void)state;
    sink s = {0};
    int evaluated = 0;
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_DEBUG, "test", KI_LOG_NO_FIELDS, "%d", count_up(&evaluated));
    assert_int_equal(evaluated, 0);
    ki_log(KI_LOG_INFO, "test", KI_LOG_NO_FIELDS, "%d", count_up(&evaluated));
    assert_int_equal(evaluated, 1);
}

static void control_characters_reach_no_sink(void **state)
{
    (void)state;
    sink s = {0};
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_INFO, "test", KI_LOG_FIELDS({"name", KI_STR("a\nb\x1b[2J\0c")}), "got %s",
           "x\r\nERROR forged");
    assert_string_equal(s.message, "got x??ERROR forged");
    assert_string_equal(s.values[0], "a?b?[2J?c");
}

static void long_messages_and_values_are_cut_between_characters(void **state)
{
    (void)state;
    sink s = {0};
    static const char euro[3] = {'\xe2', '\x82', '\xac'};
    char euros[sizeof(euro) * 400 + 1] = {0};
    for (size_t i = 0; i < 400; i++)
        memcpy(euros + sizeof(euro) * i, euro, sizeof(euro));
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_INFO, "test", KI_LOG_FIELDS({"name", ki_str_of(euros)}), "%s", euros);
    assert_int_equal(strlen(s.message), (KI_LOG_MESSAGE_BYTES - 1) / 3 * 3);
    assert_memory_equal(s.message, euros, strlen(s.message));
    assert_int_equal(strlen(s.values[0]), (KI_LOG_VALUE_BYTES - 1) / 3 * 3);
}

static void the_maximum_of_fields_fits(void **state)
{
    (void)state;
    sink s = {0};
    ki_log_field fields[KI_LOG_FIELDS_MAX];
    for (int i = 0; i < KI_LOG_FIELDS_MAX; i++)
        fields[i] = (ki_log_field){"name", KI_STR("value")};
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_INFO, "test", ((ki_log_fields){fields, KI_LOG_FIELDS_MAX}), "many");
    assert_int_equal(s.field_count, KI_LOG_FIELDS_MAX);
    assert_string_equal(s.values[KI_LOG_FIELDS_MAX - 1], "value");
}

static void logging_allocates_nothing(void **state)
{
    (void)state;
    sink s = {0};
    failing_allocator_install();
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    ki_log(KI_LOG_INFO, "test", KI_LOG_FIELDS({"name", KI_STR("a\nb")}), "%0500d", 1);
    failing_allocator_remove();
    assert_int_equal(s.calls, 1);
    assert_int_equal(failing_allocator_attempts(), 0);
}

static void a_thread_may_use_another_sink_for_a_while(void **state)
{
    (void)state;
    sink process = {0};
    sink own = {0};
    const ki_log_sink named = {keep_record, &own, KI_LOG_INFO};
    ki_set_log(keep_record, KI_LOG_ERROR, &process);
    const ki_log_sink *before = ki_log_use(&named);
    assert_true(ki_log_is_on(KI_LOG_INFO));
    ki_log(KI_LOG_INFO, "test", KI_LOG_NO_FIELDS, "mine");
    ki_log(KI_LOG_DEBUG, "test", KI_LOG_NO_FIELDS, "too much");
    ki_log_to(NULL, KI_LOG_ERROR, "test", KI_LOG_NO_FIELDS, "for the process");
    assert_ptr_equal(ki_log_use(before), &named);
    assert_false(ki_log_is_on(KI_LOG_INFO));
    ki_log_to(&named, KI_LOG_WARNING, "test", KI_LOG_NO_FIELDS, "mine again");
    assert_int_equal(own.calls, 2);
    assert_string_equal(own.message, "mine again");
    assert_int_equal(process.calls, 1);
    assert_string_equal(process.message, "for the process");
}

static void ki_log_is_one_statement(void **state)
{
    (void)state;
    sink s = {0};
    ki_set_log(keep_record, KI_LOG_INFO, &s);
    if (s.calls > 0)
        ki_log(KI_LOG_INFO, "test", KI_LOG_NO_FIELDS, "yes");
    else
        ki_log(KI_LOG_INFO, "test", KI_LOG_NO_FIELDS, "no");
    assert_int_equal(s.calls, 1);
    assert_string_equal(s.message, "no");
}

static void records_are_printed_as_lines(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    ki_set_log(ki_log_print, KI_LOG_INFO, file);
    ki_log(KI_LOG_INFO, "test", KI_LOG_FIELDS({"name", KI_STR("pods")}, {"key", KI_STR("a/b")}), "two words");
    ki_log(KI_LOG_WARNING, "test", KI_LOG_NO_FIELDS, "no fields");
    ki_log_print(NULL, file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "test: two words name=pods key=a/b\ntest: no fields\n");
    free(text);
}

#define LOG_TEST(test) cmocka_unit_test_teardown(test, make_silent)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(without_a_sink_every_level_is_off),
        LOG_TEST(a_sink_gets_its_level_and_less_verbose_ones),
        LOG_TEST(a_record_has_level_component_and_message),
        LOG_TEST(fields_with_a_value_arrive_in_order),
        LOG_TEST(arguments_are_evaluated_only_when_the_level_is_on),
        LOG_TEST(control_characters_reach_no_sink),
        LOG_TEST(long_messages_and_values_are_cut_between_characters),
        LOG_TEST(the_maximum_of_fields_fits),
        LOG_TEST(logging_allocates_nothing),
        LOG_TEST(a_thread_may_use_another_sink_for_a_while),
        LOG_TEST(ki_log_is_one_statement),
        LOG_TEST(records_are_printed_as_lines),
    };
    return RUN_TESTS(tests);
}
