/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of rules 3, 4 and 8 in docs/consistency.md. */
#include "informer/rules.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/apply_run.h"
#include "support/unit.h"

/* The input and the expected results. An object is written as its version, "=" and a text; two objects with
 * the same version and text are equal. NULL: no object. */
typedef struct row {
    ki_change_type type;
    const char *change;
    const char *stored;
    const char *complete; /* NULL: unset */
    int in_this_history;  /* the expected ki_rules_verdict, as in the next member */
    int of_other_history; /* if the stored object is of another history */
} row;

enum { IGNORE = KI_RULES_IGNORE, SEEN = KI_RULES_KEEP, PUT = KI_RULES_PUT, REMOVE = KI_RULES_REMOVE };

static ki_object *object_of_text(const char *text)
{
    char version[16] = {0};
    size_t n = 0;
    if (text == NULL)
        return NULL;
    for (; text[n] != '='; n++)
        version[n] = text[n];
    return apply_object("a", version, "a", text + n + 1);
}

static ki_rules_verdict judge(const row *r, bool of_other_history)
{
    ki_object *stored = object_of_text(r->stored);
    ki_object *object = r->type == KI_CHANGE_SEEN ? NULL : object_of_text(r->change);
    ki_delta delta = {.change_type = r->type,
                      .list = r->type == KI_CHANGE_REPLACED || r->type == KI_CHANGE_SEEN ? 3 : 0,
                      .object = object};
    ki_standing standing = {stored, of_other_history, ki_str_of(r->complete)};
    ki_rules_verdict verdict = ki_rules_judge(&delta, &standing);
    (void)ki_object_unref(object);
    (void)ki_object_unref(stored);
    return verdict;
}

static void check_rows(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((int)judge(&rows[i], false) != rows[i].in_this_history)
            fail_msg("row %zu: verdict %d", i, (int)judge(&rows[i], false));
        if (rows[i].stored != NULL && (int)judge(&rows[i], true) != rows[i].of_other_history)
            fail_msg("row %zu, another history: verdict %d", i, (int)judge(&rows[i], true));
    }
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/* Items of a list and events that report an object as present get the same verdict if the stored object is of
 * this history. If it is of another one, `echo` is the verdict for a change that is not newer than the
 * complete version. */
static void check_present(ki_change_type type, int echo)
{
    const row rows[] = {
        {type, "4=x", "5=y", "5", SEEN, echo}, /* older */
        {type, "5=x", "5=x", "5", SEEN, SEEN}, /* equal */
        {type, "5=x", "5=y", "5", SEEN, echo},
        {type, "005=x", "5=y", "5", SEEN, echo},
        {type, "6=x", "5=y", "5", PUT, PUT}, /* newer */
        {type, "6=x", "5=x", "5", PUT, PUT},
        {type, "10=x", "9=y", "5", PUT, PUT}, /* by number, not by text */
        {type, "9=x", "10=y", "5", SEEN, PUT},
        {type, "k=x", "k=x", "k", SEEN, SEEN}, /* not numbers */
        {type, "k=x", "k=y", "k", PUT, PUT},
        {type, "j=x", "k=x", "k", PUT, PUT},
        {type, "5=x", "k=x", "k", PUT, PUT},
        {type, "k=x", "5=x", "5", PUT, PUT},
        {type, "=x", "=x", "5", SEEN, SEEN}, /* missing */
        {type, "=x", "=y", "5", PUT, PUT},
        {type, "=x", "5=x", "5", PUT, PUT},
        {type, "5=x", "=x", "5", PUT, echo},
        {type, "6=x", "5=y", NULL, PUT, PUT}, /* the complete version does not matter in this history */
        {type, "6=x", "5=y", "99", PUT, echo},
        {type, "4=x", "5=y", NULL, SEEN, PUT},
    };
    CHECK_ROWS(rows);
}

static void an_item_of_a_list_is_put_if_it_is_newer_than_the_stored_object(void **state)
{
    (void)state;
    check_present(KI_CHANGE_REPLACED, PUT);
}

static void an_event_is_put_if_it_is_newer_than_the_stored_object(void **state)
{
    (void)state;
    check_present(KI_CHANGE_ADDED, IGNORE);
    check_present(KI_CHANGE_UPDATED, IGNORE);
}

static void an_item_of_a_doubtful_list_is_put_if_it_is_newer_than_the_complete_version(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        const char *complete;
        ki_rules_verdict verdict;
    } rows[] = {
        {"4", "5", KI_RULES_HOLD}, {"5", "5", KI_RULES_HOLD}, {"6", "5", KI_RULES_PUT},
        {"10", "9", KI_RULES_PUT}, {"k", "5", KI_RULES_PUT},  {"5", "k", KI_RULES_PUT},
        {"k", "k", KI_RULES_PUT},  {"", "5", KI_RULES_PUT},   {"4", "", KI_RULES_PUT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_object *object = apply_object("a", rows[i].version, "a", NULL);
        ki_object *other = apply_object("a", "7", "a", NULL);
        const ki_standing nothing = {NULL, false, ki_str_of(rows[i].complete)};
        const ki_standing of_other_history = {other, true, ki_str_of(rows[i].complete)};
        ki_delta delta = {
            .change_type = KI_CHANGE_REPLACED, .list = 3, .is_doubtful = true, .object = object};
        assert_int_equal(ki_rules_judge(&delta, &nothing), rows[i].verdict);
        assert_int_equal(ki_rules_judge(&delta, &of_other_history), rows[i].verdict);
        delta.change_type = KI_CHANGE_DELETED; /* within the list */
        assert_int_equal(ki_rules_judge(&delta, &nothing), KI_RULES_HOLD);
        (void)ki_object_unref(other);
        (void)ki_object_unref(object);
    }
}

static void an_item_of_a_list_is_always_put_if_nothing_is_stored(void **state)
{
    (void)state;
    static const char *const versions[] = {"4=x", "5=x", "6=x", "k=x", "=x"};
    static const char *const complete[] = {NULL, "5", "k"};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 3; k++) {
            row r = {KI_CHANGE_REPLACED, versions[i], NULL, complete[k], PUT, PUT};
            check_rows(&r, 1);
        }
}

static void an_event_for_an_absent_key_is_put_if_it_is_newer_than_the_complete_version(void **state)
{
    (void)state;
    static const ki_change_type types[] = {KI_CHANGE_ADDED, KI_CHANGE_UPDATED};
    for (size_t i = 0; i < 2; i++) {
        const row rows[] = {
            {types[i], "4=x", NULL, "5", IGNORE, 0}, {types[i], "5=x", NULL, "5", IGNORE, 0},
            {types[i], "6=x", NULL, "5", PUT, 0},    {types[i], "10=x", NULL, "9", PUT, 0},
            {types[i], "4=x", NULL, NULL, PUT, 0},   {types[i], "k=x", NULL, "5", PUT, 0},
            {types[i], "k=x", NULL, "k", PUT, 0},    {types[i], "j=x", NULL, "k", PUT, 0},
            {types[i], "5=x", NULL, "k", PUT, 0},    {types[i], "=x", NULL, "5", PUT, 0},
            {types[i], "=x", NULL, NULL, PUT, 0},
        };
        CHECK_ROWS(rows);
    }
}

static void a_delete_removes_an_object_that_is_not_newer(void **state)
{
    (void)state;
    const row rows[] = {
        {KI_CHANGE_DELETED, "4=x", "5=x", "5", IGNORE, IGNORE},
        {KI_CHANGE_DELETED, "4=x", "5=x", NULL, IGNORE, REMOVE},
        {KI_CHANGE_DELETED, "5=x", "5=x", "5", REMOVE, IGNORE},
        {KI_CHANGE_DELETED, "6=x", "5=x", "5", REMOVE, REMOVE},
        {KI_CHANGE_DELETED, "j=x", "k=x", "k", REMOVE, REMOVE},
        {KI_CHANGE_DELETED, "k=x", "k=x", "k", REMOVE, REMOVE},
        {KI_CHANGE_DELETED, "=x", "5=x", "5", REMOVE, REMOVE},
        {KI_CHANGE_DELETED, "5=x", "=x", "5", REMOVE, IGNORE},
        {KI_CHANGE_DELETED, "6=x", NULL, "5", IGNORE, 0},
        {KI_CHANGE_DELETED, "4=x", NULL, NULL, IGNORE, 0},
        {KI_CHANGE_DELETED, "k=x", NULL, "j", IGNORE, 0},
    };
    CHECK_ROWS(rows);
}

static void an_item_that_cannot_be_decoded_is_seen_if_it_is_stored(void **state)
{
    (void)state;
    const row rows[] = {
        {KI_CHANGE_SEEN, NULL, "5=x", "5", SEEN, SEEN},
        {KI_CHANGE_SEEN, NULL, "5=x", NULL, SEEN, SEEN},
        {KI_CHANGE_SEEN, NULL, NULL, "5", IGNORE, 0},
    };
    CHECK_ROWS(rows);
}

static void a_list_covers_versions_that_are_not_newer_or_not_comparable(void **state)
{
    (void)state;
    static const struct {
        const char *object;
        const char *list;
        bool is_covered;
    } rows[] = {
        {"4=", "5", true}, {"5=", "5", true}, {"6=", "5", false}, {"10=", "9", false}, {"9=", "10", true},
        {"k=", "5", true}, {"5=", "k", true}, {"k=", "k", true},  {"=", "5", true},    {"5=", "", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ki_resource_version version = {0};
        ki_object *object = object_of_text(rows[i].object);
        assert_int_equal(ki_resource_version_set(&version, (ki_str){rows[i].list, strlen(rows[i].list)}), 0);
        if (ki_rules_list_covers(object, &version) != rows[i].is_covered)
            fail_msg("row %zu", i);
        (void)ki_object_unref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_item_of_a_list_is_put_if_it_is_newer_than_the_stored_object),
        WITH_MEMORY_CHECK(an_event_is_put_if_it_is_newer_than_the_stored_object),
        WITH_MEMORY_CHECK(an_item_of_a_list_is_always_put_if_nothing_is_stored),
        WITH_MEMORY_CHECK(an_item_of_a_doubtful_list_is_put_if_it_is_newer_than_the_complete_version),
        WITH_MEMORY_CHECK(an_event_for_an_absent_key_is_put_if_it_is_newer_than_the_complete_version),
        WITH_MEMORY_CHECK(a_delete_removes_an_object_that_is_not_newer),
        WITH_MEMORY_CHECK(an_item_that_cannot_be_decoded_is_seen_if_it_is_stored),
        WITH_MEMORY_CHECK(a_list_covers_versions_that_are_not_newer_or_not_comparable),
    };
    return RUN_TESTS(tests);
}
