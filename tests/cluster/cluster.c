/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/unit.h"

enum { LINE_BYTES = 4096, PATH_BYTES = 1024 };

static int status_of(int waited)
{
    return waited >= 0 && WIFEXITED(waited) ? WEXITSTATUS(waited) : 255;
}

/* The output of the programs becomes part of the test's output. */
static int run_line(const char *format, va_list arguments)
{
    char line[LINE_BYTES];
    int n = vsnprintf(line, sizeof(line), format, arguments);
    if (n < 0 || (size_t)n >= sizeof(line))
        return 255;
    return status_of(system(line)); /* NOLINT: runs a shell on purpose */
}

int cluster_try(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = run_line(format, arguments);
    va_end(arguments);
    return status;
}

void cluster_run(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = run_line(format, arguments);
    va_end(arguments);
    if (status != 0)
        fail_msg("\"%s\" ended with %d", format, status);
}

json_t *cluster_read(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    FILE *pipe = n < 0 || (size_t)n >= sizeof(line) ? NULL : popen(line, "re");
    if (pipe == NULL)
        return NULL;
    json_t *value = json_loadf(pipe, 0, NULL);
    /* A program whose output is not read to its end fails, so no error is missed. */
    if (status_of(pclose(pipe)) == 0)
        return value;
    json_decref(value);
    return NULL;
}

void cluster_control(const char *what)
{
    cluster_run("\"$KI_CONTROLPLANE\" %s", what);
}

void cluster_make_config_maps(const char *ns, const char *prefix, int count, int data_bytes)
{
    FILE *pipe = popen("kubectl create -f - >/dev/null", "we");
    char *data = malloc((size_t)data_bytes + 1);
    assert_non_null(pipe);
    assert_non_null(data);
    memset(data, 'x', (size_t)data_bytes);
    data[data_bytes] = 0;
    for (int i = 0; i < count; i++)
        fprintf(pipe,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: %s, name: %s-%d, labels: {app: "
                "%s}}\ndata: {text: \"%s\"}\n",
                ns, prefix, i, prefix, data);
    free(data);
    assert_int_equal(status_of(pclose(pipe)), 0);
}

ki_client *cluster_client(const char *user, const ki_client_options *options)
{
    char path[PATH_BYTES];
    ki_client_options used = options != NULL ? *options : (ki_client_options){0};
    ki_error err = {0};
    (void)snprintf(path, sizeof(path), "%s/%s.kubeconfig", getenv("KI_CLUSTER"), user);
    used.kubeconfig = path;
    ki_client *client = ki_client_new(&used, &err);
    if (client == NULL)
        fail_msg("%s", err.message);
    return client;
}
