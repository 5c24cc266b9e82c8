/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of every kind, compared with the JSON that Go writes. KI_PROTO_RECORDS may name one more file. */
#include <kinformer/resource.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/proto_watch.h"
#include "proto/typed.h"
#include "support/decode/proto_records.h"
#include "support/unit.h"

static void show(const proto_record *record, ki_str ours)
{
    fprintf(stderr, "%.*s %.*s\nours: %.*s\nGo's: %.*s\n", KI_STR_ARGS(record->api_version),
            KI_STR_ARGS(record->kind), KI_STR_ARGS(ours), KI_STR_ARGS(record->json));
}

/* Compares the text of the message alone, whatever its metadata. */
static int is_equal(ki_proto_reader *reader, const proto_record *record)
{
    ki_error err = {0};
    ki_proto_typed typed = {0};
    assert_int_equal(ki_proto_typed_read(record->message, 0, &typed, &err), 0);
    const ki_proto_source source = {.message = ki_proto_find(typed.api_version, typed.kind),
                                    .bytes = typed.raw,
                                    .kind = typed.kind,
                                    .api_version = typed.api_version,
                                    .bytes_max = 1 << 24};
    assert_non_null(source.message);
    int rc = ki_proto_read(reader, &source, &err);
    ki_str ours = ki_buf_str(&reader->sink.text);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    int equal = rc == 0 && ki_json_validate(ours, NULL) == 0 &&
                ki_json_equal((ki_json){ours}, (ki_json){record->json}) == 1;
    if (!equal)
        show(record, ours);
    return equal;
}

static size_t check_file(const char *name)
{
    proto_records records = proto_records_load(name);
    size_t wrong = 0;
    ki_proto_reader reader;
    ki_proto_reader_init(&reader, NULL, 0);
    for (size_t i = 0; i < records.count && wrong < 10; i++)
        wrong += !is_equal(&reader, &records.list[i]);
    ki_proto_reader_fini(&reader);
    assert_int_equal(wrong, 0);
    size_t count = records.count;
    proto_records_free(&records);
    return count;
}

static void random_objects_of_every_kind_equal_what_go_writes(void **state)
{
    (void)state;
    assert_true(check_file("random.rec.gz") > 300);
}

static void published_objects_of_several_releases_equal_what_go_writes(void **state)
{
    (void)state;
    assert_true(check_file("published.rec.gz") > 100);
}

static void a_file_of_the_caller_equals_what_go_writes(void **state)
{
    (void)state;
    const char *name = getenv("KI_PROTO_RECORDS");
    if (name == NULL)
        skip();
    printf("%zu objects\n", check_file(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_objects_of_every_kind_equal_what_go_writes),
        cmocka_unit_test(published_objects_of_several_releases_equal_what_go_writes),
        cmocka_unit_test(a_file_of_the_caller_equals_what_go_writes),
    };
    return RUN_TESTS(tests);
}
