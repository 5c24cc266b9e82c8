/* SPDX-License-Identifier: Apache-2.0 */
/* example_process - a program of examples/ as a child of the test.
 *
 *   From:     tests/flow/test_example_*.c
 *   To:       $KI_EXAMPLES, where the programs are
 *   Not here: what it is to do; see sample_world.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_EXAMPLE_PROCESS_H
#define KI_TESTS_FLOW_SUPPORT_EXAMPLE_PROCESS_H

#include <sys/types.h>

typedef struct example_process {
    pid_t pid;
    int input; /* its standard input; its end is that of the test's */
} example_process;

/* `line`: its words, with a space between them. */
void example_start(example_process *p, const char *program, const char *line);

void example_signal(const example_process *p, int number);

/* Fails the test unless it ends with 0. */
void example_wait(example_process *p);

/* SIGTERM, and the same. */
void example_end(example_process *p);

/* SIGKILL. */
void example_kill(example_process *p);

#endif
