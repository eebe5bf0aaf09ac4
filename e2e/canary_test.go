//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
)

// TestCanary records the random model in f16 and compares it with another start of the same
// model and with its quantizations.
func TestCanary(t *testing.T) {
	ref := recordCanary(t)
	for model, changed := range map[string]bool{"tiny.gguf": false, "tiny-q8_0.gguf": true, "tiny-q4_0.gguf": true} {
		t.Run(model, func(t *testing.T) {
			s := startLlamaServerOn(t, model)
			asker := probe.NewAsker(probe.Options{Target: target.Target{BaseURL: s.api(), Model: "tiny"}})
			defer asker.Close()
			watch, at := answers.NewWatch(ref, 5*time.Minute), time.Now()
			var r answers.Reading
			n := 0
			for ; n < 25 && r.Score < 1; n++ {
				asked, err := asker.Round(t.Context(), "tiny", ref.Prompts(), ref.Tokens, false)
				if err != nil {
					t.Fatal(err)
				}
				r = watch.Compare(asked.Round, at)
			}
			t.Logf("distance %.2g, recorded up to %.2g; score %.2f after %d rounds", r.Distance, r.Usual, r.Score, n)
			if (r.Score >= 1) != changed {
				t.Errorf("score %v, changed: %v", r.Score, changed)
			}
		})
	}
}

// recordCanary runs "synthetic canary record".
func recordCanary(t *testing.T) *answers.Reference {
	t.Helper()
	s := startLlamaServer(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "synthetic.yml")
	text := fmt.Sprintf("targets: [{name: tiny, base_url: %q, model: tiny}]\nanswers: {canary: {directory: .}}\n", s.api())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, binary(t), "canary", "record", "--config.file="+file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ref, err := answers.Read(filepath.Join(dir, "tiny.json"))
	if err != nil || !ref.Logprobs || !strings.HasPrefix(ref.Fingerprint, "b") {
		t.Fatalf("%v: %+v", err, ref)
	}
	return ref
}
