/* SPDX-License-Identifier: Apache-2.0 */
/* The shared library as plug-ins and other languages use it: loaded by name, and unloaded at any time. */
#include <dlfcn.h>
#include <kinformer/informer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/patience.h"
#include "support/unit.h"

/* The functions in use, at the addresses where the library was loaded. */
typedef struct loaded {
    void *handle;
    ki_client *(*client_new)(const ki_client_options *options, ki_error *err);
    void (*client_free)(ki_client *client);
    int (*client_post)(ki_client *client, void (*callback)(void *user), void *user);
    ki_informer *(*informer_new)(ki_client *client, const ki_resource *resource,
                                 const ki_informer_options *options, ki_error *err);
    int (*informer_start)(ki_informer *informer, ki_error *err);
    void (*informer_free)(ki_informer *informer);
} loaded;

/* In C, a pointer to an object is not a pointer to a function, but on this system it is. */
static void find(const loaded *library, const char *name, void *out_function)
{
    void *found = dlsym(library->handle, name);
    assert_non_null(found);
    *(void **)out_function = found;
}

static void load(loaded *library)
{
    const char *path = getenv("KI_LIBRARY");
    assert_non_null(path);
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL)
        fail_msg("%s", dlerror());
    find(library, "ki_client_new", &library->client_new);
    find(library, "ki_client_free", &library->client_free);
    find(library, "ki_client_post", &library->client_post);
    find(library, "ki_informer_new", &library->informer_new);
    find(library, "ki_informer_start", &library->informer_start);
    find(library, "ki_informer_free", &library->informer_free);
}

static int is_loaded(void)
{
    void *handle = dlopen(getenv("KI_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL)
        (void)dlclose(handle);
    return handle != NULL;
}

/* ---- a source that never answers --------------------------------------------------------------------- */

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)answer, (void)options, (void)user;
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    (void)answer, (void)user;
}

static int open_source(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch,
                       ki_error *err, void *user)
{
    (void)resource, (void)ns, (void)user, (void)err;
    *out_list_watch = (ki_list_watch){.begin = begin, .cancel = cancel};
    return 0;
}

static const ki_resource widgets = {.group = "example.com",
                                    .version = "v1",
                                    .kind = "Widget",
                                    .plural = "widgets",
                                    .scope = KI_SCOPE_NAMESPACED};

typedef struct running {
    ki_client *client;
    ki_informer *informer;
} running;

static running run(const loaded *library)
{
    running made = {.client = library->client_new(&(ki_client_options){.source = open_source}, NULL)};
    assert_non_null(made.client);
    made.informer = library->informer_new(made.client, &widgets, NULL, NULL);
    assert_non_null(made.informer);
    assert_int_equal(library->informer_start(made.informer, NULL), 0);
    return made;
}

static atomic_int calls;

static void count(void *user)
{
    (void)user;
    calls++;
}

static void assert_io_runs(const loaded *library, ki_client *client)
{
    calls = 0;
    assert_int_equal(library->client_post(client, count, NULL), 0);
    for (int ms = 0; ms < HANG_MS && calls == 0; ms++)
        (void)poll(NULL, 0, 1);
    assert_int_equal(calls, 1);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

static void it_can_be_loaded_and_unloaded_repeatedly(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        loaded library;
        load(&library);
        running made = run(&library);
        assert_io_runs(&library, made.client);
        library.informer_free(made.informer);
        library.client_free(made.client);
        assert_int_equal(dlclose(library.handle), 0);
    }
}

/* Like the finalizers of an interpreter that ends: the library is unloaded first. */
static void its_threads_continue_after_it_was_unloaded(void **state)
{
    (void)state;
    loaded library;
    load(&library);
    running made = run(&library);
    assert_int_equal(dlclose(library.handle), 0);
    assert_true(is_loaded());
    assert_io_runs(&library, made.client);
    library.informer_free(made.informer);
    library.client_free(made.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_can_be_loaded_and_unloaded_repeatedly),
        cmocka_unit_test(its_threads_continue_after_it_was_unloaded),
    };
    return RUN_TESTS(tests);
}
