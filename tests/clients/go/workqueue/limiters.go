// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math/rand"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

const limiterCalls = 40

// client-go's bucket, with a time of ours instead of the machine's.
type bucket struct {
	*rate.Limiter
	now *time.Time
}

func (b bucket) When(string) time.Duration { return b.ReserveN(*b.now, 1).DelayFrom(*b.now) }
func (b bucket) NumRequeues(string) int    { return 0 }
func (b bucket) Forget(string)             {}
func newBucket(perSecond float64, burst int, now *time.Time) workqueue.TypedRateLimiter[string] {
	return bucket{rate.NewLimiter(rate.Limit(perSecond), burst), now}
}

// One line: its name and numbers, then key, time and delay of each call, in nanoseconds; a key below 0 is forgotten.
type limited struct {
	Limiter string    `json:"limiter"`
	Numbers []float64 `json:"numbers"`
	Calls   [][]int64 `json:"calls"`
}

func made(now *time.Time) []struct {
	limited
	limiter workqueue.TypedRateLimiter[string]
} {
	type entry = struct {
		limited
		limiter workqueue.TypedRateLimiter[string]
	}
	ms := time.Millisecond
	exponential := workqueue.NewTypedItemExponentialFailureRateLimiter[string]
	entries := []entry{}
	add := func(name string, limiter workqueue.TypedRateLimiter[string], numbers ...float64) {
		entries = append(entries, entry{limited{Limiter: name, Numbers: numbers}, limiter})
	}
	add("exponential", exponential(5*ms, 1000*time.Second), 5, 1000000)
	add("exponential", exponential(1*ms, 1000*time.Second), 1, 1000000)
	add("exponential", exponential(7*ms, 3*ms), 7, 3)
	add("exponential", exponential(1*ms, 876000*time.Hour), 1, 876000*3600*1000)
	add("fast_slow", workqueue.NewTypedItemFastSlowRateLimiter[string](2*ms, 300*ms, 4), 2, 300, 4)
	add("bucket", newBucket(10, 100, now), 10, 100)
	add("bucket", newBucket(10, 3, now), 10, 3)
	add("bucket", newBucket(3, 1, now), 3, 1)
	add("bucket", newBucket(0.7, 2, now), 0.7, 2)
	add("bucket", newBucket(123.456, 5, now), 123.456, 5)
	add("max_of", workqueue.NewTypedMaxOfRateLimiter(exponential(5*ms, 1000*time.Second), newBucket(7, 3, now)),
		5, 1000000, 7, 3)
	add("max_wait", workqueue.NewTypedWithMaxWaitRateLimiter(exponential(5*ms, 1000*time.Second), 4000*ms),
		5, 1000000, 4000)
	// DefaultTypedControllerRateLimiter, except for the clock of its bucket.
	add("default", workqueue.NewTypedMaxOfRateLimiter(exponential(5*ms, 1000*time.Second), newBucket(10, 100, now)))
	return entries
}

// Makes many calls at once for one key, then some for several keys, while time passes and keys are forgotten.
func (l *limited) run(limiter workqueue.TypedRateLimiter[string], now *time.Time) {
	random := rand.New(rand.NewSource(1))
	start := *now
	for i := range 3 * limiterCalls {
		key := int64(1)
		if i >= limiterCalls {
			key += int64(random.Intn(3))
			*now = now.Add(time.Duration(random.Intn(300000000)))
		}
		if i >= limiterCalls && random.Intn(8) == 0 {
			limiter.Forget(string(rune('a' + key)))
			l.Calls = append(l.Calls, []int64{-key, now.Sub(start).Nanoseconds(), 0})
			continue
		}
		delay := limiter.When(string(rune('a' + key)))
		l.Calls = append(l.Calls, []int64{key, now.Sub(start).Nanoseconds(), delay.Nanoseconds()})
	}
}

func limiters(out *json.Encoder) error {
	now := time.Unix(1, 0)
	for _, entry := range made(&now) {
		now = time.Unix(1, 0)
		entry.run(entry.limiter, &now)
		if err := out.Encode(entry.limited); err != nil {
			return err
		}
	}
	return nil
}
