/* SPDX-License-Identifier: Apache-2.0 */
/* told - an informer under a virtual clock with one handler that is added before the start.
 *
 *   From:     tests of handlers
 *   To:       support/informer/informer_rig.h, support/informer/heard.h
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_TOLD_H
#define KI_TESTS_SUPPORT_INFORMER_TOLD_H

#include "support/informer/informer_rig.h"

typedef struct told {
    virtual_rig rig;
    heard what;
    ki_registration *registration;
} told;

void told_init(told *t);

/* Both may be NULL; `adjust` changes the handler before it is registered. */
void told_init_with(told *t, const ki_informer_options *options, void (*adjust)(ki_handler *handler));

/* Frees the informer, and fails the test unless on_release was called once, as the last call. */
void told_fini(told *t);

/* Fails the test unless the handler's calls give the same objects as the store. */
void told_assert_all(told *t);

#endif
