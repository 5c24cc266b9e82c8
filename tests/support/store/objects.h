/* SPDX-License-Identifier: Apache-2.0 */
/* objects - small objects for tests that do not read them. */
#ifndef KI_TESTS_SUPPORT_STORE_OBJECTS_H
#define KI_TESTS_SUPPORT_STORE_OBJECTS_H

#include <kinformer/object.h>

/* "default/<name>" at that version, with a label of `padding` bytes. Ends the program if out of memory. */
ki_object *object_of(const char *name, uint64_t version, size_t padding);

/* The version of such an object. */
uint64_t object_version(const ki_object *object);

#endif
