package receivers

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/alertmanager/timeinterval"
)

// Mute is a silence or a time interval that keeps alerts from being sent now.
type Mute struct {
	// Until is when it ends; zero if that is more than maxLookAhead away.
	Until time.Time
	// Why is the comment of a silence or the name of a time interval.
	Why string
	// Alerts says which alerts are muted, such as `target="chat"`.
	Alerts string
	// Silence is the ID of a silence; "" for a time interval.
	Silence string
}

// window is a route with time intervals.
type window struct {
	alerts       string
	mute, active []string
}

func windowsOf(c *config.Config) (out []window) {
	var walk func(r *dispatch.Route, matchers []string)
	walk = func(r *dispatch.Route, matchers []string) {
		for _, m := range r.Matchers {
			matchers = append(slices.Clip(matchers), m.String())
		}
		if o := r.RouteOpts; len(o.MuteTimeIntervals)+len(o.ActiveTimeIntervals) > 0 {
			out = append(out, window{strings.Join(matchers, ", "), o.MuteTimeIntervals, o.ActiveTimeIntervals})
		}
		for _, sub := range r.Routes {
			walk(sub, matchers)
		}
	}
	walk(dispatch.NewRoute(c.Route, nil), nil)
	return out
}

// intervals returns the time intervals of a configuration by name.
func intervals(c *config.Config) map[string][]timeinterval.TimeInterval {
	out := map[string][]timeinterval.TimeInterval{}
	for _, i := range c.TimeIntervals {
		out[i.Name] = i.TimeIntervals
	}
	for _, i := range c.MuteTimeIntervals {
		out[i.Name] = i.TimeIntervals
	}
	return out
}

// maxLookAhead bounds the search for the end of a time interval.
const maxLookAhead = 8 * 24 * time.Hour

// Mutes returns what keeps alerts from being sent at a time: silences first, then time intervals.
func (r *Receivers) Mutes(now time.Time) (out []Mute) {
	active, _, err := r.silences.Query(context.Background(), silence.QState(silence.SilenceStateActive))
	if err != nil {
		r.options.Logger.Error("Cannot list the silences", "err", err)
	}
	for _, s := range active {
		out = append(out, Mute{Until: s.EndsAt.AsTime(), Why: s.Comment, Alerts: matchersOf(s), Silence: s.Id})
	}
	slices.SortFunc(out, func(a, b Mute) int { return a.Until.Compare(b.Until) })
	g := r.routing.Load()
	for _, w := range g.windows {
		if why := g.mutedBy(w, now); why != "" {
			out = append(out, Mute{Until: g.end(w, now), Why: why, Alerts: w.alerts})
		}
	}
	return out
}

// mutedBy says why a route sends nothing at a time; "" if it sends.
func (g *routing) mutedBy(w window, now time.Time) string {
	if _, names, _ := g.intervener.Mutes(w.mute, now); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	if active, _, _ := g.intervener.Mutes(w.active, now); len(w.active) > 0 && !active {
		return "outside " + strings.Join(w.active, ", ")
	}
	return ""
}

// end returns when a muted route sends again. Time intervals begin and end at full minutes.
func (g *routing) end(w window, now time.Time) time.Time {
	for at := now.Truncate(time.Minute).Add(time.Minute); at.Before(now.Add(maxLookAhead)); at = at.Add(time.Minute) {
		if g.mutedBy(w, at) == "" {
			return at
		}
	}
	return time.Time{}
}
