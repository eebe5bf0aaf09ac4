// Package kube tests kubernetes_sd_configs with Kubernetes' own API server. docs/background/e2e.md says
// how to run it.
package kube

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const patience = 2 * time.Minute

// token is the only token that the API server accepts.
const token = "e2e"

// TestKubernetes: the prober finds two pods of a Service by their Endpoints, probes them, and no longer
// probes a pod that goes.
func TestKubernetes(t *testing.T) {
	api := startAPI(t)
	var pods [2]string
	for i := range pods {
		pods[i] = address(t)
		start(t, "simulate-"+fmt.Sprint(i), os.Getenv("SYNTHETIC"), "simulate", "--web.listen-address="+pods[i])
	}
	namespace := "/api/v1/namespaces/default/"
	api.send(t, http.MethodPost, namespace+"services", `{"metadata": {"name": "vllm"}, "spec": {"ports": [{"port": 8000}]}}`)
	for i, to := range pods {
		api.send(t, http.MethodPost, namespace+"pods", fmt.Sprintf(`{"metadata": {"name": "vllm-%d", "annotations": {"address": %q}},
			"spec": {"containers": [{"name": "vllm", "image": "vllm"}]}}`, i, to))
	}
	api.send(t, http.MethodPost, namespace+"endpoints", endpoints("vllm-0", "vllm-1"))

	web := address(t)
	start(t, "prober", os.Getenv("SYNTHETIC"), "run", "--config.file="+api.configuration(t), "--web.listen-address="+web)
	await(t, "both pods", func() error { return probed(web, "pods/vllm-0", "pods/vllm-1") })
	api.send(t, http.MethodPut, namespace+"endpoints/vllm", endpoints("vllm-1"))
	api.send(t, http.MethodDelete, namespace+"pods/vllm-0?gracePeriodSeconds=0", "")
	await(t, "the other pod alone", func() error { return probed(web, "pods/vllm-1") })
}

// endpoints returns the Endpoints of the Service. The API server refuses loopback addresses, so an annotation
// of the pod has the address to probe.
func endpoints(pods ...string) string {
	var addresses []string
	for _, pod := range pods {
		addresses = append(addresses, fmt.Sprintf(`{"ip": "10.0.0.1%s", "targetRef": {"kind": "Pod", "namespace": "default", "name": %q}}`, pod[len(pod)-1:], pod))
	}
	return fmt.Sprintf(`{"metadata": {"name": "vllm"}, "subsets": [{"addresses": [%s], "ports": [{"port": 8000}]}]}`, strings.Join(addresses, ", "))
}

// probed returns an error unless exactly these targets have successful turns.
func probed(web string, want ...string) error {
	resp, err := http.Get("http://" + web + "/metrics")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	succeeded := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "synthetic_turns_total{") || strings.HasSuffix(line, " 0\n") {
			continue
		}
		_, rest, _ := strings.Cut(line, `target="`)
		name, _, _ := strings.Cut(rest, `"`)
		succeeded[name] = true
	}
	if len(succeeded) != len(want) {
		return fmt.Errorf("targets with turns: %v, want %q", succeeded, want)
	}
	for _, name := range want {
		if !succeeded[name] {
			return fmt.Errorf("targets with turns: %v, want %q", succeeded, want)
		}
	}
	return nil
}

type apiServer struct {
	url    string
	dir    string
	client *http.Client
}

func startAPI(t *testing.T) apiServer {
	t.Helper()
	dir, store, peer, secure := t.TempDir(), "http://"+address(t), "http://"+address(t), address(t)
	_, port, _ := net.SplitHostPort(secure)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a := apiServer{url: "https://" + secure, dir: dir, client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	accounts := a.write(t, "accounts.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	tokens := a.write(t, "tokens.csv", token+`,admin,admin,"system:masters"`+"\n")
	servers := os.Getenv("KUBE_SERVERS")
	start(t, "etcd", servers, "etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+store, "--advertise-client-urls="+store, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	start(t, "kube-apiserver", servers, "kube-apiserver", "--etcd-servers="+store, "--bind-address=127.0.0.1", "--secure-port="+port,
		"--cert-dir="+dir, "--endpoint-reconciler-type=none", "--authorization-mode=AlwaysAllow", "--token-auth-file="+tokens,
		"--disable-admission-plugins=ServiceAccount", "--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+accounts, "--service-account-key-file="+accounts)
	await(t, "the API server", func() error {
		_, err := a.try(t.Context(), http.MethodGet, "/api/v1/namespaces/default", "")
		return err
	})
	return a
}

func (a apiServer) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (a apiServer) configuration(t *testing.T) string {
	a.write(t, "token", token)
	return a.write(t, "synthetic.yml", fmt.Sprintf(`
discovery:
  - name: pods
    kubernetes_sd_configs:
      - {role: endpoints, api_server: %q, tls_config: {insecure_skip_verify: true}, authorization: {credentials_file: token}}
    relabel_configs:
      - {source_labels: [__meta_kubernetes_service_name], regex: vllm, action: keep}
      - {source_labels: [__meta_kubernetes_pod_annotation_address], target_label: __address__}
      - {source_labels: [__meta_kubernetes_pod_name], target_label: name}
workloads: [{name: chat, turns: {min: 1, max: 1}, max_output_tokens: 4}]
traffic: [{targets: [pods], workload: chat, arrival: {rate: 1}}]
`, a.url))
}

func (a apiServer) try(ctx context.Context, method, path, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = errors.New(resp.Status)
	}
	return string(answer), err
}

func (a apiServer) send(t *testing.T, method, path, body string) {
	t.Helper()
	if answer, err := a.try(t.Context(), method, path, body); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
	}
}

// address returns a free address.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start runs a process until the test ends. Its output is shown if the test fails.
func start(t *testing.T, name, program string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	c := exec.CommandContext(t.Context(), program, args...)
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, 5*time.Second
	if err := c.Start(); err != nil {
		t.Fatalf("%s: %v: set KUBE_SERVERS and SYNTHETIC to the binaries", name, err)
	}
	t.Cleanup(func() {
		_ = c.Wait() // the context has killed it
		if t.Failed() {
			t.Logf("%s:\n%s", name, out.Bytes()[max(0, out.Len()-4000):])
		}
	})
}

// await tries until something works.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
