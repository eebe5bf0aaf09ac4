package watch

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Why says in two sentences why a signal pages or has a ticket, in a time zone; nil means UTC.
func (d *Decision) Why(zone *time.Location) string {
	does := "pages"
	if d.Ticket {
		does = "opens a ticket"
	}
	return fmt.Sprintf("%s; it %s from %s times, which it reached at %s. %s", d.rose(zone), does, d.limit(), in(zone, cmp.Or(d.Crossed, d.Minute)).Format("15:04"), d.reason())
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
			return fmt.Sprintf("No page: %s; it would page from %s times. %s", lower(d.rose(zone)), d.limit(), d.reason())
		case g.Name == GateFor:
			return fmt.Sprintf("No page yet: %s, above its limit of %s times. Below twice the usual it pages when the rise is %.0f minutes old, and this one is %.0f.", lower(d.rose(zone)), d.limit(), g.Limit, g.Value)
		case g.Name == GateMost:
			return fmt.Sprintf("No page: %s, above its limit of %s times. But most turns are hardly slower: the fastest third of them shows %s times the usual, and would have to show %s.", lower(d.rose(zone)), d.limit(), ratio(g.Value), ratio(g.Limit))
		}
	}
	return ""
}

func lower(s string) string { return "t" + s[1:] } // each text of rose begins with "The"

func (d *Decision) limit() string { return ratio(math.Exp(d.Limit.Value)) }

// in returns a minute in a time zone; nil means UTC.
func in(zone *time.Location, minute int64) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return timeOf(minute).In(zone)
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
		return fmt.Sprintf("The mean of %d minutes is %s times that of the quarter of an hour before", d.WindowMinutes, value)
	}
	return fmt.Sprintf("The mean of %d minutes is %s times what is usual on a %s", d.WindowMinutes, value, in(zone, d.Minute).Format("Monday at 15:04"))
}

// reason says where the limit comes from.
func (d *Decision) reason() string {
	l, move := d.Limit, ratio(math.Exp(d.Limit.Move))
	past := fmt.Sprintf("In the last %d days", l.Days)
	near := func(v float64) bool { return math.Abs(l.Value-v) < 1e-9 }
	switch {
	case l.Days == 0:
		return "This is the limit until three days are known."
	case l.Expected > 0 && near(l.Least+l.Expected):
		return fmt.Sprintf("It rose to %s times at this time of day before, so the limit is higher than elsewhere.", ratio(math.Exp(l.Expected)))
	case near(l.Least):
		return fmt.Sprintf("%s such a mean never rose or fell by more than %s times; no limit is below %s.", past, move, d.limit())
	case l.Always > 0 && near(l.Always):
		return fmt.Sprintf("%s such a mean rose or fell by up to %s times, but from %s times on a rise always pages.", past, move, d.limit())
	case d.Ticket:
		return fmt.Sprintf("On three of four of the last %d days such a mean moved by less than %s times, and the limit is a fifth above that.", l.Days, move)
	}
	return fmt.Sprintf("%s such a mean never rose or fell by more than %s times, and the limit is a fifth above that.", past, move)
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }
