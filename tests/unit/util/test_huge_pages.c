/* SPDX-License-Identifier: Apache-2.0 */
#include "util/huge_pages.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "store/table.h"
#include "support/failing_allocator.h"
#include "support/store/table_check.h"
#include "support/unit.h"

enum { ENTRIES = 140000 }; /* enough for a large array */

/* Returns the number of mappings of this process for which huge pages were requested. */
static size_t huge_stretches(void)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL;
    (void)fclose(file);
    return count;
}

static void assert_zero(const char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(memory[i], 0);
}

static void memory_is_zeroed_and_can_be_written_to_its_end(void **state)
{
    (void)state;
    char *memory = ki_huge_pages_new(KI_HUGE_PAGES_BYTES + 1);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 64, 0);
    assert_zero(memory, KI_HUGE_PAGES_BYTES + 1);
    memset(memory, 1, KI_HUGE_PAGES_BYTES + 1);
    ki_huge_pages_free(memory);
}

static void freed_memory_leaves_no_mapping(void **state)
{
    (void)state;
    size_t before = huge_stretches();
    void *memory = ki_huge_pages_new(KI_HUGE_PAGES_BYTES);
    assert_non_null(memory);
    ki_huge_pages_free(memory);
    ki_huge_pages_free(NULL);
    assert_int_equal(huge_stretches(), before);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    assert_null(ki_huge_pages_new(SIZE_MAX - 1));
    assert_null(ki_huge_pages_new(SIZE_MAX / 2));
}

static void a_custom_allocator_is_used_and_its_memory_is_not_advised(void **state)
{
    (void)state;
    size_t before = huge_stretches();
    char *memory = ki_huge_pages_new(KI_HUGE_PAGES_BYTES);
    assert_non_null(memory);
    assert_int_equal(failing_allocator_live_bytes(), KI_HUGE_PAGES_BYTES);
    assert_zero(memory, KI_HUGE_PAGES_BYTES);
    assert_int_equal(huge_stretches(), before);
    ki_huge_pages_free(memory);
    failing_allocator_fail_at(1);
    assert_null(ki_huge_pages_new(KI_HUGE_PAGES_BYTES));
    failing_allocator_fail_at(0);
}

/* ---- as used by the table ----------------------------------------------------------------------------- */

static uint64_t hash_entry(const void *entry, const void *user)
{
    (void)user;
    return (uint64_t)(uintptr_t)entry * 0x9e3779b97f4a7c15u >> 16;
}

static void fill(ki_table *table, const ki_table_owner *owner)
{
    static uint64_t entries[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(ki_table_reserve(table, 1, owner), 0);
        ki_table_insert(table, hash_entry(&entries[i], NULL), &entries[i]);
    }
    assert_null(table_check(table));
}

/* Two tables: malloc would have taken the second one from its heap. */
static void run_tables(void)
{
    ki_reclaim reclaim;
    ki_reclaim_init(&reclaim, SIZE_MAX);
    ki_table_owner owner = {hash_entry, NULL, &reclaim};
    ki_table tables[2] = {{.count = 0}};
    for (int round = 0; round < 2; round++) {
        fill(&tables[0], &owner);
        fill(&tables[1], &owner);
        ki_table_fini(&tables[0]);
        ki_table_fini(&tables[1]);
        ki_reclaim_flush(&reclaim);
    }
    ki_reclaim_fini(&reclaim);
}

static void tables_leave_no_mapping_with_huge_pages(void **state)
{
    (void)state;
    size_t before = huge_stretches();
    run_tables();
    assert_int_equal(huge_stretches(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_can_be_written_to_its_end),
        cmocka_unit_test(freed_memory_leaves_no_mapping),
        cmocka_unit_test(too_much_is_refused),
        WITH_MEMORY_CHECK(a_custom_allocator_is_used_and_its_memory_is_not_advised),
        cmocka_unit_test(tables_leave_no_mapping_with_huge_pages),
        WITH_MEMORY_CHECK(tables_leave_no_mapping_with_huge_pages),
    };
    return RUN_TESTS(tests);
}
