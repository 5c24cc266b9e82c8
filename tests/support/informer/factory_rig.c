/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/factory_rig.h"

#include "support/patience.h"
#include "support/unit.h"

void factory_rig_init_with(factory_rig *r, const ki_factory_options *options)
{
    local_rig_init(&r->rig, (ki_client_options){0});
    ki_informer_free(r->rig.informer);
    r->rig.informer = NULL;
    r->factory = ki_factory_new(r->rig.client, options);
    assert_non_null(r->factory);
}

void factory_rig_init(factory_rig *r)
{
    factory_rig_init_with(r, &(ki_factory_options){.informer = {.backoff_ms = 10}});
}

void factory_rig_fini(factory_rig *r)
{
    ki_factory_free(r->factory);
    local_rig_fini(&r->rig);
}

void factory_rig_sync(factory_rig *r)
{
    ki_error err = {0};
    assert_int_equal(ki_factory_start(r->factory, &err), 0);
    assert_int_equal(ki_factory_wait_for_sync(r->factory, HANG_MS, &err), 0);
}
