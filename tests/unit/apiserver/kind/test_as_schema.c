/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/schema.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

/* Passes a name in a buffer of its exact size, so that a read beyond it is detected. */
static const struct ki_as_schema_field *find(const struct ki_as_schema *schema, const char *name, size_t len)
{
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, name, len);
    const struct ki_as_schema_field *found = ki_as_schema_field(schema, (ki_str){copy, len});
    free(copy);
    return found;
}

static void every_field_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki_as_schema_count; i++)
        for (size_t j = 0; j < ki_as_schemas[i].field_count; j++) {
            const struct ki_as_schema_field *field = &ki_as_schema_fields[ki_as_schemas[i].first_field + j];
            assert_ptr_equal(find(&ki_as_schemas[i], field->name, strlen(field->name)), field);
        }
}

static void a_shorter_or_longer_name_is_another_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki_as_schema_count; i++)
        for (size_t j = 0; j < ki_as_schemas[i].field_count; j++) {
            const struct ki_as_schema_field *field = &ki_as_schema_fields[ki_as_schemas[i].first_field + j];
            char longer[128];
            size_t len = strlen(field->name);
            assert_in_range(len, 1, sizeof(longer) - 2);
            memcpy(longer, field->name, len);
            longer[len] = '~';
            assert_null(find(&ki_as_schemas[i], longer, len + 1));
            const struct ki_as_schema_field *shorter = find(&ki_as_schemas[i], field->name, len - 1);
            assert_true(shorter == NULL || strncmp(shorter->name, field->name, len - 1) == 0);
            assert_true(shorter == NULL || strlen(shorter->name) == len - 1);
        }
}

static void a_missing_schema_has_no_fields(void **state)
{
    (void)state;
    assert_null(find(NULL, "spec", 4));
    assert_null(find(&ki_as_schemas[0], "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_found_by_its_name),
        cmocka_unit_test(a_shorter_or_longer_name_is_another_name),
        cmocka_unit_test(a_missing_schema_has_no_fields),
    };
    return RUN_TESTS(tests);
}
