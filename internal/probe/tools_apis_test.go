package probe_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/workload"
)

// TestToolsOfEveryAPI lets each API that supports tools call two of them, and checks the requests
// and the results.
func TestToolsOfEveryAPI(t *testing.T) {
	const schema = `{"properties":{"city":{"type":"string"}},"required":["city"],"type":"object"}`
	for name, tc := range map[dialect.Name]struct {
		calls, words  string // answers of the server
		asks, results string // parts of the requests
	}{
		"responses": {
			calls: `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"get_weather","arguments":""}}` + "\n\n" +
				`data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"city\":"}` + "\n\n" +
				`data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"\"Oslo\"}"}` + "\n\n" +
				`data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"b","name":"get_time","arguments":""}}` + "\n\n" +
				`data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}` + "\n\n" +
				`data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
			words: `data: {"type":"response.output_text.delta","delta":"Mild."}` + "\n\n" + `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
			asks:  `[{"type":"function","name":"get_weather","description":"The weather.","parameters":` + schema + `},{"type":"function","name":"get_time","parameters":{"type":"object"}}]"required"`,
			results: `{"call_id":"a","output":"{\"celsius\": 21}","type":"function_call_output"},` +
				`{"call_id":"b","output":"12:00","type":"function_call_output"}`,
		},
		"messages": {
			calls: `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"get_weather","input":{}}}` + "\n\n" +
				`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}` + "\n\n" +
				`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}}` + "\n\n" +
				`data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"get_time","input":{}}}` + "\n\n" +
				`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			words: `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Mild."}}` + "\n\n" +
				`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			asks: `[{"name":"get_weather","description":"The weather.","input_schema":` + schema + `},{"name":"get_time","input_schema":{"type":"object"}}]{"type":"any"}`,
			results: `{"content":[{"content":"{\"celsius\": 21}","tool_use_id":"a","type":"tool_result"},` +
				`{"content":"12:00","tool_use_id":"b","type":"tool_result"}],"role":"user"}`,
		},
	} {
		t.Run(string(name), func(t *testing.T) {
			server := newWeb(t, func(n int, _ http.Header) string { return []string{tc.calls, tc.words}[n] })
			o := toolOptions("")
			o.Target.BaseURL, o.Target.API = server.URL+"/v1", name
			o.Workload.ToolChoice = workload.ChoiceRequired
			results, sum := converse(t.Context(), t, o, 1)
			server.Close() // waits for its handlers
			if len(results) != 2 || sum.Outcome != probe.Success || len(results[0].ToolCalls) != 2 || results[0].FinishReason != "tool_calls" || results[1].Answer != "Mild." {
				t.Fatalf("%d turns, %+v, the last %+v", len(results), sum, results[len(results)-1])
			}
			var asked struct {
				Tools  json.RawMessage
				Choice json.RawMessage `json:"tool_choice"`
			}
			if err := json.Unmarshal(server.bodies[0], &asked); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.asks, string(asked.Tools)+string(asked.Choice)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if !strings.Contains(string(server.bodies[1]), tc.results) || strings.Contains(string(server.bodies[1]), "tool_choice") {
				t.Errorf("the second turn sends %s", string(server.bodies[1]))
			}
		})
	}
}
