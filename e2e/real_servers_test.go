//go:build e2e && real

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// engineStart limits the start of vLLM, which takes 40 to 100 s on two idle cores.
	engineStart = 10 * time.Minute
	liteLLMKey  = "sk-e2e"
)

// realServers holds vLLM and the gateways in front of it. They belong to the test that
// started them; its subtests stop and start them.
type realServers struct {
	t                              *testing.T
	dir                            string
	vllm, litellm, nginx, haproxy  *process
	values                         map[string]string // of the placeholders in e2e/real
	vllmAddress, haproxyAddress    string
	nginxAddress, litellmAddress   string
	unbufferedAddress, certificate string
	vllmPort                       int
}

// startVLLM starts vLLM alone.
func startVLLM(t *testing.T) *realServers {
	t.Helper()
	s := &realServers{t: t, dir: t.TempDir(), certificate: cached(t, "real-cert.pem")}
	s.vllmAddress, s.vllmPort = freeAddress(t)
	s.runVLLM()
	return s
}

// startRealServers starts vLLM, LiteLLM, nginx and HAProxy.
func startRealServers(t *testing.T) *realServers {
	t.Helper()
	s := startVLLM(t)
	for _, address := range []*string{&s.haproxyAddress, &s.nginxAddress, &s.unbufferedAddress, &s.litellmAddress} {
		*address, _ = freeAddress(t)
	}
	s.values = map[string]string{
		"VLLM": s.vllmAddress, "HAPROXY": s.haproxyAddress, "NGINX": s.nginxAddress, "NGINX_UNBUFFERED": s.unbufferedAddress,
		"CERTIFICATE": s.certificate, "CERTIFICATE_KEY": cached(t, "real-key.pem"), "DIR": s.dir, "KEY": liteLLMKey,
		"BUFFERING": "off",
	}
	s.runHAProxy()
	s.runNginx()
	s.runLiteLLM()
	return s
}

// runVLLM starts vLLM and waits until it answers. Its KV cache has room for 72 blocks of 128
// tokens, so that a few dozen requests fill it.
func (s *realServers) runVLLM() {
	s.t.Helper()
	env := []string{
		"VLLM_TARGET_DEVICE=cpu", "VLLM_CPU_KVCACHE_SPACE=1", "OMP_NUM_THREADS=1", "VLLM_CPU_OMP_THREADS_BIND=nobind",
		"VLLM_NO_USAGE_STATS=1", "HF_HUB_OFFLINE=1", "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True",
	}
	s.vllm = start(s.t, "vllm", env, "nice", "-n", "5", cached(s.t, "vllm", "bin", "vllm"), "serve", cached(s.t, "real-model"),
		"--served-model-name", "tiny", "--host", "127.0.0.1", "--port", strconv.Itoa(s.vllmPort), "--max-model-len", "8192",
		"--enforce-eager", "--num-gpu-blocks-override", "72", "--max-num-seqs", "16", "--enable-prompt-tokens-details",
		"--enable-lora", "--max-lora-rank", "8", "--max-loras", "2", "--enable-auto-tool-choice", "--tool-call-parser", "hermes")
	s.t.Cleanup(s.vllm.stop)
	await(s.t, engineStart, "vLLM to answer", func() error { return s.vllmHealth() }, s.vllm)
}

func (s *realServers) vllmHealth() error {
	_, err := get(s.t.Context(), "http://"+s.vllmAddress+"/health")
	return err
}

// stop ends a process and its children as an operator does, and kills it if it hangs.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		p.kill()
	}
}

// signalEngine sends a signal to vLLM's process EngineCore, which holds the model. The API
// server is its parent.
func (s *realServers) signalEngine(signal syscall.Signal) {
	s.t.Helper()
	pid, err := childNamed(s.vllm.cmd.Process.Pid, "EngineCore")
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		s.t.Fatalf("sending %v to vLLM's EngineCore: %v", signal, err)
	}
}

// childNamed finds the child process whose command line contains a name.
func childNamed(parent int, name string) (int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			return 0, err
		}
		for _, child := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline") // it may just have ended
			if bytes.Contains(line, []byte(name)) {
				return strconv.Atoi(child)
			}
		}
	}
	return 0, fmt.Errorf("process %d has no child %q", parent, name)
}

// loadAdapter makes vLLM serve the LoRA adapter under a name.
func (s *realServers) loadAdapter(name string) {
	s.t.Helper()
	s.adapter("load", map[string]string{"lora_name": name, "lora_path": cached(s.t, "real-adapter")})
}

func (s *realServers) unloadAdapter(name string) {
	s.t.Helper()
	s.adapter("unload", map[string]string{"lora_name": name})
}

func (s *realServers) adapter(action string, body map[string]string) {
	s.t.Helper()
	if err := post(s.t.Context(), "http://"+s.vllmAddress+"/v1/"+action+"_lora_adapter", "", body); err != nil {
		s.t.Fatal(err)
	}
}

func (s *realServers) runLiteLLM() {
	s.t.Helper()
	host, port, _ := strings.Cut(s.litellmAddress, ":")
	env := []string{"LITELLM_LOCAL_MODEL_COST_MAP=True"}
	s.litellm = start(s.t, "litellm", env, cached(s.t, "litellm", "bin", "litellm"), "--config", s.fill("litellm.yaml"), "--host", host, "--port", port)
	awaitAnswer(s.t, s.litellm, "http://"+s.litellmAddress+"/health/liveliness")
}

func (s *realServers) runHAProxy() {
	s.t.Helper()
	s.haproxy = start(s.t, "haproxy", nil, "haproxy", "-db", "-f", s.fill("haproxy.cfg"))
	awaitAnswer(s.t, s.haproxy, "http://"+s.haproxyAddress+"/health")
}

func (s *realServers) runNginx() {
	s.t.Helper()
	s.nginx = start(s.t, "nginx", nil, "nginx", "-e", "stderr", "-c", s.fill("nginx.conf"))
	s.t.Cleanup(s.nginx.stop)
	await(s.t, patience, "nginx to listen", func() error {
		conn, err := net.Dial("tcp", s.nginxAddress)
		if err == nil {
			err = conn.Close()
		}
		return err
	}, s.nginx)
}

// setBuffering makes nginx buffer answers, as it does by default, or not.
func (s *realServers) setBuffering(value string) {
	s.t.Helper()
	s.values["BUFFERING"] = value
	s.fill("nginx.conf")
	s.nginx.signal(s.t, syscall.SIGHUP)
}

// fill writes a file of e2e/real with its placeholders replaced, and returns the path.
func (s *realServers) fill(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("real", name))
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.dir, name)
	filled := os.Expand(string(text), func(key string) string {
		if v, ok := s.values[key]; ok {
			return v
		}
		return "$" + key // a variable of nginx
	})
	if err := os.WriteFile(path, []byte(filled), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// saturate keeps requests in flight until the context ends: each of n clients sends prompts
// of about 600 tokens and wants 600 tokens.
func (s *realServers) saturate(ctx context.Context, n int) {
	for i := range n {
		body := map[string]any{
			"model": "tiny", "max_tokens": 600, "ignore_eos": true,
			"messages": []map[string]string{{"role": "user", "content": strings.Repeat(fmt.Sprintf("request %d of many ", i), 100)}},
		}
		go repeat(ctx, func() { _ = post(ctx, "http://"+s.vllmAddress+"/v1/chat/completions", "", body) })
	}
}

// exhaust uses up LiteLLM's limit of the model "limited" until the context ends: it sends
// ten requests a second.
func (s *realServers) exhaust(ctx context.Context) {
	body := map[string]any{"model": "limited", "max_tokens": 1, "messages": []map[string]string{{"role": "user", "content": "hello"}}}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			go func() { _ = post(ctx, "http://"+s.litellmAddress+"/v1/chat/completions", liteLLMKey, body) }()
		}
	}
}

func repeat(ctx context.Context, f func()) {
	for ctx.Err() == nil {
		f()
	}
}

// post sends JSON and returns an error unless the status is 200.
func post(ctx context.Context, url, key string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status + ": " + string(answer))
	}
	return nil
}
