package watch

import (
	"fmt"
	"math"
	"time"
)

// Why says in two sentences why a signal pages or has a ticket, or why it does not page; "" if no window rose. Times are in
// a time zone; nil means UTC.
func (d *Decision) Why(zone *time.Location) string {
	if d.WindowMinutes == 0 || len(d.Gates) == 0 {
		return ""
	}
	than := fmt.Sprintf("what is usual on a %s", in(zone, d.Minute).Format("Monday at 15:04"))
	if d.Step {
		than = "that of the quarter of an hour before"
	}
	rose := fmt.Sprintf(" mean of %d minutes is %s times %s", d.WindowMinutes, ratio(d.Gates[0].Value), than)
	limit, does := ratio(math.Exp(d.Limit.Value)), "pages"
	if d.Ticket {
		does = "opens a ticket"
	}
	switch {
	case d.Holds():
		return fmt.Sprintf("The%s; it %s from %s times, which it reached at %s. %s", rose, does, limit, in(zone, d.Minute).Format("15:04"), d.reason())
	case !d.Gates[0].Holds:
		return fmt.Sprintf("No page: the%s; it would page from %s times. %s", rose, limit, d.reason())
	}
	g := d.Gates[1]
	return fmt.Sprintf("No page yet: the%s, above its limit of %s times. Below twice the usual it pages when the rise is "+
		"%.0f minutes old, and this one is %.0f.", rose, limit, g.Limit, g.Value)
}

// in returns a minute in a time zone; nil means UTC.
func in(zone *time.Location, minute int64) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return timeOf(minute).In(zone)
}

// reason says where the limit comes from.
func (d *Decision) reason() string {
	l, limit, move := d.Limit, ratio(math.Exp(d.Limit.Value)), ratio(math.Exp(d.Limit.Move))
	past := fmt.Sprintf("In the last %d days", l.Days)
	near := func(v float64) bool { return math.Abs(l.Value-v) < 1e-9 }
	switch {
	case l.Days == 0:
		return "This is the limit until there are three days to compare with."
	case l.Expected > 0 && near(l.Least+l.Expected):
		return fmt.Sprintf("It rose to %s times at this time of day before, so the limit is higher than at other times.", ratio(math.Exp(l.Expected)))
	case near(l.Least):
		return fmt.Sprintf("%s such a mean never rose or fell by more than %s times; no limit is below %s.", past, move, limit)
	case l.Always > 0 && near(l.Always):
		return fmt.Sprintf("%s such a mean rose or fell by up to %s times, but from %s times on a rise always pages.", past, move, limit)
	case d.Ticket:
		return fmt.Sprintf("On three of four of the last %d days such a mean moved by less than %s times, and the limit has a margin above that.", l.Days, move)
	}
	return fmt.Sprintf("%s such a mean never rose or fell by more than %s times, and the limit has a margin above that.", past, move)
}

func ratio(v float64) string { return fmt.Sprintf("%.2f", v) }
