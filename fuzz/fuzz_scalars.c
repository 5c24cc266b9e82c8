/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities, times and names of resources. The first byte chooses which; the rest is the text. What is
 * accepted must stay the same when it is written and read again,
 * and values computed from it must agree with it. */
#include <kinformer/quantity.h>
#include <kinformer/resource.h>
#include <kinformer/timestamp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void require_sound(ki_quantity quantity)
{
    require(quantity.nanos > -1000000000 && quantity.nanos < 1000000000 && quantity.units >= -INT64_MAX);
    require(quantity.reserved == 0);
    require((quantity.units <= 0 || quantity.nanos >= 0) && (quantity.units >= 0 || quantity.nanos <= 0));
    int64_t value = ki_quantity_value(quantity);
    require(value >= quantity.units - 1 && (value == INT64_MAX || value <= quantity.units + 1));
    int64_t milli = ki_quantity_milli_value(quantity);
    require((milli > 0) == (value > 0) && (milli < 0) == (value < 0));
    double real = ki_quantity_double(quantity);
    require((real > 0) == (value > 0) && (real < 0) == (value < 0));
}

static ki_quantity read_again(const char *text)
{
    ki_quantity quantity;
    require(ki_quantity_parse(ki_str_of(text), &quantity) == 0);
    return quantity;
}

static void fuzz_quantity(ki_str text)
{
    ki_quantity quantity;
    if (ki_quantity_parse(text, &quantity) != 0)
        return;
    require_sound(quantity);
    long long units = quantity.units < 0 ? -(long long)quantity.units : quantity.units;
    int nanos = quantity.nanos < 0 ? -quantity.nanos : quantity.nanos;
    const char *sign = quantity.units < 0 || quantity.nanos < 0 ? "-" : "";
    char copy[64];
    snprintf(copy, sizeof(copy), "%s%lld.%09d", sign, units, nanos);
    require(ki_quantity_compare(read_again(copy), quantity) == 0);
    snprintf(copy, sizeof(copy), "%s%lld%09dn", sign, units, nanos);
    require(ki_quantity_compare(read_again(copy), quantity) == 0);
    snprintf(copy, sizeof(copy), "%s.%018lld%09dE+18", sign, units % 1000000000000000000, nanos);
    if (units < 1000000000000000000)
        require(ki_quantity_compare(read_again(copy), quantity) == 0);
}

static void fuzz_timestamp(ki_str text)
{
    ki_timestamp time, again;
    char written[KI_TIMESTAMP_BYTES];
    if (ki_timestamp_parse(text, &time) != 0)
        return;
    require(time.nanos >= 0 && time.nanos < 1000000000 && time.reserved == 0);
    int length = ki_timestamp_format(time, written);
    if (length == KI_ERR_RANGE) /* with the offset applied, the year does not have four digits */
        return;
    require(length > 0 && (size_t)length == strlen(written) && length < KI_TIMESTAMP_BYTES);
    require(ki_timestamp_parse(ki_str_of(written), &again) == 0);
    require(again.seconds == time.seconds && again.nanos == time.nanos);
}

/* A path in a buffer of any size is a prefix of the whole path, which has a segment for each part. */
static void fuzz_path(const ki_resource *resource, ki_str name)
{
    int cluster = resource->scope == KI_SCOPE_CLUSTER;
    ki_str ns = cluster ? (ki_str){0} : KI_STR("default");
    int length = ki_resource_path(resource, ns, name, (ki_str){0}, NULL, 0);
    require(length > 0 || length == KI_ERR_INVALID);
    if (length < 0)
        return;
    char *whole = malloc((size_t)length + 1);
    char *cut = malloc((size_t)length / 2 + 1);
    require(whole != NULL && cut != NULL);
    require(ki_resource_path(resource, ns, name, (ki_str){0}, whole, (size_t)length + 1) == length);
    require(ki_resource_path(resource, ns, name, (ki_str){0}, cut, (size_t)length / 2 + 1) == length);
    require(strlen(whole) == (size_t)length && strlen(cut) == (size_t)length / 2);
    require(memcmp(whole, cut, (size_t)length / 2) == 0);
    int slashes = 0;
    for (const char *p = whole; *p != 0; p++) {
        require(*p > ' ' && *p < 0x7f && *p != '?' && *p != '#');
        slashes += *p == '/';
    }
    int expected = 3 + (resource->group[0] != 0) + (cluster ? 0 : 2) + (name.len > 0);
    require(slashes == expected);
    free(cut);
    free(whole);
}

static void fuzz_resource(ki_str text)
{
    ki_error err = {0};
    const ki_resource *found = ki_resource_find(text, &err);
    require(found != NULL ||
            (err.code == KI_ERR_RESOURCE && memchr(err.message, 0, sizeof(err.message)) != NULL));
    if (found != NULL) {
        char name[256];
        require(found >= ki_resources && found < ki_resources + ki_resource_count);
        snprintf(name, sizeof(name), "%s.%s.%s", found->plural, found->version, found->group);
        require(ki_resource_find(ki_str_of(name), NULL) == found);
    }
    ki_resource *parsed = ki_resource_parse(text, &err);
    require(parsed != NULL || err.code == KI_ERR_RESOURCE);
    if (parsed != NULL) {
        char name[512];
        snprintf(name, sizeof(name), "%s.%s.%s", parsed->plural, parsed->version, parsed->group);
        ki_resource *again = ki_resource_parse(ki_str_of(name), NULL);
        require(ki_resource_equal(parsed, again));
        fuzz_path(parsed, KI_STR("x"));
        ki_resource_free(again);
        ki_resource_free(parsed);
    }
    fuzz_path(&ki_resources[text.len % ki_resource_count], text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    ki_str text = {(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        fuzz_quantity(text);
        break;
    case 1:
        fuzz_timestamp(text);
        break;
    default:
        fuzz_resource(text);
        break;
    }
    return 0;
}
