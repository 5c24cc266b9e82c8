/* SPDX-License-Identifier: Apache-2.0 */
/* informer_world - an informer of ConfigMaps against a scripted server, in each mode. */
#ifndef KI_TESTS_FLOW_SUPPORT_INFORMER_WORLD_H
#define KI_TESTS_FLOW_SUPPORT_INFORMER_WORLD_H

#include <kinformer.h>
#include <stdbool.h>

#include "support/client/scripted_http.h"

/* Every mode in which a client can run. */
enum { INFORMER_WORLD_MODES = 3 };
extern const int informer_world_modes[INFORMER_WORLD_MODES];

typedef struct informer_world {
    int mode;
    scripted_http *server;
    ki_client *client;
    ki_informer *informer;
} informer_world;

/* `w->mode` must be set. Lists are not streamed unless the options say so, and retries come soon. */
void informer_world_init(informer_world *w, scripted_serve_cb serve, const ki_informer_options *options);
void informer_world_fini(informer_world *w);

/* Does what a program would do in this mode, for a moment. */
void informer_world_live(informer_world *w);

typedef bool (*informer_world_cb)(informer_world *w);
/* Does so until the condition is met. */
void informer_world_wait(informer_world *w, informer_world_cb is_met);
ki_informer_status informer_world_status(informer_world *w);

#endif
