// Package dashboardtest runs the queries of dashboards against a real
// Prometheus storage, filled by scrapes of a handler.
package dashboardtest

import (
	"encoding/json"
	"fmt"

	"synthetic/internal/dashboard"
)

// Board is the part of Grafana's classic schema that tests look at.
type Board struct {
	UID, Title, Description string
	SchemaVersion           int
	Panels                  []Panel
	Templating              struct{ List []Variable }
	Annotations             struct{ List []struct{ Expr string } }
	Links                   []struct {
		Type     string
		Tags     []string
		KeepTime bool
	}
}

// Panel is a panel or, with Type "row", the header of a row.
type Panel struct {
	ID                                 int
	Type, Title, Description, Interval string
	Repeat                             string
	GridPos                            struct{ X, Y, W, H int }
	Datasource                         struct{ Type, UID string }
	FieldConfig                        struct{ Defaults struct{ Unit string } }
	Targets                            []Target
}

// Target is a query of a panel.
type Target struct {
	RefID, Expr, LegendFormat, Interval, Format string
	Instant, Range                              bool
}

// Variable is a template variable.
type Variable struct {
	Name, Type, AllValue, Definition string
	Multi, IncludeAll                bool
	Current                          struct{ Value any }
}

// Decode reads a generated dashboard.
func Decode(d dashboard.Dashboard) (Board, error) {
	var b Board
	if err := json.Unmarshal(d.JSON, &b); err != nil {
		return Board{}, fmt.Errorf("decoding the dashboard %q: %w", d.File, err)
	}
	return b, nil
}
