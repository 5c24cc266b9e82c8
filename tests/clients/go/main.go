// SPDX-License-Identifier: Apache-2.0

// clients is one program for the Go clients of an API server; its first argument chooses the client.
//
//	clients kubectl [FLAGS]                     kubectl
//	clients informer json|protobuf KUBECONFIG   follows the embedded API server with client-go's informer, through cuts and more
//	clients codecs FILE KUBECONFIG              sends the objects of a file as JSON and as protobuf, and compares the answers
//	clients leader PROGRAM KUBECONFIG           contends with sample-controller for one Lease
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

const usage = "usage: clients kubectl|informer|codecs|leader ..."

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	// kubectl reads os.Args itself, and expects its own name first.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "kubectl":
		os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
	case "informer":
		end(follow(os.Args[1:]))
	case "codecs":
		end(codecs(os.Args[1:]))
	case "leader":
		end(contend(os.Args[1:]))
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}
