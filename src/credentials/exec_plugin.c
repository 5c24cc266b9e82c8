/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_plugin.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "credentials/exec_info.h"
#include "credentials/exec_mask.h"
#include "credentials/exec_reaper.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/secret.h"
#include "util/text/one_line.h"
#include "util/units.h"

/* ---- messages ------------------------------------------------------------------------------------------ */

/* A long path is shortened at its beginning. */
static const char *shown(const char *command)
{
    const size_t shown_max = 40;
    size_t len = strlen(command);
    return len > shown_max ? command + len - shown_max : command;
}

/* The message never contains arguments, environment or standard output. Its reason may contain the last line
 * of the error output, masked. The install hint, which may be long, comes last and on one line. */
static int fail(const ki_exec_plugin *plugin, ki_error *err, const char *reason)
{
    assert(plugin->config->exec != NULL && reason != NULL);
    const ki_config *config = plugin->config;
    const char *hint = config->exec->install_hint;
    char line[KI_ERROR_MESSAGE_BYTES] = "";
    if (hint != NULL)
        snprintf(line, sizeof(line), "; %s", hint);
    for (char *c = line; *c != 0; c++) {
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    }
    return ki_fail(err, KI_ERR_CONFIG, "exec plug-in \"%s\" of user \"%.40s\": %s%s",
                   shown(config->exec->command), config->user != NULL ? config->user : "", reason, line);
}

static int fail_status(const ki_exec_plugin *plugin, ki_error *err)
{
    char words[160];
    char reason[sizeof(words) + 48];
    int status = plugin->process.status;
    size_t said = ki_one_line_cut(words, sizeof(words), ki_exec_process_last_words(&plugin->process));
    said = ki_exec_mask(plugin->config->exec, words, said);
    words[said] = 0;
    int len = WIFSIGNALED(status)
                  ? snprintf(reason, sizeof(reason), "ended by signal %d", WTERMSIG(status))
                  : snprintf(reason, sizeof(reason), "ended with code %d", WEXITSTATUS(status));
    if (said > 0 && len > 0)
        snprintf(reason + len, sizeof(reason) - (size_t)len, ": %s", words);
    return fail(plugin, err, reason);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

/* If another part of the program has reaped the child, its status is unknown, and only the output decides. */
static int read_answer(const ki_exec_plugin *plugin, ki_exec_credential *out_credential, ki_error *err)
{
    const ki_exec_process *process = &plugin->process;
    ki_error mistake = {0};
    if (process->is_too_large)
        return fail(plugin, err, "its output is too large");
    if (process->status != -1 && process->status != 0)
        return fail_status(plugin, err);
    int rc = ki_exec_credential_parse((ki_str){process->output, process->output_len},
                                      plugin->config->exec->api_version, out_credential, &mistake);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return rc < 0 ? fail(plugin, err, mistake.message) : 0;
}

/* ---- polling ------------------------------------------------------------------------------------------- */

enum { WATCHES = sizeof(((ki_exec_plugin *)NULL)->watches) / sizeof(ki_fd_watch) };

static bool has_watches(const ki_exec_plugin *plugin)
{
    return ki_loop_fd(plugin->job.loop) >= 0;
}

/* Must be called before the descriptors are closed, because their numbers may be reused. */
static void watch_nothing(ki_exec_plugin *plugin)
{
    for (int i = 0; i < WATCHES && has_watches(plugin); i++)
        (void)!ki_fd_watch_set(&plugin->watches[i], -1, 0);
}

/* Returns whether the loop watches everything that may happen next. */
static bool watch_all(ki_exec_plugin *plugin)
{
    const ki_exec_process *process = &plugin->process;
    const int fds[WATCHES] = {process->is_output_over ? -1 : process->output_fd,
                              process->is_errors_over ? -1 : process->errors_fd, process->pid_fd};
    bool is_watched = has_watches(plugin) && process->pid_fd >= 0;
    for (int i = 0; i < WATCHES && is_watched; i++)
        is_watched = ki_fd_watch_set(&plugin->watches[i], fds[i], fds[i] >= 0 ? EPOLLIN : 0) == 0;
    return is_watched;
}

/* Wakes the job at this time, or earlier if a killed child has not ended yet. */
static void wake(ki_exec_plugin *plugin, uint64_t due_ns)
{
    uint64_t reap_ns = ki_clock_now_ns(plugin->job.loop->clock) + KI_EXEC_REAP_MS * KI_NS_PER_MS;
    ki_job_wake_at(&plugin->job, ki_exec_reaper_run() ? due_ns : ki_ns_min(due_ns, reap_ns));
}

static void end(ki_exec_plugin *plugin, bool is_late)
{
    assert(plugin->is_running && plugin->on_end != NULL);
    ki_error err = {0};
    ki_exec_credential credential = {0};
    char reason[64];
    snprintf(reason, sizeof(reason), "timed out after %d s", KI_EXEC_LIMIT_MS / 1000);
    int rc = is_late ? fail(plugin, &err, reason) : read_answer(plugin, &credential, &err);
    watch_nothing(plugin);
    ki_exec_process_close(&plugin->process);
    plugin->is_running = false;
    wake(plugin, UINT64_MAX);
    plugin->on_end(rc < 0 ? NULL : &credential, &err, plugin->user);
}

static void go_on(ki_exec_plugin *plugin, uint64_t now_ns)
{
    assert(plugin->is_running);
    uint64_t due_ns = watch_all(plugin) ? plugin->deadline_ns : now_ns + KI_EXEC_POLL_MS * KI_NS_PER_MS;
    wake(plugin, due_ns);
}

static void look(ki_exec_plugin *plugin)
{
    KI_ASSERT_ON(plugin->job.loop);
    if (!plugin->is_running) {
        wake(plugin, UINT64_MAX);
        return;
    }
    uint64_t now_ns = ki_clock_now_ns(plugin->job.loop->clock);
    if (ki_exec_process_poll(&plugin->process))
        end(plugin, false);
    else if (now_ns >= plugin->deadline_ns)
        end(plugin, true);
    else
        go_on(plugin, now_ns);
}

static void run_timer(ki_job *job)
{
    look(KI_CONTAINER_OF(job, ki_exec_plugin, job));
}

static void run_output(ki_job *job)
{
    look(KI_CONTAINER_OF(job, ki_exec_plugin, watches[0].job));
}

static void run_errors(ki_job *job)
{
    look(KI_CONTAINER_OF(job, ki_exec_plugin, watches[1].job));
}

static void run_end(ki_job *job)
{
    look(KI_CONTAINER_OF(job, ki_exec_plugin, watches[2].job));
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

int ki_exec_plugin_init(ki_exec_plugin *plugin, const ki_config *config, ki_loop *loop)
{
    assert(config->exec != NULL);
    static const ki_job_cb runs[WATCHES] = {run_output, run_errors, run_end};
    *plugin = (ki_exec_plugin){.config = config};
    int rc = ki_job_init(&plugin->job, loop, run_timer);
    for (int i = 0; i < WATCHES && rc == 0 && has_watches(plugin); i++)
        rc = ki_fd_watch_init(&plugin->watches[i], loop, runs[i]);
    if (rc < 0)
        ki_exec_plugin_fini(plugin);
    return rc;
}

void ki_exec_plugin_fini(ki_exec_plugin *plugin)
{
    assert(plugin != NULL);
    for (int i = 0; i < WATCHES; i++)
        ki_fd_watch_fini(&plugin->watches[i]);
    ki_job_fini(&plugin->job);
    ki_exec_process_end(&plugin->process);
    (void)ki_exec_reaper_run();
    *plugin = (ki_exec_plugin){0};
}

static int choose_interactive(const ki_exec_plugin *plugin, bool *out_is_interactive, ki_error *err)
{
    const char *mode = plugin->config->exec->interactive_mode;
    bool has_terminal = isatty(STDIN_FILENO);
    if (mode != NULL && strcmp(mode, "Always") == 0 && !has_terminal)
        return fail(plugin, err, "it is always interactive, and standard input is not a terminal");
    *out_is_interactive = has_terminal && (mode == NULL || strcmp(mode, "Never") != 0);
    return 0;
}

static char **new_arguments(const ki_config_exec *exec)
{
    assert(exec->command != NULL);
    size_t count = 0;
    while (exec->args != NULL && exec->args[count] != NULL)
        count++;
    char **arguments = ki_calloc(count + 2, sizeof(*arguments));
    if (arguments == NULL)
        return NULL;
    arguments[0] = exec->command;
    for (size_t i = 0; i < count; i++)
        arguments[i + 1] = exec->args[i];
    return arguments;
}

static int spawn(ki_exec_plugin *plugin, bool is_interactive, const char *info, ki_error *err)
{
    const ki_config_exec *exec = plugin->config->exec;
    char **arguments = new_arguments(exec);
    char **environment = ki_exec_environment_new(exec, info);
    int rc = KI_ERR_NO_MEMORY;
    ki_error problem = {0};
    if (arguments != NULL && environment != NULL)
        rc = ki_exec_process_start(&plugin->process,
                                   &(ki_exec_command){.path = exec->command,
                                                      .argv = arguments,
                                                      .environment = environment,
                                                      .is_interactive = is_interactive},
                                   &problem);
    ki_free(arguments);
    ki_secret_free_list(environment);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return rc < 0 ? fail(plugin, err, problem.message) : 0;
}

int ki_exec_plugin_start(ki_exec_plugin *plugin, ki_error *err)
{
    assert(!plugin->is_running);
    KI_ASSERT_ON(plugin->job.loop);
    bool is_interactive = false;
    char *info = NULL;
    ki_error problem = {0};
    int rc = choose_interactive(plugin, &is_interactive, err);
    if (rc < 0)
        return rc;
    rc = ki_exec_info_write(plugin->config, is_interactive, &info, &problem);
    if (rc < 0)
        return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err) : fail(plugin, err, problem.message);
    rc = spawn(plugin, is_interactive, info, err);
    ki_secret_free(info);
    if (rc < 0)
        return rc;
    uint64_t now_ns = ki_clock_now_ns(plugin->job.loop->clock);
    plugin->is_running = true;
    plugin->deadline_ns = now_ns + ki_ns_of_ms(KI_EXEC_LIMIT_MS);
    go_on(plugin, now_ns);
    return 0;
}
