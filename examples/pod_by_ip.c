/* SPDX-License-Identifier: Apache-2.0 */
/* pod_by_ip - finds the pod with an address, in the cluster that kubectl would use: pod_by_ip IP [SERVER] */
#include <kinformer.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.server = argc > 2 ? argv[2] : NULL}, &err);
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_index_path(pods, "ip", "/status/podIPs/*/ip");

    if (ki_factory_start(factory, &err) == 0 && ki_factory_wait_for_sync(factory, 10 * 1000, &err) == 0) {
        ki_object *pod = ki_store_get_one(ki_informer_store(pods), "ip", ki_str_of(argv[1]));
        ki_str node = ki_object_string_or(pod, "/spec/nodeName", KI_STR("no node"));
        printf("%s on %.*s\n", pod == NULL ? "no pod" : ki_object_key(pod), KI_STR_ARGS(node));
        ki_object_unref(pod);
    }
    if (err.code != 0)
        fprintf(stderr, "pod_by_ip: %s\n", err.message);
    ki_factory_free(factory);
    ki_client_free(client);
    return err.code != 0;
}
