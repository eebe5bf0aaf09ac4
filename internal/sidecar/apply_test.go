package sidecar

import (
	"fmt"
	"testing"

	"synthetic/internal/config"
)

// TestRejectedConfigurationChangesNothing: if the jobs of a configuration are invalid, neither its pager
// nor its export of spans remains, and a valid configuration can follow.
func TestRejectedConfigurationChangesNothing(t *testing.T) {
	valid, err := config.Parse("synthetic.yml", fmt.Appendf(nil, `
targets: [{name: a, base_url: "https://a"}]
slos: [{sli: availability, objective: 99%%}]
alerting: {directory: %q}
tracing: {url: "http://127.0.0.1:1"}
`, t.TempDir()), "")
	if err != nil {
		t.Fatal(err)
	}
	invalid := *valid
	invalid.Jobs = append(invalid.Jobs[:1:1], invalid.Jobs[0])
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Apply(&invalid); err == nil {
		t.Fatal("two equal jobs are accepted")
	}
	if exports := s.spans.Traced(); exports || s.pager.Pager != nil || s.written != nil || len(s.recorder.Names()) > 0 {
		t.Errorf("after a rejected configuration: spans are exported: %v, pager %v, targets %v", exports, s.pager.Pager, s.recorder.Names())
	}
	if err := s.Apply(valid); err != nil {
		t.Fatal(err)
	}
	if !s.spans.Traced() || s.pager.Pager == nil || s.written != &valid.Fleet {
		t.Error("a valid configuration is not in force")
	}
	if err := s.Apply(&invalid); err == nil || s.written != &valid.Fleet {
		t.Errorf("a rejected reload: error %v, in force %v", err, s.written == &invalid.Fleet)
	}
}
