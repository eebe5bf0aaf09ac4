package probe_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestToolCalls checks tool calls in various pieces against the tools of the workload.
func TestToolCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		events []string
		want   probe.Outcome
		says   string
	}{
		"valid":               {[]string{begin(0, "a", "get_weather", ""), more(0, `{"ci`), more(0, `ty": "Oslo"}`), ended("tool_calls")}, probe.Success, ""},
		"valid, in one event": {[]string{begin(0, "a", "get_weather", `{"city": "Oslo"}`) + ended("tool_calls")}, probe.Success, ""},
		"no call":             {[]string{text("It rains."), ended("stop")}, probe.Success, ""},
		"no JSON":             {[]string{begin(0, "a", "get_weather", ""), more(0, `{"city": Oslo}`), ended("tool_calls")}, probe.ToolCallInvalid, "invalid JSON"},
		"pieces said twice":   {[]string{begin(0, "a", "get_weather", ""), more(0, `{"city": `), more(0, `{"city": "Oslo"}`), ended("tool_calls")}, probe.ToolCallInvalid, "invalid JSON"},
		"against the schema":  {[]string{begin(0, "a", "get_weather", `{"town": "Oslo"}`), ended("tool_calls")}, probe.ToolCallInvalid, "missing property 'city'"},
		"leaked":              {[]string{text("<tool_call>\n"), text(`{"name": "get_weather"}`), ended("stop")}, probe.ToolCallInvalid, "markup"},
		"in one event with words": {[]string{
			delta(`"content":"I look.","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"get_weather","arguments":"{}"}}]`), ended("tool_calls"),
		}, probe.ToolCallInvalid, "missing property 'city'"},
		"not counted": {[]string{
			delta(`"tool_calls":[{"id":"a","type":"function","function":{"name":"get_time","arguments":"{}"}}]`),
			delta(`"tool_calls":[{"id":"b","type":"function","function":{"name":"get_time","arguments":"{}"}}]`), ended("tool_calls"),
		}, probe.Success, ""},
		"cut by the limit": {[]string{begin(0, "a", "get_weather", `{"city": "Os`), ended("length")}, probe.Success, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(int, request) []string { return tc.events })
			results, _ := converse(t.Context(), t, toolOptions(s.addr), 1)
			r := results[0]
			if r.Outcome != tc.want || !strings.Contains(r.Err, tc.says) || !r.TTFT.OK {
				t.Errorf("outcome %s (%s), TTFT %v; want %s (%s)", r.Outcome, r.Err, r.TTFT, tc.want, tc.says)
			}
			if called := strings.Contains(tc.events[0], "tool_calls"); called && r.Answer == "" && r.AnswerTTFT != r.TTFT {
				t.Errorf("a call alone has an answer TTFT of %v", r.AnswerTTFT)
			}
		})
	}
}

// TestTurnAfterACall runs a conversation with a strict server: parallel calls, their results, the
// answer to them, and the user's next question.
func TestTurnAfterACall(t *testing.T) {
	s := serve(t, func(n int, _ request) []string {
		switch n {
		case 1:
			return []string{text("\n\n"), begin(0, "a", "get_weather", `{"city": "Oslo"}`), begin(1, "b", "get_time", ""), more(1, "{}"), ended("tool_calls")}
		case 2:
			return []string{text("21 degrees at noon."), ended("stop")}
		}
		return []string{text("Yes."), ended("stop")}
	})
	o := toolOptions(s.addr)
	o.Workload.ToolChoice = workload.ChoiceRequired
	o.Workload.Check = `\.` // applies to answers without calls only
	results, sum := converse(t.Context(), t, o, 2)
	var got []any
	for _, r := range results {
		got = append(got, r.Turn, r.Kind, r.Outcome, len(r.ToolCalls))
	}
	want := []any{1, probe.First, probe.Success, 2, 2, probe.Followup, probe.Success, 0, 3, probe.Followup, probe.ToolCallInvalid, 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("turns (-want +got):\n%s\nthe last: %s", diff, results[len(results)-1].Err)
	}
	if sum.Turns != 3 || sum.Shortened {
		t.Errorf("conversation %+v", sum)
	}
	requests := s.requests()
	history, _ := json.Marshal(requests[1].Messages)
	const wantHistory = `[{"role":"user","content":"Hello there.","tool_call_id":"","tool_calls":null},` +
		`{"role":"assistant","content":null,"tool_call_id":"","tool_calls":[` +
		`{"ID":"a","Function":{"Name":"get_weather","Arguments":"{\"city\": \"Oslo\"}"}},{"ID":"b","Function":{"Name":"get_time","Arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"celsius\": 21}","tool_call_id":"a","tool_calls":null},` +
		`{"role":"tool","content":"12:00","tool_call_id":"b","tool_calls":null}]`
	if diff := cmp.Diff(wantHistory, string(history)); diff != "" {
		t.Errorf("history of the turn after the call (-want +got):\n%s", diff)
	}
	for n, choice := range []any{"required", nil, "required"} {
		if r := requests[n]; r.ToolChoice != choice || len(r.Tools) != 2 {
			t.Errorf("request %d has the tool choice %v and %d tools, want %v and 2", n+1, r.ToolChoice, len(r.Tools), choice)
		}
	}
}

// TestCallsWithoutEnd checks that a model which always calls tools gets a limited number of turns.
func TestCallsWithoutEnd(t *testing.T) {
	s := serve(t, func(int, request) []string {
		return []string{begin(0, "a", "get_time", `{}`), ended("tool_calls")}
	})
	results, sum := converse(t.Context(), t, toolOptions(s.addr), 1)
	if len(results) != 9 || sum.Outcome != probe.Success {
		t.Errorf("%d turns, %+v; want the call and eight with results", len(results), sum)
	}
}

// TestResponseFormat checks answers against a JSON schema.
func TestResponseFormat(t *testing.T) {
	for name, tc := range map[string]struct {
		events []string
		want   probe.Outcome
		says   string
	}{
		"followed": {[]string{text(`{"city": "Os`), text(`lo"}`), ended("stop")}, probe.Success, ""},
		"fenced":   {[]string{text("```json\n"), text(`{"city": "Oslo"}`), text("\n```"), ended("stop")}, probe.SchemaMismatch, "the answer: invalid JSON"},
		"violated": {[]string{text(`{"city": 7}`), ended("stop")}, probe.SchemaMismatch, "at '/city': got number, want string"},
		"cut":      {[]string{text(`{"city": "Os`), ended("length")}, probe.Success, ""},
		"refused":  {[]string{delta(`"refusal":"I cannot say that."`), ended("stop")}, probe.Success, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(int, request) []string { return tc.events })
			o := options(s.addr)
			o.Workload.ResponseSchema = toolOptions("").Workload.Tools[0].Parameters
			if r := once(t, o); r.Outcome != tc.want || !strings.Contains(r.Err, tc.says) {
				t.Errorf("outcome %s (%s), want %s (%s)", r.Outcome, r.Err, tc.want, tc.says)
			}
			format, _ := json.Marshal(s.requests()[0].ResponseFormat)
			if want := `{"json_schema":{"name":"answer","schema":{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"},"strict":true},"type":"json_schema"}`; string(format) != want {
				t.Errorf("the request asks for %s, want %s", format, want)
			}
		})
	}
}
