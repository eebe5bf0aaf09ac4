// Package dashboardtest runs the queries of dashboards on a real Prometheus storage with
// scrapes of a handler.
package dashboardtest

import (
	"encoding/json"
	"fmt"

	"synthetic/internal/dashboard"
)

// Board is the part of Grafana's classic schema that tests use.
type Board struct {
	UID, Title, Description string
	SchemaVersion           int
	Panels                  []Panel
	Templating              struct{ List []variable }
	Annotations             struct {
		List []struct{ Name, IconColor, Expr string }
	}
	Links []struct {
		Type     string
		Tags     []string
		KeepTime bool
	}
}

// Panel is a panel or, with Type "row", the header of a row.
type Panel struct {
	ID                                 int
	Type, Title, Description, Interval string
	Options                            struct {
		Orientation string
		Legend      struct{ DisplayMode string }
	}
	Transformations []struct{ ID string }
	GridPos         struct{ X, Y, W, H int }
	Datasource      struct{ Type, UID string }
	FieldConfig     struct {
		Defaults struct {
			Unit, NoValue string
			Color         struct{ Mode string }
		}
		Overrides []Override
	}
	Targets []Target
	// Panels are those of a collapsed row.
	Panels []Panel
}

// Override changes properties of the fields that a matcher selects.
type Override struct {
	Matcher    struct{ ID, Options string }
	Properties []struct {
		ID    string
		Value any
	}
}

// Property returns the value that an override sets, nil if it does not set it.
func (o Override) Property(id string) any {
	for _, p := range o.Properties {
		if p.ID == id {
			return p.Value
		}
	}
	return nil
}

// Target is a query of a panel.
type Target struct {
	RefID, Expr, LegendFormat, Interval, Format string
	Instant, Range                              bool
}

// variable is a template variable.
type variable struct {
	Name, Type, AllValue, Definition string
	Multi, IncludeAll                bool
	Current                          struct{ Value any }
}

// Decode reads a generated dashboard. The panels of a collapsed row follow it.
func Decode(d dashboard.Dashboard) (Board, error) {
	var b Board
	if err := json.Unmarshal(d.JSON, &b); err != nil {
		return Board{}, fmt.Errorf("decoding the dashboard %q: %w", d.File, err)
	}
	var all []Panel
	for _, p := range b.Panels {
		all = append(append(all, p), p.Panels...)
	}
	b.Panels = all
	return b, nil
}
