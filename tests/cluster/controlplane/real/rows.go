// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
)

// A row is one client with one way to get all pods.
type row struct {
	client, how, wire string
	command           []string
	environment       []string
}

func (r row) name() string {
	return fmt.Sprintf("%-10s %-10s %-8s", r.client, r.how, r.wire)
}

const protobufType = "application/vnd.kubernetes.protobuf"

// What kinformer is asked for; the pages need another program, because no flag asks for a first list in pages.
var waysOfKinformer = []struct {
	how   string
	flags []string
}{
	{"default", nil},
	{"list 0", []string{"--watch-list", "never"}},
	{"streamed", []string{"--watch-list", "always"}},
	{"projected", []string{"--keep", "/spec/nodeName"}},
}

func rowsOfKinformer(s *settings, wire string) []row {
	rows := []row{}
	for _, way := range waysOfKinformer {
		command := []string{s.kinformer, "watch", "pods", "-A", "--until-synced", "--stats", "-o", "none",
			"--kubeconfig", s.kubeconfig, "--wire", wire}
		rows = append(rows, row{client: "kinformer", how: way.how, wire: wire, command: append(command, way.flags...)})
	}
	return append(rows,
		row{client: "kinformer", how: "list", wire: wire, command: []string{s.listPods, s.kubeconfig, wire, "-1"}},
		row{client: "kinformer", how: "pages", wire: wire, command: []string{s.listPods, s.kubeconfig, wire, "500"}})
}

func rowsOfOthers(s *settings, wire string) []row {
	accept := "application/json"
	if wire == "protobuf" {
		accept = protobufType
	}
	informer := []string{os.Args[0], "informer", s.kubeconfig, wire}
	return []row{
		{client: "client-go", how: "default", wire: wire, command: informer},
		{client: "client-go", how: "list 0", wire: wire, command: informer,
			environment: []string{"KUBE_FEATURE_WatchListClient=false"}},
		{client: "curl", how: "list 0", wire: wire, command: []string{"curl", "-sS", "--http1.1", "-A", "bench", "-o", "/dev/null",
			"-w", `{"bytes_read":%{size_download}}`, "--cacert", s.authority, "-H", "Authorization: Bearer " + s.token,
			"-H", "Accept: " + accept, s.server + "/api/v1/pods?resourceVersion=0"}},
	}
}
