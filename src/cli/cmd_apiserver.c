/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer apiserver */
#include <errno.h>
#include <kinformer/apiserver.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/apiserver_flags.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/signals.h"

static const char help_head[] =
    "usage: kinformer apiserver [flags]\n"
    "\n"
    "Runs a Kubernetes API server that keeps its objects in memory, without etcd. It serves all built-in\n"
    "and custom resources; kubectl and other clients work with it. Exits with 0 on SIGINT or SIGTERM.\n"
    "\n"
    "  kinformer apiserver --port 8001\n"
    "  kinformer apiserver --simulate deployments\n"
    "  kinformer apiserver --tls --token secret --kubeconfig-out kubeconfig\n"
    "  kinformer apiserver --load manifests/ --fault reset,on=watch+streamed-list,times=3\n";

static const char help_tail[] =
    "\n"
    "A FAULT is an action followed by settings, separated by commas. Actions: close, reset, stall, delay,\n"
    "one-byte, garbage, truncate, status, expired, stale, endless-pages, no-watch-list, no-end-marker,\n"
    "no-bookmarks. Settings: on=list, streamed-list, watch, get, write, discovery or any (several:\n"
    "on=list+get), times=N, percent=N, after-bytes=N, after-events=N, code=N, retry-after=SECONDS,\n"
    "delay=DURATION, behind=N. Without on, a fault applies to every request that its action can change;\n"
    "without times, to every such request until faults are removed. These settings select requests:\n"
    "path=TEXT and user-agent=TEXT (a substring), method=GET, POST, PUT, PATCH or DELETE (several:\n"
    "method=PUT+PATCH), subresource=NAME (subresource= for none), remote=ADDRESS[:PORT].\n"
    "\n"
    "With --debug, faults can be changed at run time: POST, GET and DELETE /debug/faults; POST\n"
    "/debug/compact, /debug/cut, /debug/rewind?by=N and /debug/down?ms=N. GET /debug/requests lists the\n"
    "latest requests as JSON Lines.\n";

/* A thousand watches need a thousand descriptors. Failures are ignored. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void say_where(const ki_apiserver *server, const cli_apiserver_flags *flags)
{
    const char *url = ki_apiserver_url(server);
    int has_tls = flags->tls || flags->certificate != NULL;
    printf("listening at %s\n", url);
    if (flags->tokens.count > 0 && !has_tls)
        printf("to use kubectl with a token, restart with --tls%s: it sends no token over http\n",
               flags->kubeconfig_out == NULL ? " --kubeconfig-out FILE" : "");
    else if (flags->kubeconfig_out != NULL)
        printf("kubectl --kubeconfig %s get namespaces\n", flags->kubeconfig_out);
    else if (!has_tls)
        printf("kubectl --server %s get namespaces\n", url);
    else
        printf("to use kubectl, restart with --kubeconfig-out FILE\n");
    (void)fflush(stdout);
}

/* Reports how much was loaded, or the error in full: a file that is missing or invalid is a usage error. */
static int load(ki_apiserver *server, const char *path)
{
    ki_apiserver_loaded loaded;
    int rc = ki_apiserver_load(server, path, &loaded, NULL);
    if (rc < 0) {
        cli_say("%s", loaded.message);
        return rc == KI_ERR_NO_MEMORY ? CLI_EXIT_FAILED : CLI_EXIT_USAGE;
    }
    printf("loaded %zu %s of %zu %s from %s\n", loaded.objects, loaded.objects == 1 ? "object" : "objects",
           loaded.files, loaded.files == 1 ? "file" : "files", path);
    return CLI_EXIT_OK;
}

static void say_warning(const char *message, void *user)
{
    (void)user;
    cli_say("WARNING: %s", message);
}

static int set_up(ki_apiserver *server, const cli_apiserver_flags *flags, ki_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < flags->faults.count && rc == 0; i++) {
        char texts[CLI_FAULT_BYTES];
        ki_fault fault;
        rc = cli_fault_parse(flags->faults.items[i], &fault, texts, err);
        if (rc == 0 && ki_apiserver_fault(server, &fault, NULL) < 0)
            rc = cli_fail(err, "--fault: \"%s\" cannot be added", flags->faults.items[i]);
    }
    if (rc == 0 && flags->kubeconfig_out != NULL)
        rc = ki_apiserver_write_kubeconfig(server, flags->kubeconfig_out, err);
    return rc == 0 ? ki_apiserver_up(server, err) : rc;
}

static void wait_for_signal(int stop_fd)
{
    struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
    while (!cli_signals_is_stopped() && (poll(&stop, 1, -1) >= 0 || errno == EINTR))
        ;
}

static int run(const cli_apiserver_flags *flags, ki_error *err)
{
    ki_apiserver_options options = cli_apiserver_options(flags);
    options.on_warning = say_warning;
    options.starts_down = 1; /* starts to serve when everything is loaded */
    const char *warning = cli_apiserver_flags_warning(flags);
    raise_descriptors();
    int stop_fd = cli_signals_install(err);
    ki_apiserver *server = stop_fd < 0 ? NULL : ki_apiserver_start(&options, err);
    if (server == NULL)
        return cli_end_with(err);
    if (warning != NULL)
        cli_say("%s", warning);
    int code = CLI_EXIT_OK;
    for (size_t i = 0; i < flags->load.count && code == CLI_EXIT_OK; i++)
        code = load(server, flags->load.items[i]);
    if (code == CLI_EXIT_OK && set_up(server, flags, err) < 0)
        code = cli_end_with(err);
    if (code == CLI_EXIT_OK) {
        say_where(server, flags);
        wait_for_signal(stop_fd);
    }
    ki_apiserver_free(server);
    return code;
}

int cli_cmd_apiserver(int argc, char **argv)
{
    static cli_apiserver_flags flags;
    cli_flag_group groups[CLI_APISERVER_GROUPS];
    cli_flag_set set = {"apiserver", groups, CLI_APISERVER_GROUPS};
    cli_arguments arguments = {0};
    ki_error err = {0};
    cli_apiserver_flags_init(&flags, groups);
    int rc = cli_flags_parse(&set, argc, argv, &arguments, &err);
    if (rc == 0 && arguments.is_help)
        return cli_print_help(&set, help_head, help_tail);
    if (rc == 0 && arguments.count > 0)
        rc = cli_fail(&err, "apiserver: unexpected argument \"%s\"", arguments.items[0]);
    if (rc == 0)
        rc = cli_apiserver_flags_read_secrets(&flags, &err);
    if (rc == 0)
        rc = cli_apiserver_flags_check(&flags, &err);
    return rc < 0 ? cli_end_with(&err) : run(&flags, &err);
}
