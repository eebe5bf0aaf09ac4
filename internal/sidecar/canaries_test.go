package sidecar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// record writes the canary reference of a deployment.
func record(t *testing.T, dir string, o simulate.Options) {
	t.Helper()
	wire := simulate.NewPipes()
	defer simulate.Serve(wire, simulate.New(o))()
	asker := probe.NewAsker(probe.Options{Target: target.Target{Name: "chat", BaseURL: "http://deployment/v1", Model: "m"}, Dial: wire.Dial})
	defer asker.Close()
	var rounds []answers.Round
	for i := range answers.Rounds {
		asked, err := asker.Round(t.Context(), "m", answers.DefaultPrompts(), 8, i%2 == 1)
		if err != nil {
			t.Fatal(err)
		}
		rounds = append(rounds, asked.Round)
	}
	ref, err := answers.NewReference(answers.DefaultPrompts(), rounds)
	if err != nil {
		t.Fatal(err)
	}
	ref.Tokens, ref.Target, ref.Model = 8, "chat", "m"
	data, err := ref.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDriftIsFound runs the canary against a simulated deployment whose log-probabilities are noisy for
// some time.
func TestDriftIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates three hours; make test-long runs it")
	}
	const before, during, after = 30 * time.Minute, 90 * time.Minute, 70 * time.Minute
	dir := t.TempDir()
	cfg, rules := stage.Rules(t, outcomesConfig+fmt.Sprintf("answers: {canary: {directory: %q}}\n", dir))
	var scrapes []stage.Scrape
	synctest.Test(t, func(t *testing.T) {
		o := simulate.Options{Model: "m", Seed: 1}
		record(t, dir, o)
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // rules are evaluated at full minutes
		o.Incidents = []simulate.Incident{{Kind: simulate.Drift, At: before, For: during, Share: 1, Factor: 0.05}}
		scrapes = stage.Play(t, cfg, o, before+during+after)
	})
	begin := scrapes[0].At
	first, last := stage.Spell(stage.Evaluate(t, rules, scrapes), "SyntheticAnswersChanged chat")
	if found := first.Sub(begin); found < before || found > before+80*time.Minute {
		t.Errorf("the drift of %v was found after %v", before, found)
	}
	if over := last.Sub(begin); over < before+during || over > before+during+after-time.Minute {
		t.Errorf("the drift was over after %v, and the alert after %v", before+during, over)
	}
	rounds := value(scrapes[len(scrapes)-1], metrics.CanaryRounds)
	if tokens := value(scrapes[len(scrapes)-1], metrics.CanaryTokens); rounds < 36 || tokens < 8*8*rounds {
		t.Errorf("%v rounds of %v tokens", rounds, tokens)
	}
}

// value returns the value of the only series of a metric, -1 without one.
func value(s stage.Scrape, name string) float64 {
	for _, sample := range s.Samples {
		if sample.Labels.Get("__name__") == name {
			return sample.Value
		}
	}
	return -1
}

// TestRubbishIsCounted: damaged answers and answers of another model are counted, and are no failures.
func TestRubbishIsCounted(t *testing.T) {
	const before = 3 * time.Minute
	for kind, reason := range map[simulate.IncidentKind]string{
		simulate.Exclamations: "repetition", simulate.Repetition: "repetition", simulate.WrongScript: "language", simulate.OtherModel: "model",
	} {
		t.Run(string(kind), func(t *testing.T) {
			cfg, _ := stage.Rules(t, outcomesConfig)
			var scrapes []stage.Scrape
			synctest.Test(t, func(t *testing.T) {
				scrapes = stage.Play(t, cfg, simulate.Options{
					Model: "m", Seed: 1, Incidents: []simulate.Incident{{Kind: kind, At: before, Share: 1}},
				}, 2*before)
			})
			odd := map[string]float64{}
			failed := 0.0
			for _, s := range scrapes {
				for _, sample := range s.Samples {
					switch sample.Labels.Get("__name__") {
					case metrics.OddAnswers:
						if odd[sample.Labels.Get("reason")] = sample.Value; sample.Value > 0 && s.At.Sub(scrapes[0].At) < before {
							t.Fatalf("%s before the incident", sample.Labels)
						}
					case metrics.TurnFailures:
						failed = max(failed, sample.Value)
					}
				}
			}
			if odd[reason] < 30 || failed > 0 {
				t.Errorf("%v turns were odd, %v failed", odd, failed)
			}
		})
	}
}
