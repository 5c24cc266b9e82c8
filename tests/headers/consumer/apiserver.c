/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses the embedded API server of an installed kinformer. */
#include <kinformer/apiserver.h>
#include <stdio.h>

int main(void)
{
    static const ki_resource pods = {"", "v1", "pods", "Pod", KI_SCOPE_NAMESPACED, 0};
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    if (server == NULL || ki_apiserver_url(server) == NULL) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%zu pods\n", ki_apiserver_count(server, &pods));
    ki_apiserver_free(server);
    return 0;
}
