//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The configured speed of the simulated workers.
const (
	prefill = 120 * time.Millisecond
	decode  = 25 * time.Millisecond
	// block is the block size of the workers' prefix cache in tokens.
	block = 16
)

// dynamo is a running deployment: the Rust frontend and simulated workers, which find each
// other through files.
type dynamo struct {
	frontend, workers *process
	// root is the frontend's URL without a path.
	root string
}

func (d *dynamo) api() string { return d.root + "/v1" }

// startDynamo starts a frontend with the router mode and two workers, and waits until it
// serves the model.
func startDynamo(t *testing.T, router string) *dynamo {
	t.Helper()
	dir := t.TempDir()
	engine := filepath.Join(dir, "engine.json")
	writeEngine(t, engine)
	host, port := freeAddress(t)
	env := []string{
		"DYN_FILE_KV=" + filepath.Join(dir, "discovery"),
		// All traffic stays on loopback, and no model hub is used.
		"DYN_TCP_RPC_HOST=127.0.0.1", "DYN_TCP_RESPONSE_STREAM_HOST=127.0.0.1", "DYN_EVENT_PLANE_HOST=127.0.0.1",
		"HF_HUB_OFFLINE=1",
	}
	d := &dynamo{root: "http://" + host}
	d.frontend = start(t, "dynamo-frontend", env, python(t), "-m", "dynamo.frontend",
		"--http-host=127.0.0.1", fmt.Sprintf("--http-port=%d", port), "--discovery-backend=file", "--router-mode="+router)
	d.workers = start(t, "dynamo-mocker", env, python(t), "-m", "dynamo.mocker",
		"--model-path", cached(t, "model"), "--model-name=tiny", "--num-workers=2", "--discovery-backend=file", "--extra-engine-args", engine)
	await(t, patience, "Dynamo to serve the model on two workers", func() error { return d.ready(t) }, d.frontend, d.workers)
	return d
}

// writeEngine writes the configuration of the simulated engine.
func writeEngine(t *testing.T, path string) {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"engine": map[string]any{
			"block_size": block, "num_gpu_blocks": 8192,
			"timing_model": map[string]any{
				"type": "fixed", "prefill_ms": prefill.Seconds() * 1e3, "decode_ms": decode.Seconds() * 1e3,
			},
		},
		// The KV router asks the workers for their cached blocks.
		"dynamo": map[string]any{"enable_local_indexer": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ready returns nil once both workers are registered and the model is listed.
func (d *dynamo) ready(t *testing.T) error {
	health, err := get(t.Context(), d.root+"/health")
	if err != nil {
		return err
	}
	if n := strings.Count(string(health), `"endpoint":"generate"`); n != 2 {
		return fmt.Errorf("%d workers are registered, want 2", n)
	}
	models, err := get(t.Context(), d.api()+"/models")
	if err != nil {
		return err
	}
	if !strings.Contains(string(models), `"tiny"`) {
		return errors.New("the model is not listed")
	}
	return nil
}

// awaitTokens waits until the frontend has sent n tokens, so that a stream is in its
// middle.
func (d *dynamo) awaitTokens(t *testing.T, n float64) {
	t.Helper()
	await(t, patience, "a running stream", func() error {
		f, err := tryScrape(t.Context(), d.root+"/metrics")
		if err != nil {
			return err
		}
		if got := f.count("dynamo_frontend_inter_token_latency_seconds", nil); got < n {
			return fmt.Errorf("%v tokens so far", got)
		}
		return nil
	}, d.frontend)
}
