package config

// The structs of this file are the shape of the YAML file. Their tags are read
// by the decoder and by the generators of the documentation and the schema:
//
//	yaml      the key
//	doc       what it means, in Markdown; ~key~ stands for `key`, since a tag
//	          cannot hold a backtick
//	default   the value of an absent key, as it would be written
//	absent    what an absent key means, where that is not a fixed value
//	required  the key must be there
//	enum      the allowed values, separated by commas
//	examples  values to show, separated by " | "; the first serves as remedy
//	min, max  inclusive bounds of a number, duration or length of a list
//	above     exclusive lower bound
//	group     keys of one group exclude each other
//	secret    values are never repeated in messages

type file struct {
	Targets   []fileTarget   `yaml:"targets" required:"true" min:"1" examples:"[{base_url: \"http://127.0.0.1:8000/v1\"}]" doc:"The deployments to probe."`
	Workloads []fileWorkload `yaml:"workloads" min:"1" absent:"one workload with every default" examples:"[{name: chat}]" doc:"The kinds of conversation to hold."`
	Traffic   []fileTraffic  `yaml:"traffic" min:"1" absent:"every workload to every target, at the default arrival" examples:"[{targets: [chat], workload: chat}]" doc:"Which workload goes to which targets, and how often. Every target and every workload must be part of some traffic, and a pair of the two may be in one entry only."`
	SLOs      []fileSLO      `yaml:"slos" absent:"TTFT within 1 s for 99 % of turns, TPOT within 60 ms for 99 %, availability 99.5 %" examples:"[{sli: ttft, threshold: 1s, objective: 99%}]" doc:"The service level objectives that turns are judged by. An empty list means none."`
	Changes   []fileChange   `yaml:"changes" min:"1" absent:"none" examples:"[{start: \"2026-12-01T10:00:00Z\", end: \"2026-12-01T11:30:00Z\", relearn: true}]" doc:"Declared change windows: what is measured within them does not enter the usual level that the regression alerts compare with. They silence no alert. See [alerting.md](alerting.md#a-level-that-is-meant-to-stay)."`
	Alerting  fileAlerting   `yaml:"alerting" absent:"this process does not page" examples:"{alertmanagers: [{url: \"http://alertmanager:9093\"}]}" doc:"Evaluate the alert rules in this process and tell Alertmanagers, without a Prometheus; see [pager.md](pager.md). ~{}~ is enough to see alerts on the page ~/alerts~."`
}

type fileTarget struct {
	Name string `yaml:"name" absent:"host and port of ~base_url~" examples:"chat" doc:"Value of the label ~target~: up to 63 letters, digits, ~-~, ~_~ and ~.~, unique among the targets."`
	fileEndpoint
	Connection    string         `yaml:"connection" default:"per_conversation" enum:"reuse,per_conversation" doc:"~per_conversation~ dials anew for each conversation, so that every first turn pays for DNS, connect and TLS as a new user does. ~reuse~ keeps idle connections and shares them between conversations."`
	ExtraBody     map[string]any `yaml:"extra_body" secret:"true" absent:"none" examples:"{ignore_eos: true}" doc:"Fields merged into the body of each request. The fields that synthetic sets itself are refused."`
	ServerMetrics fileServer     `yaml:"server_metrics" absent:"they are not read" examples:"{urls: [\"http://127.0.0.1:8000/metrics\"]}" doc:"Read the server's own metrics for what no client sees: how much of speculative decoding is accepted. ~{}~ is enough where they are at ~/metrics~ on the host of ~base_url~."`
}

// fileEndpoint is how to reach an API.
type fileEndpoint struct {
	BaseURL       address           `yaml:"base_url" required:"true" examples:"http://127.0.0.1:8000/v1 | https://llm.example.com/v1" doc:"The address that ~/chat/completions~ and ~/models~ are appended to. Without a path, ~/v1~ is meant. No user, query or fragment."`
	Model         string            `yaml:"model" absent:"the first that ~/models~ lists" examples:"llama" doc:"Model to ask for in each request."`
	ModelsTimeout duration          `yaml:"models_timeout" default:"10s" min:"1ms" doc:"Longest wait for the answer of ~/models~."`
	APIKeyFile    string            `yaml:"api_key_file" group:"key" secret:"true" absent:"no key" examples:"/etc/synthetic/key" doc:"File that holds the API key, sent as ~Authorization: Bearer …~. It must exist when the configuration is loaded and is read at each use, so a rotated key needs no reload. A key is never written in the configuration itself."`
	APIKeyEnv     string            `yaml:"api_key_env" group:"key" secret:"true" absent:"no key" examples:"LLM_API_KEY" doc:"Environment variable that holds the API key."`
	Headers       map[string]string `yaml:"headers" secret:"true" absent:"none" examples:"{x-tenant: probe}" doc:"Headers added to each request. Headers that carry keys or that the client sets itself are refused."`
	TLS           fileTLS           `yaml:"tls" absent:"the system's certificate authorities" examples:"{ca_file: ca.pem}" doc:"TLS settings of an ~https~ address."`
	HTTP2         bool              `yaml:"http2" default:"false" doc:"Speak HTTP/2 where an ~https~ server offers it. One read then carries bytes of many streams, so that arrivals are the times of reads and not the kernel's."`
	HTTPClient    map[string]any    `yaml:"http_client" secret:"true" absent:"no proxy, and no authentication but the key" examples:"{proxy_url: \"http://proxy:3128\"}" doc:"Further settings of the HTTP client, with the keys of Prometheus' ~<http_config>~: ~proxy_url~, ~no_proxy~, ~proxy_from_environment~, ~proxy_connect_header~, ~authorization~, ~basic_auth~, ~oauth2~, ~tls_config~, ~http_headers~. Secrets stand in files, which are read at each use. Over a proxy arrivals are the times of reads and not the kernel's."`
}

type fileTLS struct {
	CAFile             string `yaml:"ca_file" absent:"the system's" examples:"ca.pem" doc:"PEM file of the certificate authorities to trust."`
	CertFile           string `yaml:"cert_file" absent:"none" examples:"client.pem" doc:"PEM file of the client certificate; goes with ~key_file~."`
	KeyFile            string `yaml:"key_file" absent:"none" examples:"client-key.pem" doc:"PEM file of the client certificate's key; goes with ~cert_file~."`
	ServerName         string `yaml:"server_name" absent:"the host of the address" examples:"llm.example.com" doc:"Name that the server's certificate must carry."`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify" default:"false" doc:"Accept any certificate. Only for experiments: whoever sits in between can read the key."`
}

type fileWorkload struct {
	Name              string        `yaml:"name" default:"chat" doc:"Value of the label ~workload~: up to 63 letters, digits, ~-~, ~_~ and ~.~, unique among the workloads."`
	Turns             fileTurns     `yaml:"turns" absent:"3 to 5" examples:"{min: 3, max: 5}" doc:"Turns of a conversation, drawn uniformly."`
	PromptTokens      int           `yaml:"prompt_tokens" default:"500" min:"1" max:"2000000" doc:"Length of the first user message in tokens. The prober learns how many characters make a token from the ~usage~ of the server's answers."`
	Starters          int           `yaml:"starters" default:"10" min:"0" max:"1000000" doc:"How many opening texts the conversations share, as they share system prompts and documents in production: the prefix cache may know them. 0 makes every opening unique."`
	Followups         fileFollowups `yaml:"followups" absent:"generated questions of 60 tokens" examples:"{tokens: 60}" doc:"Where the user messages after the first come from."`
	System            string        `yaml:"system" absent:"no system message" examples:"You are a helpful assistant." doc:"System message of every conversation."`
	MaxOutputTokens   int           `yaml:"max_output_tokens" default:"128" min:"0" max:"2000000" doc:"Limit of each answer in tokens. 0 sends no limit."`
	Temperature       *float64      `yaml:"temperature" min:"0" max:"2" absent:"not sent, so the server's own" examples:"0" doc:"Sampling temperature. 0 is sent as 0."`
	ThinkTime         fileThink     `yaml:"think_time" absent:"0s to 2s" examples:"{min: 0s, max: 2s}" doc:"Pause before each turn after the first, drawn uniformly."`
	Seed              uint64        `yaml:"seed" default:"1" doc:"Makes texts repeatable: replicas with one seed share their opening texts, unless ~starters~ is 0."`
	ConversationsFile string        `yaml:"conversations_file" absent:"generated text" examples:"conversations.jsonl" doc:"JSON Lines file of conversations to replay instead of generated text, relative to the configuration file. Each line is an object with ~messages~ of ~role~ and ~content~, or ~conversations~ of ~from~ and ~value~; the user messages are sent, the assistant's are not. It replaces ~prompt_tokens~, ~starters~, ~followups~ and ~turns.min~, and a conversation has as many turns as the file gives it, up to ~turns.max~ where that is written."`
	Check             fileCheck     `yaml:"check" absent:"every answer is accepted" examples:"{contains: Paris}" doc:"What each answer must satisfy; otherwise the turn ends as ~content_mismatch~."`
	Timeouts          fileTimeouts  `yaml:"timeouts" absent:"30s, 10s and 120s" examples:"{first_token: 30s, stall: 10s, total: 120s}" doc:"When a turn is given up."`
}

type fileTurns struct {
	Min int `yaml:"min" default:"3" min:"1" max:"1000" doc:"Fewest turns. Absent while ~max~ is below the default: ~max~."`
	Max int `yaml:"max" default:"5" min:"1" max:"1000" doc:"Most turns. Absent while ~min~ is above the default: ~min~."`
}

type fileThink struct {
	Min duration `yaml:"min" default:"0s" doc:"Shortest pause."`
	Max duration `yaml:"max" default:"2s" doc:"Longest pause. Absent while ~min~ is above the default: ~min~."`
}

type fileFollowups struct {
	Tokens int           `yaml:"tokens" group:"source" default:"60" min:"1" max:"1000000" doc:"Generate questions of this many tokens."`
	Script []string      `yaml:"script" group:"source" min:"1" absent:"none" examples:"[\"Why is that?\", \"Give an example.\"]" doc:"Ask these questions in turn, and begin again after the last."`
	User   *fileEndpoint `yaml:"user" group:"source" absent:"none" examples:"{base_url: \"http://127.0.0.1:8001/v1\"}" doc:"Let the model of a second endpoint play the user: it sees the conversation and writes the next question. It takes the keys of a target except ~name~, ~connection~ and ~extra_body~. Its time is not part of any turn."`
}

type fileCheck struct {
	Contains string  `yaml:"contains" absent:"no check" examples:"Paris" doc:"Text that every answer must contain."`
	Regexp   pattern `yaml:"regexp" absent:"no check" examples:"(?i)paris" doc:"Regular expression (RE2) that must match somewhere in every answer."`
}

type fileTimeouts struct {
	FirstToken duration `yaml:"first_token" default:"30s" min:"1ms" doc:"Longest wait for the first token. Absent while ~total~ is below the default: ~total~."`
	Stall      duration `yaml:"stall" default:"10s" min:"1ms" doc:"Longest wait between two tokens. Absent while ~total~ is below the default: ~total~."`
	Total      duration `yaml:"total" default:"120s" min:"1ms" doc:"Longest duration of a turn."`
}

type fileTraffic struct {
	Targets         selection   `yaml:"targets" default:"*" examples:"[chat]" doc:"Names of targets, or ~\"*\"~ for all of them."`
	Workload        string      `yaml:"workload" absent:"the only workload; required when there are several" examples:"chat" doc:"Name of the workload to send."`
	Arrival         fileArrival `yaml:"arrival" absent:"poisson, 0.2 conversations a second" examples:"{process: poisson, rate: 0.2}" doc:"When conversations start."`
	MaxConcurrency  int         `yaml:"max_concurrency" default:"32" min:"0" max:"100000" doc:"Most conversations in flight for each target. A start over it is skipped and counted, never delayed. 0 means no limit. Not for ~closed~ arrival."`
	TokensPerMinute int         `yaml:"tokens_per_minute" min:"1" absent:"no budget" examples:"200000" doc:"Budget of prompt and output tokens for each target. A start over it is skipped and counted."`
	BaselineFile    string      `yaml:"baseline_file" absent:"the usual level is learned" examples:"benchmark/run.json" doc:"A ~run.json~ of ~synthetic sweep~, or the JSON of a report: one of its levels is what turns are expected to take. It is exported beside the live figures, and the regression alerts compare with it instead of a learned level. The workload must be that of the sweep. It is read again at each reload. See [alerting.md](alerting.md#a-benchmark-as-the-baseline)."`
	BaselineVariant string      `yaml:"baseline_variant" absent:"the only variant, or that called as the target" examples:"kv_aware" doc:"Variant of ~baseline_file~ to compare with."`
	BaselineLevel   float64     `yaml:"baseline_level" above:"0" absent:"the only level, or that of this entry's own ~concurrency~ or ~rate~" examples:"20" doc:"Level of ~baseline_file~ to compare with: the conversations in flight, or starts per second, that the deployment is expected to carry."`
}

type fileArrival struct {
	Process     string  `yaml:"process" default:"poisson" enum:"poisson,constant,gamma,closed" doc:"~poisson~ starts at random as independent users do, ~constant~ at equal intervals, ~gamma~ with the given ~burstiness~; ~closed~ keeps ~concurrency~ conversations in flight."`
	Rate        float64 `yaml:"rate" default:"0.2" above:"0" max:"10000" doc:"Conversations started per second for each target. Not for ~closed~."`
	Burstiness  float64 `yaml:"burstiness" default:"1" above:"0" max:"1000" doc:"Shape of the gamma distribution: 1 is poisson, less is burstier, more is more regular. Only for ~gamma~."`
	Concurrency int     `yaml:"concurrency" min:"1" max:"100000" absent:"required for ~closed~" examples:"4" doc:"Conversations kept in flight for each target. Only for ~closed~."`
}

type fileSLO struct {
	Name      string    `yaml:"name" absent:"the value of ~sli~" examples:"ttft" doc:"Value of the label ~slo~: up to 63 letters, digits, ~-~, ~_~ and ~.~, unique among the SLOs."`
	SLI       string    `yaml:"sli" required:"true" enum:"ttft,answer_ttft,tpot,itl,turn_duration,availability" doc:"What is measured of a turn: time to first token, time to first content, time per output token, longest gap between two tokens, duration, or whether it succeeded."`
	Threshold duration  `yaml:"threshold" min:"1ms" absent:"required, except for ~availability~" examples:"1s" doc:"Highest good value."`
	Objective share     `yaml:"objective" required:"true" examples:"99% | 0.995" doc:"Wanted share of good turns, between 0 and 100 %, both excluded."`
	Window    duration  `yaml:"window" default:"30d" min:"1h" doc:"Period of the error budget."`
	Targets   selection `yaml:"targets" default:"*" examples:"[chat]" doc:"Judge only turns of these targets."`
	Workloads selection `yaml:"workloads" default:"*" examples:"[chat]" doc:"Judge only turns of these workloads."`
	Turns     []string  `yaml:"turns" min:"1" enum:"first,followup" absent:"both" examples:"[first]" doc:"Judge only first turns, or only the later ones."`
}
