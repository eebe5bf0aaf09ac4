package main

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe/answers"
	"synthetic/internal/simulate"
)

// TestCanaryRecord records a deployment with an adapter over TCP.
func TestCanaryRecord(t *testing.T) {
	d := httptest.NewServer(simulate.New(simulate.Options{
		Model: "base", Adapters: []string{"tuned"}, Seed: 1,
		FirstToken: simulate.Delay{Median: time.Microsecond}, InterToken: simulate.Delay{Median: time.Microsecond},
	}))
	defer d.Close()
	dir := t.TempDir()
	configure := func(name, model, more string) string {
		file := filepath.Join(dir, name+".yml")
		text := fmt.Sprintf("targets: [{name: chat, base_url: %q, model: %s}]\n%s", d.URL, model, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--config.file=" + file
	}
	const section = "answers: {canary: {directory: %s, base_model: base, tokens: 4, prompts: [\"Hello?\", \"What is 2 + 2?\"]}}\n"
	fine := configure("fine", "tuned", fmt.Sprintf(section, "fine"))
	for name, tt := range map[string]struct {
		args      string
		code      int
		out, errs string
	}{
		"recorded":         {fine, exitOK, `^chat: 112 rounds of 2 prompts, \d+ tokens, compared by log-probabilities; distances up to \S+\nwrote \S+chat.json\n$`, `^$`},
		"like its base":    {configure("same", "base", fmt.Sprintf(section, "same")), exitFailure, `^$`, `are like the answers of its base model "base".*nothing was written`},
		"no such model":    {configure("gone", "gone", fmt.Sprintf(section, "gone")), exitFailure, `^$`, `HTTP 404.*nothing was written`},
		"no such target":   {fine + " --target=other", exitUsage, `^$`, `--target=other: answers.canary of \S+ has the targets \["chat"\]`},
		"nothing asked of": {configure("plain", "base", ""), exitUsage, `^$`, `has no answers.canary: write for example`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			code := run(t.Context(), append([]string{"canary", "record"}, strings.Fields(tt.args)...), &out, &errs)
			if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out.String()) || !regexp.MustCompile("(?s)"+tt.errs).MatchString(errs.String()) {
				t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
			}
		})
	}
	ref, err := answers.Read(filepath.Join(dir, "fine", "chat.json"))
	if err != nil || ref.Model != "tuned" || ref.Tokens != 4 || len(ref.Centre) != 2 {
		t.Errorf("%v: %+v", err, ref)
	}
	if _, err := os.Stat(filepath.Join(dir, "same", "chat.json")); err == nil {
		t.Error("a model with the answers of its base was recorded")
	}
}

// TestCanaryRecordGoesOn: a failed request is repeated; if the server is gone, the
// recording ends.
func TestCanaryRecordGoesOn(t *testing.T) {
	t.Parallel()
	deployment := simulate.New(simulate.Options{
		Model: "m", Seed: 1, FirstToken: simulate.Delay{Median: time.Microsecond}, InterToken: simulate.Delay{Median: time.Microsecond},
	})
	for name, tt := range map[string]struct {
		last int64 // last failing request; the first is the 20th
		code int
	}{"one fails": {20, exitOK}, "all fail": {math.MaxInt64, exitFailure}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the program waits after failed rounds
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n := asked.Add(1); n >= 20 && n <= tt.last {
					http.Error(w, "overloaded", http.StatusServiceUnavailable)
					return
				}
				deployment.ServeHTTP(w, r)
			}))
			defer server.Close()
			file := filepath.Join(t.TempDir(), "synthetic.yml")
			text := fmt.Sprintf("targets: [{name: chat, base_url: %q, model: m}]\nanswers: {canary: {directory: refs, tokens: 4, prompts: [\"Well?\"]}}\n", server.URL)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs strings.Builder
			if code := run(t.Context(), []string{"canary", "record", "--config.file=" + file}, &out, &errs); code != tt.code {
				t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
			}
		})
	}
}
