/* SPDX-License-Identifier: Apache-2.0 */
/* str - more about texts than <kinformer/common.h> offers to programs.
 *
 *   From:     all code that reads headers, addresses and settings
 *   To:       util/text/byte.h
 *   Not here: copies of text: util/alloc.h
 */
#ifndef KI_UTIL_TEXT_STR_H
#define KI_UTIL_TEXT_STR_H

#include <kinformer/common.h>
#include <stdbool.h>

/* Whether the texts are equal, apart from the case of ASCII letters. */
bool ki_str_equal_any_case(ki_str a, ki_str b);

/* The same for a word in the program, such as the name of a header. */
bool ki_str_is_word(ki_str text, const char *word);

/* Whether it consists of digits, at least one. */
bool ki_str_is_number(ki_str text);

/* Without the white space at both ends. */
ki_str ki_str_trim(ki_str text);

/* How many texts precede the NULL that ends a list. NULL is allowed: 0. */
size_t ki_str_count(const char *const *texts);

#endif
