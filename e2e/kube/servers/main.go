// Command servers is Kubernetes and etcd in one binary, which links once instead of six
// times. The first argument selects the server.
package main

import (
	"fmt"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"synthetic/e2e/kube/servers/node"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "name one of etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy and kubelet")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case "kubelet":
		fmt.Fprintln(os.Stderr, node.Run(os.Args[1]))
		os.Exit(1)
	default:
		fmt.Fprintf(os.Stderr, "there is no server %q here\n", os.Args[0])
		os.Exit(2)
	}
}
