package metrics

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// TestCatalogIsTheExposition checks that every entry is exported, and that every exported
// family is in the catalog with the same type, help and labels.
func TestCatalogIsTheExposition(t *testing.T) {
	r := scripted()
	fams, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var exported []Metric
	for _, f := range fams {
		for i, m := range f.Metric {
			var names []string
			for _, l := range m.Label {
				names = append(names, l.GetName())
			}
			e := Metric{Name: f.GetName(), Kind: Kind(strings.ToLower(f.GetType().String())), Help: f.GetHelp(), Labels: names}
			if i > 0 && !slices.Equal(names, exported[len(exported)-1].Labels) {
				t.Errorf("%s has series with labels %v and others with %v", e.Name, names, exported[len(exported)-1].Labels)
			}
			if i == 0 {
				exported = append(exported, e)
			}
		}
	}
	var want []Metric
	for _, m := range Catalog() {
		m.Unit = ""
		slices.Sort(m.Labels)
		want = append(want, m)
	}
	slices.SortFunc(want, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	if diff := cmp.Diff(want, exported, cmpopts.IgnoreUnexported(Metric{})); diff != "" {
		t.Errorf("catalog and exposition differ (-catalog +exported):\n%s", diff)
	}
}

// TestLabelsAreReserved checks that a target's own labels cannot replace the exported ones.
func TestLabelsAreReserved(t *testing.T) {
	for _, m := range Catalog() {
		for _, l := range m.Labels {
			if !target.IsReservedLabel(l) {
				t.Errorf("a target may have a label %q of its own, which %s has", l, m.Name)
			}
		}
	}
}

func TestBoundedSets(t *testing.T) {
	if got := len(probe.TurnKinds()); got != kinds {
		t.Errorf("%d kinds of turns, counters have room for %d", got, kinds)
	}
	if got := len(phaseNames()); got != phases {
		t.Errorf("%d phases, histograms for %d", got, phases)
	}
	for i, k := range probe.TurnKinds() {
		if k.Index() != i {
			t.Errorf("kind %s has index %d, want %d", k, k.Index(), i)
		}
	}
}

// TestUnits checks that names end in their base unit, or in a rate of it.
func TestUnits(t *testing.T) {
	for _, m := range slices.Concat(Catalog(), PagerCatalog()) {
		switch m.Unit {
		case "seconds", "ratio":
			if !strings.HasSuffix(m.Name, "_"+m.Unit) && !strings.Contains(m.Name, "_"+m.Unit+"_per_") {
				t.Errorf("%s is in %s", m.Name, m.Unit)
			}
		}
		if m.Kind == Counter != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s is a %s", m.Name, m.Kind)
		}
	}
}

// TestHelpStandsAlone: a scrape sorts the families and shows each with its own text, so none refers to a neighbour. The
// text of a summary of 60 seconds explains its _sum and _count, which cover all turns since the start.
func TestHelpStandsAlone(t *testing.T) {
	neighbour := regexp.MustCompile(`^The (same|rest)\b|\bsuch (turn|answer)|\bthese turns\b|\bthat one\b|\bthe following\b|NaN like`)
	for _, m := range slices.Concat(Catalog(), PagerCatalog()) {
		if found := neighbour.FindString(m.Help); found != "" {
			t.Errorf("%s: %q refers to another family: %s", m.Name, found, m.Help)
		}
		if strings.Contains(m.Name, "_window_seconds") && m.Kind == Summary && !strings.Contains(m.Help, "_sum and _count cover all turns since the start") {
			t.Errorf("%s does not say what its sums are: %s", m.Name, m.Help)
		}
		if m.Name == UsageMissing && !(strings.Contains(m.Help, "more tokens than") && strings.Contains(m.Help, "fewer than")) {
			t.Errorf("%s counts a usage with too many and with too few tokens: %s", m.Name, m.Help)
		}
	}
}
