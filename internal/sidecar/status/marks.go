package status

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// marksKept bounds the marks, textKept the bytes of a mark's text.
const marksKept, textKept = 200, 200

type markKind string

// Kinds of marks: the process started, it loaded a new configuration, a release was marked over
// HTTP, a job requests another model, or an incident began.
const (
	MarkStart    markKind = "start"
	MarkReload   markKind = "reload"
	MarkDeploy   markKind = "deploy"
	markModel    markKind = "model"
	markIncident markKind = "incident"
)

// Mark is an event that may explain later measurements.
type Mark struct {
	At   time.Time
	Kind markKind
	// the affected target, "" for all
	Target string
	Text   string
}

func (m Mark) Short() string {
	if m.Kind == MarkDeploy && len(m.Text) <= 24 {
		return cmp.Or(m.Text, string(m.Kind))
	}
	return string(m.Kind)
}

func (m Mark) color() int {
	if m.Kind == markIncident {
		return 1
	}
	return 3
}

type marks struct {
	mu  sync.Mutex
	all []Mark
}

// marked returns the marks of a target in a time range, and the starts of its incidents.
func (p *Page) marked(target string, s span) []Mark {
	return append(p.marks.about(target, s), p.incidents.marks(target, s)...)
}

// about returns the marks of a target in a time range, oldest first.
func (m *marks) about(target string, s span) []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.all), func(mark Mark) bool {
		return !s.contains(mark.At) || mark.Target != "" && mark.Target != target
	})
}

// Mark records an event.
func (p *Page) Mark(m Mark) {
	if m.At.IsZero() {
		m.At = p.options.Now()
	}
	m.Text = clip(m.Text, textKept)
	p.marks.mu.Lock()
	defer p.marks.mu.Unlock()
	p.marks.all = appendBounded(p.marks.all, m, marksKept)
}
