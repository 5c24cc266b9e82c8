/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/predicate.h>

#include "support/store/object_make.h"
#include "support/unit.h"

#define OBJECT(version, generation, more)                                                                    \
    "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"" version "\",\"generation\":" generation more "}}"

typedef struct pair {
    ki_object *old;
    ki_object *object;
    ki_event event;
} pair;

static pair update(const char *old, const char *object)
{
    pair p = {.old = object_make(old, NULL), .object = object_make(object, NULL)};
    p.event = (ki_event){.change_type = KI_CHANGE_UPDATED, .object = p.object, .old = p.old};
    return p;
}

static void drop(pair *p)
{
    ki_object_unref(p->old);
    ki_object_unref(p->object);
}

static const ki_predicate *const all[] = {&KI_PREDICATE_GENERATION_CHANGED,
                                          &KI_PREDICATE_RESOURCE_VERSION_CHANGED,
                                          &KI_PREDICATE_LABELS_CHANGED, &KI_PREDICATE_ANNOTATIONS_CHANGED};

/* Which of the four predicates pass, one bit each. */
static unsigned passing(const ki_event *event)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < 4; i++)
        bits |= (unsigned)ki_predicate_passes(all[i], event) << i;
    return bits;
}

static void each_predicate_checks_one_thing(void **state)
{
    (void)state;
    struct {
        const char *old, *object;
        unsigned expected;
    } rows[] = {
        {OBJECT("1", "1", ""), OBJECT("1", "1", ""), 0},
        {OBJECT("1", "1", ""), OBJECT("2", "1", ""), 2},
        {OBJECT("1", "1", ""), OBJECT("2", "2", ""), 3},
        {OBJECT("1", "1", ""), OBJECT("2", "1", ",\"labels\":{\"a\":\"b\"}"), 2 | 4},
        {OBJECT("1", "1", ",\"labels\":{\"a\":\"b\",\"c\":\"d\"}"),
         OBJECT("2", "1", ",\"labels\":{\"c\":\"d\",\"a\":\"b\"}"), 2},
        {OBJECT("1", "1", ",\"annotations\":{\"a\":\"b\"}"),
         OBJECT("2", "1", ",\"annotations\":{\"a\":\"c\"}"), 2 | 8},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pair p = update(rows[i].old, rows[i].object);
        assert_int_equal(passing(&p.event), rows[i].expected);
        drop(&p);
    }
}

static void adds_and_deletes_pass_all(void **state)
{
    (void)state;
    pair p = update(OBJECT("1", "1", ""), OBJECT("1", "1", ""));
    p.event.old = NULL;
    p.event.change_type = KI_CHANGE_ADDED;
    assert_int_equal(passing(&p.event), 15);
    p.event.change_type = KI_CHANGE_DELETED;
    assert_int_equal(passing(&p.event), 15);
    drop(&p);
}

/* Old and new object both have generation 1; a delete and an add would have passed. */
static void another_object_with_the_same_name_passes_all(void **state)
{
    (void)state;
    pair p = update(OBJECT("1", "1", ""), OBJECT("2", "1", ""));
    p.event.flags = KI_EVENT_REPLACED;
    assert_int_equal(passing(&p.event), 15);
    drop(&p);
}

static void an_update_whose_old_state_is_missing_passes_all(void **state)
{
    (void)state;
    pair p = update(OBJECT("1", "1", ""), OBJECT("1", "1", ""));
    p.event.old = NULL;
    p.event.flags = KI_EVENT_COALESCED;
    assert_int_equal(passing(&p.event), 15);
    drop(&p);
}

static int as_user_says(const ki_event *event, const ki_predicate *predicate, void *user)
{
    (void)event;
    assert_ptr_equal(predicate->user, user);
    return *(const int *)user;
}

static void and_or_not_combine_values(void **state)
{
    (void)state;
    int values[2];
    ki_predicate a = {.passes = as_user_says, .user = &values[0]};
    ki_predicate b = {.passes = as_user_says, .user = &values[1]};
    ki_predicate both = ki_predicate_and(&a, &b), either = ki_predicate_or(&a, &b);
    ki_predicate neither = ki_predicate_not(&either);
    ki_event event = {.change_type = KI_CHANGE_ADDED};
    for (unsigned bits = 0; bits < 4; bits++) {
        values[0] = bits & 1;
        values[1] = bits >> 1 & 1;
        assert_int_equal(ki_predicate_passes(&both, &event), bits == 3);
        assert_int_equal(ki_predicate_passes(&either, &event), bits != 0);
        assert_int_equal(ki_predicate_passes(&neither, &event), bits == 0);
    }
}

static void no_predicate_passes_everything(void **state)
{
    (void)state;
    ki_event event = {.change_type = KI_CHANGE_ADDED};
    ki_predicate empty = {0}, not_empty = ki_predicate_not(NULL);
    assert_int_equal(ki_predicate_passes(NULL, &event), 1);
    assert_int_equal(ki_predicate_passes(NULL, NULL), 0);
    assert_int_equal(ki_predicate_passes(&KI_PREDICATE_LABELS_CHANGED, NULL), 0);
    assert_int_equal(ki_predicate_passes(&empty, &event), 1);
    assert_int_equal(ki_predicate_passes(&not_empty, &event), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_predicate_checks_one_thing),
        cmocka_unit_test(adds_and_deletes_pass_all),
        cmocka_unit_test(another_object_with_the_same_name_passes_all),
        cmocka_unit_test(an_update_whose_old_state_is_missing_passes_all),
        cmocka_unit_test(and_or_not_combine_values),
        cmocka_unit_test(no_predicate_passes_everything),
    };
    return RUN_TESTS(tests);
}
