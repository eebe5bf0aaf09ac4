package config

import (
	"cmp"
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/workload"
)

// conversation is a workload, with its path and its average size.
type conversation struct {
	workload.Spec
	path string
	// tokens are the average tokens of a conversation.
	tokens workload.Tokens
}

// readWorkloads resolves the workloads, or the default one.
func readWorkloads(r *reader, in []fileWorkload) []conversation {
	if len(in) == 0 {
		in = []fileWorkload{yamlform.Defaults[fileWorkload]()}
	}
	used := map[string]string{}
	out := make([]conversation, len(in))
	for i, w := range in {
		path := yamlform.Index("workloads", i)
		r.Name(path, w.Name, "workload", used)
		out[i] = readWorkload(r, path, w)
		r.workloads.add(r, path, w.Name)
	}
	return out
}

// textSeed makes texts repeatable: replicas of a prober share their opening texts.
const textSeed = 1

func readWorkload(r *reader, path string, w fileWorkload) conversation {
	c := conversation{path: path, Spec: w.Spec}
	c.Seed, c.FollowupTokens, c.Followups = textSeed, w.Followups.Tokens, w.Followups.Script
	c.Check, c.Recall = string(w.Check), float64(w.Recall)
	c.Timeouts = readTimeouts(r, path+".timeouts", w.Timeouts)
	c.TurnsMin, c.TurnsMax = bounds(r, path+".turns", w.Turns.Min, w.Turns.Max)
	thinkMin, thinkMax := bounds(r, path+".think_time", model.Duration(w.ThinkTime.Min), model.Duration(w.ThinkTime.Max))
	c.ThinkMin, c.ThinkMax = time.Duration(thinkMin), time.Duration(thinkMax)
	readTools(r, path, &c.Spec)
	c.Images = readImages(r, path+".images", w.Images)
	readDistributions(r, path, &c)
	if w.Cancel > 0 {
		c.Cancel = workload.Cancel{Share: float64(w.Cancel), Min: minPatience, Max: maxPatience}
	}
	checkRecall(r, path, &c.Spec)
	readTrace(r, path, &c)
	if !r.Valid(path) || c.Trace.File != "" {
		return c
	}
	if source, err := workload.NewSource(c.Spec, 0); err == nil { // images, which can fail, were checked
		c.tokens = source.ExpectedTokens()
	}
	return c
}

func readImages(r *reader, path string, in []string) []string {
	var out []string
	for i, file := range in {
		out = append(out, r.file(yamlform.Index(path, i), file, file))
	}
	if r.Valid(path) {
		if _, err := workload.ReadImages(out); err != nil {
			r.Mistake(path, "", "cannot be sent: "+err.Error(), "")
		}
	}
	return out
}

// bounds checks the keys min and max of the mapping at path. If only one of them is present, the
// default of the other one yields to it.
func bounds[T cmp.Ordered](r *reader, path string, low, high T) (T, T) {
	lowAt, highAt := path+".min", path+".max"
	switch {
	case low <= high || !r.Valid(lowAt, highAt):
	case !r.Has(lowAt):
		return high, high
	case !r.Has(highAt):
		return low, low
	default:
		r.Mistake(lowAt, fmt.Sprint(low), fmt.Sprintf("is above max, which is %v", high), "swap the two, or lower min")
	}
	return low, high
}

// readTimeouts checks that the parts of a turn fit into the whole. A default yields. It returns zeros for
// wrong timeouts, so that thresholds are not compared with them.
func readTimeouts(r *reader, path string, t workload.Timeouts) workload.Timeouts {
	total, limit := "total", model.Duration(t.Total)
	if !r.Has(path + ".total") {
		total = "the default total"
	}
	for key, timeout := range map[string]*time.Duration{"first_token": &t.FirstToken, "stall": &t.Stall} {
		switch at := path + "." + key; {
		case *timeout <= t.Total || !r.Valid(at, path+".total"):
		case !r.Has(at):
			*timeout = t.Total
		default:
			r.Mistake(at, model.Duration(*timeout).String(), fmt.Sprintf("is longer than %s of %v and could never pass", total, limit), fmt.Sprintf("write %v or less, or a longer total", limit))
		}
	}
	if !r.Valid(path) {
		return workload.Timeouts{}
	}
	return t
}
