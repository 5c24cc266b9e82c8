/* SPDX-License-Identifier: Apache-2.0 */
/* exec_plugin - runs a user's exec plug-in beside the loop and says what came of it.
 *
 *   From:     config/credentials.c
 *   To:       config/exec_process.h, config/exec_reaper.h, config/exec_info.h, config/exec_credential.h
 *   Locks:    none; io's.
 *   Not here: how long a credential is used; who waits for it.
 *
 * Nothing here waits for the child: the loop watches its output and its end, and a timer kills it when its
 * time is over. Where the system cannot watch one of them, the timer looks now and then.
 */
#ifndef KI_CONFIG_EXEC_PLUGIN_H
#define KI_CONFIG_EXEC_PLUGIN_H

#include "config/config.h"
#include "config/exec_credential.h"
#include "config/exec_process.h"
#include "util/loop/fd_watch.h"

#define KI_EXEC_LIMIT_MS 60000
#define KI_EXEC_POLL_MS 20
#define KI_EXEC_REAP_MS 100

/* Called on io, once for each start that succeeded and was not ended by ki_exec_plugin_fini(). `credential`
 * is taken by the callee, or NULL, and `err` says why. */
typedef void (*ki_exec_plugin_cb)(ki_exec_credential *credential, const ki_error *err, void *user);

/* A zeroed one was never made. */
typedef struct ki_exec_plugin {
    const ki_config *config; /* constant, as the next two */
    ki_exec_plugin_cb on_end;
    void *user;
    ki_job job;             /* its time; and what cannot be watched */
    ki_fd_watch watches[3]; /* output, error output, end; not on a loop without a descriptor */
    ki_exec_process process;
    bool is_running;
    uint64_t deadline_ns;
} ki_exec_plugin;

/* The config has an exec and outlives this. Fill in on_end and user afterwards. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_plugin_init(ki_exec_plugin *plugin, const ki_config *config, ki_loop *loop);

/* Ends a plug-in that runs. */
void ki_exec_plugin_fini(ki_exec_plugin *plugin);

/* It does not run. Returns 0; KI_ERR_CONFIG, which names plug-in and user and has the install hint;
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_plugin_start(ki_exec_plugin *plugin, ki_error *err);

#endif
