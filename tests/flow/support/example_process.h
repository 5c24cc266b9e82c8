/* SPDX-License-Identifier: Apache-2.0 */
/* example_process - a program of examples/ as a child of the test.
 *
 *   From:     tests/flow/example/test_example_*.c
 *   To:       $KI_EXAMPLES, the folder of the programs
 *   Not here: what it should do; see sample_world.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_EXAMPLE_PROCESS_H
#define KI_TESTS_FLOW_SUPPORT_EXAMPLE_PROCESS_H

#include <sys/types.h>

typedef struct example_process {
    pid_t pid;
    int input; /* the test's end of its standard input */
} example_process;

/* `line`: its arguments, separated by spaces. */
void example_start(example_process *p, const char *program, const char *line);

void example_signal(const example_process *p, int number);

/* Waits; fails the test unless it exits with 0. */
void example_wait(example_process *p);

/* Sends SIGTERM and waits likewise. */
void example_end(example_process *p);

/* Sends SIGKILL and waits. */
void example_kill(example_process *p);

/* The same for a process that a failed test has left; a zeroed struct is allowed. */
void example_discard(example_process *p);

#endif
