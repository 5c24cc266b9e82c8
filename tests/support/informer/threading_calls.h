/* SPDX-License-Identifier: Apache-2.0 */
/* threading_calls - the calls in the table of docs/threading.md, and checks of their effects.
 *
 *   From:     unit/informer/test_threading.c
 *   To:       support/informer/threading_stage.h
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_THREADING_CALLS_H
#define KI_TESTS_SUPPORT_INFORMER_THREADING_CALLS_H

#include "support/informer/threading_stage.h"

/* Each makes the calls of one row. Returns 0, or the error of the library. */
int call_read_without_waiting(stage *s);
int call_read_lists(stage *s);
int call_add_handler(stage *s);
int call_add_index(stage *s);
int call_start(stage *s);
int call_stop(stage *s);
int call_free_informer(stage *s);
int call_wait_for_sync(stage *s);
int call_wait_for_version(stage *s);
int call_ask_informer(stage *s);
int call_remove_handler(stage *s);
int call_remove_handler_and_wait(stage *s);
int call_ask_registration(stage *s);
int call_wait_for_handler(stage *s);
int call_use_factory(stage *s);
int call_stop_factory(stage *s);
int call_free_factory(stage *s);
int call_remove_from_factory(stage *s);
int call_wait_for_factory(stage *s);
int call_fill_queue(stage *s);
int call_pop_waiting(stage *s);
int call_pop_at_once(stage *s);
int call_dispatch(stage *s);
int call_free_client(stage *s);
int call_write_store(stage *s);
int call_free_store(stage *s);

/* Each returns whether the calls of a row have had their effect. */
int stage_has_nothing_to_show(stage *s);
int stage_is_late_synced(stage *s);
int stage_has_index(stage *s);
int stage_is_fresh_synced(stage *s);
int stage_is_informer_stopped(stage *s);
int stage_is_informer_gone(stage *s);
int stage_is_handler_gone(stage *s);
int stage_is_factory_synced(stage *s);
int stage_is_factory_stopped(stage *s);
int stage_is_factory_gone(stage *s);
int stage_is_one_gone(stage *s);
int stage_is_client_gone(stage *s);
int stage_is_store_gone(stage *s);

#endif
