package simulate

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate/cluster"
)

func TestParseIncident(t *testing.T) {
	for text, want := range map[string]Incident{
		"slow_prefill,at=1m,for=5m,factor=4": {Kind: cluster.SlowPrefill, At: time.Minute, For: 5 * time.Minute, Factor: 4},
		"slow_decode,factor=1.5,workers=2":   {Kind: cluster.SlowDecode, Factor: 1.5, Workers: []int{2}},
		"hang,workers=0+2":                   {Kind: cluster.Hang, Workers: []int{0, 2}},
		"worker_loss,for=90s":                {Kind: cluster.WorkerLoss, For: 90 * time.Second},
		"worker_loss,workers=1,at=1s,for=2s": {Kind: cluster.WorkerLoss, Workers: []int{1}, At: time.Second, For: 2 * time.Second},
		"http_500,share=0.2":                 {Kind: ErrorStatus, Share: 0.2},
		"http_429":                           {Kind: BusyStatus, Share: 1},
		"slow_prefill":                       {Kind: cluster.SlowPrefill, Factor: 4},
		"no_answer,share=0.5":                {Kind: NoAnswer, Share: 0.5},
		"cut,share=0.5":                      {Kind: CutStream, Share: 0.5},
		"stall,share=0.5":                    {Kind: StallStream, Share: 0.5},
		"error_event,share=0.015":            {Kind: ErrorEvent, Share: 0.015},
	} {
		if got, err := ParseIncident(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"nothing":                        `there is no kind "nothing"; give one of [cut error_event foreign hang http_429 http_500 no_answer slow_decode slow_prefill stall worker_loss]`,
		"hang,factor=3":                  "this kind has no factor: leave it out",
		"slow_decode,factor=3,share=1":   "this kind has no share of the requests: leave it out",
		"cut,share=much":                 "share=much: invalid value; write for example at=1m, factor=4 or share=0.2",
		"cut,share":                      "share: invalid value",
		"hang,workers=1,2":               `2: there is no key "2"; give at, for, workers, factor or share`,
		"hang,workers=a":                 "workers=a: workers are numbers from 0, as in workers=0+2",
		"slow_prefill,since=3s,factor=4": `since=3s: there is no key "since"; give at, for, workers, factor or share`,
	} {
		if _, err := ParseIncident(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	phase0 := preset(t, "phase0")
	for name, test := range map[string]struct {
		o    Options
		want string // "" for valid options
	}{
		"zero":                        {Options{}, ""},
		"cluster":                     {Options{Cluster: phase0, Speed: 3, Load: Load{Concurrency: 2}}, ""},
		"share without a cluster":     {Options{Incidents: []Incident{{Kind: CutStream, Share: 1}}}, ""},
		"slow-down without a cluster": {Options{Incidents: []Incident{{Kind: cluster.SlowDecode, Factor: 2}}}, "incident 1 (slow_decode): it needs an engine with workers: add for example --preset=phase0"},
		"unknown kind":                {Options{Incidents: []Incident{{}}}, `incident 1 (): kind "" is unknown`},
		"share":                       {Options{Incidents: []Incident{{Kind: CutStream, Share: 2}}}, "its share of the requests is 2: give a number above 0, at most 1"},
		"share with workers":          {Options{Incidents: []Incident{{Kind: CutStream, Share: 1, Workers: []int{0}}}}, "leave the workers out"},
		"negative start":              {Options{Incidents: []Incident{{Kind: CutStream, Share: 1, At: -1}}}, "neither may be negative"},
		"negative length":             {Options{Cluster: phase0, Incidents: []Incident{{Kind: cluster.Hang, For: -1}}}, "it starts at 0s and lasts -1ns"},
		"negative factor":             {Options{Cluster: phase0, Incidents: []Incident{{Kind: cluster.Hang}, {Kind: cluster.SlowDecode, Factor: -1}}}, "incident 2 (slow_decode): its factor is -1"},
		"factor NaN":                  {Options{Cluster: phase0, Incidents: []Incident{{Kind: cluster.SlowDecode, Factor: math.NaN()}}}, "its factor is NaN"},
		"no such worker":              {Options{Cluster: phase0, Incidents: []Incident{{Kind: cluster.WorkerLoss, Workers: []int{1}}}}, "there is no worker 1"},
	} {
		err := test.o.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "it needs an engine with workers") {
			t.Errorf("New with invalid options: %q", got)
		}
	}()
	New(Options{Incidents: []Incident{{Kind: cluster.Hang}}})
}

func TestSharesFollowTheirSchedule(t *testing.T) {
	o := Options{Answer: Length{Median: 3}, Incidents: []Incident{
		{Kind: ErrorStatus, Share: 1, At: 10 * time.Second, For: 10 * time.Second},
		{Kind: BusyStatus, Share: 1, At: 20 * time.Second, For: 5 * time.Second},
		{Kind: BusyStatus, Share: .5, At: time.Hour},
	}}
	bench(t, o, func(t *testing.T, d *Deployment, c client) {
		for at, want := range []int{200, 200, 500, 500, 429, 200, 200} {
			time.Sleep(time.Until(d.began.Add(time.Duration(at) * 5 * time.Second)))
			if got, _ := c.status(t); got != want {
				t.Errorf("after %v: status %d, want %d", time.Duration(at)*5*time.Second, got, want)
			}
		}
		time.Sleep(time.Hour)
		seen := map[int]int{}
		for range 100 {
			got, _ := c.status(t)
			seen[got]++
		}
		if seen[http.StatusTooManyRequests] < 30 || seen[http.StatusOK] < 30 {
			t.Errorf("status codes %v, want half of the requests to be refused", seen)
		}
	})
}

func TestSlowPrefill(t *testing.T) {
	ttft := func(incidents ...Incident) (first, again time.Duration) {
		o := Options{Cluster: preset(t, "phase0", known), Answer: Length{Median: 2}, Incidents: incidents}
		bench(t, o, func(t *testing.T, _ *Deployment, c client) {
			ask := func() time.Duration {
				began := time.Now()
				got := c.say(t, []message{long("a", 4000)}, "")
				return time.Since(began) - got.at[len(got.at)-1] // the times of a reply start with its headers
			}
			first = ask()
			time.Sleep(time.Minute)
			again = ask()
		})
		return first, again
	}
	first, again := ttft()
	if first < again+100*time.Millisecond {
		t.Errorf("TTFT with a cold cache %v, cached %v", first, again)
	}
	slow, slowAgain := ttft(Incident{Kind: cluster.SlowPrefill, Factor: 4, For: 30 * time.Second})
	if slow < 2*first || slowAgain != again {
		t.Errorf("TTFT with slow prefill %v, after it %v; without %v and %v", slow, slowAgain, first, again)
	}
}
