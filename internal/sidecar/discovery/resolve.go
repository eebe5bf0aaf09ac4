package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
)

// Reasons why a discovered object is no target.
const (
	BadAddress = "address"
	BadHost    = "host"
	BadLabels  = "labels"
	SameName   = "name"
	TooMany    = "max_targets"
)

// Reasons returns all of them.
func Reasons() []string { return []string{BadAddress, BadHost, BadLabels, TooMany, SameName} }

// Labels that define a target. Every other label without a leading __ becomes a label of the
// target.
const (
	nameLabel    = "name"
	baseLabel    = "base_url"
	modelLabel   = "model"
	serviceLabel = "service"
)

// mostValue bounds the bytes of a label's value, also of GROUP/NAME.
const mostValue = 128

// LabelNames returns the labels that targets of a group will have, as far as the
// configuration tells. Labels from file_sd or http_sd are known only when targets are found.
func LabelNames(g fleet.Group) []string {
	all := slices.Collect(maps.Keys(g.Template.Labels))
	for _, r := range g.Relabel {
		all = append(all, r.TargetLabel)
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return name == "" || strings.Contains(name, "$") || name == nameLabel || name == baseLabel || target.IsReservedLabel(name)
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// LeftOut is an object that is no target.
type LeftOut struct{ Object, Reason, Detail string }

// resolve makes targets of discovered labels, sorted by name. Objects that relabelling drops
// are not counted as left out.
func resolve(g fleet.Group, found []labels.Labels) (unique []fleet.Discovered, left []LeftOut) {
	var targets []fleet.Discovered
	for _, l := range found {
		t, kept, out := targetOf(g, l)
		switch {
		case out != nil:
			left = append(left, *out)
		case kept:
			targets = append(targets, t)
		}
	}
	slices.SortFunc(targets, func(a, b fleet.Discovered) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.BaseURL, b.BaseURL))
	})
	for _, t := range targets {
		switch n := len(unique); {
		case n > 0 && unique[n-1].Name == t.Name:
			if unique[n-1].BaseURL != t.BaseURL {
				left = append(left, LeftOut{t.BaseURL, SameName, fmt.Sprintf("has the same name, %q, as %s: relabel it to another name", t.Name, unique[n-1].BaseURL)})
			}
		case n == g.Most:
			left = append(left, LeftOut{t.Name, TooMany, fmt.Sprintf("comes after max_targets, %d: raise it", g.Most)})
		default:
			unique = append(unique, t)
		}
	}
	return unique, left
}

// targetOf makes a target of the labels of an object. kept is false if relabelling drops the object,
// and out is set if it cannot be a target.
func targetOf(g fleet.Group, found labels.Labels) (t fleet.Discovered, kept bool, out *LeftOut) {
	b := labels.NewBuilder(found)
	if !relabel.ProcessBuilder(b, g.Relabel...) {
		return t, false, nil
	}
	l := b.Labels()
	bad := func(reason, format string, args ...any) (fleet.Discovered, bool, *LeftOut) {
		object := cmp.Or(l.Get(nameLabel), found.Get(model.AddressLabel), found.Get(nameLabel), "?")
		return t, false, &LeftOut{fmt.Sprintf("%.128q", object), reason, fmt.Sprintf(format, args...)}
	}
	base, err := g.Address.Base(cmp.Or(l.Get(baseLabel), addressOf(l)))
	if err != nil {
		return bad(BadAddress, "%v", err)
	}
	if !g.Allows(base) {
		return bad(BadHost, "is not in allowed_hosts: add its host, if it may be probed")
	}
	t = fleet.Discovered{Name: safeName(cmp.Or(l.Get(nameLabel), nameOf(base))), BaseURL: base, Model: l.Get(modelLabel), Service: l.Get(serviceLabel)}
	if t.Labels, err = targetLabels(l, g.Template.Labels); err != nil {
		return bad(BadLabels, "%v", err)
	}
	if t.Name == "" || badValue(g.Name()+"/"+t.Name) || badValue(t.Model) || badValue(t.Service) {
		return bad(BadLabels, "its name, model or service cannot be the value of a label: relabel it to one line of up to %d bytes", mostValue)
	}
	return t, true, nil
}

// addressOf returns the address that Prometheus would use.
func addressOf(l labels.Labels) string {
	address := l.Get(model.AddressLabel)
	if address == "" || strings.Contains(address, "://") {
		return address
	}
	return cmp.Or(l.Get(model.SchemeLabel), "http") + "://" + address
}

// targetLabels returns the labels of the template and the discovered ones, nil without labels.
func targetLabels(found labels.Labels, template map[string]string) (map[string]string, error) {
	all := map[string]string{}
	maps.Copy(all, template)
	var err error
	found.Range(func(l labels.Label) {
		switch {
		case strings.HasPrefix(l.Name, "__") || slices.Contains([]string{nameLabel, baseLabel, modelLabel, serviceLabel}, l.Name):
		case target.IsReservedLabel(l.Name):
			err = fmt.Errorf("the label %.50q is reserved: relabel it", l.Name)
		case !model.LegacyValidation.IsValidLabelName(l.Name):
			err = fmt.Errorf("the label %.50q has characters that a label name must not have: relabel it", l.Name)
		case badValue(l.Value):
			err = fmt.Errorf("the label %.50q has a value that is not one line of up to %d bytes: relabel it", l.Name, mostValue)
		default:
			all[l.Name] = l.Value
		}
	})
	if len(all) > target.MaxLabels {
		err = fmt.Errorf("it has %d labels, more than %d: drop some with relabel_configs (action: labeldrop)", len(all), target.MaxLabels)
	}
	if len(all) == 0 {
		all = nil
	}
	return all, err
}

func badValue(v string) bool { return len(v) > mostValue || strings.ContainsFunc(v, unicode.IsControl) }

// notInName matches characters that the name of a target must not have.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// safeName turns a text into a name, or "".
func safeName(text string) string { return strings.Trim(notInName.ReplaceAllString(text, "-"), "-.") }

// nameOf derives a name from an address: host and port, and the path without a final /v1.
func nameOf(base string) string {
	_, rest, _ := strings.Cut(base, "://")
	return strings.TrimSuffix(rest, "/v1")
}
