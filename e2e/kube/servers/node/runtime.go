package node

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	apitest "k8s.io/cri-api/pkg/apis/testing"
)

// runtime runs containers as processes. Kubernetes' own fake runtime for tests does the
// book-keeping.
type runtime struct {
	*apitest.FakeRuntimeService
	images  *images
	config  Config
	network *network

	mu         sync.Mutex
	pods       map[string]*pod
	containers map[string]*container
}

type pod struct {
	network string
	config  *runtimeapi.PodSandboxConfig
}

func newRuntime(c Config) *runtime {
	fake := apitest.NewFakeRuntimeService()
	fake.FakeStatus = &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
	}}
	return &runtime{FakeRuntimeService: fake, images: newImages(c.Images), config: c, network: &network{},
		pods: map[string]*pod{}, containers: map[string]*container{}}
}

// RunPodSandbox creates the network of a pod.
func (r *runtime) RunPodSandbox(ctx context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	name, address, err := r.network.add()
	if err != nil {
		return "", err
	}
	id, err := r.FakeRuntimeService.RunPodSandbox(ctx, config, handler)
	if err != nil {
		return "", err
	}
	r.Lock()
	r.Sandboxes[id].Network.Ip = address
	r.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods[id] = &pod{network: name, config: config}
	return id, nil
}

// StopPodSandbox ends the processes of a pod and removes its network.
func (r *runtime) StopPodSandbox(ctx context.Context, id string) error {
	r.mu.Lock()
	p := r.pods[id]
	delete(r.pods, id)
	var left []*container
	for _, c := range r.containers {
		if c.pod == id {
			left = append(left, c)
		}
	}
	r.mu.Unlock()
	for _, c := range left {
		c.stop(0)
	}
	if p != nil {
		if err := r.network.remove(p.network); err != nil {
			return err
		}
	}
	return r.FakeRuntimeService.StopPodSandbox(ctx, id)
}

// CreateContainer records the container to start.
func (r *runtime) CreateContainer(ctx context.Context, podID string, config *runtimeapi.ContainerConfig, sandbox *runtimeapi.PodSandboxConfig) (string, error) {
	id, err := r.FakeRuntimeService.CreateContainer(ctx, podID, config, sandbox)
	if err != nil {
		return "", err
	}
	log := filepath.Join(sandbox.LogDirectory, config.LogPath)
	r.Lock()
	r.Containers[id].LogPath = log // the kubelet removes files with this prefix
	r.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.containers[id] = &container{id: id, pod: podID, config: config, log: log,
		dir:  filepath.Join(r.config.Dir, "containers", strings.ReplaceAll(id, "/", "_")),
		done: make(chan struct{})}
	return id, nil
}

// StartContainer starts the process and records its end.
func (r *runtime) StartContainer(ctx context.Context, id string) error {
	r.mu.Lock()
	c := r.containers[id]
	var p *pod
	if c != nil {
		p = r.pods[c.pod]
	}
	r.mu.Unlock()
	if p == nil {
		return fmt.Errorf("the container %q or its pod is gone", id)
	}
	s, err := r.describe(c, p)
	if err != nil {
		return err
	}
	if err := c.start(r.config.Container, s); err != nil {
		return err
	}
	if err := r.FakeRuntimeService.StartContainer(ctx, id); err != nil {
		return err
	}
	go r.note(c)
	return nil
}

// note records how a container ended, for the kubelet.
func (r *runtime) note(c *container) {
	<-c.done
	r.Lock()
	defer r.Unlock()
	status := r.Containers[c.id]
	if status == nil {
		return
	}
	status.State, status.FinishedAt, status.ExitCode = runtimeapi.ContainerState_CONTAINER_EXITED, time.Now().UnixNano(), c.code
	status.Reason = "Completed"
	if c.code != 0 {
		status.Reason = "Error"
	}
}

// StopContainer asks the process to end, and kills it after the timeout in seconds.
func (r *runtime) StopContainer(_ context.Context, id string, timeout int64) error {
	r.mu.Lock()
	c := r.containers[id]
	r.mu.Unlock()
	if c != nil {
		c.stop(time.Duration(timeout) * time.Second)
		r.note(c)
	}
	return nil
}

// RemoveContainer forgets an ended container.
func (r *runtime) RemoveContainer(ctx context.Context, id string) error {
	r.mu.Lock()
	c := r.containers[id]
	delete(r.containers, id)
	r.mu.Unlock()
	if c != nil {
		c.stop(0)
	}
	return r.FakeRuntimeService.RemoveContainer(ctx, id)
}
