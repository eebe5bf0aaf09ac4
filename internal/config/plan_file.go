package config

// filePlan is the shape of a plan file; file.go explains the tags.
type filePlan struct {
	Title        string            `yaml:"title" absent:"the name of the file" examples:"KV cache routing vs round-robin" doc:"Heading of the report."`
	Seed         uint64            `yaml:"seed" default:"1" doc:"Decides which conversations are held and when they start, equally for every variant."`
	Variants     []fileVariant     `yaml:"variants" required:"true" min:"1" examples:"[{name: chat, base_url: \"http://127.0.0.1:8000/v1\"}]" doc:"The deployments to measure, or the settings of one. The first is the baseline of comparisons."`
	Workload     fileWorkload      `yaml:"workload" absent:"every default" examples:"{prompt_tokens: 3750, max_output_tokens: 1024}" doc:"What is said, with the keys of a workload of the [configuration](configuration.md)."`
	Levels       fileLevels        `yaml:"levels" required:"true" examples:"{concurrency: [10, 20, 30]}" doc:"The levels of load."`
	WarmUp       fileWarmUp        `yaml:"warm_up" absent:"60s; nothing beside ~measure.conversations~" examples:"{duration: 60s}" doc:"What precedes the measurement of each level and is never part of it."`
	Measure      fileMeasure       `yaml:"measure" absent:"3 snapshots of 100s" examples:"{snapshots: 3, snapshot: 100s}" doc:"What is measured of each level."`
	Repetitions  int               `yaml:"repetitions" default:"1" min:"1" max:"1000" doc:"How often the whole grid is measured. A search for the capacity measures levels once, and the one it ends at perhaps twice, whatever is written here."`
	Order        string            `yaml:"order" default:"interleaved" enum:"interleaved,blocks" doc:"How variants take turns. ~interleaved~ measures a level of every variant before the next level, forwards and backwards in turn (A B, B A), so that drift cancels. ~blocks~ measures all levels of a variant before the next variant, in reverse order at each repetition: few switches, where they are dear."`
	Pause        duration          `yaml:"pause" default:"0s" max:"1d" doc:"Time without load between two levels."`
	Cache        fileCache         `yaml:"cache" absent:"keep" examples:"{policy: bust}" doc:"What the prefix cache may know when a level begins."`
	ReadyTimeout duration          `yaml:"ready_timeout" default:"10m" min:"1s" max:"1d" doc:"Longest wait until a variant takes a turn: at first, after a switch, and when a level ended because the target was gone."`
	Confidence   share             `yaml:"confidence" default:"95%" doc:"Confidence of verdicts: a level is met or missed when that is proven with it, and undecided otherwise. A level is decided before its time only when the chance of error is below the rest."`
	EarlyStop    bool              `yaml:"early_stop" default:"false" doc:"Give up doomed levels in a grid, too: an SLO is lost beyond doubt, or the queue grows without bound. A search for the capacity always does."`
	SLOs         []filePlanSLO     `yaml:"slos" absent:"TTFT within 1 s for 99 % of turns, TPOT within 60 ms for 99 %, availability 99.5 %" examples:"[{sli: ttft, threshold: 1s, objective: 99%}]" doc:"What a level has to meet. An empty list means nothing; a search needs at least one."`
	Deployment   map[string]string `yaml:"deployment" absent:"what the deployment says of itself" examples:"{GPU: 1x H200}" doc:"Lines of the report's deployment table, in this order, that hold for every variant."`
}

type fileVariant struct {
	Name    string      `yaml:"name" absent:"host and port of ~base_url~, or the preset" examples:"kv_aware" doc:"Name in the report: up to 63 letters, digits, ~-~, ~_~ and ~.~, unique among the variants."`
	BaseURL planAddress `yaml:"base_url" required:"true" examples:"http://127.0.0.1:8000/v1 | preset:phase0" doc:"The address that ~/chat/completions~ and ~/models~ are appended to, as for a target; or ~preset:NAME~ for a simulated deployment inside of synthetic."`
	fileEndpoint
	Connection  string            `yaml:"connection" default:"per_conversation" enum:"reuse,per_conversation" doc:"As for a target: whether conversations dial anew or share kept connections."`
	ExtraBody   map[string]any    `yaml:"extra_body" secret:"true" absent:"none" examples:"{ignore_eos: true}" doc:"Fields merged into the body of each request, as for a target."`
	MetricsURLs []string          `yaml:"metrics_urls" absent:"~/metrics~ on the host of ~base_url~" examples:"[\"http://127.0.0.1:8000/metrics\"]" doc:"Where the deployment tells its own metrics; several where frontend and workers each have theirs. An empty list means nowhere. The API key goes only to the host of ~base_url~."`
	Switch      fileSwitch        `yaml:"switch" absent:"nothing to be done" examples:"{command: [./deploy, eagle3], timeout: 15m}" doc:"What makes the deployment this variant."`
	Deployment  map[string]string `yaml:"deployment" absent:"none" examples:"{max-num-seqs: \"64\"}" doc:"Lines of the deployment table that hold for this variant alone."`
}

type fileSwitch struct {
	Command []string `yaml:"command" min:"1" absent:"none" examples:"[./deploy, eagle3]" doc:"Program and arguments, run without a shell in the directory that synthetic runs in, whenever another variant was measured before. It finds the variant's name in ~SYNTHETIC_VARIANT~ and its address in ~SYNTHETIC_BASE_URL~. When it is over, the variant is awaited with real turns."`
	Timeout duration `yaml:"timeout" default:"10m" min:"1s" max:"1d" doc:"Longest run of the command."`
}

type fileLevels struct {
	Concurrency    []int     `yaml:"concurrency" group:"kind" min:"1" absent:"required without ~rate~" examples:"[50, 60, 70]" doc:"Conversations kept in flight, rising: a closed loop."`
	Rate           []float64 `yaml:"rate" group:"kind" min:"1" absent:"required without ~concurrency~" examples:"[0.5, 1, 2]" doc:"Conversations started per second, rising, whatever becomes of earlier ones: an open loop."`
	StartRate      float64   `yaml:"start_rate" default:"10" min:"0" max:"100000" doc:"Most conversations started per second in a closed loop. 0 means no limit: a level then begins with a stampede."`
	Process        string    `yaml:"process" default:"poisson" enum:"poisson,constant,gamma" doc:"When conversations start in an open loop."`
	Burstiness     float64   `yaml:"burstiness" default:"1" above:"0" max:"1000" doc:"Shape of the gamma distribution: 1 is poisson, less is burstier, more is more regular. Only for ~gamma~."`
	MaxConcurrency int       `yaml:"max_concurrency" default:"0" min:"0" max:"1000000" doc:"Most conversations in flight in an open loop. A start over it is skipped and counted, never delayed. 0 means no limit."`
}

type fileWarmUp struct {
	Duration      duration `yaml:"duration" group:"kind" absent:"60s" examples:"60s" max:"1d" doc:"The level's own load for so long, which then goes on into the measurement."`
	Conversations int      `yaml:"conversations" group:"kind" min:"1" max:"1000000" absent:"none" examples:"10" doc:"So many conversations at ~rate~, and ~cooldown~ after the last; the measurement then begins without load."`
	Rate          float64  `yaml:"rate" default:"0.5" above:"0" max:"10000" doc:"Conversations started per second during such a warm-up."`
	Cooldown      duration `yaml:"cooldown" default:"0s" max:"1d" doc:"Rest after such a warm-up."`
}

type fileMeasure struct {
	Snapshots     int      `yaml:"snapshots" absent:"3; 1 beside ~conversations~" examples:"3" min:"1" max:"1000" doc:"Equal parts of the measurement."`
	Snapshot      duration `yaml:"snapshot" group:"kind" absent:"100s" examples:"100s" min:"1s" max:"7d" doc:"Length of each part."`
	Conversations int      `yaml:"conversations" group:"kind" min:"1" max:"10000000" absent:"the measurement ends by time" examples:"300" doc:"Conversations of the whole measurement, which ends with the last of them."`
}

type fileCache struct {
	Policy        string `yaml:"policy" default:"keep" enum:"keep,bust,prime" doc:"~keep~ leaves it as earlier levels left it. ~bust~ puts a mark that is new with every level and run in front of each conversation, so that no text is known when a level begins; within the level they are shared as always. ~prime~ holds ~conversations~ before the warm-up."`
	Conversations int    `yaml:"conversations" default:"10" min:"1" max:"1000000" doc:"Conversations held to prime the cache. Only for ~prime~."`
}

type filePlanSLO struct {
	Name      string   `yaml:"name" absent:"the value of ~sli~" examples:"ttft" doc:"Name in the report: up to 63 letters, digits, ~-~, ~_~ and ~.~, unique among the SLOs."`
	SLI       string   `yaml:"sli" required:"true" enum:"ttft,answer_ttft,tpot,itl,turn_duration,availability" doc:"What is measured of a turn, as in the configuration."`
	Threshold duration `yaml:"threshold" min:"1ms" absent:"required, except for ~availability~" examples:"1s" doc:"Highest good value."`
	Objective share    `yaml:"objective" required:"true" examples:"99% | 0.995" doc:"Wanted share of good turns: 99% makes the threshold one for the p99."`
	Turns     []string `yaml:"turns" min:"1" enum:"first,followup" absent:"both" examples:"[first]" doc:"Judge only first turns, or only the later ones."`
}
