package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWorkerFlags: invalid flags give exit code 2 and a remedy, before anything is written
// or sent.
func TestWorkerFlags(t *testing.T) {
	dir, tlsDir := t.TempDir(), t.TempDir()
	empty := filepath.Join(dir, "empty")
	for _, file := range []string{empty, filepath.Join(tlsDir, "tls.crt"), filepath.Join(tlsDir, "tls.key"), filepath.Join(tlsDir, "ca.crt")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	sweep := []string{"sweep", "--base-url=http://127.0.0.1:9/v1", "--output.dir=" + out, "--concurrency=4", "--workers=host1,host2"}
	worker := []string{"sweep", "--worker", "--worker.listen=127.0.0.1:0"}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a URL", []string{"sweep", "--base-url=http://127.0.0.1:9/v1", "--output.dir=" + out, "--concurrency=4", "--workers=http://u:sekret@host1"}, "want hosts"},
		{"twice", []string{"sweep", "--base-url=http://127.0.0.1:9/v1", "--output.dir=" + out, "--concurrency=4", "--workers=host1,host1:9878"}, "host1:9878 is named twice"},
		{"no file", append(slices.Clone(sweep), "--workers.token-file=nowhere"), "--workers.token-file: "},
		{"empty token", append(slices.Clone(worker), "--workers.token-file="+empty), "the file is empty"},
		{"no authority", append(slices.Clone(sweep), "--workers.tls-dir="+tlsDir), "ca.crt has no certificate in PEM"},
		{"presets", []string{"sweep", "--base-url=preset:phase0", "--output.dir=" + out, "--concurrency=4", "--workers=host1"}, "every worker would simulate its own deployment"},
		{"no token", worker, "head -c 32 /dev/urandom"},
		{"no token for workers", sweep, "--workers.token-file=token"},
		{"a plan beside --worker", append(slices.Clone(worker), "--plan.file=plan.yml"), "leave --plan.file out"},
		{"a directory beside --worker", append(slices.Clone(worker), "--output.dir="+out), "leave --output.dir out"},
		{"a sweep beside --worker", append(slices.Clone(worker), "--resume"), "leave --resume out"},
		{"a search beside --worker", append(slices.Clone(worker), "--find-capacity"), "leave --find-capacity out"},
		{"workers beside --worker", append(slices.Clone(worker), "--workers=host1"), "leave --workers out"},
		{"levels beside --worker", append(slices.Clone(worker), "--concurrency=4"), "leave --concurrency out"},
		{"no port", []string{"sweep", "--worker", "--worker.listen=127.0.0.1:99999"}, "--worker.listen"},
		{"no certificate", append(slices.Clone(worker), "--workers.tls-dir=nowhere"), "--workers.tls-dir: open nowhere/tls.crt"},
		{"no key in it", append(slices.Clone(worker), "--workers.tls-dir="+tlsDir), "--workers.tls-dir: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(tokenEnv, map[bool]string{false: "secret"}[strings.HasPrefix(c.name, "no token")])
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), c.args, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit code %d, %s; want %q", code, stderr.String(), c.want)
			}
			if strings.Contains(stderr.String(), "sekret") {
				t.Errorf("the error contains a secret: %s", stderr.String())
			}
		})
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a directory was made")
	}
}

// TestNoWorkers: a sweep whose workers do not answer ends with exit code 1 and names them.
func TestNoWorkers(t *testing.T) {
	t.Setenv(tokenEnv, "secret")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{
		"sweep", "--base-url=http://127.0.0.1:9/v1", "--concurrency=4", "--output.dir=" + t.TempDir(), "--workers=127.0.0.1:9", "--workers.wait=0s",
	}, &stdout, &stderr)
	if code != exitFailure || !strings.Contains(stderr.String(), "workers do not answer for 0s: 127.0.0.1:9 (") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

// TestWorkerOfAJob: the pods of an Indexed Job have one command line; all but the first are workers,
// which refuse orders of web pages, are not held up by silent connections, and end when they are stopped.
func TestWorkerOfAJob(t *testing.T) {
	t.Setenv(indexEnv, "0")
	if f := (workerFlags{names: "job-1.job"}); f.works() {
		t.Error("pod 0 is a worker")
	}
	t.Setenv(indexEnv, "1")
	if f := (workerFlags{}); f.works() {
		t.Error("a pod of a Job without workers is a worker")
	}
	t.Setenv(tokenEnv, "secret")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	adapted := expectAdapted(t)
	var stdout, stderr bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"sweep", "--workers=job-1.job", "--worker.listen=" + address}, &stdout, &stderr)
	}()
	for c := net.Conn(nil); c == nil; { // until it listens
		if c, err = net.DialTimeout("tcp", address, time.Second); err != nil && t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	// A page of another site sends an order, even with the right token.
	order, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/level", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"Origin": "https://evil.example", "Authorization": "Bearer secret", "Content-Type": "application/json"} {
		order.Header.Set(key, value)
	}
	answer, err := http.DefaultClient.Do(order)
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
		t.Errorf("an order of another site's page: %s", answer.Status)
	}
	adapted()
	for range 300 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	var out, errs bytes.Buffer
	t.Setenv(indexEnv, "")
	t.Setenv(tokenEnv, "guess")
	code := run(t.Context(), []string{"sweep", "--base-url=http://127.0.0.1:9/v1", "--output.dir=" + t.TempDir(), "--concurrency=4", "--workers=" + address}, &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), "wrong token") || strings.Contains(errs.String(), "guess") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	stop()
	if code := <-ended; code != exitStopped {
		t.Errorf("a stopped worker ends with %d: %s", code, stderr.String())
	}
}
