// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const podsPerWrite = 100 // etcd accepts up to 128 operations and 1.5 MiB

// put stores the pod in etcd as kube-apiserver would. A POST would drop its status, and take ten times as long.
func put(pod *core.Pod) (clientv3.Op, error) {
	pod.ResourceVersion = ""
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), core.SchemeGroupVersion)
	bytes, err := runtime.Encode(encoder, pod)
	return clientv3.OpPut("/registry/pods/"+pod.Namespace+"/"+pod.Name, string(bytes)), err
}

// skipTo reads tokens up to the `[` of the list's items.
func skipTo(decoder *json.Decoder, key string) error {
	for {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		if token == key {
			_, err = decoder.Token()
			return err
		}
	}
}

func load(etcd, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}})
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.Get(context.Background(), "none"); err != nil { // a read, because reads are retried until etcd has started
		return err
	}
	decoder := json.NewDecoder(file)
	if err := skipTo(decoder, "items"); err != nil {
		return err
	}
	count := 0
	for decoder.More() {
		writes := []clientv3.Op{}
		for decoder.More() && len(writes) < podsPerWrite {
			pod := core.Pod{}
			if err := decoder.Decode(&pod); err != nil {
				return err
			}
			write, err := put(&pod)
			if err != nil {
				return err
			}
			writes = append(writes, write)
		}
		if _, err := client.Txn(context.Background()).Then(writes...).Commit(); err != nil {
			return err
		}
		count += len(writes)
	}
	fmt.Println("loaded", count, "pods")
	return nil
}
