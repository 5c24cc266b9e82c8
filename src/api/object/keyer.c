/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/keyer.h"

uint64_t ki_keyer_hash_object(const void *object, const void *user)
{
    ki_key_buffer buffer;
    return ki_keyer_hash(user, ki_keyer_key(user, object, &buffer));
}

bool ki_keyer_same_key(const void *object, const void *other, const void *user)
{
    ki_key_buffer buffer;
    return ki_keyer_has_key(user, object, ki_keyer_key(user, other, &buffer));
}
