/* SPDX-License-Identifier: Apache-2.0 */
/* output - what goes to stdout: gathered, written whole, and given up quietly when nobody reads it any more.
 *
 *   From:     cli/event_writer.c, cli/stats.c
 *   To:       a descriptor
 *   Locks:    none.
 *   Not here: what is written.
 *
 * It allocates nothing. After the first failure nothing more is written, and the state says why.
 */
#ifndef KI_CLI_OUTPUT_H
#define KI_CLI_OUTPUT_H

#include <kinformer/common.h>

typedef enum cli_output_state {
    CLI_OUTPUT_OPEN = 0,
    CLI_OUTPUT_CLOSED,  /* nobody reads it: the program ends, and all is well */
    CLI_OUTPUT_STOPPED, /* the program is to end, and the reader does not read */
    CLI_OUTPUT_FAILED   /* `error` says why: a full disk */
} cli_output_state;

enum { CLI_OUTPUT_BYTES = 64 * 1024 };

typedef struct cli_output {
    int fd;
    int is_terminal;         /* which obeys control characters */
    int (*is_stopped)(void); /* the program is to end: a reader is not waited for any more. NULL: never */
    cli_output_state state;
    int error; /* an errno */
    size_t len;
    char bytes[CLI_OUTPUT_BYTES];
} cli_output;

void cli_output_init(cli_output *output, int fd, int (*is_stopped)(void));

void cli_output_put(cli_output *output, ki_str text);
void cli_output_put_text(cli_output *output, const char *text);
void cli_output_put_number(cli_output *output, uint64_t number);

/* For people: each control character becomes '?', so that it is one line whatever the text is. */
void cli_output_put_plain(cli_output *output, ki_str text);

/* JSON as a server has written it; for a terminal, control characters that JSON allows in its strings (DEL,
 * and U+0080 to U+009F) are written as "\u007f". */
void cli_output_put_json(cli_output *output, ki_str json);

/* A string of JSON, with its quotes and without control characters. What is no UTF-8 becomes U+FFFD. */
void cli_output_put_json_string(cli_output *output, ki_str text);

void cli_output_flush(cli_output *output);

/* Returns 1 when the reader has gone, also when nothing was written since. Waits for nothing. */
int cli_output_is_closed(cli_output *output);

#endif
