/* SPDX-License-Identifier: Apache-2.0 */
/* exec_plugin - runs a user's exec plug-in without blocking the loop, and reports the result.
 *
 *   From:     credentials/credentials.c
 *   To:       credentials/exec_process.h, credentials/exec_reaper.h, credentials/exec_info.h,
 *             credentials/exec_credential.h
 *   Locks:    none; io only.
 *   Not here: how long a credential is used; waiters.
 *
 * Nothing here waits for the child: the loop watches its output and its end, and a timer kills it after a
 * timeout. What the system cannot watch is polled by the timer.
 */
#ifndef KI_CREDENTIALS_EXEC_PLUGIN_H
#define KI_CREDENTIALS_EXEC_PLUGIN_H

#include "config/config.h"
#include "credentials/exec_credential.h"
#include "credentials/exec_process.h"
#include "util/loop/fd_watch.h"

#define KI_EXEC_LIMIT_MS 60000
#define KI_EXEC_POLL_MS 20
#define KI_EXEC_REAP_MS 100

/* Called on io, once for each successful start, unless ki_exec_plugin_fini() is called first. The callback
 * takes `credential`; if it is NULL, `err` has the reason. */
typedef void (*ki_exec_plugin_cb)(ki_exec_credential *credential, const ki_error *err, void *user);

/* A zeroed struct is not initialised. */
typedef struct ki_exec_plugin {
    const ki_config *config; /* constant, like on_end and user */
    ki_exec_plugin_cb on_end;
    void *user;
    ki_job job;             /* for the timeout, and to poll what cannot be watched */
    ki_fd_watch watches[3]; /* output, error output, end; unused on a loop without a descriptor */
    ki_exec_process process;
    bool is_running;
    uint64_t deadline_ns;
} ki_exec_plugin;

/* The config must have an exec section and live longer. Set on_end and user afterwards. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_plugin_init(ki_exec_plugin *plugin, const ki_config *config, ki_loop *loop);

/* Kills a running plug-in. */
void ki_exec_plugin_fini(ki_exec_plugin *plugin);

/* Starts the plug-in, which must not be running. Returns 0; KI_ERR_CONFIG with a message that names plug-in
 * and user, with the install hint; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_exec_plugin_start(ki_exec_plugin *plugin, ki_error *err);

#endif
