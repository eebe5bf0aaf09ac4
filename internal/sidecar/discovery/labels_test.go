package discovery

import (
	"slices"
	"testing"

	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/relabel"

	"synthetic/internal/probe/target"
)

// labeledSource is a source that knows its labels.
type labeledSource struct{ prom.Config }

func (labeledSource) LabelNames() []string { return []string{"role", "model", "name"} }

func TestLabelNames(t *testing.T) {
	g := Group{
		Template: target.Target{Labels: map[string]string{"team": "search"}},
		Sources:  []prom.Config{labeledSource{}, prom.StaticConfig{&targetgroup.Group{Labels: model.LabelSet{"zone": "a", "__scheme__": "https"}}}},
		Relabel:  []*relabel.Config{{TargetLabel: "owner"}, {TargetLabel: "base_url"}, {TargetLabel: "__address__"}, {TargetLabel: "${1}"}, {TargetLabel: "team"}},
	}
	if got, want := g.LabelNames(), []string{"owner", "role", "team", "zone"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}
