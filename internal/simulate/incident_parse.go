package simulate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IncidentKinds lists the kinds that there are, in alphabetical order.
func IncidentKinds() []IncidentKind { return slices.Sorted(maps.Keys(incidentWords())) }

// ParseIncident reads an incident as people write it: its kind, then what it
// needs of at, for, workers, factor and share, as in
// "slow_prefill,at=1m,for=5m,factor=4,workers=0+2" or "http_500,share=0.2".
func ParseIncident(text string) (Incident, error) {
	kind, rest, more := strings.Cut(text, ",")
	i := Incident{Kind: IncidentKind(kind)}
	if _, known := incidentWords()[i.Kind]; !known {
		return i, fmt.Errorf("incident %q: there is no kind %q; give one of %v", text, kind, IncidentKinds())
	}
	if !more {
		return i, i.complete(text)
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(part, "=")
		if err := i.set(key, value); err != nil {
			return i, fmt.Errorf("incident %q: %s: %w", text, part, err)
		}
	}
	return i, i.complete(text)
}

// set gives one field its value.
func (i *Incident) set(key, value string) (err error) {
	switch key {
	case "at":
		i.At, err = time.ParseDuration(value)
	case "for":
		i.For, err = time.ParseDuration(value)
	case "factor":
		i.Factor, err = strconv.ParseFloat(value, 64)
	case "share":
		i.Share, err = strconv.ParseFloat(value, 64)
	case "workers":
		for w := range strings.SplitSeq(value, "+") {
			n, err := strconv.Atoi(w)
			if err != nil {
				return errors.New("workers are numbers from 0, as in workers=0+2")
			}
			i.Workers = append(i.Workers, n)
		}
	default:
		return fmt.Errorf("there is no %q; give at, for, workers, factor or share", key)
	}
	if err != nil {
		return errors.New("that is no value for it; write for example at=1m, factor=4 or share=0.2")
	}
	return nil
}

// complete refuses an incident that lacks what its kind is about.
func (i Incident) complete(text string) error {
	switch {
	case i.hasFactor() && i.Factor == 0 && i.Kind != AcceptanceCollapse:
		return fmt.Errorf("incident %q: it lacks a factor: add for example factor=4", text)
	case i.shared() && i.Share == 0:
		return fmt.Errorf("incident %q: it lacks a share of the requests: add for example share=0.2", text)
	case !i.hasFactor() && i.Factor != 0 || !i.shared() && i.Share != 0:
		return fmt.Errorf("incident %q: factor goes with a slow-down, share with what befalls requests", text)
	}
	return nil
}
