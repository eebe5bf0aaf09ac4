package sink

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"synthetic/internal/bound"
	"synthetic/internal/redact"
)

// MarkSource is where a mark comes from.
type MarkSource string

// Sources of marks. A start and a reload are events of this process, an incident is the start of an
// incident; the others are changes of a target.
const (
	MarkStart    MarkSource = "start"
	MarkReload   MarkSource = "reload"
	MarkIncident MarkSource = "incident"
	// MarkModel: a job requests another model.
	MarkModel MarkSource = "model"
	// MarkRestart and MarkVersion: the server's own metrics show a new process or another version.
	MarkRestart MarkSource = "restart"
	MarkVersion MarkSource = "version"
	// MarkFingerprint: answers have another system_fingerprint.
	MarkFingerprint MarkSource = "fingerprint"
	// MarkRollout: discovery found pods with another image.
	MarkRollout MarkSource = "rollout"
	// MarkGitHub and MarkDeploy were sent to this process: an event of GitHub, or a text.
	MarkGitHub MarkSource = "github"
	MarkDeploy MarkSource = "deploy"
)

// detail is how much the text of a source tells, compared with the others that may report the same change.
// It is 0 for sources that report nothing which another source reports.
func (s MarkSource) detail() int {
	return 1 + slices.Index([]MarkSource{MarkRestart, MarkFingerprint, MarkVersion, MarkRollout, MarkGitHub, MarkDeploy}, s)
}

// Mark is an event that may explain later measurements.
type Mark struct {
	At     time.Time  `json:"at"`
	Source MarkSource `json:"kind"`
	// Target is a target, or a discovery group or target whose targets are named Target/…; "" for all.
	Target string `json:"target,omitempty"`
	// Only limits the mark to some targets of the discovery group Target; empty means all of them.
	Only []string `json:"only,omitempty"`
	Text string   `json:"text"`
	// IsExact is true if the sender gave the time. Other marks never replace it.
	IsExact bool `json:"-"`
}

// Concerns reports whether the mark is about a target.
func (m Mark) Concerns(target string) bool {
	if len(m.Only) > 0 {
		return slices.Contains(m.Only, target)
	}
	return m.Target == "" || m.Target == target || strings.HasPrefix(target, m.Target+"/")
}

// IsChange reports whether the mark is a change of a target.
func (m Mark) IsChange() bool { return m.Source == MarkModel || m.Source.detail() > 0 }

// A change may explain a fault that began at most ChangeBefore after it. The start of a fault and the time of a
// change are known only roughly, so the change may also come ChangeAfter later than the start.
const (
	ChangeBefore = 10 * time.Minute
	ChangeAfter  = 2 * time.Minute
)

// RestartText is the text of a MarkRestart.
const RestartText = "a server process started"

// Explains reports whether the mark may explain a fault that began at a time. A process that started after the
// beginning of a fault is a consequence of it: the server crashed.
func (m Mark) Explains(start time.Time) bool {
	after := ChangeAfter
	if m.Source == MarkRestart {
		after = 0
	}
	d := start.Sub(m.At)
	return m.IsChange() && d <= ChangeBefore && d >= -after
}

// IsConsequence reports whether the mark is a process that started soon after a fault began at a time: the server
// crashed.
func (m Mark) IsConsequence(start time.Time) bool {
	d := m.At.Sub(start)
	return m.Source == MarkRestart && d > 0 && d <= ChangeAfter
}

// IsDeployment reports whether the mark is a change of the deployment itself, after which cold caches may be slow
// for a while. A restart alone is none, because a server that crashes again and again is a fault. Neither is
// another model, which the prober's configuration chooses.
func (m Mark) IsDeployment() bool { return m.Source.detail() > 0 && m.Source != MarkRestart }

// Short returns the label of a mark in charts.
func (m Mark) Short() string {
	switch {
	case m.Source == MarkStart:
		return "prober start"
	case m.Source.detail() > 0 && m.Text != "" && len(m.Text) <= 24:
		return m.Text
	}
	return string(m.Source)
}

// Words says what happened.
func (m Mark) Words() string {
	what := map[MarkSource]string{
		MarkStart: "this prober started", MarkReload: "the configuration was loaded", MarkModel: "the model changed",
		MarkDeploy: "a release was marked", MarkGitHub: "GitHub reported",
	}[m.Source]
	if what == "" || m.Text == "" {
		return what + m.Text
	}
	return what + ": " + m.Text
}

const (
	// marksKept bounds the marks of each source, so that one source cannot evict the marks of the others.
	// markText bounds the bytes of a mark's text.
	marksKept, markText = 100, 200
	// sameChange is how far apart two sources may report the same change.
	sameChange = 10 * time.Minute
)

// Marks keeps the latest marks. It is safe for concurrent use. Use NewMarks.
type Marks struct {
	// Now is the clock, time.Now by default.
	Now      func() time.Time
	onChange func(Mark)

	mu  sync.Mutex
	all []Mark
}

// NewMarks returns an empty list. onChange is called for each added mark that is a change; it may be nil.
func NewMarks(onChange func(Mark)) *Marks {
	if onChange == nil {
		onChange = func(Mark) {}
	}
	return &Marks{Now: time.Now, onChange: onChange}
}

// Add adds a mark, whose text may come from outside. It drops a mark of a change that another source has
// already reported in more detail, and replaces marks that report it in less detail. A zero At, or one in the
// future, means now.
func (m *Marks) Add(mark Mark) {
	if now := m.Now(); mark.At.IsZero() || mark.At.After(now) {
		mark.At = now
	}
	mark.Text = cleanText(mark.Text)
	m.mu.Lock()
	added := m.add(&mark)
	m.mu.Unlock()
	if added && mark.IsChange() {
		m.onChange(mark)
	}
}

func (m *Marks) add(mark *Mark) (added bool) {
	if slices.ContainsFunc(m.all, func(other Mark) bool { return mark.repeats(other) }) {
		return false
	}
	m.all = slices.DeleteFunc(m.all, func(other Mark) bool {
		if !other.repeats(*mark) {
			return false
		}
		if other.Target == mark.Target && other.At.Before(mark.At) && !mark.IsExact {
			mark.At = other.At
		}
		return true
	})
	ofSource := func(other Mark) bool { return other.Source == mark.Source }
	kept := 0
	for _, other := range m.all {
		if ofSource(other) {
			kept++
		}
	}
	if kept >= marksKept {
		oldest := slices.IndexFunc(m.all, ofSource)
		m.all = slices.Delete(m.all, oldest, oldest+1)
	}
	m.all = append(m.all, *mark)
	return true
}

// repeats reports whether m tells nothing that other does not tell.
func (m Mark) repeats(other Mark) bool {
	if m.At.Sub(other.At).Abs() > sameChange || m.Source.detail() == 0 || !other.Concerns(m.Target) {
		return false
	}
	if m.Source == other.Source {
		return m.Text == other.Text
	}
	return m.Source.detail() < other.Source.detail()
}

// Has reports whether there is a mark with the same source, target and text that is at a time or later.
func (m *Marks) Has(mark Mark, since time.Time) bool {
	mark.Text = cleanText(mark.Text)
	return slices.ContainsFunc(m.All(), func(other Mark) bool {
		return other.Source == mark.Source && other.Target == mark.Target && other.Text == mark.Text && !other.At.Before(since)
	})
}

// All returns a copy of the marks, in the order of their arrival.
func (m *Marks) All() []Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// About returns the marks of a target, in the order of their arrival.
func (m *Marks) About(target string) []Mark {
	return slices.DeleteFunc(m.All(), func(mark Mark) bool { return !mark.Concerns(target) })
}

// cleanText returns a text as one line without secrets and markup, of at most markText bytes.
func cleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, " "))
	text = redact.Text(strings.Join(strings.Fields(text), " "))
	return bound.Shorten(strings.NewReplacer("<", "‹", ">", "›", "&", "+").Replace(text), markText)
}
