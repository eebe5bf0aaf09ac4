package sweep

import (
	"encoding/json"
	"fmt"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runs"
)

type parameters []runs.Parameter

func (p *parameters) add(name string, value any) {
	*p = append(*p, runs.Parameter{Name: name, Value: fmt.Sprint(value)})
}

func (p *parameters) addDistributions(d workload.Dists) {
	for _, x := range []struct {
		name string
		*workload.Dist
	}{{"prompt_tokens", d.Prompt}, {"followup_tokens", d.Followup}, {"output_tokens", d.Output}} {
		if x.Dist != nil {
			p.add("distributions."+x.name, x.Dist)
		}
	}
}

// workload returns the parameters that must be equal for two runs to be compared.
func workloadOf(p fleet.Plan) runs.Workload {
	w := p.Workload
	out := contentParameters(w)
	if w.Temperature != nil {
		out.add("temperature", *w.Temperature)
	}
	out.add("think_time", w.ThinkMin.String()+" … "+w.ThinkMax.String())
	out.add("timeout_first_token", w.Timeouts.FirstToken)
	out.add("timeout_stall", w.Timeouts.Stall)
	out.add("timeout_total", w.Timeouts.Total)
	if a := p.Arrival; p.OpenLoop && a.Burstiness > 0 {
		out.add("arrival", fmt.Sprintf("%s (burstiness=%.1f)", a.Process, a.Burstiness))
	} else if p.OpenLoop {
		out.add("arrival", a.Process)
	}
	return runs.Workload{Name: w.Name, Summary: summary(p), Parameters: out}
}

// contentParameters returns the parameters that decide the length of prompts and answers.
func contentParameters(w workload.Spec) parameters {
	var out parameters
	if w.Trace.File == "" {
		out.add("turns", formatRange(w.TurnsMin, w.TurnsMax))
	}
	out.addDistributions(w.Dists)
	if c := w.Cancel; c.Share > 0 {
		out.add("cancel", fmt.Sprintf("%g after %s … %s", c.Share, c.Min, c.Max))
	}
	if w.Trace.File != "" {
		out.add("trace", fingerprint(w.Trace.File))
		if w.Trace.BlockTokens > 0 {
			out.add("block_tokens", w.Trace.BlockTokens)
		}
	} else {
		out.add("prompt_tokens", w.PromptTokens)
		out.add("starters", w.Starters)
		out.add("followup_tokens", w.FollowupTokens)
		for i, text := range w.Followups {
			out.add(fmt.Sprintf("followups[%d]", i), text)
		}
	}
	if w.System != "" {
		out.add("system", w.System)
	}
	if w.SystemTokens > 0 {
		out.add("system_tokens", w.SystemTokens)
	}
	if w.ContextTokens > 0 {
		out.add("context_tokens", w.ContextTokens)
	}
	for i, tool := range w.Tools {
		out.add(fmt.Sprintf("tools[%d]", i), tool.Name)
	}
	if w.ResponseSchema != nil {
		out.add("response_schema", schemaName(w.ResponseSchema))
	}
	if w.Recall > 0 {
		out.add("recall", w.Recall)
	}
	out.add("max_output_tokens", w.MaxOutputTokens)
	return out
}

// schemaName identifies a JSON schema: keys are sorted in its JSON.
func schemaName(schema map[string]any) string {
	text, _ := json.Marshal(schema) // a checked schema is JSON
	return fmt.Sprintf("%016x", workload.Hash(string(text)))
}
