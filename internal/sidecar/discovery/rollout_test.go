package discovery

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/relabel"
)

// TestRollouts checks which changes of the targets of a group are rollouts.
func TestRollouts(t *testing.T) {
	pod := func(name, service, images, revision string) Target {
		return Target{Name: name, Service: service, Images: images, Revision: revision}
	}
	old, further := pod("a", "chat", "vllm:1", "r1"), pod("b", "chat", "vllm:1", "r1")
	for name, tt := range map[string]struct {
		before, after []Target
		want          []Rollout
	}{
		"the first targets":         {nil, []Target{old}, nil},
		"a replica more":            {[]Target{old}, []Target{old, further}, nil},
		"another image":             {[]Target{old}, []Target{old, pod("b", "chat", "vllm:2", "r2"), pod("c", "chat", "vllm:2", "r2")}, []Rollout{{"pods", nil, "vllm:2"}}},
		"other arguments":           {[]Target{old}, []Target{pod("a", "chat", "vllm:1", "r2")}, []Rollout{{"pods", nil, "vllm:1"}}},
		"the old one goes":          {[]Target{old, pod("b", "chat", "vllm:2", "r2")}, []Target{pod("b", "chat", "vllm:2", "r2")}, nil},
		"another service":           {[]Target{old}, []Target{old, pod("x", "embed", "tei:1", "r1")}, nil},
		"one of two services":       {[]Target{old, pod("x", "embed", "tei:1", "r1")}, []Target{pod("a", "chat", "vllm:2", "r2"), further, pod("x", "embed", "tei:1", "r1")}, []Rollout{{"pods", []string{"pods/a", "pods/b"}, "vllm:2"}}},
		"no service, another one":   {[]Target{pod("a", "", "vllm:1", "r1")}, []Target{pod("a", "", "vllm:1", "r1"), pod("x", "", "tei:1", "r1")}, nil},
		"no service, two of three":  {[]Target{pod("a", "", "vllm:1", "r1"), pod("b", "", "vllm:1", "r1"), pod("x", "", "tei:1", "r1")}, []Target{pod("a", "", "vllm:2", "r2"), pod("b", "", "vllm:2", "r2"), pod("x", "", "tei:1", "r1")}, []Rollout{{"pods", []string{"pods/a", "pods/b"}, "vllm:2"}}},
		"images were not seen":      {[]Target{{Name: "a", Service: "chat"}}, []Target{old}, nil},
		"images are no longer seen": {[]Target{old}, []Target{{Name: "a", Service: "chat"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rollouts("pods", tt.before, tt.after)); diff != "" {
				t.Errorf("the rollouts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFollowerTellsRollouts: the follower reads images and revision from the labels of an object or of the one joined
// with it, also if relabelling drops them, and compares with the targets of an earlier process.
func TestFollowerTellsRollouts(t *testing.T) {
	play(t, func(s *scene) {
		var got []Rollout
		s.RolledOut = func(r Rollout) { got = append(got, r) }
		source := newStage()
		groups := []Group{group("pods", source)}
		groups[0].Relabel = []*relabel.Config{{Action: relabel.LabelDrop, Regex: relabel.MustNewRegexp("__meta.*")}}
		s.Recall(map[string][]Target{"pods": {{Name: "a", BaseURL: "http://10.0.0.1:8000", Service: "chat", Images: "vllm:1", Revision: "r1"}}})
		s.Follow(groups)
		for i, meta := range []string{"with_", "", "with_"} {
			source.updates <- []*targetgroup.Group{{Source: "all", Targets: []model.LabelSet{{
				model.AddressLabel: "10.0.0.1:8000", "service": "chat",
				model.LabelName("__meta_kubernetes_" + meta + "images"): "vllm:2", model.LabelName("__meta_kubernetes_" + meta + "label_pod_template_hash"): "r2",
			}}}}
			time.Sleep(time.Minute)
			synctest.Wait()
			if want := []Rollout{{"pods", nil, "vllm:2"}}; !cmp.Equal(got, want) {
				t.Errorf("after %d answers: %v, want %v", i+1, got, want)
			}
		}
	})
}
