package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
)

// bar is one part of a turn. from and to are times since the turn was sent.
type bar struct {
	label, note string
	from, to    time.Duration
}

// bars returns the consecutive parts of a turn. A failed turn ends in the part during which it failed.
func bars(r probe.Result) (all []bar) {
	total, at := r.Duration(), time.Duration(0)
	if total <= 0 {
		return nil
	}
	until := func(label, note string, end probe.Opt[time.Duration]) {
		if to := min(end.V, total); end.OK && to >= at {
			all = append(all, bar{label, note, at, to})
			at = to
		}
	}
	after := func(label string, took probe.Opt[time.Duration]) {
		took.V += at
		until(label, "", took)
	}
	p, http := &r.Phases, "HTTP/"+r.Phases.HTTPVersion()
	if p.Reused {
		http += " on a kept connection"
	}
	after("dns", p.DNS)
	after("connect", p.Connect)
	after("tls", p.TLS)
	until("headers", http, p.Headers)
	if p.FirstEvent.V > at { // otherwise it came with the headers, as usual
		until("first event", "", p.FirstEvent)
	}
	until("first token", "TTFT "+threeDigits(r.TTFT.V), r.TTFT)
	label, note := "waiting", "no token came"
	if r.TTFT.OK {
		label, note = "tokens", fmt.Sprintf("%d events", r.Events)
	}
	if r.TTFT.OK && r.Buffered && !r.Outcome.Failed() {
		note += " that came together: something on the way buffers"
	}
	until(label, note, probe.Some(total))
	return all
}

const barWidth = 48

// writeTurn writes one finished turn: a headline, bars on a common time axis, and the tokens.
func writeTurn(w io.Writer, r probe.Result) error {
	var b strings.Builder
	mark := "ok  "
	if r.Outcome != probe.Success {
		mark = "FAIL"
	}
	fmt.Fprintf(&b, "%s turn %d (%s)  %s  %s\n", mark, r.Turn, r.Kind, r.Outcome, headline(r))
	if r.Err != "" {
		fmt.Fprintf(&b, "     %s\n", r.Err)
	}
	for _, i := range bars(r) {
		line := fmt.Sprintf("     %-11s %s %9s  %s", i.label, draw(i, r.Duration()), threeDigits(i.to-i.from), i.note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "     %s\n", describeTokens(r))
	if text := describeGateway(r.Gateway); text != "" {
		fmt.Fprintf(&b, "     gateway: %s\n", text)
	}
	fmt.Fprintf(&b, "     trace %s\n\n", r.TraceID)
	_, err := io.WriteString(w, b.String())
	return err
}

func headline(r probe.Result) string {
	p50, longest := r.ITL()
	parts := []string{"TTFT " + r.TTFT.Text(threeDigits)}
	if r.AnswerTTFT.OK && r.AnswerTTFT != r.TTFT {
		parts = append(parts, "answer TTFT "+r.AnswerTTFT.Text(threeDigits))
	}
	tpot := r.TPOT.Text(threeDigits)
	if r.TPOTUnknown != "" {
		tpot += " (" + string(r.TPOTUnknown) + ")"
	}
	itl := "ITL p50 " + p50.Text(threeDigits) + " max " + longest.Text(threeDigits)
	parts = append(parts, "TPOT "+tpot, itl, "total "+threeDigits(r.Duration()))
	return strings.Join(parts, "  ")
}

// draw places a bar on the time axis. A part of any length is visible.
func draw(i bar, total time.Duration) string {
	column := func(d time.Duration) int {
		return min(barWidth, max(0, int(float64(d)/float64(total)*barWidth+0.5)))
	}
	from, to := column(i.from), column(i.to)
	fill := "█"
	if to == from {
		fill, from = "▏", min(from, barWidth-1)
		to = from + 1
	}
	return "|" + strings.Repeat(" ", from) + strings.Repeat(fill, to-from) + strings.Repeat(" ", barWidth-to) + "|"
}

func describeTokens(r probe.Result) string {
	cached := "n/a"
	if r.CachedTokens.OK {
		cached = fmt.Sprint(r.CachedTokens.V)
		if r.PromptTokens.OK && r.PromptTokens.V > 0 {
			cached += fmt.Sprintf(" (%.0f %%)", 100*float64(r.CachedTokens.V)/float64(r.PromptTokens.V))
		}
	}
	output := r.OutputTokens.Text(strconv.Itoa)
	if r.UsageMissing {
		output = "about " + output + " (" + cmp.Or(r.UsageImpossible, "the server sent no usage") + ": counted from events)"
	}
	if r.ReasoningTokens.OK && r.ReasoningTokens.V > 0 {
		output += fmt.Sprintf(", of which reasoning %d", r.ReasoningTokens.V)
	}
	prompt := r.PromptTokens.Text(strconv.Itoa)
	return fmt.Sprintf("prompt %s tokens, cached %s, output %s%s", prompt, cached, output, beside(r))
}

// describeGateway returns what a gateway reports, or "".
func describeGateway(g probe.Gateway) string {
	var parts []string
	if g.Overhead.OK {
		text := "overhead " + threeDigits(g.Overhead.V)
		if g.Response.OK {
			text += " of the first " + threeDigits(g.Response.V)
		}
		parts = append(parts, text)
	}
	if g.Retries.V > 0 {
		parts = append(parts, fmt.Sprintf("retries %d", g.Retries.V))
	}
	if g.Fallbacks.V > 0 {
		parts = append(parts, fmt.Sprintf("fallbacks %d: another model answered", g.Fallbacks.V))
	}
	if g.Backend != "" {
		parts = append(parts, "server "+g.Backend)
	}
	return strings.Join(parts, ", ")
}

// beside describes an answer that was more than content.
func beside(r probe.Result) string {
	var s string
	if r.NoAnswer {
		s = "; no content"
	}
	if r.Refusal != "" {
		s += "; refused"
	}
	if n := len(r.ToolCalls); n > 0 {
		s += fmt.Sprintf("; tool calls: %d", n)
	}
	if r.ContextCut() {
		s += fmt.Sprintf("; the turn before had %d prompt tokens: the server cut the history", r.PreviousPrompt)
	}
	if r.LeftOut != nil {
		s += "; sent without " + strings.Join(r.LeftOut, ", ") + ", which the server refuses"
	}
	if r.OtherChoices {
		s += "; several choices, of which the first was measured"
	}
	return s
}

// threeDigits writes a duration with at most three significant digits, and at most whole seconds: "812 µs", "18.2 ms",
// "1.93 s", "1234 s".
func threeDigits(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + threeDigits(-d)
	case d >= 1000*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return chart.Label(chart.Rounded(d.Seconds()), "s")
}

// writeJSON writes the results of one conversation as indented JSON.
func writeJSON(w io.Writer, baseURL string, c probe.Conversation, results []probe.Result) error {
	model := ""
	for i := range results {
		model = results[i].Model
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{
		"base_url": baseURL, "model": model, "conversation": c.ID, "outcome": c.Outcome,
		"turns": slices.Concat([]probe.Result{}, results),
	})
}
