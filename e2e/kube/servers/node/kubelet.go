// Package node runs Kubernetes' own kubelet with a container runtime that pulls no images,
// uses no cgroups, and runs containers as processes of this machine.
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

// Config is the configuration of a node, which the caller writes as JSON.
type Config struct {
	Name       string
	Kubeconfig string
	// Dir holds the files of the kubelet and of containers, Logs the output of pods.
	Dir, Logs string
	// Container is the program that becomes a container.
	Container string
	// Images maps the last part of an image's repository to a root directory.
	Images map[string]string
	// DNS and Domain of the cluster
	DNS, Domain string
}

// Run runs a node until it is killed.
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
	rest.QPS = -1 // the default limit would make rolling forty pods slow
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

// configuration returns the kubelet's defaults without features that need cgroups and
// iptables.
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

// fill adds the dependencies that Kubernetes omits in its simulated kubelets: real mounts,
// volumes and probes.
func fill(d *kubelet.Dependencies) {
	mounter := mount.New("")
	d.ProbeManager = nil // the kubelet creates its own
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

// machine reports a large node, because requested resources are not reserved here.
type machine struct{ cadvisor.Interface }

func (machine) MachineInfo(klog.Logger) (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{NumCores: 64, MemoryCapacity: 256 << 30}, nil
}
