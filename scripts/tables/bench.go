// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// Decodes a list of pods again and again, as client-go does, and prints the microseconds for a pod in the best round.
func bench(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		fail("%v", err)
	}
	scheme := newScheme()
	serializer := protobuf.NewSerializer(scheme, scheme)
	best := 0.0
	for range 60 {
		start := time.Now()
		object, _, err := serializer.Decode(data, nil, nil)
		each := float64(time.Since(start).Nanoseconds()) / 1000
		if err != nil {
			fail("%v", err)
		}
		each /= float64(len(object.(*corev1.PodList).Items))
		if best == 0 || each < best {
			best = each
		}
	}
	fmt.Println(best)
}
