/* SPDX-License-Identifier: Apache-2.0 */
/* output - buffered output to stdout that ends quietly when its reader closes the pipe.
 *
 *   From:     cli/event_writer.c, cli/stats.c, cli/demo/, cli/cmd_watch.c, cli/resource_lookup.c, cli/watch.c
 *   To:       a descriptor
 *   Locks:    none.
 *   Not here: the content.
 *
 * It allocates nothing. After the first failure nothing more is written, and the state has the reason.
 */
#ifndef KI_CLI_OUTPUT_H
#define KI_CLI_OUTPUT_H

#include <kinformer/common.h>

typedef enum cli_output_state {
    CLI_OUTPUT_OPEN = 0,
    CLI_OUTPUT_CLOSED,  /* the reader has closed it: the program ends successfully */
    CLI_OUTPUT_STOPPED, /* the program should end, and the reader does not read */
    CLI_OUTPUT_FAILED   /* see `error`: a full disk */
} cli_output_state;

enum { CLI_OUTPUT_BYTES = 64 * 1024 };

typedef struct cli_output {
    int fd;
    int is_terminal;         /* the output is a terminal, which interprets control characters */
    int (*is_stopped)(void); /* the program should end: do not wait for the reader. NULL for never */
    cli_output_state state;
    int error; /* an errno */
    size_t len;
    char bytes[CLI_OUTPUT_BYTES];
} cli_output;

void cli_output_init(cli_output *output, int fd, int (*is_stopped)(void));

void cli_output_put(cli_output *output, ki_str text);
void cli_output_put_text(cli_output *output, const char *text);
void cli_output_put_number(cli_output *output, uint64_t number);

/* For people: control characters become '?', so that the text stays on one line. */
void cli_output_put_plain(cli_output *output, ki_str text);

/* Writes JSON as a server has sent it. For a terminal, control characters that JSON allows in its strings
 * (DEL, U+0080 to U+009F, and the others in cli/control.h) are written as "\u007f". */
void cli_output_put_json(cli_output *output, ki_str json);

/* Writes a JSON string with its quotes; control characters are escaped. Invalid UTF-8 becomes U+FFFD. */
void cli_output_put_json_string(cli_output *output, ki_str text);

void cli_output_flush(cli_output *output);

/* Returns 1 if the reader is gone, even if nothing was written since. Does not wait. */
int cli_output_is_closed(cli_output *output);

#endif
