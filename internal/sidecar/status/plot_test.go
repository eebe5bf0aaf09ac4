package status

import (
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

func TestScale(t *testing.T) {
	ms := func(all ...float64) (out []Point) {
		for _, v := range all {
			out = append(out, Point{TTFT: Duration(probe.Some(time.Duration(v * 1e6)))})
		}
		return out
	}
	for _, c := range []struct {
		points []Point
		slos   []SLO
		want   []string
	}{
		{ms(120, 480), nil, []string{"100 ms", "200 ms", "500 ms"}},
		{ms(100), nil, []string{"100 ms", "200 ms"}},
		{ms(200), nil, []string{"200 ms", "500 ms"}},
		{ms(500), nil, []string{"500 ms", "1 s"}},
		{ms(0.3, 47_900), nil, []string{"1 ms", "10 ms", "100 ms", "1 s", "10 s"}},
		{ms(300), []SLO{{SLI: slo.TTFT, Threshold: Duration(probe.Some(time.Second))}}, []string{"200 ms", "500 ms", "1 s"}},
		{ms(300), []SLO{{SLI: slo.TPOT, Threshold: Duration(probe.Some(time.Second))}}, []string{"200 ms", "500 ms"}},
		{[]Point{{}}, nil, []string{"100 ms", "200 ms", "500 ms", "1 s"}},
	} {
		s := newScale(c.points, c.slos)
		var got []string
		last := 101.0
		for _, l := range grid(s) {
			got = append(got, l.Text)
			if l.Y >= last || l.Y < 0 {
				t.Errorf("%s stands at %v %%, not above the line below", l.Text, l.Y)
			}
			last = l.Y
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("grid of %v is %q, want %q", c.points, got, c.want)
		}
		for _, p := range c.points {
			if p.TTFT.OK && (p.TTFT.V.Seconds() < s.Low || p.TTFT.V.Seconds() > s.High) {
				t.Errorf("%s is off the scale %+v", p.TTFT, s)
			}
		}
	}
}

func TestPlot(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w", objectives()[0]))
	feed(p,
		turn(4*time.Minute, first, ttft(time.Second)),
		turn(3*time.Minute, ttft(100*time.Millisecond)),
		turn(2*time.Minute, failing(probe.Stall, "stalled"), ttft(100*time.Millisecond)),
		turn(time.Minute, failing(probe.HTTP429, "busy")),
	)
	got := newPlot(noon, only(t, p))
	want := plot{
		From: "4 min ago",
		Dots: []dot{
			{0, 0, probe.First, "11:56:00 first turn: success, TTFT 1.00 s"},
			{25, 100, probe.Followup, "11:57:00 followup turn: success, TTFT 100 ms"},
		},
		Failures: []dot{
			{50, 0, probe.Followup, "11:58:00 followup turn: stall, TTFT 100 ms"},
			{75, 0, probe.Followup, "11:59:00 followup turn: http_429, TTFT n/a"},
		},
		Limits: []line{{0, "quick ≤ 1 s"}},
	}
	if !slices.Equal(got.Dots, want.Dots) || !slices.Equal(got.Failures, want.Failures) || !slices.Equal(got.Limits, want.Limits) || got.From != want.From {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if empty := newPlot(noon, Job{}); empty.From != "" {
		t.Errorf("a plot of nothing: %+v", empty)
	}
}

func TestBars(t *testing.T) {
	fresh := func(r *probe.Result) {
		r.Phases.Reused = false
		r.Phases.DNS, r.Phases.Connect, r.Phases.TLS = probe.Some(10*time.Millisecond), probe.Some(10*time.Millisecond), probe.Some(20*time.Millisecond)
	}
	canceled := func(r *probe.Result) { failing(probe.Canceled, "")(r); r.Phases.Headers = probe.Opt[time.Duration]{} }
	for name, c := range map[string]struct {
		turn probe.Result
		want []bar
	}{
		"kept connection": {turn(0), []bar{
			{0, 2.5, "headers", "headers 50 ms"}, {2.5, 0.5, "event", "first event 10 ms"},
			{3, 2, "token", "first token 40 ms"}, {5, 95, "tokens", "tokens 1.90 s"},
		}},
		"new connection": {turn(0, fresh), []bar{
			{0, 0.5, "dns", "DNS 10 ms"}, {0.5, 0.5, "connect", "connect 10 ms"}, {1, 1, "tls", "TLS 20 ms"},
			{2, 0.5, "headers", "headers 10 ms"}, {2.5, 0.5, "event", "first event 10 ms"},
			{3, 2, "token", "first token 40 ms"}, {5, 95, "tokens", "tokens 1.90 s"},
		}},
		"no first token": {turn(0, failing(probe.TimeoutFirstToken, "x")), []bar{
			{0, 2.5, "headers", "headers 50 ms"}, {2.5, 97.5, "failed", "until timeout_first_token 1.95 s"},
		}},
		"canceled": {turn(0, canceled), []bar{{0, 100, "rest", "until the end 2.00 s"}}},
		"no time":  {turn(0, func(r *probe.Result) { r.Sent = r.End }), nil},
	} {
		if got := bars(c.turn); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
}
