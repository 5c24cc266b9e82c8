/* SPDX-License-Identifier: Apache-2.0 */
/* loop_work - the work of an informer on a foreign event loop, and the checks of it.
 *
 *   From:     tests/loops/test_on_*.c, which poll the client's descriptor and nothing else
 *   To:       the embedded API server
 *
 * A program polls ki_client_fd() and calls loop_work_go_on() each time it is readable, until that returns 1.
 * The steps: 1,000 pods are listed; one is updated, one deleted; the informer is stopped and started between
 * two dispatches; the server is down until the informer waits for ten minutes, and ki_informer_retry_now()
 * ends the wait. If a wake-up is lost, the loop polls for ever, and SIGALRM ends the program.
 */
#ifndef KI_TESTS_LOOPS_LOOP_WORK_H
#define KI_TESTS_LOOPS_LOOP_WORK_H

#include <kinformer.h>

typedef struct loop_work {
    ki_apiserver *server;
    ki_client *client;
    ki_factory *factory;
    ki_informer *pods;
    ki_registration *handler;
    ki_mode mode;
    uint64_t budget_ms;
    int adds;
    int updates;
    int deletes;
    int syncs;
    int batches; /* before the sync; after it, counted from 0 */
    int stops;   /* dispatches that left work undone */
    int step;
} loop_work;

/* Ends the program with a failure if the condition does not hold. */
#define LOOP_REQUIRE(condition)                                                                              \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            loop_work_fail(__FILE__, __LINE__, #condition);                                                  \
    } while (0)
_Noreturn void loop_work_fail(const char *file, int line, const char *condition);

/* Starts a server and an informer in KI_MODE_EVENT_LOOP or KI_MODE_HANDLERS_ON_LOOP. In the latter mode the
 * last step is left out, because nothing wakes the loop while the library's threads wait. */
void loop_work_begin(loop_work *work, ki_mode mode, uint64_t budget_ms);

/* Dispatches once, and takes the next step if it is due. Returns 1 after the last step. */
int loop_work_go_on(loop_work *work);

void loop_work_end(loop_work *work);

#endif
