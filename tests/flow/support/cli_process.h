/* SPDX-License-Identifier: Apache-2.0 */
/* cli_process - the program kinformer as a child, whose output is read and kept. */
#ifndef KI_TESTS_FLOW_SUPPORT_CLI_PROCESS_H
#define KI_TESTS_FLOW_SUPPORT_CLI_PROCESS_H

#include <sys/types.h>

#include "support/scripted_http.h"
#include "support/text_log.h"

typedef struct cli_process {
    pid_t pid;
    int out; /* what it writes; -1: closed */
    int err;
    text_log written;
    text_log said;
} cli_process;

/* Runs `kinformer watch` with words that have a space between them, against the server;
 * NULL: one that they name. */
void cli_process_start(cli_process *p, const scripted_http *server, const char *line);

/* Frees what was kept. The process has ended. */
void cli_process_free(cli_process *p);

/* Reads what comes within a moment. Returns 0 when both have ended. */
int cli_process_read(cli_process *p);

/* Stands for any text up to the next quotation mark. */
#define ANY_TEXT "\x01"
/* How a line of `-o events` begins. */
#define HEAD(type, resource) "{\"type\":\"" type "\",\"resource\":\"" resource "\",\"time\":\"" ANY_TEXT "\","

/* `part` may have ANY_TEXT in it. */
int cli_process_has(const text_log *log, const char *part);

/* Reads until `log`, one of the two, has it; fails the test when that takes too long. */
void cli_process_wait_for(cli_process *p, const text_log *log, const char *part);

/* Reads to the end. Returns what the process has ended with. */
int cli_process_finish(cli_process *p);

/* Ends it by a signal, and fails the test unless that gives 0 within a second.
 * It may be read from, or not. */
void cli_process_stop(cli_process *p, int number);

#endif
