package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// conversation is a workload and, where there is one, the endpoint that plays
// its user.
type conversation struct {
	workload.Spec
	path string
	user *target.Target
	// cost is that of one, on average; shot that of its first turn alone, without an
	// answer.
	cost, shot workload.Tokens
	// ownRate is how many conversations a second have by their own times, those of a
	// trace or of classes of clients; 0 for none.
	ownRate float64
}

// workloads resolves the workloads; there is always at least one.
func (b *builder) workloads(in []fileWorkload) []conversation {
	if len(in) == 0 {
		in = []fileWorkload{yamlform.Defaults[fileWorkload]()}
	}
	taken := map[string]string{}
	out := make([]conversation, len(in))
	for i, w := range in {
		path := yamlform.Index("workloads", i)
		b.Name(path, w.Name, "workload", taken)
		out[i] = b.workload(path, w)
		b.workloadNames = append(b.workloadNames, w.Name)
	}
	return out
}

// textSeed makes texts repeatable: replicas of a prober share their opening texts, and a sweep, whose
// plan has its own seed, sends the texts of the same workload elsewhere.
const textSeed = 1

func (b *builder) workload(path string, w fileWorkload) conversation {
	c := conversation{path: path, Spec: workload.Spec{
		Name: w.Name, Seed: textSeed, System: w.System, Starters: w.Starters, PromptTokens: w.PromptTokens,
		FollowupTokens: w.Followups.Tokens, Followups: w.Followups.Script,
		MaxOutputTokens: w.MaxOutputTokens, Temperature: w.Temperature,
		Reasoning: w.Reasoning, Check: string(w.Check),
		Timeouts: b.timeouts(path+".timeouts", w.Timeouts),
	}}
	c.TurnsMin, c.TurnsMax = bounds(b, path+".turns", w.Turns.Min, w.Turns.Max)
	least, most := bounds(b, path+".think_time", model.Duration(w.ThinkTime.Min), model.Duration(w.ThinkTime.Max))
	c.ThinkMin, c.ThinkMax = time.Duration(least), time.Duration(most)
	if u := w.Followups.User; u != nil {
		user := b.endpoint(path+".followups.user", *u)
		user.Name = w.Name + "-user"
		c.user = &user
	}
	b.tools(path, w, &c.Spec)
	c.Images = b.images(path+".images", w.Images)
	b.replay(path, w, &c.Spec)
	b.drawn(path, w, &c)
	b.recorded(path, w, &c)
	if !b.Valid(path) || c.Trace.File != "" {
		return c
	}
	// The source that will read the file for the jobs knows best what it takes.
	source, err := workload.NewSource(c.Spec, 0)
	if err != nil {
		reason := strings.TrimLeft(strings.TrimPrefix(err.Error(), c.ConversationsFile), ",: ")
		b.Mistake(path+".conversations_file", w.ConversationsFile, "cannot be replayed: "+reason, "")
		return c
	}
	c.cost, c.shot = source.ExpectedTokens(), source.FirstTurnTokens()
	return c
}

// images resolves the files of images, and checks that they are some.
func (b *builder) images(path string, in []string) []string {
	var out []string
	for i, file := range in {
		out = append(out, b.file(yamlform.Index(path, i), file, false))
	}
	if b.Valid(path) {
		if _, err := workload.ReadImages(out); err != nil {
			b.Mistake(path, "", "cannot be sent: "+err.Error(), "")
		}
	}
	return out
}

// bounds checks the keys min and max of the mapping at path. A bound that was
// not written yields to the other one.
func bounds[T cmp.Ordered](b *builder, path string, low, high T) (T, T) {
	lowAt, highAt := path+".min", path+".max"
	switch {
	case low <= high || !b.Valid(lowAt, highAt):
	case !b.Has(lowAt):
		return high, high
	case !b.Has(highAt):
		return low, low
	default:
		b.Mistake(lowAt, fmt.Sprint(low), fmt.Sprintf("is above max, which is %v", high), "swap the two, or lower min")
	}
	return low, high
}

// timeouts checks that the parts of a turn fit in the whole. A part that was
// not written yields to a short whole. Wrong ones come back as zero, unknown to
// the checks of thresholds.
func (b *builder) timeouts(path string, t workload.Timeouts) workload.Timeouts {
	b.within(path, "first_token", &t.FirstToken, t.Total)
	b.within(path, "stall", &t.Stall, t.Total)
	if !b.Valid(path) {
		return workload.Timeouts{}
	}
	return t
}

func (b *builder) within(path, key string, part *time.Duration, total time.Duration) {
	at := path + "." + key
	switch {
	case *part <= total || !b.Valid(at, path+".total"):
	case !b.Has(at):
		*part = total
	default:
		whole := "total"
		if !b.Has(path + ".total") {
			whole = "the default total"
		}
		most := model.Duration(total)
		b.Mistake(at, model.Duration(*part).String(), fmt.Sprintf("is longer than %s of %v and could never pass", whole, most), fmt.Sprintf("write %v or less, or a longer total", most))
	}
}

// replay turns the workload at path into a replay of a file of conversations,
// which brings its own texts and its own number of turns.
func (b *builder) replay(path string, w fileWorkload, s *workload.Spec) {
	at := path + ".conversations_file"
	if w.ConversationsFile == "" || !b.Valid(at) {
		return
	}
	b.NoEffect(path, "beside conversations_file, which brings its own", "remove one of the two", "prompt_tokens", "starters", "followups", "turns.min")
	s.PromptTokens, s.Starters, s.FollowupTokens, s.TurnsMin = 0, 0, 0, 0
	if !b.Has(path + ".turns.max") {
		s.TurnsMax = 0
	}
	s.ConversationsFile = b.file(at, w.ConversationsFile, false)
}
