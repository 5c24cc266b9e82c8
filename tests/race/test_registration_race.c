/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers are removed while a call waits for them, and parts of a program release an informer at the same
 * time. Every wait must end, and nothing that another thread has freed may be used: most useful under a
 * sanitizer. Threads are the library's, and those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/resources.h>

#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/unit.h"

enum { ROUNDS = 60, LEAVES = 150, SOON_MS = 800, PARTS = 2 };

static void nothing(const ki_event *event, void *user)
{
    (void)event;
    (void)user;
}

/* ---- a handler that removes itself ------------------------------------------------------------------- */

typedef struct leaver {
    _Atomic(ki_registration *) registration;
    atomic_int is_waited_for;
    atomic_int releases;
} leaver;

static void remove_itself(const ki_event *event, void *user)
{
    leaver *self = user;
    (void)event;
    while (!self->is_waited_for)
        aside_pause(1);
    aside_pause(2); /* lets the wait begin */
    ki_registration_remove(self->registration);
}

static void count_release(void *user)
{
    leaver *self = user;
    self->releases++;
}

static void a_handler_may_remove_itself_while_it_is_waited_for(void **state)
{
    (void)state;
    local_rig rig;
    local_rig_init(&rig, (ki_client_options){0});
    local_rig_sync(&rig);
    for (int i = 0; i < ROUNDS; i++) {
        leaver self = {.registration = NULL};
        self.registration = ki_informer_add_handler(
            rig.informer, &(ki_handler){.on_add = remove_itself, .on_release = count_release, .user = &self},
            NULL);
        self.is_waited_for = 1;
        assert_int_equal(ki_registration_wait_for_sync(self.registration, HANG_MS, NULL), KI_ERR_STOPPED);
        while (self.releases == 0)
            aside_pause(1);
    }
    local_rig_fini(&rig);
}

/* ---- two parts of a program release the informer at the same time -------------------------------------- */

typedef struct part {
    ki_factory *factory;
    ki_informer *informer;
    ki_registration *registration;
    atomic_int *may_go;
    bool is_patient;
    int removed; /* the result of ki_factory_remove() */
} part;

static void leave(void *user)
{
    part *self = user;
    while (!*self->may_go)
        continue;
    if (self->is_patient)
        (void)!ki_registration_remove_and_wait(self->registration);
    else
        ki_registration_remove(self->registration);
    self->removed = ki_factory_remove(self->factory, self->informer);
}

static void leave_at_once(ki_factory *factory, bool is_patient)
{
    atomic_int may_go = 0;
    part parts[PARTS];
    aside calls[PARTS];
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    for (int i = 0; i < PARTS; i++)
        parts[i] =
            (part){factory, pods,       ki_informer_add_handler(pods, &(ki_handler){.on_add = nothing}, NULL),
                   &may_go, is_patient, -1};
    assert_int_equal(ki_factory_start(factory, NULL), 0);
    for (int i = 0; i < PARTS; i++)
        aside_start(&calls[i], leave, &parts[i]);
    may_go = 1;
    for (int i = 0; i < PARTS; i++)
        aside_join(&calls[i]);
    assert_true(parts[0].removed == 0 || parts[1].removed == 0); /* the last one removes it */
}

static void parts_may_release_an_informer_at_the_same_time(void **state)
{
    (void)state;
    local_rig rig;
    local_rig_init(&rig, (ki_client_options){0});
    ki_factory *factory = ki_factory_new(rig.client, NULL);
    for (int i = 0; i < LEAVES; i++)
        leave_at_once(factory, i % 2 == 0);
    ki_factory_free(factory);
    local_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_handler_may_remove_itself_while_it_is_waited_for),
        WITH_MEMORY_CHECK(parts_may_release_an_informer_at_the_same_time),
    };
    return RUN_TESTS(tests);
}
