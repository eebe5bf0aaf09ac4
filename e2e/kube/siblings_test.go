package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// replicas probes siblings, each with a conversation every five seconds, and enables the
// pager.
const replicas = `
alerting: {interval: 5s, directory: /var/lib/synthetic}
discovery: [{name: replicas, preset: inferencepool}]
workloads:
  - {name: chat, prompt_tokens: 50, max_output_tokens: 8, turns: {min: 3, max: 3}, think_time: {min: 100ms, max: 1s}, timeouts: {first_token: 10s, stall: 5s, total: 20s}}
traffic:
  - {targets: "*", workload: chat, arrival: {rate: 0.2}}
`

// testSiblings has a pool of sixteen pods. One takes three times as long but meets the SLOs. A page names it within a minute. It is the only page, although all pods roll
// afterwards and scale from four to forty and back, and no series remain.
func testSiblings(t *testing.T, c *cluster, namespace string) {
	c.apply(t, namespace, simulated("pool", 15, "--engine=first_token=200ms,inter_token=15ms")+
		"---"+simulated("slow", 1, "--engine=first_token=600ms,inter_token=45ms")+"---"+pool("pool"))
	c.awaitPods(t, namespace, "app=pool", 15)
	slow := c.awaitPods(t, namespace, "app=slow", 1)[0]
	c.apply(t, namespace, discovering(namespace, replicas))
	prober := c.awaitPods(t, namespace, "app=prober", 1)[0]
	began := time.Now()
	var firing []string
	await(t, patience, "a page", func() (err error) {
		if firing, err = c.firing(t, prober.Status.PodIP); err == nil && firing == nil {
			err = fmt.Errorf("no alert fires")
		}
		return err
	})
	took := time.Since(began).Round(time.Second)
	t.Logf("paged %v after the prober was ready: %v", took, firing)
	if took > time.Minute {
		t.Errorf("the page took %v", took)
	}
	if len(firing) != 1 || !strings.HasPrefix(firing[0], "SyntheticReplicaSlow") || !strings.Contains(firing[0], slow.Name) {
		t.Errorf("%v fire, but only %s is slow", firing, slow.Name)
	}

	c.scale(t, namespace, "slow", 0)
	c.scale(t, namespace, "pool", 16)
	c.awaitTargets(t, prober.Status.PodIP, c.awaitPods(t, namespace, "app=pool", 16))
	c.patch(t, namespace, "pool", `{"spec":{"template":{"metadata":{"annotations":{"rolled":"once"}}}}}`)
	c.awaitRollout(t, namespace, "pool")
	for _, n := range []int{16, 4, 40, 4} {
		c.scale(t, namespace, "pool", n)
		c.awaitTargets(t, prober.Status.PodIP, c.awaitPods(t, namespace, "app=pool", n))
	}
	var pages []string
	for line := range strings.Lines(c.log(t, prober)) {
		if strings.Contains(line, "An alert fires") {
			pages = append(pages, line)
		}
	}
	if len(pages) != 1 {
		t.Errorf("%d alerts have fired: %s", len(pages), pages)
	}
}

// firing returns the alerts that fire at a prober, each with its target.
func (c *cluster) firing(t *testing.T, prober string) ([]string, error) {
	response, err := http.Get("http://" + prober + ":9877/api/alerts")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var said struct {
		Rules []struct {
			Name, Error string
			Alerts      []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	var out []string
	for _, rule := range said.Rules {
		if rule.Error != "" {
			t.Errorf("the rule %s cannot be evaluated: %s", rule.Name, rule.Error)
		}
		for _, alert := range rule.Alerts {
			if alert.State == "firing" {
				out = append(out, rule.Name+" "+alert.Labels["target"])
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
