/* SPDX-License-Identifier: Apache-2.0 */
/* Optional fields, with defaults. */
#include <kinformer/object.h>

ki_str ki_object_string_or(const ki_object *object, const char *pointer, ki_str fallback)
{
    ki_str text;
    return ki_object_get_string(object, pointer, &text) == 0 ? text : fallback;
}

int64_t ki_object_int64_or(const ki_object *object, const char *pointer, int64_t fallback)
{
    int64_t number;
    return ki_object_get_int64(object, pointer, &number) == 0 ? number : fallback;
}

double ki_object_double_or(const ki_object *object, const char *pointer, double fallback)
{
    double number;
    return ki_object_get_double(object, pointer, &number) == 0 ? number : fallback;
}

int ki_object_bool_or(const ki_object *object, const char *pointer, int fallback)
{
    int flag;
    return ki_object_get_bool(object, pointer, &flag) == 0 ? flag : fallback;
}

ki_str ki_object_label_or(const ki_object *object, ki_str name, ki_str fallback)
{
    ki_str value;
    return ki_object_label(object, name, &value) == 0 ? value : fallback;
}

ki_str ki_object_annotation_or(const ki_object *object, ki_str name, ki_str fallback)
{
    ki_str value;
    return ki_object_annotation(object, name, &value) == 0 ? value : fallback;
}
