package metrics

import (
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
)

// TestOwnLabelsAreOnAllSeries checks that a target's labels are on all of its series, and on no
// other target's.
func TestOwnLabelsAreOnAllSeries(t *testing.T) {
	r := scripted()
	own := target.Target{Name: "east", BaseURL: "http://" + strings.Repeat("ä", 100), Service: "chat", Labels: map[string]string{"team": "search"}}
	var info fleet.Job
	info.Target, info.Workload.Name, info.ServerMetrics = own, "chat", true
	r.Add(info)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, f := range families {
		for _, m := range f.Metric {
			got := map[string]string{}
			for _, l := range m.Label {
				got[l.GetName()] = l.GetValue()
				if len(l.GetValue()) > maxLabelValue {
					t.Errorf("%s: the label %s has %d bytes", f.GetName(), l.GetName(), len(l.GetValue()))
				}
			}
			of := got[LabelTarget]
			labeled := got[LabelService] == "chat" && got["team"] == "search"
			if seen[of]++; labeled != (of == "east") {
				t.Errorf("%s%v: has the labels of the target east: %t", f.GetName(), got, labeled)
			}
			if !slices.IsSortedFunc(m.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) }) {
				t.Errorf("%s: labels out of order: %v", f.GetName(), m.Label)
			}
		}
	}
	if seen["east"] < 100 || seen["west"] < 100 {
		t.Errorf("series: %v", seen)
	}
}
