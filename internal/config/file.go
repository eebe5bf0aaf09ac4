package config

import (
	"time"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// These structs are the keys of the YAML files. Package yamlform defines the tags; keys.txt describes
// the keys.

type file struct {
	Targets    []fileTarget   `yaml:"targets" min:"1" max:"5000" examples:"[{base_url: \"http://127.0.0.1:8000/v1\"}]"`
	Discovery  []fileGroup    `yaml:"discovery" min:"1" max:"100" examples:"[{name: chat, file_sd_configs: [{files: [\"targets/*.json\"]}]}]"`
	Workloads  []fileWorkload `yaml:"workloads" min:"1" max:"100" examples:"[{name: chat}]"`
	Traffic    []fileTraffic  `yaml:"traffic" min:"1" examples:"[{targets: [chat], workload: chat}]"`
	SLOs       []fileSLO      `yaml:"slos" max:"1000" examples:"[{sli: ttft, threshold: 1s, objective: 99%}]"`
	Changes    []fileChange   `yaml:"changes" min:"1" max:"1000" examples:"[{start: \"2026-12-01T10:00:00Z\", end: \"2026-12-01T11:30:00Z\", relearn: true}]"`
	Regression fleet.Policy   `yaml:"regression" examples:"{page_ratio: 1.5, page_for: 5m}"`
	Alerting   Alerting       `yaml:"alerting" examples:"{alertmanagers: [{url: \"http://alertmanager:9093\"}]}"`
	Tracing    Tracing        `yaml:"tracing" examples:"{url: \"http://collector:4318\"}"`
	Timezone   zone           `yaml:"timezone" examples:"Europe/Berlin"`
}

type fileTarget struct {
	Name    string  `yaml:"name" examples:"chat"`
	BaseURL address `yaml:"base_url" required:"true" examples:"http://127.0.0.1:8000/v1 | https://llm.example.com/v1"`
	fileAPI
	fileSettings
	ServerMetrics fileServer `yaml:"server_metrics" examples:"{urls: [\"http://127.0.0.1:8000/metrics\"]}"`
	Models        []string   `yaml:"models" min:"1" max:"1000" examples:"[llama-3-8b, qwen]"`
}

// fileSettings are the settings that targets and groups have in common.
type fileSettings struct {
	ServedAs   []string          `yaml:"served_as" min:"1" examples:"[azure/gpt-4o]"`
	Connection target.Connection `yaml:"connection" default:"per_conversation" enum:"reuse,per_conversation"`
	ExtraBody  freeBody          `yaml:"extra_body" secret:"true" examples:"{ignore_eos: true}"`
	CacheSalt  target.Salt       `yaml:"cache_salt" default:"none" enum:"none,job,conversation"`
	Service    string            `yaml:"service" examples:"chat"`
	Worker     string            `yaml:"worker" examples:"x-inference-pod"`
	Labels     map[string]string `yaml:"labels" examples:"{team: search, cluster: eu-1}"`
	Timezone   zone              `yaml:"timezone" examples:"America/Los_Angeles"`
	ProbeHours []weekly          `yaml:"probe_hours" min:"1" max:"100" examples:"[monday 07:00 13h, tuesday 07:00 13h]"`
}

// fileTemplate is a target without its address, which discovery provides.
type fileTemplate struct {
	fileAPI
	fileSettings
}

// fileGroup is a group of discovered or leased targets.
type fileGroup struct {
	Name         string           `yaml:"name" required:"true" examples:"chat"`
	Kubernetes   []map[string]any `yaml:"kubernetes_sd_configs" group:"source" secret:"true" min:"1" max:"100" examples:"[{role: pod, namespaces: {names: [llm]}}]"`
	File         []map[string]any `yaml:"file_sd_configs" group:"source" min:"1" max:"100" examples:"[{files: [\"targets/*.json\"]}]"`
	HTTP         []map[string]any `yaml:"http_sd_configs" group:"source" secret:"true" min:"1" max:"100" examples:"[{url: \"http://inventory/llm\"}]"`
	DNS          []map[string]any `yaml:"dns_sd_configs" group:"source" min:"1" max:"100" examples:"[{names: [vllm.llm.svc.cluster.local], type: A, port: 8000}]"`
	Lease        time.Duration    `yaml:"lease" group:"source" min:"10s" max:"1d" examples:"10m"`
	MinTargets   int              `yaml:"min_targets" default:"0" min:"0" max:"100000"`
	Relabel      []map[string]any `yaml:"relabel_configs" min:"1" max:"100" examples:"[{source_labels: [__meta_kubernetes_label_app], target_label: name}]"`
	AllowedHosts []string         `yaml:"allowed_hosts" min:"1" examples:"[\"*.svc\", 10.0.0.0/8]"`
	MaxTargets   int              `yaml:"max_targets" default:"100" min:"1" max:"100000"`
	Target       fileTemplate     `yaml:"target" examples:"{model: llama, labels: {team: search}}"`
}

// fileAPI is how an API is reached at its address.
type fileAPI struct {
	Model      string            `yaml:"model" examples:"llama"`
	APIKeyFile string            `yaml:"api_key_file" group:"key" secret:"true" examples:"/etc/synthetic/key"`
	APIKeyEnv  string            `yaml:"api_key_env" group:"key" secret:"true" examples:"LLM_API_KEY"`
	Headers    map[string]string `yaml:"headers" secret:"true" examples:"{x-tenant: probe}"`
	HTTPClient map[string]any    `yaml:"http_client" secret:"true" examples:"{tls_config: {ca_file: ca.pem}}"`
	API        dialect.Name      `yaml:"api" examples:"responses"`
	APIVersion string            `yaml:"api_version" examples:"\"2024-10-21\""`
	Session    fileSession       `yaml:"session" examples:"{header: X-Dynamo-Session-ID}"`
}

type fileSession struct {
	Header string   `yaml:"header" default:"X-Session-ID" examples:"none | X-Dynamo-Session-ID"`
	Echo   []string `yaml:"echo" min:"1" max:"8" examples:"[X-Session-Token]"`
}

type fileWorkload struct {
	workload.Spec
	Turns     fileTurns      `yaml:"turns" examples:"{min: 3, max: 5}"`
	Followups fileFollowups  `yaml:"followups" examples:"{tokens: 60}"`
	ThinkTime fileThink      `yaml:"think_time" examples:"{min: 0s, max: 2s}"`
	Cancel    yamlform.Share `yaml:"cancel" examples:"5%"`
	Check     pattern        `yaml:"check" examples:"(?i)paris"`
	Recall    yamlform.Share `yaml:"recall" examples:"99%"`
}

type fileTurns struct {
	Min int `yaml:"min" default:"3" min:"1" max:"1000"`
	Max int `yaml:"max" default:"5" min:"1" max:"1000"`
}

type fileThink struct {
	Min time.Duration `yaml:"min" default:"0s"`
	Max time.Duration `yaml:"max" default:"2s"`
}

type fileFollowups struct {
	Tokens int      `yaml:"tokens" group:"source" default:"60" min:"1" max:"1000000"`
	Script []string `yaml:"script" group:"source" min:"1" examples:"[\"Why is that?\", \"Give an example.\"]"`
}

type fileTraffic struct {
	Targets        yamlform.Selection `yaml:"targets" default:"*" examples:"[chat]"`
	Workload       string             `yaml:"workload" examples:"chat"`
	Arrival        workload.Arrival   `yaml:"arrival" examples:"{process: poisson, rate: 0.2}"`
	BurstRate      float64            `yaml:"burst_rate" default:"0.2" min:"0" max:"10000"`
	MaxConcurrency int                `yaml:"max_concurrency" default:"32" min:"0" max:"100000"`
	TokenBudget    tokenBudget        `yaml:"token_budget" examples:"5000000/1d"`
}

type fileSLO struct {
	fileObjective
	Window    time.Duration      `yaml:"window" default:"30d" min:"1h"`
	Targets   yamlform.Selection `yaml:"targets" default:"*" examples:"[chat]"`
	Workloads yamlform.Selection `yaml:"workloads" default:"*" examples:"[chat]"`
}

// fileObjective holds the keys that SLOs have in both files.
type fileObjective struct {
	Name      string           `yaml:"name" examples:"ttft"`
	SLI       slo.SLI          `yaml:"sli" required:"true" enum:"ttft,answer_ttft,tpot,itl,turn_duration,availability,correct"`
	Threshold fileThreshold    `yaml:"threshold" examples:"1s"`
	Objective yamlform.Share   `yaml:"objective" required:"true" examples:"99% | 0.995"`
	Turns     []probe.TurnKind `yaml:"turns" min:"1" enum:"first,followup" examples:"[first]"`
	When      fileWhen         `yaml:"when" examples:"{uncached_tokens: \"<4k\"}"`
}

type fileThreshold struct {
	Base        time.Duration `yaml:"base" short:"true" required:"true" min:"1ms" examples:"300ms"`
	PerThousand time.Duration `yaml:"per_1k_uncached_tokens" required:"true" min:"1ms" max:"1h" examples:"60ms"`
}

type fileWhen struct {
	Uncached tokenClass `yaml:"uncached_tokens" required:"true" examples:"\"<4k\" | 4k-32k | \">=32k\""`
}

type fileServer struct {
	URLs []webURL `yaml:"urls" min:"1" examples:"[\"http://127.0.0.1:8000/metrics\"]"`
}

type fileChange struct {
	Targets yamlform.Selection `yaml:"targets" default:"*" examples:"[chat]"`
	Start   moment             `yaml:"start" examples:"2026-12-01T10:00:00Z"`
	End     moment             `yaml:"end" examples:"2026-12-01T11:30:00Z"`
	Relearn bool               `yaml:"relearn" default:"false"`
	Weekly  weekly             `yaml:"weekly" examples:"sunday 02:00 2h"`
}

// filePlan is a plan file.
type filePlan struct {
	Variants []fileVariant `yaml:"variants" required:"true" min:"1" examples:"[{name: chat, base_url: \"http://127.0.0.1:8000/v1\"}]"`
	Workload fileWorkload  `yaml:"workload" examples:"{prompt_tokens: 3750, max_output_tokens: 1024}"`
	Levels   fileLevels    `yaml:"levels" required:"true" examples:"{concurrency: [10, 20, 30]}"`
	fleet.Plan
	Order      string            `yaml:"order" default:"interleaved" enum:"interleaved,blocks"`
	SLOs       []fileObjective   `yaml:"slos" examples:"[{sli: ttft, threshold: 1s, objective: 99%}]"`
	Deployment map[string]string `yaml:"deployment" examples:"{GPU: 1x H200}"`
}

type fileVariant struct {
	Name    string      `yaml:"name" examples:"kv_aware"`
	BaseURL planAddress `yaml:"base_url" required:"true" examples:"http://127.0.0.1:8000/v1 | preset:phase0"`
	fileAPI
	Connection  target.Connection `yaml:"connection" default:"per_conversation" enum:"reuse,per_conversation"`
	ExtraBody   freeBody          `yaml:"extra_body" secret:"true" examples:"{ignore_eos: true}"`
	MetricsURLs []webURL          `yaml:"metrics_urls" examples:"[\"http://127.0.0.1:8000/metrics\"]"`
	Switch      []string          `yaml:"switch" min:"1" examples:"[./deploy, eagle3]"`
	Deployment  map[string]string `yaml:"deployment" examples:"{max-num-seqs: \"64\"}"`
}

type fileLevels struct {
	Concurrency    []int            `yaml:"concurrency" group:"kind" min:"1" examples:"[50, 60, 70]"`
	Rate           []float64        `yaml:"rate" group:"kind" min:"1" examples:"[0.5, 1, 2]"`
	StartRate      float64          `yaml:"start_rate" default:"10" min:"0" max:"100000"`
	Process        workload.Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma"`
	Burstiness     float64          `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	MaxConcurrency int              `yaml:"max_concurrency" default:"0" min:"0" max:"1000000"`
}
