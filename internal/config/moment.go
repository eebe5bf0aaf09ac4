package config

import (
	"strings"
	"time"
)

// moment is a point in time with its zone: 2026-12-01T10:00:00Z.
type moment struct{ time.Time }

func (m *moment) parse(_, text string) *mistake {
	const remedy = "write date, time and zone, for example 2026-12-01T10:00:00Z"
	at, err := time.Parse(time.RFC3339, text)
	if err == nil {
		m.Time = at.UTC()
		return nil
	}
	local := strings.Replace(text, " ", "T", 1)
	if _, err := time.Parse("2006-01-02T15:04:05", local); err == nil {
		return &mistake{shown(text), "has no time zone", "write " + local + "Z for UTC, or an offset such as " + local + "+01:00"}
	}
	return &mistake{shown(text), "is not a time", remedy}
}

func (*moment) schema() map[string]any {
	return map[string]any{"type": "string", "format": "date-time"}
}

func (*moment) kind() string { return "time" }

// daytime is a time of day, since midnight: 02:30.
type daytime time.Duration

func (d *daytime) parse(_, text string) *mistake {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return &mistake{shown(text), "is not a time of day", `write hours and minutes from 00:00 to 23:59, for example "02:30"`}
	}
	*d = daytime(at.Sub(at.Truncate(24 * time.Hour)))
	return nil
}

func (*daytime) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^([01][0-9]|2[0-3]):[0-5][0-9]$`}
}

func (*daytime) kind() string { return "time of day" }
