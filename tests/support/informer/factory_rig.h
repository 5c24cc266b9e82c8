/* SPDX-License-Identifier: Apache-2.0 */
/* factory_rig - a factory whose informers list from a local source. */
#ifndef KI_TESTS_SUPPORT_INFORMER_FACTORY_RIG_H
#define KI_TESTS_SUPPORT_INFORMER_FACTORY_RIG_H

#include <kinformer/factory.h>

#include "support/informer/informer_rig.h"

typedef struct factory_rig {
    local_rig rig; /* without its informer */
    ki_factory *factory;
} factory_rig;

void factory_rig_init_with(factory_rig *r, const ki_factory_options *options);
/* Retries come after short delays. */
void factory_rig_init(factory_rig *r);
void factory_rig_fini(factory_rig *r);
/* Starts it and waits for all informers. */
void factory_rig_sync(factory_rig *r);

#endif
