package status

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/probe"
)

// barWidth is the width of the time axis in columns.
const barWidth = 48

// WriteTurn writes one finished turn: a headline, bars on a common time axis, and the tokens.
func WriteTurn(w io.Writer, r probe.Result) error {
	var b strings.Builder
	mark := "ok  "
	if r.Outcome != probe.Success {
		mark = "FAIL"
	}
	fmt.Fprintf(&b, "%s turn %d (%s)  %s  %s\n", mark, r.Turn, r.Kind, r.Outcome, headline(r))
	if r.Err != "" {
		fmt.Fprintf(&b, "     %s\n", r.Err)
	}
	for _, bar := range Bars(r) {
		if bar.Part == FirstEvent && bar.From == bar.To {
			continue // it came with the headers, as usual
		}
		label, note := describe(bar.Part, r)
		line := fmt.Sprintf("     %-11s %s %9s  %s", label, draw(bar, r.Duration()), Short(bar.To-bar.From), note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "     %s\n     trace %s\n\n", tokens(r), r.TraceID)
	_, err := io.WriteString(w, b.String())
	return err
}

func headline(r probe.Result) string {
	p50, longest := gaps(r.Gaps)
	parts := []string{"TTFT " + opt(r.TTFT, Short)}
	if r.AnswerTTFT.OK && r.AnswerTTFT != r.TTFT {
		parts = append(parts, "answer TTFT "+opt(r.AnswerTTFT, Short))
	}
	parts = append(parts, "TPOT "+opt(r.TPOT, Short), "ITL p50 "+opt(p50, Short)+" max "+opt(longest, Short), "total "+Short(r.Duration()))
	return strings.Join(parts, "  ")
}

// describe returns the name of a part and a note.
func describe(p Part, r probe.Result) (label, note string) {
	switch {
	case p == Headers && r.Phases.Reused:
		return "headers", "on a kept connection"
	case p == FirstEvent:
		return "first event", ""
	case p == FirstToken:
		return "first token", "TTFT " + Short(r.TTFT.V)
	case p == Tokens && r.Buffered:
		return "tokens", fmt.Sprintf("%d events that came together: something on the way buffers", r.Events)
	case p == Tokens, p == Failed && r.TTFT.OK:
		return "tokens", fmt.Sprintf("%d events", r.Events)
	case p == Failed, p == Rest:
		return "waiting", "no token came"
	}
	return string(p), ""
}

// draw places a bar on the axis. A part of any length is visible.
func draw(b Bar, total time.Duration) string {
	column := func(d time.Duration) int {
		return min(barWidth, max(0, int(float64(d)/float64(total)*barWidth+0.5)))
	}
	from, to := column(b.From), column(b.To)
	fill := "█"
	if to == from {
		fill, from = "▏", min(from, barWidth-1)
		to = from + 1
	}
	return "|" + strings.Repeat(" ", from) + strings.Repeat(fill, to-from) + strings.Repeat(" ", barWidth-to) + "|"
}

func tokens(r probe.Result) string {
	cached := "n/a"
	if r.CachedTokens.OK {
		cached = fmt.Sprint(r.CachedTokens.V)
		if r.PromptTokens.OK && r.PromptTokens.V > 0 {
			cached += fmt.Sprintf(" (%.0f %%)", 100*float64(r.CachedTokens.V)/float64(r.PromptTokens.V))
		}
	}
	output := opt(r.OutputTokens, strconv.Itoa)
	if r.UsageMissing {
		output = "about " + output + " (the server sent no usage: counted from events)"
	}
	if r.ReasoningTokens.OK && r.ReasoningTokens.V > 0 {
		output += fmt.Sprintf(", of which reasoning %d", r.ReasoningTokens.V)
	}
	return fmt.Sprintf("prompt %s tokens, cached %s, output %s%s", opt(r.PromptTokens, strconv.Itoa), cached, output, beside(r))
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
	if r.OtherChoices {
		s += "; several choices, of which the first was measured"
	}
	return s
}

// opt writes a known value.
func opt[T any](o probe.Opt[T], write func(T) string) string {
	if !o.OK {
		return "n/a"
	}
	return write(o.V)
}

// Short writes a duration with three significant digits: "812 µs", "18.2 ms",
// "1.93 s".
func Short(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Short(-d)
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return three(float64(d)/float64(time.Millisecond)) + " ms"
	}
	return three(d.Seconds()) + " s"
}

func three(v float64) string {
	s := fmt.Sprintf("%.2f", v)
	switch {
	case v >= 100:
		s = fmt.Sprintf("%.0f", v)
	case v >= 10:
		s = fmt.Sprintf("%.1f", v)
	}
	return s
}
