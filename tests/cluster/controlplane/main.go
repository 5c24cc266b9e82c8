// SPDX-License-Identifier: Apache-2.0

// controlplane is one program for all parts of a small control plane; its first argument chooses the part.
//
//	controlplane etcd|kube-apiserver|kube-controller-manager|kubectl [FLAGS]
//
// It also has some tools, so that scripts need no others:
//
//	controlplane free-ports COUNT       prints unused ports of 127.0.0.1, one per line
//	controlplane key FILE               writes a new private key for the tokens of service accounts
//	controlplane compact ETCD-URL       compacts the history of etcd up to now
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

const usage = "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kubectl|free-ports|key|compact ..."

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	// Each part reads os.Args itself, and expects its own name first.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllermanager.NewControllerManagerCommand())
	case "kubectl":
		run(cmd.NewDefaultKubectlCommand())
	case "free-ports":
		end(freePorts(os.Args[1:]))
	case "key":
		end(key(os.Args[1:]))
	case "compact":
		end(compact(os.Args[1:]))
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}
