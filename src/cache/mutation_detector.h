#ifndef KI_CACHE_MUTATION_DETECTOR_H
#define KI_CACHE_MUTATION_DETECTOR_H
#include <kinformer/object.h>
#include <stdbool.h>
typedef struct ki_mutation_detector { int mode; } ki_mutation_detector;
static inline int ki_mutation_detector_add(ki_mutation_detector *d, const ki_object *o){(void)d;(void)o;return 0;}
static inline void ki_mutation_detector_remove(ki_mutation_detector *d, const ki_object *o){(void)d;(void)o;}
static inline void ki_mutation_detector_check(ki_mutation_detector *d){(void)d;}
static inline bool ki_mutation_detector_is_on(const ki_mutation_detector *d){(void)d; return false;}
static inline int ki_mutation_detector_init(ki_mutation_detector *d, int mode, ki_error *err){d->mode=mode;(void)err;return 0;}
static inline void ki_mutation_detector_fini(ki_mutation_detector *d){(void)d;}
#endif
