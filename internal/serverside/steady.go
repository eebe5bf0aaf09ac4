package serverside

import "time"

// A name has changed if one was seen steadyFor consecutive times, and then another one lasting consecutive times.
// If 5 % of the answers come from a second replica with another name, chance does that once in a million answers.
const (
	steadyFor = 100
	lasting   = 3
)

// Steady finds lasting changes of a name, such as a version. It finds none while several names alternate, as
// behind a load balancer. The zero value is ready to use.
type Steady struct {
	current, next string
	count         int // of consecutive sightings of current
	nextCount     int
	nextAt        time.Time
}

// Changed takes the next sighting of the name. It returns true if the name has changed, with the previous name
// and when the new one was first seen. It ignores "".
func (s *Steady) Changed(name string, at time.Time) (previous string, since time.Time, changed bool) {
	switch {
	case name == "":
		return "", time.Time{}, false
	case name == s.current:
		if s.next != "" {
			s.next, s.count = "", 0
		}
		s.count = min(s.count+1, steadyFor)
		return "", time.Time{}, false
	case name != s.next:
		s.next, s.nextCount, s.nextAt = name, 0, at
	}
	if s.nextCount++; s.nextCount < lasting {
		return "", time.Time{}, false
	}
	previous, since, changed = s.current, s.nextAt, s.count == steadyFor
	*s = Steady{current: name, count: lasting}
	return previous, since, changed
}
