// SPDX-License-Identifier: Apache-2.0

// real measures first lists of pods from a real kube-apiserver; bench/real.sh builds and runs it.
//
//	real load ETCD-URL FILE          writes the pods of a list in JSON into etcd, as kube-apiserver stores them
//	real informer KUBECONFIG WIRE    syncs client-go's informer of pods; WIRE is json or protobuf
//	real measure [FLAGS]             runs all clients in turn, and prints a table
package main

import (
	"errors"
	"fmt"
	"os"
)

var errUsage = errors.New("usage: real load ETCD-URL FILE | informer KUBECONFIG WIRE | measure [FLAGS]")

func run(arguments []string) error {
	switch {
	case len(arguments) == 3 && arguments[0] == "load":
		return load(arguments[1], arguments[2])
	case len(arguments) == 3 && arguments[0] == "informer":
		return inform(arguments[1], arguments[2])
	case len(arguments) > 0 && arguments[0] == "measure":
		return measure(arguments[1:])
	}
	return errUsage
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}
