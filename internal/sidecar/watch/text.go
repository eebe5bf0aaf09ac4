package watch

import (
	"fmt"
	"math"
	"time"
)

// Why says in two sentences why a signal pages, in the time zone of at.
func (d *Decision) Why(zone *time.Location) string {
	return fmt.Sprintf("%s %s; it was crossed at %s.", d.rose(zone), d.reason(), d.at(zone).Format("15:04"))
}

// NotYet says in two sentences why a signal that is slower than usual does not page; "" if no window rose.
func (d *Decision) NotYet(zone *time.Location) string {
	if d.WindowMinutes == 0 {
		return ""
	}
	for _, g := range d.Gates {
		switch {
		case g.Holds:
		case g.Name == GateRise:
			return fmt.Sprintf("Not yet: %s %s.", lower(d.rose(zone)), d.reason())
		case g.Name == GateFor:
			return fmt.Sprintf("Not yet: %s A rise below twice the usual pages when it has been up for %.0f minutes; this one has been up for %.0f.", lower(d.rose(zone)), g.Limit, g.Value)
		case g.Name == GateMost:
			return fmt.Sprintf("Not yet: %s Only a part of the turns is slower: the faster two thirds would have to show more than %s times, and show %s times.", lower(d.rose(zone)), ratio(g.Limit), ratio(g.Value))
		}
	}
	return ""
}

func lower(s string) string { return "t" + s[1:] } // each sentence of rose begins with "The"

func (d *Decision) at(zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return timeOf(d.Minute).In(zone)
}

// gate returns a gate by name.
func (d *Decision) gate(name string) Gate {
	for _, g := range d.Gates {
		if g.Name == name {
			return g
		}
	}
	return Gate{}
}

// rose says how far the window rose.
func (d *Decision) rose(zone *time.Location) string {
	value := ratio(d.gate(GateRise).Value)
	if d.Step {
		return fmt.Sprintf("The mean of %d minutes is %s times that of the quarter of an hour before.", d.WindowMinutes, value)
	}
	return fmt.Sprintf("The mean of %d minutes is %s times what is usual on a %s.", d.WindowMinutes, value, d.at(zone).Format("Monday at 15:04"))
}

// reason says where the limit comes from.
func (d *Decision) reason() string {
	l, limit := d.Limit, ratio(math.Exp(d.Limit.Value))
	move := ratio(math.Exp(l.Move))
	near := func(v float64) bool { return math.Abs(l.Value-v) < 1e-9 }
	switch {
	case !d.Known:
		return fmt.Sprintf("Until two days are known, the limit is %s", limit)
	case l.Expected > 0 && near(l.Least+l.Expected):
		return fmt.Sprintf("It rose to %s times at this time of day before, so the limit is %s", ratio(math.Exp(l.Expected)), limit)
	case near(l.Least):
		return fmt.Sprintf("In four weeks it never moved by more than %s times, so the limit is the least that pages, %s", move, limit)
	case l.Always > 0 && near(l.Always):
		return fmt.Sprintf("In four weeks it moved by up to %s times, but from %s times on a rise always pages", move, limit)
	}
	return fmt.Sprintf("In four weeks it never moved by more than %s times, so the limit is %s", move, limit)
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }
