package serverside

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
)

// following reads pages as the watcher does, one reading every 10 s. Each reading has a text for
// every page; "" for a page that cannot be read.
func following(t *testing.T, readings ...[]string) State {
	t.Helper()
	previous := map[string]Sample{}
	var s State
	for i, texts := range readings {
		var read []change
		for n, text := range texts {
			if text != "" {
				name := string(rune('a' + n))
				sample := page(t, 10*i, text)
				sample.markProgress(previous[name])
				read = append(read, change{previous[name], sample})
				previous[name] = sample
			}
		}
		s = newChanges(read, previous).state()
	}
	return s
}

func known(v float64) probe.Opt[float64] { return probe.Some(v) }

func seconds(n int) probe.Opt[time.Duration] { return probe.Some(time.Duration(n) * time.Second) }

// TestStateOfEngines reads an excerpt of each engine's page. vLLM's is from version 0.32 with twelve
// running requests, the others follow the sources and documentation of the projects. The counters
// of a first reading are known, and not counted.
func TestStateOfEngines(t *testing.T) {
	for name, tt := range map[string]struct {
		pages []string
		want  State
	}{
		"vLLM": {[]string{"vllm"}, State{
			Running: known(12), Waiting: known(0), KVUse: known(0.0016480498077274808), TokenAge: seconds(0),
			Preemptions: known(0),
		}},
		"SGLang, two data-parallel ranks": {[]string{"sglang"}, State{
			Running: known(15), Waiting: known(21), KVUse: known(0.98), TokenAge: seconds(0),
			Preemptions: known(0),
		}},
		"TensorRT-LLM, which counts tokens when a request ends": {[]string{"trtllm"}, State{
			Running: known(16), Waiting: known(5), KVUse: known(0.75),
		}},
		"llama.cpp": {[]string{"llamacpp"}, State{
			Running: known(4), Waiting: known(46), TokenAge: seconds(0),
		}},
		"Dynamo's frontend": {[]string{"dynamo-frontend"}, State{
			Running: known(9), Waiting: known(2), TokenAge: seconds(0),
		}},
		"Dynamo's worker": {[]string{"dynamo-worker"}, State{
			Running: known(6), Waiting: known(1), KVUse: known(0.41), TokenAge: seconds(0),
		}},
		"Dynamo's frontend and worker: the router's queue is added, the rest is the worker's": {
			[]string{"dynamo-frontend", "dynamo-worker"}, State{
				Running: known(6), Waiting: known(3), KVUse: known(0.41), TokenAge: seconds(0),
			},
		},
		"llm-d's router": {[]string{"llm-d-router"}, State{
			Running: known(11), Waiting: known(12), KVUse: known(0.3),
		}},
		"llm-d's router under the older names": {[]string{"gateway-api"}, State{
			Running: known(12), Waiting: known(8), KVUse: known(0.6),
		}},
		"llm-d's router and an engine": {[]string{"llm-d-router", "vllm"}, State{
			Running: known(12), Waiting: known(5), KVUse: known(0.0016480498077274808), TokenAge: seconds(0),
			Preemptions: known(0),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, p := range tt.pages {
				text, err := os.ReadFile(filepath.Join("testdata", "pages", p+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(text))
			}
			if diff := cmp.Diff(tt.want, following(t, texts)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStateGrowth(t *testing.T) {
	for name, tt := range map[string]struct {
		readings [][]string
		want     State
	}{
		"counters grow": {
			[][]string{{"vllm:num_preemptions_total 3\n"}, {"vllm:num_preemptions_total 100\n"}},
			State{Preemptions: known(97)},
		},
		"the server begins anew": {
			[][]string{{"vllm:num_preemptions_total 100\n"}, {"vllm:num_preemptions_total 7\n"}},
			State{Preemptions: known(0)},
		},
		"the server goes on after it began anew": {
			[][]string{{"vllm:num_preemptions_total 100\n"}, {"vllm:num_preemptions_total 7\n"}, {"vllm:num_preemptions_total 9\n"}},
			State{Preemptions: known(2)},
		},
		"a page is read again": {
			[][]string{{"vllm:num_preemptions_total 1\n"}, {""}, {"vllm:num_preemptions_total 5\n"}},
			State{Preemptions: known(4)},
		},
		"several pages, of which one begins anew": {
			[][]string{{"vllm:num_preemptions_total 1\n", "vllm:num_preemptions_total 50\n"}, {"vllm:num_preemptions_total 5\n", "vllm:num_preemptions_total 2\n"}},
			State{Preemptions: known(4)},
		},
		"a family that is missing": {
			[][]string{{"vllm:num_preemptions_total 1\n"}, {"up 1\n"}}, State{},
		},
		"no numbers": {
			[][]string{{"vllm:num_preemptions_total NaN\n"}, {"vllm:num_preemptions_total +Inf\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running NaN\n"}}, State{},
		},
		"no page": {[][]string{{""}}, State{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, following(t, tt.readings...), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}

// busyEngines is a page of two engines of vLLM: the requests that run, and the tokens so far.
func busyEngines(running0, tokens0, running1, tokens1 string) string {
	return "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} " + running0 + "\nvllm:num_requests_running{engine=\"1\"} " + running1 +
		"\nvllm:generation_tokens_total{engine=\"0\"} " + tokens0 + "\nvllm:generation_tokens_total{engine=\"1\"} " + tokens1 + "\n"
}

func TestTokenAge(t *testing.T) {
	for name, tt := range map[string]struct {
		readings [][]string
		want     probe.Opt[time.Duration]
	}{
		"tokens flow":                      {[][]string{{busyEngines("1", "10", "1", "10")}, {busyEngines("1", "20", "1", "20")}}, seconds(0)},
		"a frozen page, since the first":   {[][]string{{busyEngines("1", "10", "1", "10")}, {busyEngines("1", "10", "1", "10")}, {busyEngines("1", "10", "1", "10")}}, seconds(20)},
		"one engine of two is stuck":       {[][]string{{busyEngines("1", "10", "1", "10")}, {busyEngines("1", "10", "1", "20")}, {busyEngines("1", "10", "1", "30")}}, seconds(20)},
		"one engine is idle, the other on": {[][]string{{busyEngines("0", "10", "1", "10")}, {busyEngines("0", "10", "1", "20")}}, seconds(0)},
		"all idle, for different times":    {[][]string{{busyEngines("0", "1", "0", "1")}, {busyEngines("0", "1", "0", "2")}, {busyEngines("0", "1", "0", "2")}}, seconds(10)},
		"a request after a long idle time": {[][]string{{busyEngines("0", "10", "0", "10")}, {busyEngines("0", "10", "0", "10")}, {busyEngines("1", "10", "0", "10")}}, seconds(0)},
		"stuck since a request came":       {[][]string{{busyEngines("0", "10", "0", "10")}, {busyEngines("0", "10", "0", "10")}, {busyEngines("1", "10", "0", "10")}, {busyEngines("1", "10", "0", "10")}}, seconds(10)},
		"tokens flow again":                {[][]string{{busyEngines("1", "10", "1", "10")}, {busyEngines("1", "10", "1", "10")}, {busyEngines("1", "11", "1", "11")}}, seconds(0)},
		"the server began anew":            {[][]string{{busyEngines("1", "10", "1", "10")}, {busyEngines("1", "10", "1", "10")}, {busyEngines("1", "0", "1", "0")}}, seconds(0)},
		"the page was missing in between":  {[][]string{{busyEngines("1", "10", "1", "10")}, {""}, {busyEngines("1", "10", "1", "10")}}, seconds(20)},
		"the worker of two that is stuck": {[][]string{
			{busyEngines("1", "10", "1", "10"), gaugeText("sglang:num_running_reqs", "3") + "sglang:realtime_tokens_total{mode=\"decode\"} 5\n"},
			{busyEngines("1", "20", "1", "20"), gaugeText("sglang:num_running_reqs", "3") + "sglang:realtime_tokens_total{mode=\"decode\"} 5\n"},
		}, seconds(10)},
		"an engine that counts when requests end": {[][]string{{"trtllm_num_requests_running 1\ntrtllm_generation_tokens_total 1\n"}, {"trtllm_num_requests_running 1\ntrtllm_generation_tokens_total 1\n"}}, probe.Opt[time.Duration]{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := following(t, tt.readings...).TokenAge; got != tt.want {
				t.Errorf("token age %v, want %v", got, tt.want)
			}
		})
	}
}

// TestViewsAreNotAdded reads gauges and counters whose series are parts of a sum, or show the same engine again.
func TestViewsAreNotAdded(t *testing.T) {
	of := func(metric string, series ...string) string {
		text := "# TYPE " + metric + " gauge\n"
		for _, s := range series {
			text += metric + s + "\n"
		}
		return text
	}
	const running, usage = "sglang:num_running_reqs", "sglang:token_usage"
	for name, tt := range map[string]struct {
		page string
		want State
	}{
		"tensor-parallel ranks":      {of(running, `{tp_rank="0"} 7`, `{tp_rank="1"} 7`, `{tp_rank="2"} 6`), State{Running: known(7)}},
		"pipeline and tensor ranks":  {of(running, `{tp_rank="0",pp_rank="0"} 7`, `{tp_rank="1",pp_rank="0"} 7`, `{tp_rank="0",pp_rank="1"} 7`), State{Running: known(7)}},
		"data-parallel ranks":        {of(running, `{dp_rank="0"} 7`, `{dp_rank="1"} 5`), State{Running: known(12)}},
		"data-parallel attention":    {of(running, `{dp_rank="0",tp_rank="0"} 7`, `{dp_rank="0",tp_rank="1"} 7`, `{dp_rank="1",tp_rank="2"} 5`, `{dp_rank="1",tp_rank="3"} 5`), State{Running: known(12)}},
		"engines of vLLM":            {of("vllm:num_requests_running", `{engine="0"} 7`, `{engine="1"} 5`), State{Running: known(12)}},
		"models":                     {of(running, `{model_name="a"} 7`, `{model_name="b"} 5`), State{Running: known(12)}},
		"priorities with a total":    {of(running, `{tp_rank="0",priority=""} 10`, `{tp_rank="0",priority="0"} 7`, `{tp_rank="0",priority="5"} 3`), State{Running: known(10)}},
		"a model of this name":       {of(running, `{model_name="high priority m",priority=""} 10`, `{model_name="high priority m",priority="0"} 7`, `{model_name="high priority n"} 2`), State{Running: known(12)}},
		"the total is last":          {of(running, `{priority="0"} 7`, `{priority="5"} 3`, `{priority=""} 10`), State{Running: known(10)}},
		"a total without the label":  {of(running, `{tp_rank="0"} 10`, `{tp_rank="0",priority="0"} 7`), State{Running: known(10)}},
		"totals of two engines":      {of(running, `{dp_rank="0",priority=""} 10`, `{dp_rank="0",priority="1"} 10`, `{dp_rank="1",priority=""} 4`, `{dp_rank="1",priority="1"} 4`), State{Running: known(14)}},
		"priorities without a total": {of("llm_d_epp_flow_control_queue_size", `{priority="0"} 7`, `{priority="5"} 3`), State{Waiting: known(10)}},
		"a use of 1.0003":            {of(usage, `{tp_rank="0"} 1.0003`), State{KVUse: known(1)}},
		"a use in per cent":          {of(usage, ` 87`), State{KVUse: known(0.87)}},
		"a line that is no series":   {of(running, ` 3`) + "a.dotted.name 5\n" + of("sglang:num_queue_reqs", ` 2`), State{Running: known(3), Waiting: known(2)}},
	} {
		if diff := cmp.Diff(tt.want, following(t, []string{tt.page})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
