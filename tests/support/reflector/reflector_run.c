/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reflector/reflector_run.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

static void log_change(reflector_run *run, const ki_change *change)
{
    static const char *const names[] = {
        [KI_CHANGE_ADDED] = "ADDED",       [KI_CHANGE_UPDATED] = "UPDATED", [KI_CHANGE_DELETED] = "DELETED",
        [KI_CHANGE_REPLACED] = "REPLACED", [KI_CHANGE_SEEN] = "SEEN",       [KI_CHANGE_LIST_END] = "END",
        [KI_CHANGE_BOOKMARK] = "BOOKMARK", [KI_CHANGE_RESET] = "RESET"};
    text_log *log = &run->changes;
    text_log_add(log, "%s", names[change->change_type]);
    if (change->list != 0)
        text_log_add(log, " %u", change->list);
    if (change->object != NULL)
        text_log_add(log, " %s@%.*s", ki_object_key(change->object),
                     KI_STR_ARGS(ki_object_resource_version(change->object)));
    if (change->key.len > 0)
        text_log_add(log, " %.*s", KI_STR_ARGS(change->key));
    if (change->version.len > 0)
        text_log_add(log, " %.*s", KI_STR_ARGS(change->version));
    text_log_add(log, "\n");
}

static int on_change(const ki_change *change, void *user)
{
    reflector_run *run = user;
    if (run->refuse_after > 0 && --run->refuse_after == 0)
        return KI_ERR_NO_MEMORY;
    log_change(run, change);
    run->doubtful_items += change->is_doubtful ? 1 : 0;
    return run->is_full;
}

static void on_error(const ki_informer_error *error, void *user)
{
    reflector_run *run = user;
    assert_non_null(error->error);
    assert_true(error->error->code < 0);
    assert_true(error->error->message[0] != 0);
    text_log_add(&run->errors, "%s", ki_reason_name(error->reason));
    if (error->http_status != 0)
        text_log_add(&run->errors, " %d", error->http_status);
    if (error->key[0] != 0)
        text_log_add(&run->errors, " %s", error->key);
    text_log_add(&run->errors, "\n");
    run->last_retry_ms = error->retry_ms;
    run->last_success_ms = error->since_success_ms;
    run->last_code = error->error->code;
}

static void on_status(void *user)
{
    reflector_run *run = user;
    ki_informer_status status = reflector_run_status(run);
    assert_true(status.phase != KI_PHASE_BACKING_OFF || status.reason != KI_REASON_NONE);
    text_log_add(&run->statuses, "%s %s\n", ki_phase_name(status.phase), ki_reason_name(status.reason));
}

static void schedule(uint64_t due_ns, void *user)
{
    reflector_run *run = user;
    run->due_ns = due_ns;
}

void reflector_run_init(reflector_run *run)
{
    ki_error err = {0};
    *run = (reflector_run){
        .due_ns = UINT64_MAX, .informer.watch_list = KI_WATCH_LIST_NEVER, .wire = KI_WIRE_JSON};
    ki_clock_init_virtual(&run->clock, 1000 * KI_NS_PER_S, 0);
    scripted_source_init(&run->source);
    run->plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, &err);
    assert_non_null(run->plan);
}

void reflector_run_restart(reflector_run *run, const char *version)
{
    ki_resource_version from = {0};
    assert_int_equal(ki_resource_version_set(&from, ki_str_of(version)), 0);
    ki_reflector_begin(&run->reflector, &from);
    ki_resource_version_clear(&from);
}

static void init_reflector(reflector_run *run)
{
    ki_error err = {0};
    ki_reflector_options options = {.list_watch = scripted_source_list_watch(&run->source),
                                    .plan = run->plan,
                                    .informer = &run->informer,
                                    .clock = &run->clock,
                                    .seed = 7,
                                    .on_change = on_change,
                                    .on_error = on_error,
                                    .on_status = on_status,
                                    .schedule = schedule,
                                    .user = run,
                                    .streams = &run->streams,
                                    .wires = &run->wires,
                                    .wire = run->wire,
                                    .resource = &KI_CORE_V1_PODS};
    options.list_watch.no_watch_list = (int)run->no_watch_list;
    options.list_watch.tells_sent = run->tells_sent;
    assert_int_equal(ki_reflector_init(&run->reflector, &options, &err), 0);
    run->is_begun = 1;
}

void reflector_run_start(reflector_run *run, const char *version)
{
    init_reflector(run);
    reflector_run_restart(run, version);
}

void reflector_run_start_listing(reflector_run *run, const char *version)
{
    init_reflector(run);
    ki_reflector_require_list(&run->reflector);
    reflector_run_restart(run, version);
}

void reflector_run_start_with(reflector_run *run, ki_watch_list choice)
{
    run->informer.watch_list = choice;
    reflector_run_start(run, "");
}

void reflector_run_fini(reflector_run *run)
{
    if (run->is_begun) {
        ki_reflector_halt(&run->reflector);
        assert_true(run->due_ns == UINT64_MAX);
        ki_reflector_fini(&run->reflector);
        assert_int_equal(run->source.releases, 1);
    }
    ki_object_plan_free(run->plan);
    ki_wire_memory_fini(&run->wires);
    scripted_source_fini(&run->source);
    text_log_free(&run->changes);
    text_log_free(&run->errors);
    text_log_free(&run->statuses);
}

/* Advances to `end_ns`, or to the next due time before it. Returns whether something was due. */
static int pass_until(reflector_run *run, uint64_t end_ns)
{
    uint64_t now = ki_clock_now_ns(&run->clock);
    if (run->due_ns > end_ns) {
        ki_clock_set_now_ns(&run->clock, end_ns);
        return 0;
    }
    if (run->due_ns > now)
        ki_clock_set_now_ns(&run->clock, run->due_ns);
    run->due_ns = UINT64_MAX;
    ki_reflector_tick(&run->reflector);
    return 1;
}

void reflector_run_wait_ms(reflector_run *run, uint64_t ms)
{
    uint64_t end = ki_clock_now_ns(&run->clock) + ms * KI_NS_PER_MS;
    unsigned ticks = 0;
    while (pass_until(run, end))
        assert_true(ticks++ < 10000); /* else a timer would be due for ever */
}

/* A watch that is retried after a failure has not been answered yet, so the phase has not changed. */
static int is_still(reflector_run *run, ki_phase phase)
{
    int is_trying = phase == KI_PHASE_BACKING_OFF && run->reflector.doing != KI_STEP_NONE;
    return reflector_run_status(run).phase == phase && !is_trying;
}

uint64_t reflector_run_wait_while(reflector_run *run, ki_phase phase)
{
    uint64_t begin = ki_clock_now_ns(&run->clock);
    while (is_still(run, phase))
        assert_true(pass_until(run, begin + 3600 * KI_NS_PER_S));
    return (ki_clock_now_ns(&run->clock) - begin) / KI_NS_PER_MS;
}

void reflector_run_fail(reflector_run *run, int http_status, int times)
{
    for (int i = 0; i < times; i++) {
        scripted_error(&run->source, http_status, "");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

void reflector_run_start_watching(reflector_run *run)
{
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\n");
    expect_errors(run, "");
    text_log_clear(&run->source.requests);
}

ki_informer_status reflector_run_status(reflector_run *run)
{
    ki_informer_status status = {0};
    ki_reflector_read_status(&run->reflector, &status);
    return status;
}

int reflector_run_setup(void **state)
{
    static reflector_run run;
    failing_allocator_install();
    reflector_run_init(&run);
    *state = &run;
    return 0;
}

int reflector_run_teardown(void **state)
{
    reflector_run_fini(*state);
    return failing_allocator_teardown(state);
}
