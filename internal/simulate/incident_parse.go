package simulate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/simulate/cluster"
)

// IncidentKinds lists the kinds that there are, in alphabetical order.
func IncidentKinds() []IncidentKind { return slices.Sorted(maps.Keys(incidentKinds())) }

// ParseIncident reads an incident as people write it: its kind, then what it
// needs of at, for, workers, factor and share, as in
// "slow_prefill,at=1m,for=5m,factor=4,workers=0+2" or "http_500,share=0.2".
func ParseIncident(text string) (Incident, error) {
	parts := strings.Split(text, ",")
	i := Incident{Kind: IncidentKind(parts[0])}
	kind, known := incidentKinds()[i.Kind]
	if !known {
		return i, fmt.Errorf("incident %q: there is no kind %q; give one of %v", text, i.Kind, IncidentKinds())
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if err := i.set(key, value); err != nil {
			return i, fmt.Errorf("incident %q: %s: %w", text, part, err)
		}
	}
	switch {
	case kind.factor && i.Factor == 0 && i.Kind != cluster.Acceptance:
		return i, fmt.Errorf("incident %q: it lacks a factor: add for example factor=4", text)
	case kind.share && i.Share == 0:
		return i, fmt.Errorf("incident %q: it lacks a share of the requests: add for example share=0.2", text)
	case !kind.factor && i.Factor != 0 || !kind.share && i.Share != 0:
		return i, fmt.Errorf("incident %q: factor goes with a slow-down, share with what befalls requests", text)
	}
	return i, nil
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
