package dashboard

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// Colours by Grafana's names, which follow its light and dark themes.
const (
	green  = "green"
	yellow = "yellow"
	orange = "orange"
	red    = "red"
	blue   = "blue"
	purple = "purple"
	gray   = "text"
)

// colored makes the colour steps of a panel's levels. Without any, one
// neutral step stands in for Grafana's default, which is red from 80 up.
func colored(levels []level) dashboard.ThresholdsConfig {
	steps := []dashboard.Threshold{{Color: gray}}
	for i, l := range levels {
		if i == 0 {
			steps[0].Color = l.color
			continue
		}
		steps = append(steps, dashboard.Threshold{Value: &l.from, Color: l.color})
	}
	return dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}
}

// paint is the field property that fixes a colour.
func paint(color string) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{
		Id:    "color",
		Value: map[string]string{"mode": "fixed", "fixedColor": color},
	}
}

func byRegexp(re string) dashboard.MatcherConfig {
	return dashboard.MatcherConfig{Id: "byRegexp", Options: re}
}

func byName(name string) dashboard.MatcherConfig {
	return dashboard.MatcherConfig{Id: "byName", Options: name}
}

func property(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}
