/* SPDX-License-Identifier: Apache-2.0 */
/* sim_memory - arrays and text that grow, for the simulated server; malloc's memory and not the library's. */
#ifndef KI_TESTS_SUPPORT_SIM_MEMORY_H
#define KI_TESTS_SUPPORT_SIM_MEMORY_H

#include <kinformer/common.h>

/* A zeroed one is empty. */
typedef struct sim_text {
    char *data;
    size_t len;
    size_t cap; /* bytes */
} sim_text;

void sim_text_fini(sim_text *text);
void sim_text_put(sim_text *text, const char *format, ...) KI_PRINTF(2, 3);

/* A zeroed array of `count` elements, to be given to free(). */
void *sim_array(size_t count, size_t size);

/* Room for `count` elements of `size` bytes in an array that has room for *cap. Returns where it is now. */
void *sim_array_grow(void *array, size_t *cap, size_t count, size_t size);

#endif
