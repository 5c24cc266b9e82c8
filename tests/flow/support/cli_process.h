/* SPDX-License-Identifier: Apache-2.0 */
/* cli_process - the program kinformer as a child process whose output is collected. */
#ifndef KI_TESTS_FLOW_SUPPORT_CLI_PROCESS_H
#define KI_TESTS_FLOW_SUPPORT_CLI_PROCESS_H

#include <sys/types.h>

#include "support/client/scripted_http.h"
#include "support/text_log.h"

typedef struct cli_process {
    pid_t pid;
    int out; /* its output; -1: closed */
    int err;
    text_log written;
    text_log said;
} cli_process;

/* Runs `kinformer watch` with words separated by spaces, against the server;
 * NULL: the words name the server. */
void cli_process_start(cli_process *p, const scripted_http *server, const char *line);

/* Frees the collected output. The process must have ended. */
void cli_process_free(cli_process *p);

/* Reads the output of a moment. Returns 0 when both outputs have ended. */
int cli_process_read(cli_process *p);

/* Matches any text up to the next quotation mark. */
#define ANY_TEXT "\x01"
/* The beginning of a line of `-o events`. */
#define HEAD(type, resource) "{\"type\":\"" type "\",\"resource\":\"" resource "\",\"time\":\"" ANY_TEXT "\","

/* `part` may contain ANY_TEXT. */
int cli_process_has(const text_log *log, const char *part);

/* Reads until `log`, one of the two, contains it; fails the test if that takes too long. */
void cli_process_wait_for(cli_process *p, const text_log *log, const char *part);

/* Reads to the end. Returns the exit status of the process. */
int cli_process_finish(cli_process *p);

/* Ends it with a signal, and fails the test unless it exits with 0 within a second.
 * Its output may have been read or not. */
void cli_process_stop(cli_process *p, int number);

#endif
