/* SPDX-License-Identifier: Apache-2.0 */
/* silent_source - a source that never answers.
 *
 *   From:     tests and benchmarks of what happens before an answer
 *   To:       <kinformer/list_watch.h>
 */
#ifndef KI_TESTS_SUPPORT_REFLECTOR_SILENT_SOURCE_H
#define KI_TESTS_SUPPORT_REFLECTOR_SILENT_SOURCE_H

#include <kinformer/list_watch.h>

static inline int silent_begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)answer;
    (void)options;
    (void)user;
    return 0;
}

static inline void silent_ignore(ki_answer *answer, void *user)
{
    (void)answer;
    (void)user;
}

static const ki_list_watch silent_source = {
    .begin = silent_begin, .cancel = silent_ignore, .resume = silent_ignore};

#endif
