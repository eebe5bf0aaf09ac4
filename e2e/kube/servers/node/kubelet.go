// Package node is a node: Kubernetes' own kubelet, over a runtime that has no images to
// pull and no cgroups, and whose containers are processes of this machine.
package node

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubemark"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/emptydir"
	"k8s.io/kubernetes/pkg/volume/local"
	"k8s.io/kubernetes/pkg/volume/projected"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

// Config is what a node needs to know; the caller writes it as JSON.
type Config struct {
	Name       string
	Kubeconfig string
	// Dir holds what the kubelet and the containers write, Logs the pods' output.
	Dir, Logs string
	// Container is the program that becomes a container.
	Container string
	// Images are root directories by the last part of an image's repository.
	Images map[string]string
	// DNS and Domain are of the cluster.
	DNS, Domain string
}

// Run is a node until it is killed.
func Run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	rest.QPS = -1 // the real one's limit would make rolling forty pods slow
	client, err := clientset.NewForConfig(rest)
	if err != nil {
		return err
	}
	runtime := newRuntime(c)
	k, err := configuration(c)
	if err != nil {
		return err
	}
	hollow := kubemark.NewHollowKubelet(flags(c), k, client, client, machine{&cadvisortest.Fake{NodeName: c.Name}}, runtime.images, runtime, cm.NewStubContainerManager())
	fill(hollow.KubeletDeps)
	hollow.Run(context.Background())
	return nil
}

func flags(c Config) *options.KubeletFlags {
	f := options.NewKubeletFlags()
	f.RootDirectory, f.HostnameOverride, f.NodeIP = c.Dir, c.Name, Address
	return f
}

// configuration is the kubelet's defaults without what needs cgroups and iptables.
func configuration(c Config) (*kubeletconfig.KubeletConfiguration, error) {
	k, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	k.EnableServer, k.RegisterNode, k.EnableControllerAttachDetach = false, true, false
	k.CgroupsPerQOS, k.EnforceNodeAllocatable, k.MakeIPTablesUtilChains = false, nil, false
	k.EvictionHard = nil
	k.PodLogsDir, k.VolumePluginDir = c.Logs, filepath.Join(c.Dir, "plugins")
	k.ClusterDNS, k.ClusterDomain, k.ResolverConfig = []string{c.DNS}, c.Domain, ""
	k.SerializeImagePulls = false
	k.MaxPods = 200
	return k, nil
}

// fill puts in what Kubernetes leaves out of the kubelets that it measures its own
// control plane with: real mounts, volumes and probes.
func fill(d *kubelet.Dependencies) {
	mounter := mount.New("")
	d.ProbeManager = nil // the kubelet makes its own
	d.OSInterface = kubecontainer.RealOS{}
	d.Mounter, d.Subpather, d.HostUtil = mounter, subpath.New(mounter), hostutil.NewHostUtil()
	d.VolumePlugins = volumes()
}

func volumes() []volume.VolumePlugin {
	var all []volume.VolumePlugin
	for _, probe := range []func() []volume.VolumePlugin{
		emptydir.ProbeVolumePlugins, configmap.ProbeVolumePlugins, secret.ProbeVolumePlugins,
		projected.ProbeVolumePlugins, downwardapi.ProbeVolumePlugins, local.ProbeVolumePlugins,
	} {
		all = append(all, probe()...)
	}
	return all
}

// machine says that the node is large, for nothing here reserves what pods ask for.
type machine struct{ cadvisor.Interface }

func (machine) MachineInfo(klog.Logger) (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{NumCores: 64, MemoryCapacity: 256 << 30}, nil
}
