package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
)

// workload is what decides whether two runs said the same.
func (p Plan) workload() runfile.Workload {
	w := p.Workload
	out := runfile.Workload{Name: w.Name, Summary: p.summary(), Parameters: said(w)}
	add := func(name, value string) {
		out.Parameters = append(out.Parameters, runfile.Parameter{Name: name, Value: value})
	}
	if p.User != nil {
		add("user", p.User.BaseURL)
	}
	if w.Temperature != nil {
		add("temperature", strconv.FormatFloat(*w.Temperature, 'g', -1, 64))
	}
	add("think_time", w.ThinkMin.String()+" … "+w.ThinkMax.String())
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"first_token", w.Timeouts.FirstToken}, {"stall", w.Timeouts.Stall}, {"total", w.Timeouts.Total}} {
		add("timeout_"+t.name, t.d.String())
	}
	if p.Kind == runfile.Rate {
		add("arrival", p.arrival())
	}
	return out
}

// said are the parameters that decide how long prompts and answers are.
func said(w workload.Spec) []runfile.Parameter {
	var out []runfile.Parameter
	add := func(name, value string) { out = append(out, runfile.Parameter{Name: name, Value: value}) }
	add("turns", fromTo(w.TurnsMin, w.TurnsMax))
	if w.ConversationsFile != "" {
		add("conversations_file", fingerprint(w.ConversationsFile))
	} else {
		add("prompt_tokens", strconv.Itoa(w.PromptTokens))
		add("starters", strconv.Itoa(w.Starters))
		add("followup_tokens", strconv.Itoa(w.FollowupTokens))
		for i, text := range w.Followups {
			add(fmt.Sprintf("followups[%d]", i), text)
		}
	}
	if w.System != "" {
		add("system", w.System)
	}
	add("max_output_tokens", strconv.Itoa(w.MaxOutputTokens))
	return out
}

// Differs says what a workload says to a deployment otherwise than a run did,
// whose parameters are given, in words; "" if nothing, or if the run's are not
// known (nil). When turns are sent and given up is no part of it.
func Differs(w workload.Spec, run []runfile.Parameter) string {
	own := said(w)
	for _, p := range own {
		theirs, ok := valueOf(run, p.Name)
		if ok && theirs != p.Value || !ok && run != nil && optional(p.Name) {
			return fmt.Sprintf("%s is %s here and was %s there", p.Name, p.Value, theirs)
		}
	}
	for _, p := range run {
		if value, ok := valueOf(own, p.Name); !ok && optional(p.Name) {
			return fmt.Sprintf("%s is %s here and was %s there", p.Name, value, p.Value)
		}
	}
	return ""
}

// optional parameters are absent from the workloads that do not have them.
func optional(name string) bool {
	return name == "system" || name == "conversations_file" || strings.HasPrefix(name, "followups[")
}

func valueOf(list []runfile.Parameter, name string) (value string, ok bool) {
	i := slices.IndexFunc(list, func(p runfile.Parameter) bool { return p.Name == name })
	if i < 0 {
		return "none", false
	}
	return list[i].Value, true
}
