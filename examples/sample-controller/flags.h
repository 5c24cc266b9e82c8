/* SPDX-License-Identifier: Apache-2.0 */
/* flags - the command line; the flags of leader election are those of kube-controller-manager. */
#ifndef SAMPLE_FLAGS_H
#define SAMPLE_FLAGS_H

#include <kinformer.h>

typedef struct flags {
    ki_client_options client;
    ki_leader_options leader;
    int leader_elect;
    size_t workers;
    uint64_t stop_timeout_ms;
    const char *metrics_address; /* ADDRESS:PORT; NULL: metrics are not served */
} flags;

/* Ends the program after --help and wrong usage. Texts belong to argv. */
void flags_parse(flags *out_flags, int argc, char **argv);

#endif
