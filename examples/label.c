/* SPDX-License-Identifier: Apache-2.0 */
/* label - sets a label of a pod in the cluster that kubectl would use:
 *
 *     label NAMESPACE POD NAME VALUE
 */
#include <kinformer.h>
#include <stdio.h>

static int label(ki_client *client, char **words, ki_error *err)
{
    ki_body *patch = ki_body_format("{metadata:{labels:{%s:%s}}}", words[2], words[3]);
    ki_rest_request request = {.verb = KI_REST_PATCH,
                               .patch = KI_PATCH_MERGE,
                               .resource = &KI_CORE_V1_PODS,
                               .ns = words[0],
                               .name = words[1],
                               .content = patch};
    ki_rest_answer answer = {0};
    int rc = ki_rest_run(client, &request, &answer, err);
    if (rc == 0)
        printf("%s is at version %.*s\n", ki_object_key(answer.object),
               KI_STR_ARGS(ki_object_resource_version(answer.object)));
    ki_rest_answer_fini(&answer);
    ki_body_free(patch);
    return rc;
}

int main(int argc, char **argv)
{
    ki_error err = {0};
    if (argc != 5) {
        fprintf(stderr, "usage: label NAMESPACE POD NAME VALUE\n");
        return 2;
    }
    ki_client *client = ki_client_new(NULL, &err); /* $KUBECONFIG, ~/.kube/config or in-cluster */
    int rc = client == NULL ? err.code : label(client, argv + 1, &err);
    if (rc < 0)
        fprintf(stderr, "label: %s\n", err.message);
    ki_client_free(client);
    return rc < 0;
}
