package main

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/study/sweep"
)

// TestShardFlags: invalid flags give exit code 2 and a remedy, before anything is written
// or sent.
func TestShardFlags(t *testing.T) {
	dir := t.TempDir()
	empty, tlsDir := filepath.Join(dir, "empty"), t.TempDir()
	for _, file := range []string{empty, filepath.Join(tlsDir, "tls.crt"), filepath.Join(tlsDir, "tls.key"), filepath.Join(tlsDir, "ca.crt")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep := []string{"sweep", "--base-url=http://127.0.0.1:9/v1", "--output.dir=" + filepath.Join(dir, "out"), "--concurrency=4"}
	first := []string{"--shards=4", "--shard=0"}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"none", []string{"--shards=0"}, "want 1 or more"},
		{"which", []string{"--shards=4"}, "--shard=0 to 3, or with JOB_COMPLETION_INDEX"},
		{"too high", []string{"--shards=4", "--shard=4"}, "the shards of --shards=4 are 0 to 3"},
		{"no address", first, "shard 0 needs --barrier.listen"},
		{"no URL", []string{"--shards=4", "--shard=2"}, "shard 2 needs --barrier"},
		{"no URL at all", []string{"--shards=4", "--shard=2", "--barrier=first:9878"}, "want the URL of shard 0"},
		{"a secret in it", []string{"--shards=4", "--shard=2", "--barrier=http://u:sekret@first:9878"}, "without user and query"},
		{"open to all", append(first, "--barrier.listen=:0"), "give all shards a token"},
		{"no port", append(first, "--barrier.listen=127.0.0.1:99999"), "--barrier.listen"},
		{"no file", append(first, "--barrier.listen=127.0.0.1:0", "--barrier.token-file=nowhere"), "--barrier.token-file: "},
		{"empty token", append(first, "--barrier.listen=127.0.0.1:0", "--barrier.token-file="+empty), "the file is empty"},
		{"no certificate", append(first, "--barrier.listen=127.0.0.1:0", "--barrier.tls-dir=nowhere"), "--barrier.tls-dir: open nowhere/tls.crt"},
		{"no key in it", append(first, "--barrier.listen=127.0.0.1:0", "--barrier.tls-dir="+tlsDir), "--barrier.tls-dir: "},
		{"no authority", []string{"--shards=4", "--shard=2", "--barrier=https://first:1", "--barrier.tls-dir=" + tlsDir}, "ca.crt has no certificate in PEM"},
		{"presets", append(first, "--barrier.listen=127.0.0.1:0", "preset"), "every shard would simulate its own deployment"},
		{"no directory", append(first, "--barrier.listen=127.0.0.1:0", "nowhere"), "--output.dir=DIR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err bytes.Buffer
			args := append(slices.Clone(sweep), c.args...)
			switch last := len(args) - 1; args[last] {
			case "preset":
				args[1], args = "--base-url=preset:phase0", args[:last]
			case "nowhere":
				args[2], args = "--concurrency=8", args[:last]
				args[3] = "--duration=1s"
			}
			if code := run(t.Context(), args, &out, &err); code != exitUsage || !strings.Contains(err.String(), c.want) {
				t.Errorf("exit code %d, %s; want %q", code, err.String(), c.want)
			}
			if strings.Contains(err.String(), "sekret") {
				t.Errorf("the error contains a secret: %s", err.String())
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a directory was made")
	}
}

// TestShardAlone: a shard that cannot reach shard 0 ends with an error.
func TestShardAlone(t *testing.T) {
	var out, err bytes.Buffer
	began := time.Now()
	code := run(t.Context(), []string{
		"sweep", "--base-url=http://127.0.0.1:9/v1", "--concurrency=4", "--output.dir=" + t.TempDir(),
		"--shards=2", "--shard=1", "--barrier=http://127.0.0.1:9", "--barrier.wait=1s",
	}, &out, &err)
	if code != exitFailure || !strings.Contains(err.String(), "shard 0 cannot be reached at http://127.0.0.1:9 for 1s") {
		t.Errorf("exit code %d after %s: %s", code, time.Since(began), err.String())
	}
}

// TestBarrierIsNotHeldUp: silent connections do not keep a shard from shard 0.
func TestBarrierIsNotHeldUp(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := shardFlags{count: 2, listen: free.Addr().String()}
	_ = free.Close()
	lead := sweep.NewLead(sweep.Hello{Protocol: sweep.ProtocolVersion, Count: 2}, "secret")
	stop, err := f.serve(lead, true, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for range 300 {
		c, err := net.Dial("tcp", f.listen)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.listen+"/v1/clock", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the barrier responds to a shard with %s", resp.Status)
	}
}
