package config

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/sweep"
	"synthetic/internal/yamlform"
)

// filePlan is the shape of a plan file; file.go explains the tags.
type filePlan struct {
	Title        string            `yaml:"title" examples:"KV cache routing vs round-robin"`
	Seed         uint64            `yaml:"seed" default:"1"`
	Variants     []fileVariant     `yaml:"variants" required:"true" min:"1" examples:"[{name: chat, base_url: \"http://127.0.0.1:8000/v1\"}]"`
	Workload     fileWorkload      `yaml:"workload" examples:"{prompt_tokens: 3750, max_output_tokens: 1024}"`
	Levels       fileLevels        `yaml:"levels" required:"true" examples:"{concurrency: [10, 20, 30]}"`
	WarmUp       fileWarmUp        `yaml:"warm_up" examples:"{duration: 60s}"`
	Measure      fileMeasure       `yaml:"measure" examples:"{snapshots: 3, snapshot: 100s}"`
	Repetitions  int               `yaml:"repetitions" default:"1" min:"1" max:"1000"`
	Order        string            `yaml:"order" default:"interleaved" enum:"interleaved,blocks"`
	Pause        time.Duration     `yaml:"pause" default:"0s" max:"1d"`
	Cache        fileCache         `yaml:"cache" examples:"{policy: bust}"`
	ReadyTimeout time.Duration     `yaml:"ready_timeout" default:"10m" min:"1s" max:"1d"`
	Confidence   yamlform.Share    `yaml:"confidence" default:"95%"`
	EarlyStop    bool              `yaml:"early_stop" default:"false"`
	SLOs         []filePlanSLO     `yaml:"slos" examples:"[{sli: ttft, threshold: 1s, objective: 99%}]"`
	Deployment   map[string]string `yaml:"deployment" examples:"{GPU: 1x H200}"`
}

type fileVariant struct {
	Name    string      `yaml:"name" examples:"kv_aware"`
	BaseURL planAddress `yaml:"base_url" required:"true" examples:"http://127.0.0.1:8000/v1 | preset:phase0"`
	fileEndpoint
	Connection  target.Connection `yaml:"connection" default:"per_conversation" enum:"reuse,per_conversation"`
	ExtraBody   freeBody          `yaml:"extra_body" secret:"true" examples:"{ignore_eos: true}"`
	MetricsURLs []string          `yaml:"metrics_urls" examples:"[\"http://127.0.0.1:8000/metrics\"]"`
	Switch      fileSwitch        `yaml:"switch" examples:"{command: [./deploy, eagle3], timeout: 15m}"`
	Deployment  map[string]string `yaml:"deployment" examples:"{max-num-seqs: \"64\"}"`
}

type fileSwitch struct {
	Command []string      `yaml:"command" min:"1" examples:"[./deploy, eagle3]"`
	Timeout time.Duration `yaml:"timeout" default:"10m" min:"1s" max:"1d"`
}

type fileLevels struct {
	Concurrency    []int            `yaml:"concurrency" group:"kind" min:"1" examples:"[50, 60, 70]"`
	Rate           []float64        `yaml:"rate" group:"kind" min:"1" examples:"[0.5, 1, 2]"`
	StartRate      float64          `yaml:"start_rate" default:"10" min:"0" max:"100000"`
	Process        workload.Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma"`
	Burstiness     float64          `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	MaxConcurrency int              `yaml:"max_concurrency" default:"0" min:"0" max:"1000000"`
}

type fileWarmUp struct {
	Duration      time.Duration `yaml:"duration" group:"kind" examples:"60s" max:"1d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"1000000" examples:"10"`
	Rate          float64       `yaml:"rate" default:"0.5" above:"0" max:"10000"`
	Cooldown      time.Duration `yaml:"cooldown" default:"0s" max:"1d"`
}

type fileMeasure struct {
	Snapshots     int           `yaml:"snapshots" examples:"3" min:"1" max:"1000"`
	Snapshot      time.Duration `yaml:"snapshot" group:"kind" examples:"100s" min:"1s" max:"7d"`
	Conversations int           `yaml:"conversations" group:"kind" min:"1" max:"10000000" examples:"300"`
}

type fileCache struct {
	Policy        sweep.CachePolicy `yaml:"policy" default:"keep" enum:"keep,bust,prime"`
	Conversations int               `yaml:"conversations" default:"10" min:"1" max:"1000000"`
}

type filePlanSLO struct {
	Name      string           `yaml:"name" examples:"ttft"`
	SLI       slo.SLI          `yaml:"sli" required:"true" enum:"ttft,answer_ttft,tpot,itl,turn_duration,availability"`
	Threshold time.Duration    `yaml:"threshold" min:"1ms" examples:"1s"`
	Objective yamlform.Share   `yaml:"objective" required:"true" examples:"99% | 0.995"`
	Turns     []probe.TurnKind `yaml:"turns" min:"1" enum:"first,followup" examples:"[first]"`
}
