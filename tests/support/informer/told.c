/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/told.h"

#include "support/unit.h"

void told_init_with(told *t, const ki_informer_options *options, void (*adjust)(ki_handler *handler))
{
    heard_init(&t->what);
    virtual_rig_init(&t->rig, options);
    ki_handler handler = heard_handler(&t->what);
    if (adjust != NULL)
        adjust(&handler);
    t->registration = ki_informer_add_handler(t->rig.informer, &handler, NULL);
    assert_non_null(t->registration);
}

void told_init(told *t)
{
    told_init_with(t, NULL, NULL);
}

void told_fini(told *t)
{
    virtual_rig_fini(&t->rig);
    assert_int_equal(t->what.releases, 1);
    assert_int_equal(t->what.wrongs, 0);
    heard_fini(&t->what);
}

void told_assert_all(told *t)
{
    assert_int_equal(heard_differences(&t->what, ki_informer_store(t->rig.informer)), 0);
    assert_int_equal(t->what.wrongs, 0);
}
