// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

const (
	keys     = 6
	calls    = 70
	sentinel = "sentinel"
	far      = 10000 * time.Hour
)

// An entry of a sequence; see tests/fixtures/README.md.
type call []any

// A clock that counts the timers made with it. In each iteration the queue's own goroutine adds what is due, and then makes
// a timer if something is delayed; the sentinel always is. The timers never fire, so that only an addition with a delay
// wakes the goroutine, for one iteration: with a second one, nobody could tell which of them a timer belongs to.
type countingClock struct {
	*testingclock.FakeClock
	timers atomic.Int64
}

func (c *countingClock) NewTimer(time.Duration) clock.Timer {
	defer c.timers.Add(1)
	return c.FakeClock.NewTimer(2 * far)
}

// The queue's metrics.
type counts struct{ adds, depth, retries atomic.Int64 }

type count struct{ value *atomic.Int64 }

func (c count) Inc()            { c.value.Add(1) }
func (c count) Dec()            { c.value.Add(-1) }
func (c count) Set(float64)     {}
func (c count) Observe(float64) {}

func (c *counts) NewDepthMetric(string) workqueue.GaugeMetric            { return count{&c.depth} }
func (c *counts) NewAddsMetric(string) workqueue.CounterMetric           { return count{&c.adds} }
func (c *counts) NewRetriesMetric(string) workqueue.CounterMetric        { return count{&c.retries} }
func (c *counts) NewLatencyMetric(string) workqueue.HistogramMetric      { return count{} }
func (c *counts) NewWorkDurationMetric(string) workqueue.HistogramMetric { return count{} }
func (c *counts) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return count{}
}
func (c *counts) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return count{}
}

type recorder struct {
	random     *rand.Rand
	clock      *countingClock
	counts     *counts
	queue      workqueue.TypedRateLimitingInterface[string]
	processing []string
	drained    chan struct{} // closed when a drain has returned; nil: none has begun
	calls      []call
}

// Makes a call that wakes the queue's goroutine, and waits for one iteration.
func (r *recorder) settle(do func()) {
	before := r.clock.timers.Load()
	do()
	for !r.queue.ShuttingDown() && r.clock.timers.Load() == before {
		time.Sleep(time.Microsecond)
	}
}

// The sentinel's own retry is not counted.
func (r *recorder) forgetSentinel() {
	if !r.queue.ShuttingDown() {
		r.counts.retries.Add(-1)
	}
}

func (r *recorder) step(d time.Duration) {
	r.settle(func() {
		r.clock.Step(d)
		r.queue.AddAfter(sentinel, far)
	})
	r.forgetSentinel()
}

// No two delays end at the same time, because their order would be undefined.
func (r *recorder) delayed(add func()) {
	r.step(time.Microsecond)
	if r.queue.ShuttingDown() {
		add()
		return
	}
	r.settle(add)
}

func (r *recorder) note(c ...any) { r.calls = append(r.calls, c) }

func (r *recorder) key() int { return r.random.Intn(keys) }

func (r *recorder) isProcessing(key string) bool {
	for _, other := range r.processing {
		if other == key {
			return true
		}
	}
	return false
}

func (r *recorder) get() {
	if r.queue.Len() == 0 {
		code := -1
		if r.queue.ShuttingDown() {
			code = -2
		}
		r.note("g", code)
		return
	}
	key, _ := r.queue.Get()
	r.processing = append(r.processing, key)
	number, _ := strconv.Atoi(key)
	r.note("g", number)
}

func (r *recorder) done() {
	if len(r.processing) == 0 {
		return
	}
	i := r.random.Intn(len(r.processing))
	number, _ := strconv.Atoi(r.processing[i])
	r.queue.Done(r.processing[i])
	r.processing = append(r.processing[:i], r.processing[i+1:]...)
	r.note("d", number)
	if r.drained != nil {
		r.lookAtDrain()
	}
}

// Notes whether a drain still waits. If no key is in processing it returns, or this hangs.
func (r *recorder) lookAtDrain() {
	if len(r.processing) == 0 {
		<-r.drained
	}
	time.Sleep(100 * time.Microsecond)
	select {
	case <-r.drained:
		r.note("x", 0)
	default:
		r.note("x", -1)
	}
}

// Shuts down; with a drain, unless a key waits or will wait after its Done.
func (r *recorder) end() {
	if r.drained != nil {
		return
	}
	if r.counts.depth.Load() > 0 {
		r.queue.ShutDown()
		r.note("s")
		return
	}
	r.drained = make(chan struct{})
	go func() {
		r.queue.ShutDownWithDrain()
		close(r.drained)
	}()
	for !r.queue.ShuttingDown() {
		time.Sleep(time.Microsecond)
	}
	r.lookAtDrain()
}

func (r *recorder) look() {
	r.note("l", r.queue.Len(), r.counts.adds.Load(), r.counts.depth.Load(), r.counts.retries.Load())
}

func (r *recorder) addAfter() {
	key, delay := r.key(), r.random.Intn(150)
	if delay < 15 {
		r.step(time.Microsecond)
		r.queue.AddAfter(strconv.Itoa(key), 0)
		delay = 0
	} else {
		r.delayed(func() { r.queue.AddAfter(strconv.Itoa(key), time.Duration(delay)*time.Millisecond) })
	}
	r.note("w", key, delay)
}

func (r *recorder) one() {
	switch n := r.random.Intn(100); {
	case n < 25:
		key := r.key()
		r.queue.Add(strconv.Itoa(key))
		r.note("a", key)
	case n < 37:
		r.addAfter()
	case n < 45:
		key := r.key()
		r.delayed(func() { r.queue.AddRateLimited(strconv.Itoa(key)) })
		r.note("r", key, r.queue.NumRequeues(strconv.Itoa(key)))
	case n < 48:
		key := r.key()
		r.queue.Forget(strconv.Itoa(key))
		r.note("f", key)
	case n < 66:
		r.get()
	case n < 80:
		r.done()
	case n < 90:
		ms := r.random.Intn(60)
		r.step(time.Duration(ms) * time.Millisecond)
		r.note("t", ms)
	case n < 99:
		r.look()
	default:
		r.end()
	}
}

func sequence(seed int64) []call {
	fake := &countingClock{FakeClock: testingclock.NewFakeClock(time.Unix(1, 0))}
	r := &recorder{random: rand.New(rand.NewSource(seed)), clock: fake, counts: &counts{}}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Second)
	r.queue = workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{
		Name: "recorded", Clock: fake, MetricsProvider: r.counts})
	r.settle(func() { r.queue.AddAfter(sentinel, far) })
	r.counts.retries.Store(0)
	for range calls {
		r.one()
	}
	for r.look(); r.queue.Len() > 0; {
		r.get()
	}
	for r.end(); r.drained != nil && len(r.processing) > 0; {
		r.done()
	}
	r.queue.ShutDown()
	return r.calls
}

func record(seed int64, count int) error {
	out := json.NewEncoder(os.Stdout)
	for i := range int64(count) {
		if err := out.Encode(sequence(seed + i)); err != nil {
			return err
		}
	}
	return limiters(out)
}
