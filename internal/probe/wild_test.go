package probe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
)

// gap is the time between two events of the servers below. A noisy machine makes it longer, never shorter.
const gap = 10 * time.Millisecond

// wild is an answer as public reports of engines, gateways and libraries describe it.
type wild struct {
	api    dialect.Name
	report string
	// head are the headers; "" for those of an event stream. events come gap after gap.
	head   string
	events []string

	want   probe.Outcome
	says   string // a part of the error
	finish string
	// prompt, output, cached and reasoning are -1 if unknown.
	prompt, output, cached, reasoning int
	// answerAt is the event with the first token that is no reasoning, tokenAt that with the first token; 0 for none.
	tokenAt, answerAt int
	// tpot is whether TPOT is known: then it is gap, or a part of it if events have several tokens.
	tpot bool
}

func wildChunk(delta, finish string) string {
	if finish != "null" && !strings.HasPrefix(finish, "{") {
		finish = `"` + finish + `"`
	}
	return `data: {"choices":[{"index":0,"delta":{` + delta + `},"finish_reason":` + finish + "}]}\n\n"
}

func used(counts string) string { return `data: {"choices":[],"usage":{` + counts + "}}\n\n" }

// repeated repeats an event.
func repeated(n int, event string) (all []string) {
	for range n {
		all = append(all, event)
	}
	return all
}

func flat(lists ...[]string) (all []string) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func wilds() map[string]wild {
	word, role := wildChunk(`"content":" tok"`, "null"), wildChunk(`"role":"assistant","content":""`, "null")
	one := func(events ...string) []string { return events }
	words := func(n int) []string { return append(one(role), repeated(n, word)...) }
	stop := wildChunk("", "stop")
	thinkingBlock := func(usage string, delta string) []string {
		return flat(one("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{"+usage+"}}}\n\n"),
			repeated(3, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\" hm\"}}\n\n"),
			one("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"RXE=\"}}\n\n"),
			repeated(10, "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\" tok\"}}\n\n"),
			one("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"+delta+"}}\n\n", "data: {\"type\":\"message_stop\"}\n\n"))
	}
	html := "<!doctype html>\n<html><head><title>Blocked by the gateway</title></head></html>\n"
	return map[string]wild{
		"an abort": {report: "vllm-project/vllm#57082", events: flat(words(5), one(wildChunk("", "abort"), used(`"prompt_tokens":100,"completion_tokens":5`), done)),
			want: probe.Aborted, says: `"abort"`, finish: "aborted", prompt: 100, output: 5, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"the end of the context": {report: "mozilla-ai/any-llm#1200", events: flat(words(5), one(wildChunk("", "model_context_window_exceeded"), done)),
			want: probe.Success, finish: "length", prompt: -1, output: 5, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"the word null": {report: "dashscope/dashscope-sdk-python#6", events: flat(repeated(5, wildChunk(`"content":" tok"`, "null ")), one(done)),
			want: probe.Success, finish: "null ", prompt: -1, output: 5, cached: -1, reasoning: -1, answerAt: 0, tpot: true},
		"the word null alone": {report: "dashscope/dashscope-sdk-python#6", events: flat(repeated(5, strings.Replace(word, `"finish_reason":null`, `"finish_reason":"null"`, 1)), one(done)),
			want: probe.Truncated, says: "without a finish reason", prompt: -1, output: 5, cached: -1, reasoning: -1, tpot: true},
		"a reason as an object": {report: "sgl-project/sglang, meta_info.finish_reason", events: flat(words(5), one(wildChunk("", `{"type": "stop", "matched": 151645}`), done)),
			want: probe.Success, finish: "stop", prompt: -1, output: 5, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"an abort as an object": {report: "sgl-project/sglang, meta_info.finish_reason", events: flat(words(5), one(wildChunk("", `{"type": "abort", "message": "gone", "status_code": 503}`), done)),
			want: probe.Aborted, finish: "aborted", prompt: -1, output: 5, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"an error in a comment": {report: "ai-dynamo/dynamo#8674", events: one("event: error\n: Exception: failed to load the image\n\n"),
			want: probe.ErrorEvent, says: "failed to load the image", prompt: -1, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"a page": {report: "QwenLM/qwen-code#6465", head: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", len(html)), events: one(html),
			want: probe.Malformed, says: `an HTML page with the title "Blocked by the gateway"`, prompt: -1, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"parts": {report: "BerriAI/litellm#16272", events: flat(one(role), repeated(5, wildChunk(`"content":[{"type":"thinking","thinking":[{"type":"text","text":" hm"}]}]`, "null")), repeated(5, wildChunk(`"content":[{"type":"text","text":" tok"}]`, "null")),
			one(stop, used(`"prompt_tokens":100,"completion_tokens":10`), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 10, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 6, tpot: true},
		"reasoning details": {report: "theopenco/llmgateway#1860", events: flat(one(role), repeated(5, wildChunk(`"reasoning_details":[{"type":"reasoning.text","index":0,"text":" hm"}]`, "null")), repeated(5, word),
			one(stop, used(`"prompt_tokens":100,"completion_tokens":10`), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 10, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 6, tpot: true},
		"hidden reasoning": {report: "awslabs/llmeter#99", events: flat(words(20), one(stop, used(`"prompt_tokens":100,"completion_tokens":320,"total_tokens":420,"completion_tokens_details":{"reasoning_tokens":300}`), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 320, cached: -1, reasoning: 300, tokenAt: 1, answerAt: 1, tpot: true},
		"summarised thinking": {api: "messages", report: "awslabs/llmeter#99", events: thinkingBlock(`"input_tokens":100,"output_tokens":1`, `"output_tokens":410`),
			want: probe.Success, finish: "stop", prompt: 100, output: 410, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 5},
		"an input of 0 at the end": {api: "messages", report: "envoyproxy/ai-gateway#1631", events: thinkingBlock(`"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":1`, `"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":13`),
			want: probe.Success, finish: "stop", prompt: 100, output: 13, cached: 40, reasoning: -1, tokenAt: 1, answerAt: 5, tpot: true},
		"DeepSeek's cache": {report: "langchain-ai/langchain#39637", events: flat(words(10), one(stop, used(`"prompt_tokens":100,"completion_tokens":10,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36`), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 10, cached: 64, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"a usage of 0 at the end": {report: "BerriAI/litellm#8349", events: flat(one(role),
			one(strings.Replace(word, "}]}", `}],"usage":{"prompt_tokens":100,"completion_tokens":4}}`, 1), strings.Replace(word, "}]}", `}],"usage":{"prompt_tokens":100,"completion_tokens":8}}`, 1)),
			one(stop, used(`"prompt_tokens":0,"completion_tokens":0`), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 8, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"a refusal after reasoning": {report: "openai/openai-python, delta.refusal", events: flat(one(role, wildChunk(`"reasoning":"Hm."`, "null"), wildChunk(`"refusal":"No."`, "null"), stop, done)),
			want: probe.Success, finish: "stop", prompt: -1, output: 2, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 2},
		"a call after reasoning": {report: "vllm-project/vllm, streamed tool calls", events: flat(one(role, wildChunk(`"reasoning":"Hm."`, "null"), wildChunk(`"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`, "null"), wildChunk("", "tool_calls"), done)),
			want: probe.Success, finish: "tool_calls", prompt: -1, output: 2, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 2},
		"text in chat": {report: "kserve, legacy text in a chat stream", events: flat(repeated(4, `data: {"choices":[{"index":0,"text":" tok","finish_reason":null}]}`+"\n\n"), one(stop, done)),
			want: probe.Success, finish: "stop", prompt: -1, output: 4, cached: -1, reasoning: -1, tpot: true},
		"a list of errors": {report: "googleapis/python-genai, a list in a stream of status 200", events: one(`data: [{"error":{"code":503,"message":"The model is overloaded."}}]` + "\n\n"),
			want: probe.ErrorEvent, says: "The model is overloaded.", prompt: -1, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"an error in a choice": {report: "OpenRouter, errors in the middle of a stream", events: flat(words(2), one(`data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Provider disconnected"}}]}`+"\n\n", done)),
			want: probe.ErrorEvent, says: "Provider disconnected", finish: "", prompt: -1, output: 2, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"overloaded after words": {api: "messages", report: "farzaa/clicky#132", events: one("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Partial\"}}\n\n", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"),
			want: probe.ErrorEvent, says: "Overloaded", prompt: 9, output: 1, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1},
		"a bare error in the stream": {report: "stacklok/toolhive#6085", events: flat(words(3), one(`{"error":{"code":-32603,"message":"filtering failed"}}`+"\n")),
			want: probe.ErrorEvent, says: "filtering failed", prompt: -1, output: 3, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"empty reasons before the last": {report: "ollama/ollama#4357", events: flat(repeated(4, wildChunk(`"content":" tok"`, "")), one(done)),
			want: probe.Truncated, says: "without a finish reason", prompt: -1, output: 4, cached: -1, reasoning: -1, tpot: true},
		"an unexpected call": {report: "agentjido/req_llm#935", events: flat(words(4), one(wildChunk("", "UNEXPECTED_TOOL_CALL"), done)),
			want: probe.Aborted, says: "UNEXPECTED_TOOL_CALL", finish: "aborted", prompt: -1, output: 4, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"an empty answer that stops": {report: "Wei-Shaw/sub2api#7081", events: one(role, stop, used(`"prompt_tokens":100,"completion_tokens":0`), done),
			want: probe.Empty, finish: "stop", prompt: 100, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"an error amid a call": {report: "experientiallabs/experiential#758", events: flat(one(role), repeated(3, wildChunk(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{"}}]`, "null")),
			one(`data: {"error":{"message":"provider returned a malformed response; retry the request","type":"api_error","param":null,"code":"all_routes_failed"}}`+"\n\n")),
			want: probe.ErrorEvent, says: "provider returned a malformed response", prompt: -1, output: 3, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1},
		"a prompt of 0 tokens": {report: "tenstorrent/tt-inference-server#2981", events: flat(words(19), one(stop, used(`"completion_tokens":19,"prompt_tokens":0,"sessionId":"059a","total_tokens":19,"tps":374.5,"ttft_ms":6.4`), done)),
			want: probe.Success, finish: "stop", prompt: -1, output: 19, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"zeros until the last": {report: "router-for-me/CLIProxyAPI#3077", events: flat(one(role), repeated(6, strings.Replace(word, "}]}", `}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, 1)),
			one(strings.Replace(stop, "}]}", `}],"usage":{"prompt_tokens":100,"completion_tokens":6}}`, 1), done)),
			want: probe.Success, finish: "stop", prompt: 100, output: 6, cached: -1, reasoning: -1, tokenAt: 1, answerAt: 1, tpot: true},
		"a message that is no error": {report: "baidubce/bce-qianfan-sdk, error_code and error_msg in a stream", events: one(`data: {"error_code":336501,"error_msg":"rate limit of tokens","id":"as-1"}` + "\n\n"),
			want: probe.Truncated, says: "its last event says: rate limit of tokens", prompt: -1, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"an error in the delta": {report: "gateways that put their error into a chunk", events: one(role, wildChunk(`"content":"","error":{"message":"upstream timed out"}`, "null"), stop, done),
			want: probe.ErrorEvent, says: "upstream timed out", prompt: -1, output: -1, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
		"tokens without text": {report: "special tokens that a server strips", events: one(role, stop, used(`"prompt_tokens":100,"completion_tokens":7`), done),
			want: probe.Empty, says: "although the usage has 7 output tokens", finish: "stop", prompt: 100, output: 7, cached: -1, reasoning: -1, tokenAt: -1, answerAt: -1},
	}
}

// TestAnswersOfTheWild plays the answers over TCP, and compares what the turn says with what they are.
func TestAnswersOfTheWild(t *testing.T) {
	for name, w := range wilds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := closeHead
			if w.head != "" {
				head = w.head
			}
			steps := []step{{0, head}}
			for _, e := range w.events {
				steps = append(steps, step{gap, e})
			}
			s := play(t, &scripted{steps: steps})
			o := options(s.addr)
			o.Target.API = w.api
			r := once(t, o)
			if r.Outcome != w.want || !strings.Contains(r.Err, w.says) || r.FinishReason != w.finish {
				t.Errorf("%s: %s %q, finish reason %q; want %s %q, %q", w.report, r.Outcome, r.Err, r.FinishReason, w.want, w.says, w.finish)
			}
			for _, c := range []struct {
				name string
				got  probe.Opt[int]
				want int
			}{{"prompt", r.PromptTokens, w.prompt}, {"output", r.OutputTokens, w.output}, {"cached", r.CachedTokens, w.cached}, {"reasoning", r.ReasoningTokens, w.reasoning}} {
				if c.got.OK != (c.want >= 0) || c.got.OK && c.got.V != c.want {
					t.Errorf("%s: %s tokens %+v, want %d", w.report, c.name, c.got, c.want)
				}
			}
			for _, c := range []struct {
				name string
				got  probe.Opt[time.Duration]
				at   int
			}{{"TTFT", r.TTFT, w.tokenAt}, {"answer TTFT", r.AnswerTTFT, w.answerAt}} {
				// Each event comes at least a gap after the one before.
				if c.got.OK != (c.at >= 0) || c.got.OK && c.got.V < time.Duration(c.at+1)*gap*9/10 {
					t.Errorf("%s: %s %+v, want that of event %d", w.report, c.name, c.got, c.at)
				}
			}
			if r.AnswerTTFT.OK && (r.AnswerTTFT.V > r.TTFT.V) != (w.answerAt > w.tokenAt) {
				t.Errorf("%s: TTFT %v, answer TTFT %v", w.report, r.TTFT.V, r.AnswerTTFT.V)
			}
			perToken := gap * 9 / 10
			if name == "a usage of 0 at the end" {
				perToken /= 4 // four tokens an event
			}
			if r.TPOT.OK != w.tpot && r.TTFT.OK || r.TPOT.OK && r.TPOT.V < perToken {
				t.Errorf("%s: TPOT %+v (%s), want known: %v", w.report, r.TPOT, r.TPOTUnknown, w.tpot)
			}
		})
	}
}
