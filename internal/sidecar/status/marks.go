package status

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// marksKept bounds the marks, textKept the bytes of a mark's text.
const marksKept, textKept = 200, 200

// MarkKind is the kind of a Mark.
type MarkKind string

// Kinds of marks: the process started, it loaded a new configuration, a release was marked over
// HTTP, a job requests another model, or an incident began.
const (
	MarkStart    MarkKind = "start"
	MarkReload   MarkKind = "reload"
	MarkDeploy   MarkKind = "deploy"
	MarkModel    MarkKind = "model"
	MarkIncident MarkKind = "incident"
)

// Mark is an event that may explain later measurements.
type Mark struct {
	At   time.Time
	Kind MarkKind
	// the affected target, "" for all
	Target string
	Text   string
}

// Short returns the text for charts.
func (m Mark) Short() string {
	if m.Kind == MarkDeploy && len(m.Text) <= 24 {
		return cmp.Or(m.Text, string(m.Kind))
	}
	return string(m.Kind)
}

// color returns the number of the mark's colour in charts.
func (m Mark) color() int {
	if m.Kind == MarkIncident {
		return 1
	}
	return 3
}

// marks of the process, oldest first.
type marks struct {
	mu  sync.Mutex
	all []Mark
}

func (m *marks) add(one Mark) {
	one.Text = clip(one.Text, textKept)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = appendBounded(m.all, one, marksKept)
}

// marked returns the marks of a target in a time range, and the starts of its incidents.
func (p *Page) marked(target string, s span) []Mark {
	return append(p.marks.about(target, s), p.incidents.marks(target, s)...)
}

// about returns the marks of a target in a time range, oldest first.
func (m *marks) about(target string, s span) []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.all), func(one Mark) bool {
		return one.At.Before(s.from) || one.At.After(s.to) || one.Target != "" && one.Target != target
	})
}

// Mark records an event.
func (p *Page) Mark(m Mark) {
	if m.At.IsZero() {
		m.At = p.options.Now()
	}
	p.marks.add(m)
}
