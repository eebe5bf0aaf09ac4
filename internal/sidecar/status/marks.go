package status

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// marksKept bounds the marks, textKept the bytes of one's text.
const marksKept, textKept = 200, 200

// MarkKind says what a Mark is of.
type MarkKind string

// What a mark may be of: this process began, took over a configuration, or was
// told of a release; the model that a job asks for is another; an incident began.
const (
	MarkStart    MarkKind = "start"
	MarkReload   MarkKind = "reload"
	MarkDeploy   MarkKind = "deploy"
	MarkModel    MarkKind = "model"
	MarkIncident MarkKind = "incident"
)

// Mark is something that happened and may explain what was measured after it.
type Mark struct {
	At   time.Time
	Kind MarkKind
	// Target is the one that it is about, "" for all.
	Target string
	Text   string
}

// Short is what a chart has room for.
func (m Mark) Short() string {
	if m.Kind == MarkDeploy && len(m.Text) <= 24 {
		return cmp.Or(m.Text, string(m.Kind))
	}
	return string(m.Kind)
}

// color numbers that of a mark in a chart.
func (m Mark) color() int {
	if m.Kind == MarkIncident {
		return 1
	}
	return 3
}

// marks are those of the process, oldest first.
type marks struct {
	mu  sync.Mutex
	all []Mark
}

func (m *marks) add(one Mark) {
	one.Text = clip(one.Text, textKept)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = keep(m.all, one, marksKept)
}

// marked lists the marks about a target in a time, and where its incidents began.
func (p *Page) marked(target string, s span) []Mark {
	return append(p.marks.about(target, s), p.incidents.marks(target, s)...)
}

// about lists those of a target in a time, oldest first.
func (m *marks) about(target string, s span) []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.all), func(one Mark) bool {
		return one.At.Before(s.from) || one.At.After(s.to) || one.Target != "" && one.Target != target
	})
}

// Mark notes that something happened.
func (p *Page) Mark(m Mark) {
	if m.At.IsZero() {
		m.At = p.options.Now()
	}
	p.marks.add(m)
}
