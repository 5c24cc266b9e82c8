/* SPDX-License-Identifier: Apache-2.0 */
/* event_writer - events as text: lines for people, or JSON Lines for programs.
 *
 *   From:     cli/watch.c
 *   To:       cli/output.c
 *   Locks:    none.
 *
 * `-o events` is a contract with programs. Each of its lines is flushed; the other formats are flushed at the
 * end of a batch.
 */
#ifndef KI_CLI_EVENT_WRITER_H
#define KI_CLI_EVENT_WRITER_H

#include <kinformer/handler.h>
#include <kinformer/informer.h>

#include "cli/output.h"
#include "cli/resource_list.h"

/* In the order of CLI_FORMATS. */
typedef enum cli_format {
    CLI_FORMAT_LINES = 0, /* a line for each event */
    CLI_FORMAT_EVENTS,
    CLI_FORMAT_JSON, /* the object alone, on one line */
    CLI_FORMAT_NAME, /* "pod/web" */
    CLI_FORMAT_NONE
} cli_format;

#define CLI_FORMATS "lines|events|json|name|none"

typedef struct cli_event_writer {
    cli_output *output;
    cli_format format;
    int shows_resource; /* there are several resources */
    int shows_namespace;
    int has_title;
    int key_width; /* grows with the output */
    int resource_width;
} cli_event_writer;

void cli_event_writer_event(cli_event_writer *writer, const cli_resource *resource, const ki_event *event);

/* `objects` is the number of objects reported so far, minus deleted ones. */
void cli_event_writer_synced(cli_event_writer *writer, const cli_resource *resource, uint64_t objects,
                             const char *version);

void cli_event_writer_status(cli_event_writer *writer, const cli_resource *resource,
                             const ki_informer_status *status);

/* A batch of events has ended. */
void cli_event_writer_batch_end(cli_event_writer *writer);

#endif
