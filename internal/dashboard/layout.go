package dashboard

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// gridColumns is the width of Grafana's grid.
const gridColumns = 24

// place numbers and positions the panels: each row starts a new band, in which
// panels flow from left to right and wrap.
func place(rows []row) ([]dashboard.PanelOrRowPanel, error) {
	var (
		out []dashboard.PanelOrRowPanel
		id  uint32
		y   uint32
	)
	for _, r := range rows {
		id++
		out = append(out, dashboard.PanelOrRowPanel{RowPanel: r.header(id, y)})
		y++
		var x, tallest uint32
		for _, p := range r.panels {
			if x+p.width > gridColumns {
				x, y, tallest = 0, y+tallest, 0
			}
			id++
			at := dashboard.GridPos{X: x, Y: y, W: p.width, H: p.height}
			built, err := render(p, id, at)
			if err != nil {
				return nil, fmt.Errorf("panel %q: %w", p.title, err)
			}
			out = append(out, dashboard.PanelOrRowPanel{Panel: &built})
			x, tallest = x+p.width, max(tallest, p.height)
		}
		y += tallest
	}
	return out, nil
}

func (r row) header(id, y uint32) *dashboard.RowPanel {
	h := dashboard.NewRowPanel()
	h.Id, h.Title = id, &r.title
	h.GridPos = &dashboard.GridPos{X: 0, Y: y, W: gridColumns, H: 1}
	if r.repeat != "" {
		h.Repeat = &r.repeat
	}
	return h
}
