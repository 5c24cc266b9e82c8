/* SPDX-License-Identifier: Apache-2.0 */
/* capacity - adds up an amount, such as "500m" or "2Gi", that objects with some labels have at a JSON
 * Pointer:
 *
 *   capacity KUBECONFIG pvc /spec/resources/requests/storage app=db
 *
 * Asks the server about resources that are not built in, uses all processors, and counts its allocations.
 */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- an allocator that counts -------------------------------------------------------------------------- */

static atomic_long blocks;

static void *count_allocate(size_t size, void *user)
{
    (void)user;
    void *memory = malloc(size);
    atomic_fetch_add(&blocks, memory != NULL);
    return memory;
}

static void *count_reallocate(void *memory, size_t size, void *user)
{
    (void)user;
    void *moved = realloc(memory, size);
    atomic_fetch_add(&blocks, memory == NULL && moved != NULL);
    return moved;
}

static void count_release(void *memory, void *user)
{
    (void)user;
    atomic_fetch_sub(&blocks, memory != NULL);
    free(memory);
}

/* ---- adding up ----------------------------------------------------------------------------------------- */

typedef struct sum {
    const ki_selector *selector;
    const char *pointer;
    const ki_rest_answer *list;
    atomic_llong milli;
    atomic_int count;
} sum;

static int add_one(size_t i, void *user)
{
    sum *s = user;
    ki_quantity amount = {0};
    const ki_object *object = s->list->objects[i];
    if (ki_selector_matches(s->selector, object) &&
        ki_quantity_parse(ki_object_string(object, s->pointer), &amount) == 0) {
        atomic_fetch_add(&s->milli, ki_quantity_milli_value(amount));
        atomic_fetch_add(&s->count, 1);
    }
    return 0;
}

static int add_up(ki_client *client, const ki_resource *resource, sum *s, ki_error *err)
{
    ki_rest_answer list = {0};
    int rc = ki_rest_run(client, &(ki_rest_request){.verb = KI_REST_LIST, .resource = resource}, &list, err);
    if (rc == 0) {
        s->list = &list;
        rc = ki_parallelize_until(list.object_count, add_one, NULL, s);
        printf("%d of %zu %s: %.3f\n", atomic_load(&s->count), list.object_count, resource->plural,
               (double)atomic_load(&s->milli) / 1000);
    }
    ki_rest_answer_fini(&list);
    return rc;
}

static int run(ki_client *client, const char *name, sum *s, ki_error *err)
{
    const ki_resource *built_in = ki_resource_find(ki_str_of(name), NULL);
    if (built_in != NULL)
        return add_up(client, built_in, s, err);
    ki_resource *found = NULL;
    int rc = ki_discovery_run(client, ki_str_of(name), &found, err);
    if (rc == 0)
        rc = add_up(client, found, s, err);
    ki_resource_free(found);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: capacity KUBECONFIG RESOURCE POINTER SELECTOR\n");
        return 2;
    }
    if (ki_set_allocator(&(ki_allocator){
            .allocate = count_allocate, .reallocate = count_reallocate, .release = count_release}) < 0)
        return 1;
    ki_error err = {0};
    ki_selector *selector = ki_selector_parse(ki_str_of(argv[4]), &err);
    /* Here a program would drop its privileges, between the configuration and the client. */
    ki_config *config =
        selector == NULL ? NULL : ki_config_new(&(ki_client_options){.kubeconfig = argv[1]}, &err);
    ki_client *client = config == NULL ? NULL : ki_client_new(&(ki_client_options){.config = config}, &err);
    sum s = {.selector = selector, .pointer = argv[3]};
    int rc = client == NULL ? err.code : run(client, argv[2], &s, &err);
    if (rc < 0)
        fprintf(stderr, "capacity: %s\n", err.message);
    ki_client_free(client);
    ki_config_free(config);
    ki_selector_free(selector);
    return rc < 0 || atomic_load(&blocks) != 0; /* all memory was freed */
}
