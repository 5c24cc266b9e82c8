/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mutation_detector.h"

#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/object/object_fingerprint.h"
#include "api/object/object_layout.h"
#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- a reporter ---------------------------------------------------------------------------------------- */

typedef struct reports {
    int count;
    char key[64];
    uint64_t before;
    uint64_t after;
    const ki_object *object;
} reports;

static void on_mutation(const ki_mutation *mutation, void *user)
{
    reports *r = user;
    r->count++;
    r->before = mutation->before;
    r->after = mutation->after;
    r->object = mutation->object;
    snprintf(r->key, sizeof(r->key), "%.*s", KI_STR_ARGS(mutation->key));
}

static void detector_init(ki_mutation_detector *detector, ki_mutation_mode mode, reports *r)
{
    ki_mutation_detector_options options = {.mode = mode, .report = on_mutation, .user = r, .hash_seed = 7};
    *r = (reports){0};
    assert_int_equal(ki_mutation_detector_init(detector, &options), 0);
}

/* A byte of a string value in the object's text. */
static char *byte_of(const ki_object *object)
{
    ki_str tags = ki_object_string(object, "/metadata/annotations/tags");
    assert_int_equal(tags.len, strlen("some tags"));
    return (char *)tags.ptr;
}

static ki_object *object_named(const char *name)
{
    return store_object("default", name, 1, "some tags");
}

/* ---- finding ------------------------------------------------------------------------------------------- */

static void untouched_objects_pass(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *objects[100];
    char name[32];
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    for (size_t i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "pod-%zu", i);
        objects[i] = object_named(name);
        assert_int_equal(ki_mutation_detector_add(&detector, objects[i]), 0);
    }
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    for (size_t i = 0; i < 50; i++)
        ki_mutation_detector_remove(&detector, objects[i]);
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 0);
    for (size_t i = 0; i < 100; i++)
        (void)ki_object_unref(objects[i]);
}

static void a_changed_byte_is_reported_with_its_key(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *one = object_named("one");
    ki_object *two = object_named("two");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, one), 0);
    assert_int_equal(ki_mutation_detector_add(&detector, two), 0);
    *byte_of(two) ^= 1;
    assert_int_equal(ki_mutation_detector_check(&detector), 1);
    assert_int_equal(r.count, 1);
    assert_string_equal(r.key, "default/two");
    assert_ptr_equal(r.object, two);
    assert_true(r.before != r.after);
    assert_true(r.after == ki_object_fingerprint(two, ki_object_own_bytes(two), &detector.hash_key));
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(one);
    (void)ki_object_unref(two);
}

static void one_change_is_reported_once_and_the_next_again(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    *byte_of(object) ^= 1;
    assert_int_equal(ki_mutation_detector_check(&detector), 1);
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    *byte_of(object) ^= 2;
    assert_int_equal(ki_mutation_detector_check(&detector), 1);
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 2);
    (void)ki_object_unref(object);
}

static void a_removed_object_is_checked(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    *byte_of(object) ^= 1;
    ki_mutation_detector_remove(&detector, object);
    ki_mutation_detector_report(&detector);
    assert_int_equal(r.count, 1);
    *byte_of(object) ^= 2;
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    ki_mutation_detector_remove(&detector, object);
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 1);
    (void)ki_object_unref(object);
}

/* Objects are removed under the store's locks, where no callback may run. */
static void a_removed_object_is_kept_until_its_report_is_requested(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    (void)ki_object_unref(object);
    uint64_t before = ki_object_fingerprint(object, ki_object_own_bytes(object), &detector.hash_key);
    *byte_of(object) ^= 1;
    ki_mutation_detector_remove(&detector, object);
    assert_int_equal(r.count, 0);
    ki_mutation_detector_report(&detector);
    assert_int_equal(r.count, 1);
    assert_true(r.before == before);
    ki_mutation_detector_report(&detector);
    assert_int_equal(r.count, 1);
    ki_mutation_detector_fini(&detector);
}

static void a_removed_object_is_reported_by_fini_at_the_latest(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    *byte_of(object) ^= 1;
    ki_mutation_detector_remove(&detector, object);
    (void)ki_object_unref(object);
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 1);
}

static void fini_checks_the_remaining_objects(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    *byte_of(object) ^= 1;
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 1);
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(object);
}

/* Changes each byte after the header in turn. The reported key is correct even if the key itself was
 * overwritten. */
static void a_change_of_any_byte_is_found(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    size_t end = ki_object_own_bytes(object);
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    for (size_t at = KI_OBJECT_HEADER_BYTES; at < end; at++) {
        char *byte = (char *)object + at;
        *byte ^= 1;
        assert_int_equal(ki_mutation_detector_check(&detector), 1);
        assert_string_equal(r.key, "default/one");
        *byte ^= 1;
        assert_int_equal(ki_mutation_detector_check(&detector), 1);
    }
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 2 * (end - KI_OBJECT_HEADER_BYTES));
    (void)ki_object_unref(object);
}

static void a_change_of_any_constant_header_field_is_found(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    void *places[] = {&object->text_at,      &object->text_len,      &object->string_at[0],
                      &object->string_at[3], &object->string_len[1], &object->has,
                      &object->key_at,       &object->name_len,      &object->namespace_len};
    size_t count = sizeof(places) / sizeof(places[0]);
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    for (size_t i = 0; i < count; i++) {
        unsigned char *byte = places[i];
        byte[1] ^= 0x80; /* a length that points far beyond the object */
        assert_int_equal(ki_mutation_detector_check(&detector), 1);
        assert_string_equal(r.key, "default/one");
        byte[1] ^= 0x80;
        assert_int_equal(ki_mutation_detector_check(&detector), 1);
    }
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(object);
}

static void references_and_unescaping_are_not_mutations(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_str text = KI_STR("{\"metadata\":{\"name\":\"n\",\"labels\":{\"x\":\"a\\tb\"}}}");
    ki_str label = {0};
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, text, NULL, NULL);
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    ki_object *other = ki_object_ref(object);
    size_t before = ki_object_bytes(object);
    assert_int_equal(ki_object_label(object, KI_STR("x"), &label), 0);
    assert_true(ki_object_bytes(object) > before);
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    (void)ki_object_unref(other);
    ki_mutation_detector_fini(&detector);
    assert_int_equal(r.count, 0);
    (void)ki_object_unref(object);
}

/* ---- adding and removing ------------------------------------------------------------------------------- */

static void the_detector_keeps_its_objects(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    (void)ki_object_unref(object);
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    ki_mutation_detector_remove(&detector, object);
    assert_int_equal(failing_allocator_live_count(), 1); /* the table */
    ki_mutation_detector_fini(&detector);
}

static void an_object_added_twice_is_watched_until_it_is_removed_twice(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    ki_mutation_detector_remove(&detector, object);
    *byte_of(object) ^= 1;
    assert_int_equal(ki_mutation_detector_check(&detector), 1);
    ki_mutation_detector_remove(&detector, object);
    *byte_of(object) ^= 2;
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(object);
}

static void a_disabled_detector_watches_nothing(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    ki_object *object = object_named("one");
    assert_int_equal(ki_mutation_detector_init(&detector, NULL), 0);
    size_t live = failing_allocator_live_count();
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    assert_int_equal(failing_allocator_live_count(), live);
    *byte_of(object) ^= 1;
    assert_int_equal(ki_mutation_detector_check(&detector), 0);
    ki_mutation_detector_remove(&detector, object);
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(object);
}

static void when_out_of_memory_an_object_is_not_watched(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    int rc = KI_ERR_NO_MEMORY;
    size_t n = 1;
    detector_init(&detector, KI_MUTATION_REPORT, &r);
    for (; rc == KI_ERR_NO_MEMORY; n++) {
        failing_allocator_fail_at(n);
        rc = ki_mutation_detector_add(&detector, object);
        failing_allocator_fail_at(0);
        *byte_of(object) ^= 1;
        assert_int_equal(ki_mutation_detector_check(&detector), rc == 0);
    }
    assert_int_equal(n, 4);
    assert_int_equal(rc, 0);
    ki_mutation_detector_fini(&detector);
    (void)ki_object_unref(object);
}

/* ---- log and abort ------------------------------------------------------------------------------------- */

typedef struct logged {
    int errors;
    int warnings;
    char key[64];
    char before[32];
    char after[32];
} logged;

static void on_log(const ki_log_record *record, void *user)
{
    logged *l = user;
    l->errors += record->level == KI_LOG_ERROR;
    l->warnings += record->level == KI_LOG_WARNING;
    for (size_t i = 0; i < record->field_count; i++) {
        const ki_log_field *field = &record->fields[i];
        char *to = strcmp(field->name, "key") == 0      ? l->key
                   : strcmp(field->name, "before") == 0 ? l->before
                                                        : l->after;
        snprintf(to, 32, "%.*s", KI_STR_ARGS(field->value));
    }
}

static void a_mutation_is_logged_with_both_fingerprints(void **state)
{
    (void)state;
    ki_mutation_detector detector;
    logged l = {0};
    ki_object *object = object_named("one");
    ki_set_log(on_log, KI_LOG_WARNING, &l);
    assert_int_equal(
        ki_mutation_detector_init(&detector, &(ki_mutation_detector_options){.mode = KI_MUTATION_REPORT}), 0);
    assert_int_equal(l.warnings, 1);
    assert_int_equal(ki_mutation_detector_add(&detector, object), 0);
    *byte_of(object) ^= 1;
    assert_int_equal(ki_mutation_detector_check(&detector), 1);
    ki_mutation_detector_fini(&detector);
    ki_set_log(NULL, KI_LOG_ERROR, NULL);
    assert_int_equal(l.errors, 1);
    assert_string_equal(l.key, "default/one");
    assert_int_equal(strlen(l.before), 16);
    assert_int_equal(strlen(l.after), 16);
    assert_string_not_equal(l.before, l.after);
    (void)ki_object_unref(object);
}

/* Runs in the child. Its exit status shows that the check did not end the process. */
static void mutate_and_check(ki_mutation_mode mode)
{
    ki_mutation_detector detector;
    reports r;
    ki_object *object = object_named("one");
    detector_init(&detector, mode, &r);
    if (ki_mutation_detector_add(&detector, object) < 0)
        _exit(1);
    *byte_of(object) ^= 1;
    (void)ki_mutation_detector_check(&detector);
    _exit(r.count == 1 ? 2 : 3);
}

static int status_of_child(ki_mutation_mode mode)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGABRT, SIG_DFL);
        mutate_and_check(mode);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_mutation_aborts_the_process_by_option(void **state)
{
    (void)state;
    int aborted = status_of_child(KI_MUTATION_ABORT);
    int reported = status_of_child(KI_MUTATION_REPORT);
    assert_true(WIFSIGNALED(aborted));
    assert_int_equal(WTERMSIG(aborted), SIGABRT);
    assert_true(WIFEXITED(reported));
    assert_int_equal(WEXITSTATUS(reported), 2);
}

static void the_environment_is_read_as_go_reads_a_boolean(void **state)
{
    (void)state;
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "false", "", "tRUE", "yes", "on", " 1", "1 ", "2"};
    unsetenv("KUBE_CACHE_MUTATION_DETECTOR");
    assert_int_equal(ki_mutation_detector_mode_from_environment(), KI_MUTATION_OFF);
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        assert_int_equal(setenv("KUBE_CACHE_MUTATION_DETECTOR", yes[i], 1), 0);
        assert_int_equal(ki_mutation_detector_mode_from_environment(), KI_MUTATION_ABORT);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        assert_int_equal(setenv("KUBE_CACHE_MUTATION_DETECTOR", no[i], 1), 0);
        assert_int_equal(ki_mutation_detector_mode_from_environment(), KI_MUTATION_OFF);
    }
    unsetenv("KUBE_CACHE_MUTATION_DETECTOR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(untouched_objects_pass),
        WITH_MEMORY_CHECK(a_changed_byte_is_reported_with_its_key),
        WITH_MEMORY_CHECK(one_change_is_reported_once_and_the_next_again),
        WITH_MEMORY_CHECK(a_removed_object_is_checked),
        WITH_MEMORY_CHECK(a_removed_object_is_kept_until_its_report_is_requested),
        WITH_MEMORY_CHECK(a_removed_object_is_reported_by_fini_at_the_latest),
        WITH_MEMORY_CHECK(fini_checks_the_remaining_objects),
        WITH_MEMORY_CHECK(a_change_of_any_byte_is_found),
        WITH_MEMORY_CHECK(a_change_of_any_constant_header_field_is_found),
        WITH_MEMORY_CHECK(references_and_unescaping_are_not_mutations),
        WITH_MEMORY_CHECK(the_detector_keeps_its_objects),
        WITH_MEMORY_CHECK(an_object_added_twice_is_watched_until_it_is_removed_twice),
        WITH_MEMORY_CHECK(a_disabled_detector_watches_nothing),
        WITH_MEMORY_CHECK(when_out_of_memory_an_object_is_not_watched),
        WITH_MEMORY_CHECK(a_mutation_is_logged_with_both_fingerprints),
        WITH_MEMORY_CHECK(a_mutation_aborts_the_process_by_option),
        WITH_MEMORY_CHECK(the_environment_is_read_as_go_reads_a_boolean),
    };
    return RUN_TESTS(tests);
}
