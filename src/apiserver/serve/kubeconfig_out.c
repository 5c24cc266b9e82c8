/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apiserver/object/text.h"
#include "apiserver/serve/server.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/base64.h"

enum { KUBECONFIG_BYTES_MAX = 256 * 1024 };

static json_t *cluster_of(const ki_apiserver *server)
{
    json_t *cluster = json_pack("{s:s}", "server", server->url);
    if (cluster == NULL || server->certificate == NULL)
        return cluster;
    ki_str text = ki_str_of(server->certificate);
    char *encoded = ki_malloc(KI_BASE64_ENCODED_BYTES(text.len));
    if (encoded == NULL) {
        json_decref(cluster);
        return NULL;
    }
    (void)json_object_set_new(cluster, "certificate-authority-data",
                              json_stringn(encoded, ki_base64_encode(text, encoded)));
    ki_free(encoded);
    return cluster;
}

static json_t *user_of(const ki_apiserver *server)
{
    if (server->tokens == NULL || server->tokens[0] == NULL)
        return json_object();
    return json_pack("{s:s}", "token", server->tokens[0]);
}

/* Overwrites a text that contains the token, and frees it. */
static void wipe(ki_buf *text)
{
    if (text->data != NULL)
        explicit_bzero(text->data, text->cap);
    ki_buf_fini(text);
}

/* Overwrites the token in the tree, and frees the tree. jansson returns the token as const, but its memory
 * belongs to this tree alone. */
static void forget(json_t *tree)
{
    const json_t *user = json_object_get(json_array_get(json_object_get(tree, "users"), 0), "user");
    const char *token = json_string_value(json_object_get(user, "token"));
    char *memory = NULL;
    memcpy(&memory, &token, sizeof(memory));
    if (memory != NULL)
        explicit_bzero(memory, strlen(memory));
    json_decref(tree);
}

/* JSON is valid YAML. */
static json_t *tree_of(const ki_apiserver *server)
{
    static const char name[] = "kinformer";
    return json_pack("{s:s, s:s, s:[{s:s, s:o}], s:[{s:s, s:o}], s:[{s:s, s:{s:s, s:s}}], s:s}", "apiVersion",
                     "v1", "kind", "Config", "clusters", "name", name, "cluster", cluster_of(server), "users",
                     "name", name, "user", user_of(server), "contexts", "name", name, "context", "cluster",
                     name, "user", name, "current-context", name);
}

/* Writes a temporary file and renames it, so that readers see either the old or the new file. */
static int write_file(const char *file, ki_str text, ki_error *err)
{
    char beside[4096];
    if (snprintf(beside, sizeof(beside), "%s.%ld", file, (long)getpid()) >= (int)sizeof(beside))
        return ki_fail(err, KI_ERR_INVALID, "the path of the kubeconfig is too long");
    (void)unlink(beside);
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", file, strerror(errno));
    ssize_t n = write(fd, text.ptr, text.len);
    int error = n < 0 ? errno : (size_t)n < text.len ? ENOSPC : 0;
    if (close(fd) < 0 && error == 0)
        error = errno;
    if (error == 0 && rename(beside, file) < 0)
        error = errno;
    if (error == 0)
        return 0;
    (void)unlink(beside);
    return ki_fail(err, KI_ERR_SYSTEM, "%s: %s", file, strerror(error));
}

int ki_apiserver_write_kubeconfig(const ki_apiserver *server, const char *file, ki_error *err)
{
    ki_buf text;
    ki_buf pretty;
    if (server == NULL)
        return ki_fail_missing(err, "no server");
    if (file == NULL || file[0] == 0)
        return ki_fail(err, KI_ERR_INVALID, "a kubeconfig needs a file");
    ki_buf_init(&text, KUBECONFIG_BYTES_MAX);
    ki_buf_init(&pretty, KUBECONFIG_BYTES_MAX);
    json_t *tree = tree_of(server);
    /* All space is reserved first, because a buffer that grows leaves copies of the token in freed memory. */
    int rc = ki_buf_reserve(&text, KUBECONFIG_BYTES_MAX);
    if (rc == 0)
        rc = ki_buf_reserve(&pretty, KUBECONFIG_BYTES_MAX);
    if (rc == 0)
        rc = ki_as_text_tree(&text, tree);
    if (rc == 0)
        rc = ki_as_text_indent(&pretty, ki_buf_str(&text));
    if (rc == 0)
        rc = ki_as_text_put(&pretty, "\n");
    rc = rc < 0 ? ki_fail_no_memory(err) : write_file(file, ki_buf_str(&pretty), err);
    forget(tree);
    wipe(&text);
    wipe(&pretty);
    return rc;
}
