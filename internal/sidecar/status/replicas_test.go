package status

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/siblings"
)

// optional converts ratios; 0 becomes unknown.
func optional(v [2][2]float64) (out [2][2]probe.Opt[float64]) {
	for k := range v {
		for i := range v[k] {
			out[k][i] = probe.Opt[float64]{V: v[k][i], OK: v[k][i] > 0}
		}
	}
	return out
}

// sixteen returns the replicas of a service. The sixth is three times as slow, the last has
// just started.
func sixteen() (out []siblings.View) {
	for i := range 16 {
		v := siblings.View{Service: "chat", Target: fmt.Sprintf("chat-%d", i), Workload: "talk", Score: 0.1, Failed: probe.Some(0.0)}
		v.Ratios = optional([2][2]float64{{1 + float64(i%5)/50, 1}, {1, 0}})
		switch i {
		case 5:
			v.Score, v.Ratios, v.Failed = 1.3, optional([2][2]float64{{2.9, 3.11}, {3.02, 3}}), probe.Some(0.05)
		case 15:
			v.Score, v.Ratios, v.Failed = 0, optional([2][2]float64{}), probe.Opt[float64]{}
		}
		out = append(out, v)
	}
	return out
}

// TestServices checks that replicas that are compared with each other stand together, the
// paging one first, and that a replica without siblings is left out.
func TestServices(t *testing.T) {
	views := append(sixteen(),
		siblings.View{Service: "pair", Target: "a", Workload: "talk"}, siblings.View{Service: "pair", Target: "b", Workload: "talk"})
	for i := range 70 {
		views = append(views, siblings.View{Service: "chat", Role: "front", Target: "gateway", Workload: "talk", Worker: fmt.Sprint("w", i), Score: 0.2})
	}
	got := services(views, nil)
	if len(got) != 2 || got[0].Title() != "Replicas of chat" || got[1].Title() != "Replicas of chat front behind gateway" {
		t.Fatalf("got %+v", got)
	}
	if n := got[0].Replicas; len(n) != 16 || n[0].Name != "chat-5" || n[0].State.Class != "bad" || n[0].Times[0].String() != "×3.02" || n[0].Times[1].Bar() != 77.75 {
		t.Errorf("the first of %d is %+v", len(n), n[0])
	}
	if n := got[0].Replicas[1]; n.Name != "chat-15" || n.State.Text != "not compared now" || n.Times[0].String() != "n/a" || n.Failed.String() != "n/a" {
		t.Errorf("the new one is %+v", n)
	}
	if s := got[1]; len(s.Replicas) != replicasShown || s.More != 70-replicasShown || s.Replicas[0].Path != "" {
		t.Errorf("%d workers and %d more, the first is %+v", len(s.Replicas), s.More, s.Replicas[0])
	}
	for query, want := range map[string]int{"target=chat-3": 1, "target=gateway": 1, "workload=talk": 2, "target=a": 0} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(services(views, q)); n != want {
			t.Errorf("%s: %d services, want %d", query, n, want)
		}
	}
}

// TestNewReplicasHideNothing checks that replicas that are not compared yet stand before
// healthy ones, but displace neither a worse replica nor a worse service.
func TestNewReplicasHideNothing(t *testing.T) {
	var views []siblings.View
	for _, service := range []string{"a", "b", "c", "late"} {
		for i := range 70 {
			v := siblings.View{Service: service, Target: fmt.Sprintf("%s-%d", service, i), Workload: "talk", Score: 0.1, Ratios: optional([2][2]float64{{1, 1}, {1, 1}})}
			switch {
			case service == "late" && i == 69:
				v.Score = 0.9
			case service == "late":
				v.Score, v.Ratios = 0, optional([2][2]float64{})
			}
			views = append(views, v)
		}
	}
	got := services(views, nil)
	if len(got) != servicesShown || got[0].Service != "late" {
		t.Fatalf("the worst of %d services is not first: %s", len(got), got[0].Title())
	}
	shown := got[0].Replicas
	if first, last := shown[0], shown[len(shown)-1]; len(shown) != replicasShown || first.State.Class != "unknown" || last.Name != "late-69" {
		t.Errorf("%d replicas from %+v to %+v", len(shown), first, last)
	}
}

// TestReplicasOnThePage checks that the page shows the replica, its ratio, and a bar of that
// length.
func TestReplicasOnThePage(t *testing.T) {
	views := sixteen()
	views[3].Target = hostile
	p := New(Options{Now: func() time.Time { return noon }, Siblings: func() []siblings.View { return views }})
	text := get(t, p, "/").Body.String()
	for _, want := range []string{
		`<a href="./?target=chat-5&amp;workload=talk">chat-5</a></th><td><span class="state bad">unlike its siblings</span></td><td class="n">×3.02</td><td><svg class="bars" aria-hidden="true"><rect class="failed" width="75.5%" height="100%"/>`,
		`<td class="n">5 %</td>`,
		`<td class="n">n/a</td><td><svg class="bars" aria-hidden="true"><rect class="tokens" width="0%"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %s", want)
		}
	}
	if n := strings.Count(text, `class="state bad"`); n != 1 || strings.Contains(text, "<script>alert") {
		t.Errorf("%d replicas are marked in\n%s", n, text)
	}
}
