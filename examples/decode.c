/* SPDX-License-Identifier: Apache-2.0 */
/* decode - prints a list from an API server as a table.
 *
 *   decode [FILE [RESOURCE]]
 *
 * FILE contains the JSON of a list, or a whole HTTP response with a list as its body. "-", the default, is
 * standard input. RESOURCE is the type of the items, by any name that kubectl accepts; the default is pods.
 * Exit status: 0; 1 when the list or one of its items cannot be read; 2 for wrong usage.
 */
#include <kinformer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a whole file; NULL when it cannot be read. */
static char *read_all(FILE *file, size_t *out_len)
{
    char *text = NULL;
    size_t len = 0;
    for (size_t cap = 64 * 1024;; cap *= 2) {
        char *larger = realloc(text, cap);
        if (larger == NULL)
            break;
        text = larger;
        len += fread(text + len, 1, cap - len, file);
        if (len < cap && !ferror(file)) {
            *out_len = len;
            return text;
        }
        if (ferror(file))
            break;
    }
    free(text);
    return NULL;
}

/* The body, if the text is an HTTP response: what follows the first empty line. */
static ki_str body_of(ki_str text)
{
    if (text.len < 5 || memcmp(text.ptr, "HTTP/", 5) != 0)
        return text;
    for (size_t i = 0; i + 4 <= text.len; i++)
        if (memcmp(text.ptr + i, "\r\n\r\n", 4) == 0)
            return (ki_str){text.ptr + i + 4, text.len - i - 4};
    return (ki_str){0};
}

static long long count_restarts(const ki_object *pod)
{
    long long restarts = 0;
    ki_json container;
    ki_json_iter iter = ki_json_iterate(ki_object_find(pod, "/status/containerStatuses"));
    while (ki_json_next(&iter, NULL, &container)) {
        int64_t count = 0;
        ki_json_int64(ki_json_find(container, "/restartCount"), &count); /* stays 0 if there is none */
        restarts += count;
    }
    return restarts;
}

static void print_labels(const ki_object *object)
{
    ki_json name, value;
    ki_str name_text, value_text;
    const char *comma = "";
    ki_json_iter iter = ki_json_iterate(ki_object_labels(object));
    while (ki_json_next(&iter, &name, &value)) {
        if (ki_object_text(object, name, &name_text) < 0 || ki_object_text(object, value, &value_text) < 0)
            continue;
        printf("%s%.*s=%.*s", comma, KI_STR_ARGS(name_text), KI_STR_ARGS(value_text));
        comma = ",";
    }
    putchar('\n');
}

static void print_object(const ki_object *object)
{
    char created[KI_TIMESTAMP_BYTES];
    ki_timestamp time;
    if (ki_object_creation_time(object, &time) < 0 || ki_timestamp_format(time, created) < 0)
        strcpy(created, "-");
    ki_str node = ki_object_string_or(object, "/spec/nodeName", KI_STR("-")); /* borrowed from the object */
    ki_str phase = ki_object_string_or(object, "/status/phase", KI_STR("-"));
    ki_str ip = ki_object_string_or(object, "/status/podIP", KI_STR("-"));
    printf("%-34s %-10.*s %-10.*s %-14.*s %8lld  %-20s  ", ki_object_key(object), KI_STR_ARGS(node),
           KI_STR_ARGS(phase), KI_STR_ARGS(ip), count_restarts(object), created);
    print_labels(object);
}

/* Returns 0, or 1 when something could not be read. */
static int print_list(ki_json list, const ki_resource *resource)
{
    int failed = 0;
    ki_json item, items = ki_json_find(list, "/items");
    if (ki_json_type_of(items) != KI_JSON_ARRAY && ki_json_type_of(items) != KI_JSON_NULL) {
        ki_str kind = ki_json_find(list, "/kind").raw, message = ki_json_find(list, "/message").raw;
        fprintf(stderr, "decode: not a list: kind %.*s, message %.*s\n", KI_STR_ARGS(kind),
                KI_STR_ARGS(message));
        return 1;
    }
    printf("%-34s %-10s %-10s %-14s %8s  %-20s  %s\n", "KEY", "NODE", "PHASE", "IP", "RESTARTS", "CREATED",
           "LABELS");
    ki_json_iter iter = ki_json_iterate(items);
    while (ki_json_next(&iter, NULL, &item)) {
        ki_error err = {0};
        ki_object *object = ki_object_new(resource, item.raw, NULL, &err);
        if (object != NULL)
            print_object(object);
        else
            fprintf(stderr, "decode: %s\n", err.message);
        failed |= object == NULL;
        ki_object_unref(object);
    }
    return failed;
}

static int print_text(ki_str text, const ki_resource *resource)
{
    ki_error err = {0};
    ki_str body = body_of(text);
    if (ki_json_validate(body, &err) == 0)
        return print_list(ki_json_of(body), resource);
    fprintf(stderr, "decode: %s\n", err.message);
    return 1;
}

int main(int argc, char **argv)
{
    ki_error err = {0};
    const char *path = argc > 1 ? argv[1] : "-";
    const ki_resource *resource = argc > 2 ? ki_resource_find(ki_str_of(argv[2]), &err) : &KI_CORE_V1_PODS;
    if (argc > 3 || resource == NULL) {
        fprintf(stderr, "decode: %s\n", argc > 3 ? "usage: decode [FILE [RESOURCE]]" : err.message);
        return 2;
    }
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    size_t len = 0;
    char *text = file == NULL ? NULL : read_all(file, &len);
    if (text == NULL) {
        perror(path);
        return 1;
    }
    fclose(file);
    int failed = print_text(ki_str_from(text, len), resource);
    free(text);
    return fflush(stdout) != 0 || failed;
}
